"""Random C programs: refused for a stated reason, or exact in every bit and cycle."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.end_to_end.judge import assert_plan_exact, compiled, simulation_failures
from tests.end_to_end.programs import programs
from tests.simulators import needs_icarus

SEED = 20261122
ANY_TIME = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


def test_plans_of_random_programs_are_exact() -> None:
    seen: Counter[str] = Counter()

    @seed(SEED)
    @settings(ANY_TIME, max_examples=60)
    @given(programs())
    def judge(text: str) -> None:
        seen["programs"] += 1
        seen["down"] += "-= " in text and ">= " in text
        seen["if"] += "if (" in text
        seen["nested"] += "    for (" in text
        seen["global"] += text.index("f(") > text.index(";")
        seen["return"] += "return" in text
        seen["64 bits"] += "long" in text
        accepted = compiled(text)
        if accepted is not None:
            seen["accepted"] += 1
            assert_plan_exact(accepted)

    judge()
    assert seen["accepted"] > 0.9 * seen["programs"]
    for kind in ("down", "if", "nested", "global", "return", "64 bits"):
        assert seen[kind] >= 5, f"the strategy hardly draws {kind}: {seen}"


@pytest.mark.long
@seed(SEED + 1)
@settings(ANY_TIME, max_examples=1000)
@given(programs())
def test_plans_of_many_random_programs_are_exact(text: str) -> None:
    accepted = compiled(text)
    if accepted is not None:
        assert_plan_exact(accepted)


def simulated(text: str) -> list[str]:
    accepted = compiled(text)
    if accepted is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        return simulation_failures(accepted.plan, accepted.program, Path(folder), "icarus")


@needs_icarus
@pytest.mark.simulation
@seed(SEED + 2)
@settings(ANY_TIME, max_examples=20)
@given(programs())
def test_circuits_of_random_programs_are_exact(text: str) -> None:
    assert simulated(text) == [], text


@needs_icarus
@pytest.mark.simulation
@pytest.mark.long
@seed(SEED + 3)
@settings(ANY_TIME, max_examples=300)
@given(programs())
def test_circuits_of_many_random_programs_are_exact(text: str) -> None:
    assert simulated(text) == [], text
