"""Statements that run in turns: exact, in the cycles planned, in any loops they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.options import CompileOptions
from tests.end_to_end.judge import Compiled, assert_plan_exact, batch_failures, compiled
from tests.oracles.random_turns import random_turns_program

STRIDED_SKEW = """
void f(int b[3], int c[3])
{
    int flag = 0;
    for (int t = 2; t < 11; t += 3) {
        if (flag)
            for (int i = 0; i < 3; i++) b[i] = b[i] + t;
        else
            for (int i = 0; i < 3; i++) b[i] ^= b[2 - i];
        if (flag)
            for (int i = 0; i < 3; i++) c[i] = c[i > 0 ? i - 1 : 0] + b[i];
        if (flag)
            for (int i = 0; i < 3; i++) c[i] = c[i > 0 ? i - 1 : 0] + b[i];
        flag = !flag;
    }
}
"""
"""In one iteration of its skewed loops the last statements read b, and an earlier one sets it."""


def accepted(seed: int) -> Compiled | None:
    """Compile the program of a seed; None: some data may leave a bound, which is an answer."""
    program = random_turns_program(seed)
    return compiled(program.text, program.options)


def test_statements_of_skewed_loops_stand_in_the_order_of_their_dependences() -> None:
    found = compiled(STRIDED_SKEW, CompileOptions(unroll={"i": 2}))
    assert found is not None
    assert_plan_exact(found)


@pytest.mark.sample("1016")
@pytest.mark.parametrize("first", range(1000, 1020, 4))
def test_plans_compute_what_the_programs_do(first: int) -> None:
    for seed in range(first, first + 4):
        if (found := accepted(seed)) is not None:
            assert_plan_exact(found)


@pytest.mark.long
@pytest.mark.parametrize("first", range(2000, 2200, 10))
def test_many_plans_compute_what_the_programs_do(first: int) -> None:
    for seed in range(first, first + 10):
        if (found := accepted(seed)) is not None:
            assert_plan_exact(found)


@pytest.mark.long
@pytest.mark.simulation
def test_circuits_compute_what_the_programs_do(tmp_path: Path) -> None:
    seeds = range(3000, 3040)
    programs = {seed: found for seed in seeds if (found := accepted(seed)) is not None}
    failures = batch_failures(list(programs.values()), tmp_path)
    assert not any(failures), dict(zip(programs, failures, strict=True))
