"""The chain of latencies, on programs whose chains are known."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from tests.oracles.latency_chain import latency_chain, statement_steps


def chain(text: str) -> tuple[int, int, int]:
    """Return the chain, the statement steps, and the cycles of the plan."""
    program = parse_text(text, "chain.c")
    plan = compile_program(program, CompileOptions()).plan
    return latency_chain(program.scop, plan), statement_steps(program.scop), predicted_cycles(plan)


def test_independent_instances_are_as_long_as_one() -> None:
    # Two cycles to read, one to add, one to store.
    text = "void f(int a[8]) { for (int i = 0; i < 8; i++) a[i] += 1; }"
    assert chain(text) == (4, 8, 11)


def test_a_recurrence_adds_up_its_latencies() -> None:
    # A product takes two cycles, and each waits for the one before it.
    text = "void f(int a[8], int c) { for (int i = 1; i < 8; i++) a[i] = a[i - 1] * c; }"
    found, steps, cycles = chain(text)
    assert (found, steps) == (2 + 7 * 2 + 1, 7)
    assert cycles >= found


@pytest.mark.parametrize("size", [3, 6])
def test_a_sweep_has_a_chain_across_its_wavefronts(size: int) -> None:
    text = f"""void f(int a[{size}][{size}]) {{
      for (int i = 1; i < {size}; i++)
        for (int j = 1; j < {size}; j++)
          a[i][j] = a[i][j - 1] * a[i - 1][j]; }}"""
    found, steps, cycles = chain(text)
    assert found == 2 + 2 * (2 * (size - 1) - 1) + 1
    assert steps == (size - 1) ** 2
    assert cycles >= found
