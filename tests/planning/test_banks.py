"""Arrays in banks, where that takes less block RAM at the same cycles."""

from __future__ import annotations

import rtlgen
from rtlgen.ir.cycles import predicted_cycles
from tests.docs.blocks import ROOT

STORES = """void f(const int a[4096], int b[4096]) {
  for (int i = 0; i < 4096; i++) b[i] = a[i] * 3;
}
"""


def test_lanes_that_store_side_by_side_do_so_to_banks() -> None:
    """Versions of a whole array, one a lane, would take 40 block RAMs."""
    design = rtlgen.compile(source=STORES, path="f.c", unroll={"i": 4})
    assert predicted_cycles(design.plan) <= 1024 + 8
    assert design.block_rams == 16


def test_banks_that_are_blocks_all_the_same_are_no_gain() -> None:
    """In bits they would be: each of them has a few words, and takes a block."""
    design = rtlgen.compile(ROOT / "tests" / "kernels" / "fir.c", unroll={"n": 4})
    assert design.block_rams == 7
