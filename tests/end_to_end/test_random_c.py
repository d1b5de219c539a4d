"""Random C programs of many features, under random options: exact, or refused for a reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.options import CompileOptions
from tests.oracles.gcc_oracle import have_gcc
from tests.oracles.random_c.campaign import circuit_failures, verdicts
from tests.oracles.random_c.draft import ELEMENT_TYPES, FEATURES, Draft
from tests.oracles.random_c.judging import judge, judge_program
from tests.oracles.random_c.program import Program, random_program

SAMPLE = range(6)
"""Seeds that every run judges; what the others have found has a test of its own."""

FLOATS = (3, 39, 57, 93, 145, 151)
"""Seeds of programs in floating point that are accepted."""

FIRST, MANY, CHUNK = 1_000, 2_000, 100
CIRCUITS = 20
"""Programs in one model of circuits, and chunks of so many of them."""

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


@pytest.mark.parametrize("seeds", [SAMPLE[:2], pytest.param(SAMPLE, marks=pytest.mark.long)])
def test_random_programs_of_a_sample_are_exact_or_refused_for_a_reason(seeds: range) -> None:
    seen: Counter[str] = Counter()
    for seed in seeds:
        verdict, _ = judge(seed)
        assert verdict.outcome in ("exact", "refused"), f"{verdict}\n{random_program(seed).text}"
        seen[verdict.outcome] += 1
    assert seen["exact"] >= len(seeds) // 2


@pytest.mark.parametrize(
    "seed", [*FLOATS[:2], *(pytest.param(s, marks=pytest.mark.long) for s in FLOATS[2:])]
)
def test_random_programs_in_floating_point_are_exact(seed: int) -> None:
    text = random_program(seed).text
    assert any(f"{type_} k{seed}" in text for type_ in ELEMENT_TYPES)
    assert judge(seed)[0].outcome == "exact"


@pytest.mark.long
@pytest.mark.simulation
def test_circuits_of_random_programs_in_floating_point_are_exact(tmp_path: Path) -> None:
    failures = circuit_failures(FLOATS[:1], tmp_path)
    assert len(failures) == 1
    assert not any(failures.values()), failures


def test_a_seed_is_a_program_and_every_feature_is_drawn() -> None:
    assert random_program(7) == random_program(7) != random_program(8)
    drafts = [Draft.from_seed(seed) for seed in range(40)]
    for feature in FEATURES:
        assert {d.rates[feature] > 0.2 for d in drafts} == {False, True}, feature


def test_a_program_that_is_read_wrongly_is_noticed() -> None:
    text = "void k(int a[N]) { for (int i = 0; i < N; i++) a[i] += 1; }"
    program = Program(0, text, "k", {"N": "4"})
    verdict, accepted = judge_program(program, CompileOptions(defines=program.defines))
    assert verdict.outcome == "exact" and accepted is not None
    # gcc gets a loop that is one iteration shorter than the compiler's.
    other = replace(program, defines={"N": "3"})
    verdict, _ = judge_program(other, CompileOptions(defines=program.defines))
    assert verdict.outcome == "wrong" and "gcc" in verdict.details


@pytest.mark.long
@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY, CHUNK))
def test_many_random_programs_are_exact_or_refused_for_a_reason(first: int) -> None:
    for verdict in verdicts(range(first, first + CHUNK)):
        assert verdict.outcome in ("exact", "refused"), verdict


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("first", range(FIRST, FIRST + 400, CIRCUITS))
def test_circuits_of_many_random_programs_are_exact(first: int, tmp_path: Path) -> None:
    failures = circuit_failures(range(first, first + CIRCUITS), tmp_path)
    assert failures
    assert not any(failures.values()), failures
