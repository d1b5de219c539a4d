"""Accesses that use a port in the same cycle.

Where the elements of an array with several versions are between runs.
"""

from __future__ import annotations

import islpy as isl
import pytest

from rtlgen.ir.sets import operations
from rtlgen.memories.ports import MAX_BANK_WRITE_PORTS, Busy
from rtlgen.options import CompileOptions
from tests.judges.test_replay import compiled


def test_pairs_of_accesses_are_steps_of_their_own() -> None:
    context = isl.Context()

    def busy(number: int) -> Busy:
        text = f"{{ [c, b] : exists k : c = 3 k + {number} and 0 <= c < 3000 and 0 <= b < 4 }}"
        return Busy(isl.Set.read_from_str(context, text), (f"S{number}", 0), instances)

    instances = isl.Set.read_from_str(context, "{ S[i] : 0 <= i < 1000 }")
    first, second, third = busy(0), busy(1), busy(3)
    with operations(context, 2_000):
        # All of these together take isl more operations than one step may.
        for _ in range(500):
            assert not first.meets(second) and first.meets(third)


HALVES = """
void f(int a[64], const int b[64]) {
  for (int t = 0; t < %d; t++)
    for (int i = 0; i < 32; i++) {
      a[i] += b[i];
      a[i + 32] -= b[i];
    }
}
"""


def in_parts(count: int) -> str:
    """Return a loop over 64 elements in several parts, which no remainders tell apart."""
    size = 64 // count
    body = " ".join(f"a[i + {k * size}] += b[i + {k * size}];" for k in range(count))
    return f"void f(int a[64], int b[64]) {{ for (int i = 0; i < {size}; i++) {{ {body} }} }}"


def test_too_few_write_ports_are_the_reason_that_is_given() -> None:
    sixteen = compiled(in_parts(16), CompileOptions())
    assert [bound.text() for bound in sixteen.bounds] == [
        "a: S0 S1 S2 .. S15 (line 1) store 64 times through its one write port, "
        "in as many cycles;\n  each port more is a copy of the whole array, 8 are the most"
    ]
    assert compiled(in_parts(8), CompileOptions()).bounds == ()


def test_what_is_not_replayed_is_counted() -> None:
    assert compiled(HALVES % 3, CompileOptions()).unproven == ()
    many = compiled(HALVES % 1_000_000, CompileOptions())
    assert many.unproven == ("not replayed: 32,000,000 iterations",)


def test_homes_are_the_same_however_many_instances_there_are() -> None:
    few, many = (
        compiled(HALVES % times, CompileOptions()).plan.memory("a") for times in (3, 1_000_000)
    )
    assert few.write_ports == 2
    assert few.homes == many.homes == (0,) * 32 + (1,) * 32


SWEEPS = """
void sweeps(int a[12][12], int b[12][12]) {
  for (int t = 0; t < 6; t++) {
    for (int i = 1; i < 11; i++)
      for (int j = 1; j < 11; j++)
        if (i + j > t)
          b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) >> 2;
        else
          b[i][j] = a[i][j];
    for (int i = 1; i < 11; i++)
      for (int j = 1; j < 11; j++)
        a[i][j] = b[i][j];
  }
}
"""


@pytest.mark.long
def test_banks_that_would_save_copies_need_not_have_versions_enough() -> None:
    """With a in banks, more of its stores would meet than a bank has write ports."""
    found = compiled(SWEEPS, CompileOptions(unroll={"t": 8, "i": 2}))
    assert found.replayed
    assert max(memory.write_ports for memory in found.plan.memories) <= MAX_BANK_WRITE_PORTS
