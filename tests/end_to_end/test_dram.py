"""Circuits behind a DRAM: exact in the cycles predicted, and near them with latencies by chance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import rtlgen
from rtlgen.ir import memory_side, port_timing
from rtlgen.ir.cycles import cycles_behind
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.port_timing import Offers
from rtlgen.ir.timeline import known_cycles
from rtlgen.manifest import memory_map
from rtlgen.sim.axi_behaviour import AxiBehaviour, Dram
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.sim.models import compile_icarus
from rtlgen.system.tools import find_tool, run_tool
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.plan import TiledProgram
from rtlgen.verify import equivalence
from rtlgen.windows.workers import ONE_WORKER, WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.simulators import needs_icarus
from tests.tiling.programs import BLUR, JACOBI, KIB, PRODUCT, SEIDEL, TRANSPOSED, planned

pytestmark = pytest.mark.simulation

EXAMPLE = Path(__file__).parents[2] / "examples" / "transposed" / "transposed.c"

TWO = WorkerRequest(2, "cyclic", False)
FOUR = WorkerRequest(4, "C", True)

Case = tuple[str, int, tuple[int, ...], int, int, WorkerRequest, LaneRequest | None]

CASES: tuple[Case, ...] = (
    (TRANSPOSED, 24, (8, 8), 64, 1, ONE_WORKER, None),
    (TRANSPOSED, 40, (8, 8), 64, 65, ONE_WORKER, LaneRequest("i", 4)),
    (PRODUCT, 13, (4, 8, 4), 64, 9, TWO, None),
    (JACOBI, 12, (2, 4, 4), 32, 20, ONE_WORKER, None),
    (BLUR, 21, (4, 8), 64, 3, FOUR, None),
    (SEIDEL, 14, (1, 8, 8), 128, 30, ONE_WORKER, None),
)
"""Program, size, tile, bits of a word, latency, workers, lanes."""


def plans_of(cases: tuple[Case, ...]) -> list[TiledProgram]:
    return [
        planned(
            text,
            size,
            tile,
            kind="dram",
            latency_cycles=latency,
            word_bits=bits,
            budget_bits=16 * KIB,
            workers=workers,
            lanes=lanes,
        )
        for text, size, tile, bits, latency, workers, lanes in cases
    ]


def failures_of(cases: tuple[Case, ...], folder: Path) -> list[list[str]]:
    found = plans_of(cases)
    plans = [(replace(f.plan, name=f"f{n}"), f.parsed) for n, f in enumerate(found)]
    return plan_failures(plans, folder)


@pytest.mark.parametrize("cases", [CASES[1:2], pytest.param(CASES, marks=pytest.mark.long)])
def test_circuits_take_the_cycles_predicted_behind_a_dram(
    cases: tuple[Case, ...], tmp_path: Path
) -> None:
    assert failures_of(cases, tmp_path) == [[] for _ in cases]


@pytest.mark.long
def test_a_burst_that_is_predicted_too_short_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bus, "burst_cycles", property(lambda bus: 3))
    known_cycles.clear()
    (failures,) = failures_of(CASES[:1], tmp_path)
    known_cycles.clear()
    assert any("cycles, not" in failure for failure in failures)


@pytest.mark.long
def test_reads_before_writes_of_one_cycle_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reads_first(timing: port_timing.AxiTiming, offers: Offers) -> port_timing.Served:
        served, more = timing.reads.cycle(offers, timing), timing.writes.cycle(offers, timing)
        timing.busy = max(0, timing.busy - 1)
        taken, finished = (*served.taken, *more.taken), (*served.finished, *more.finished)
        return port_timing.Served(taken, finished, served.moved | more.moved)

    monkeypatch.setattr(port_timing.AxiTiming, "cycle", reads_first)
    known_cycles.clear()
    failures = failures_of(CASES[3:4], tmp_path)
    known_cycles.clear()
    assert any("cycles, not" in failure for each in failures for failure in each)


@pytest.mark.long
@pytest.mark.parametrize(
    "simulator", ["verilator", pytest.param("icarus", marks=[needs_icarus, pytest.mark.long])]
)
def test_latencies_by_chance_are_near_those_predicted(simulator: Simulator) -> None:
    design = rtlgen.compile(
        EXAMPLE,
        define={"N": 48, "ELEMENT": "uint8_t"},
        memory="dram",
        tile=(16, 16),
        unroll={"i": 4},
    )
    found = design.verify(simulator=simulator)
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles
    assert len(set(found.dram_cycles)) == 3
    assert found.off_by_percent is not None and 0 < found.off_by_percent <= 2
    document = found.to_json()
    assert document["off_by_percent"] == found.off_by_percent
    assert f"({found.off_by_percent} % off)" in found.text()


@pytest.mark.long
@needs_icarus
def test_the_test_bench_is_the_dram_that_cycles_are_predicted_for(tmp_path: Path) -> None:
    design = rtlgen.compile(
        EXAMPLE, define={"N": 24, "ELEMENT": "uint8_t"}, memory="dram:20", tile=(8, 8)
    )
    design.write(tmp_path)
    files = [tmp_path / "transposed.v", tmp_path / "transposed_tb.v"]
    program = compile_icarus(files, "transposed_tb", tmp_path, None)
    printed = run_tool(
        [find_tool("vvp"), "-n", program], log=tmp_path / "tb.log", cwd=tmp_path
    ).splitlines()
    cycles = f"PASS: cycles {design.manifest.predicted_cycles}"
    assert printed.count(cycles) == 4 and printed[-1] == "PASS: transposed"


def test_all_models_have_the_same_dram() -> None:
    assert memory_map.DRAM_BURST_CYCLES == memory_side.DRAM_BURST_CYCLES == Dram._TURN_CYCLES


def test_a_dram_has_one_bus_for_both_ways() -> None:
    dram, axi = Bus("dram", 65), Bus("axi", 65)
    assert axi.busy_cycles(96, 160) == 160
    assert dram.busy_cycles(96, 160) == 256 + 4 * 16
    assert dram.busy_cycles(96, 160, 50) == 256 + 4 * 50
    # So many bursts of a word as fill the bus for the latency.
    assert dram.write_bursts * 5 > 65 and dram.write_bursts < axi.write_bursts


@pytest.mark.long
def test_runs_that_are_far_from_what_is_predicted_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    design = rtlgen.compile(
        EXAMPLE,
        define={"N": 128, "ELEMENT": "uint8_t"},
        memory="dram",
        tile=(16, 16),
        unroll={"i": 8},
    )
    assert design.verify().exact
    # A bus that pauses now and then is no DRAM that the cycles are predicted for.
    monkeypatch.setattr(equivalence, "AxiBehaviour", partial(AxiBehaviour, pauses=5))
    found = design.verify()
    assert not found.exact
    assert any("DRAM 1: " in text and "more or less" in text for text in found.failures)


@pytest.mark.parametrize(
    ("cycles", "predicted", "latency_cycles", "waits", "is_wrong"),
    [
        (10_200, 10_000, 65, 0, False),
        (10_201, 10_000, 65, 0, True),
        (9_799, 10_000, 65, 0, True),
        (700, 600, 65, 0, False),
        (701, 600, 65, 0, True),
        (20_000, 10_000, 20, 0, False),
        # A hundred waits, each of 30 to 100 cycles.
        (6_300, 10_000, 65, 100, False),
        (6_299, 10_000, 65, 100, True),
        (13_700, 10_000, 65, 100, False),
        (13_701, 10_000, 65, 100, True),
    ],
)
def test_a_run_may_be_off_by_two_percent_or_what_its_latencies_explain(
    cycles: int, predicted: int, latency_cycles: int, waits: int, is_wrong: bool
) -> None:
    def behind(other_cycles: int) -> int:
        return predicted + waits * (other_cycles - latency_cycles)

    found = equivalence.off_prediction(cycles, predicted, latency_cycles, behind)
    assert bool(found) is is_wrong


@pytest.mark.long
def test_a_run_that_waits_for_single_words_takes_as_long_as_they_do() -> None:
    design = rtlgen.compile(
        EXAMPLE, define={"N": 16, "ELEMENT": "uint8_t"}, memory="dram", tile=(1, 1), buffer=False
    )
    plan, predicted = design.plan, design.manifest.predicted_cycles
    assert cycles_behind(plan, 65) == predicted
    assert cycles_behind(plan, 30) < predicted * 0.9 < predicted * 1.1 < cycles_behind(plan, 100)
    found = design.verify()
    assert found.exact, found.failures
    assert found.off_by_percent is not None and found.off_by_percent > 2


def test_only_the_memory_behind_a_circuit_is_another_one() -> None:
    side = Bus("dram", 65)
    assert (side.behind(30).read_words, side.behind(30).write_bursts) == (128, 16)
    assert Bus("dram", 30).read_words == 64
    assert side.behind(30) != Bus("dram", 30)
