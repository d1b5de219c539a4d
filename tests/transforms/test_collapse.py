"""Short rows as one: the same elements of arrays with fewer dimensions."""

from __future__ import annotations

import itertools

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Access, Scop
from rtlgen.transforms.storage import collapse_short_rows
from tests.tiling.programs import NINE, PIXELS, parsed

LOOKED_UP = """
void f(const unsigned char x[8], const unsigned char t[8][4][2], unsigned char y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = t[i][x[i] & 3][1];
}
"""

TABLE = """
void f(unsigned char y[8][2]) {
  static const unsigned char t[2][2] = {{1, 2}, {3, 4}};
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 2; j++)
      y[i][j] = t[j][j];
}
"""


def shapes(scop: Scop) -> dict[str, tuple[int, ...]]:
    return {array.name: array.shape for array in scop.arrays if array.shape}


def element(access: Access, shape: tuple[int, ...], values: dict[str, int]) -> int:
    """Return the row-major number of the element of an instance."""
    number = 0
    for subscript, extent in zip(access.affine, shape, strict=True):
        number = number * extent + subscript.constant
        number += sum(c * values[name] for name, c in subscript.terms)
    return number


@pytest.mark.parametrize(
    ("row_bits", "weights"),
    [(23, (4, 3, 3)), (24, (4, 9)), (512, (4, 9))],
)
def test_rows_that_are_short_are_one(row_bits: int, weights: tuple[int, ...]) -> None:
    found = shapes(collapse_short_rows(parsed(NINE, 100).scop, row_bits, frozenset()))
    assert found["w"] == weights and found["x"] == (100, 100) and found["y"] == (4, 100, 100)


@pytest.mark.parametrize("text", [NINE, PIXELS])
@pytest.mark.parametrize("row_bits", [32, 64, 256])
def test_every_instance_touches_the_same_elements(text: str, row_bits: int) -> None:
    scop = parsed(text, 6).scop
    other = collapse_short_rows(scop, row_bits, frozenset())
    before, after = shapes(scop), shapes(other)
    assert before != after
    for old, new in zip(scop.statements, other.statements, strict=True):
        for values in itertools.product(range(4), repeat=len(old.iterators)):
            point = dict(zip(old.iterators, values, strict=True))
            for one, two in zip((old.write, *old.reads), (new.write, *new.reads), strict=True):
                if before.get(one.array):
                    assert element(one, before[one.array], point) == element(
                        two, after[two.array], point
                    )


def test_what_is_kept_looked_up_or_a_table_stays_as_it_is() -> None:
    scop = parsed(PIXELS, 6).scop
    assert collapse_short_rows(scop, 64, frozenset(shapes(scop))) is scop
    found = shapes(collapse_short_rows(scop, 24, frozenset({"seen"})))
    assert found["seen"] == (6, 6, 3) and found["mirrored"] == (6, 18)
    for text, name in ((LOOKED_UP, "t"), (TABLE, "t")):
        scop = parse_text(text, "program.c").scop
        assert shapes(collapse_short_rows(scop, 64, frozenset()))[name] == shapes(scop)[name]


def test_subscripts_are_one_row_major_sum() -> None:
    other = collapse_short_rows(parsed(PIXELS, 6).scop, 24, frozenset())
    (write,) = {s.write for s in other.statements if s.write.array == "mirrored"}
    i, j, k = (Affine.variable(name) for name in other.statements[-1].iterators)
    assert write.affine == (i, j * 3 + k)
