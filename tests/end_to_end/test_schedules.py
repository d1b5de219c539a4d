"""Circuits behind an AXI4 port under schedules by chance: nothing is lost, nothing hangs.

A schedule says when the memory is ready and answers, which bursts it answers with an error, and in
which cycle a reset ends a run. The run after an error, or a reset, is exact; every byte that is no
element of an array keeps what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rtlgen.sim.axi_behaviour import AxiBehaviour, BurstError
from rtlgen.sim.job import Job
from rtlgen.sim.off_chip import LOCAL, image_of, owners
from rtlgen.verify.inputs import Inputs
from rtlgen.verify.loading import Way, loaded, optimisation_of
from rtlgen.verify.values import to_words
from rtlgen.windows.workers import WorkerRequest
from tests.end_to_end.test_axi import Built, build
from tests.tiling.programs import BLUR, LU, SEIDEL, TRANSPOSED, TWO_PRODUCTS

pytestmark = pytest.mark.simulation

RUNS = 2
"""How often all data sets are gone through, and once more for every error."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What the memory does, and the cycle in which a first run is reset; 0: there is none."""

    axi: AxiBehaviour
    reset_cycle: int

    @staticmethod
    def of(seed: int, cycles: int) -> Schedule:
        """Return a schedule for a circuit of so many cycles."""
        chance = Random(seed)
        errors = tuple(
            BurstError(
                chance.choice(("read", "write")),
                chance.randrange(40),
                chance.choice(("slverr", "decerr")),
            )
            for _ in range(chance.choice((0, 0, 1, 2)))
        )
        # Of an error, the monitor knows which word or burst it was, and asks the circuit.
        axi = AxiBehaviour(
            pauses=chance.choice((0, chance.randrange(1, 10_000))),
            outstanding=chance.choice((0, 0, 1, 2, 3, 8)),
            dram=chance.choice((0, 0, chance.randrange(1, 10_000))),
            errors=errors,
        )
        return Schedule(axi, chance.choice((0, chance.randrange(1, 2 * cycles))))


def image(built: Built, arrays: Inputs) -> np.ndarray:
    return image_of(built.manifest, {n: to_words(np.asarray(a)) for n, a in arrays.items()})


def run(built: Built, schedule: Schedule, folder: Path) -> int:
    """Run on every data set several times; return how many runs met an error."""
    manifest = built.manifest
    rounds = RUNS + len(schedule.axi.errors)
    job = Job(
        manifest=manifest,
        words={},
        memory=np.stack([image(built, given) for given in built.inputs]),
        scalars=tuple(() for _ in built.inputs),
        limit_cycles=60 * manifest.predicted_cycles + 20_000,
        runs=rounds,
        four_state=False,
        axi=schedule.axi,
        reset_cycle=schedule.reset_cycle,
    )
    way = Way("verilator", "native", None, optimisation_of(manifest))
    with loaded(built.folder / "design.v", manifest, built.folder, folder, way) as carry_out:
        result = carry_out(job)
    assert (result.outcome, result.message) == ("done", ""), schedule
    assert len(result.runs) == rounds * len(built.inputs)
    errors = [record.error is not None for record in result.runs]
    # A run with an error has fewer bursts; in the last ones, those that have errors are over.
    assert sum(errors) <= len(schedule.axi.errors), schedule
    assert not any(errors[-len(built.inputs) :]), schedule
    assert any(errors) or result.repeatable
    assert result.memory is not None
    for given, expected, left in zip(
        built.inputs, built.expected, result.memory.bytes, strict=True
    ):
        # What temporaries off chip hold is the circuit's own.
        kept = owners(manifest) != LOCAL
        wanted = image(built, {**given, **expected})
        np.testing.assert_array_equal(left[kept], wanted[kept], err_msg=str(schedule))
    return sum(errors)


@dataclass(frozen=True, slots=True)
class Case:
    """A program, its size and tile, the bits of a word, its workers."""

    text: str
    size: int
    tile: tuple[int, ...]
    word_bits: int
    workers: WorkerRequest


ROWS = Case(TRANSPOSED, 21, (4, 8), 64, WorkerRequest(3))
WAVES = Case(SEIDEL, 9, (2, 4, 4), 32, WorkerRequest(2, "C", True))
CASES = {
    "rows of tiles": ROWS,
    "waves": WAVES,
    "LU": Case(LU, 12, (4, 4, 4), 64, WorkerRequest(3, "F")),
    "two units": Case(TWO_PRODUCTS, 6, (4, 4, 4), 128, WorkerRequest(2)),
    "one worker": Case(BLUR, 20, (4, 8), 512, WorkerRequest(1)),
}

MANY = 200
"""Schedules of each program in the long test."""


@pytest.mark.parametrize(
    ("case", "schedules"),
    [
        pytest.param(CASES["one worker"], 1, id="one worker"),
        pytest.param(ROWS, 3, id="rows of tiles", marks=pytest.mark.long),
        pytest.param(WAVES, 2, id="waves", marks=pytest.mark.long),
        *(
            pytest.param(case, MANY, id=f"{name}, many", marks=pytest.mark.long)
            for name, case in CASES.items()
        ),
    ],
)
def test_any_schedule_will_do(tmp_path: Path, case: Case, schedules: int) -> None:
    built = build(tmp_path, case.text, case.size, case.tile, case.word_bits, case.workers)
    errors, resets = 0, 0
    for seed in range(schedules):
        schedule = Schedule.of(seed, built.manifest.predicted_cycles)
        place = tmp_path / f"run-{seed}"
        place.mkdir()
        errors += run(built, schedule, place)
        resets += schedule.reset_cycle > 0
    if schedules == MANY:
        assert min(errors, resets) > MANY // 5
