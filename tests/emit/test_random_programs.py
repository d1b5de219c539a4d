"""Random programs after every pass and option: computed as before, or refused for a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from rtlgen.emit.unit import c_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.schedule import ScalarDim, Schedule
from rtlgen.options import CompileOptions
from rtlgen.transforms.normalise import normalise
from tests.emit.execution import Unit, differences
from tests.emit.test_emitted_programs import stages
from tests.end_to_end.judge import REFUSALS
from tests.end_to_end.programs import programs
from tests.oracles.gcc_oracle import have_gcc

SEED = 20261122
BATCH = 50
"""Programs that are compiled by gcc at a time."""

OPTIONS = {
    "fused": CompileOptions(),
    "unfused": CompileOptions(fuse="none"),
    "outer shift": CompileOptions(fuse="ols"),
}
REASONS = REFUSALS | {"E0206"}
"""Codes with which a well-formed program may be refused under some option."""

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compile with")


def random_texts(count: int, first_seed: int) -> list[str]:
    """Draw `count` programs."""
    texts: list[str] = []

    @seed(first_seed)
    @settings(
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=[Phase.generate],
        max_examples=count,
    )
    @given(programs())
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    return texts


def transformed(text: str, label: str, seen: Counter[str]) -> Iterator[Unit]:
    """Yield the C of a program after every pass under every option, each text once."""
    bodies = set()
    for name, options in OPTIONS.items():
        try:
            for unit in stages(parse_text(text, "program.c"), f"{label}.{name}", options):
                body = unit.text.partition("*/")[2]
                if body not in bodies:
                    bodies.add(body)
                    yield unit
            seen[name] += 1
        except RtlgenError as error:
            assert error.code in REASONS, f"{error.code}: {error}\n{text}"
            seen[f"{name} {error.code}"] += 1
            assert error.diagnostic.render(error.sources)


def judge(texts: list[str]) -> Counter[str]:
    """Transform, compile and run `texts`; return how many programs each option was possible for."""
    seen: Counter[str] = Counter()
    for start in range(0, len(texts), BATCH):
        units: list[Unit] = []
        for number, text in enumerate(texts[start : start + BATCH], start):
            units += transformed(text, f"p{number}", seen)
        wrong = differences(units, level="-O0", seed=start)
        assert not wrong, "\n\n".join(wrong[:3])
    return seen


@pytest.mark.parametrize("part", range(2))
def test_random_programs_compute_the_same_after_every_pass(part: int) -> None:
    texts = random_texts(50, SEED + part)
    seen = judge(texts)
    with_result = len(texts) - seen["fused E0306"]
    assert seen["fused"] > 0.9 * with_result > 0.7 * len(texts)
    assert seen["unfused"] > 0.9 * with_result
    assert seen["outer shift"] >= 5


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_many_random_programs_compute_the_same_after_every_pass(part: int) -> None:
    judge(random_texts(100, SEED + 100 + part))


def reversed_order(text: str, label: str) -> Unit:
    """Return the C of a program whose statements run in nests of their own, the last one first."""
    program = parse_text(text, "program.c")
    scop = normalise(program.scop)
    dims = {
        name: (ScalarDim(-place), *own)
        for place, (name, own) in enumerate(scop.schedule.dims.items())
    }
    turned = scop.with_schedule(Schedule(dims))
    return Unit(label, program.scop, c_program(turned, "reversing"))


def test_a_schedule_that_breaks_dependences_is_noticed() -> None:
    texts = random_texts(30, SEED)
    wrong = differences([reversed_order(text, f"p{n}") for n, text in enumerate(texts)])
    assert len(wrong) >= 5
