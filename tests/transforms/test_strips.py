"""Loops in strips: the program stays the same, whatever its loops look like."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Loop, LoopNode, Scop, walk_tree
from rtlgen.transforms.strips import in_strips
from rtlgen.verify.golden import run_golden

PROGRAM = """
void f(const int a[40], int y[40][9], int z[40])
{{
  for ({header}) {{
    z[i] = a[i] + 3;
    for (int j = 0; j < {inner}; j++)
      y[i][j] = y[i][j] * a[i] + z[i] - j;
  }}
}}
"""

HEADERS = ["int i = 0; i < 24; i++", "int i = 5; i < 29; i += 2", "int i = 35; i >= 12; i -= 3"]


def loops(scop: Scop) -> list[Loop]:
    return [node.loop for node in walk_tree(scop.tree) if isinstance(node, LoopNode)]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("inner", ["9", "i / 4"])
def test_a_program_in_strips_computes_the_same_in_the_same_order(header: str, inner: str) -> None:
    scop = parse_text(PROGRAM.format(header=header, inner=inner)).scop
    outer = next(loop for loop in loops(scop) if loop.iterator == "i")
    cut = in_strips(scop, {outer.span: 4})
    assert [loop.iterator for loop in loops(cut)][:2] == ["i_strip", "i"]
    rng = np.random.default_rng(1)
    shapes = {"a": (40,), "y": (40, 9), "z": (40,)}
    data = {n: rng.integers(-9, 9, shape, dtype=np.int32) for n, shape in shapes.items()}
    wanted = run_golden(scop, data, engine="interpreter")
    found = run_golden(cut, data, engine="interpreter")
    for name in ("y", "z"):
        assert np.array_equal(found.arrays[name], wanted.arrays[name]), name


def test_what_is_no_multiple_of_a_strip_stays_as_it_is() -> None:
    scop = parse_text(PROGRAM.format(header=HEADERS[0], inner="9")).scop
    outer = next(loop for loop in loops(scop) if loop.iterator == "i")
    for size in (1, 5, 24, 48):
        assert loops(in_strips(scop, {outer.span: size})) == loops(scop)
    assert loops(in_strips(scop, {outer.span: 12})) != loops(scop)


def test_an_instance_has_its_name_in_the_program() -> None:
    scop = parse_text(PROGRAM.format(header=HEADERS[1], inner="9")).scop
    outer = next(loop for loop in loops(scop) if loop.iterator == "i")
    cut = in_strips(scop, {outer.span: 6})
    assert cut.statements[1].instance_text((1, 2, 8)) == "S1(21,8)"
