"""Random programs with constant tables, on chip and off: exact, in the cycles planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.judge import Compiled, assert_plan_exact, batch_failures, compiled
from tests.oracles.random_tables.program import random_table_program


def accepted(seed: int, *, off_chip: bool = False) -> Compiled:
    """Compile the program of a seed, which is not to be refused."""
    program = random_table_program(seed, off_chip=off_chip)
    found = compiled(program.text, program.options)
    assert found is not None, program.text
    return found


@pytest.mark.sample("1018")
@pytest.mark.parametrize("first", range(1000, 1024, 6))
def test_plans_compute_what_the_programs_do(first: int) -> None:
    for seed in range(first, first + 6):
        assert_plan_exact(accepted(seed))


@pytest.mark.simulation
@pytest.mark.parametrize("count", [1, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("off_chip", [False, True], ids=["on chip", "off chip"])
@pytest.mark.sample("on chip-1")
def test_circuits_compute_what_the_programs_do(off_chip: bool, count: int, tmp_path: Path) -> None:
    seeds = range(2000, 2000 + count)
    programs = [accepted(seed, off_chip=off_chip) for seed in seeds]
    failures = batch_failures(programs, tmp_path)
    assert not any(failures), dict(zip(seeds, failures, strict=True))


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("off_chip", [False, True], ids=["on chip", "off chip"])
@pytest.mark.parametrize("first", range(3000, 3150, 15))
def test_many_circuits_compute_what_the_programs_do(
    first: int, off_chip: bool, tmp_path: Path
) -> None:
    seeds = range(first, first + 15)
    programs = [accepted(seed, off_chip=off_chip) for seed in seeds]
    failures = batch_failures(programs, tmp_path)
    assert not any(failures), dict(zip(seeds, failures, strict=True))
