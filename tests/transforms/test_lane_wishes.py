"""All loops below one that is pipelined are unrolled, and the program is the one that it was."""

from __future__ import annotations

import pytest

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.scop import LoopNode, Scop, walk_tree
from rtlgen.transforms.lanes import LaneWishes, place_of, unroll
from tests.transforms.test_unroll import results

NESTS = """void f(int a[4][6], int b[4][6], int x[4]) {
  for (int i = 0; i < 4; i++) {
    x[i] ^= 3;
    inner: for (int j = 0; j < 6; j++)
      for (int k = 0; k < 3; k++)
        a[i][j] = a[i][j] * 3 + b[i][k];
  }
  for (int t = 0; t < 4; t++)
    for (int j = 0; j <= t; j++)
      x[t] = x[t] * 5 + b[t][j];
}
"""


def nests() -> Scop:
    return parse_text(NESTS, "program.c").scop


def loops(scop: Scop) -> list[str]:
    return [node.loop.iterator for node in walk_tree(scop.tree) if isinstance(node, LoopNode)]


@pytest.mark.parametrize(
    ("wishes", "left"),
    [
        (LaneWishes(pipeline=("inner",)), ["i", "j", "t", "j"]),
        (LaneWishes(pipeline=("i",)), ["i", "t", "j"]),
        (LaneWishes(pipeline=("2",)), ["i", "j", "t", "j"]),
        (LaneWishes(pipeline=("3",)), ["i", "j", "k", "t", "j"]),
        (LaneWishes(pipeline=("i", "j")), ["i", "t", "j"]),
        (LaneWishes(pipeline=("0",)), []),
        (LaneWishes(pipeline=("f",)), []),
        (LaneWishes(pipelined=frozenset((None,))), []),
        # What is said of one loop comes before what is said of all below another one.
        (LaneWishes({"inner": 2}, ("i",)), ["i", "j", "t", "j"]),
        (LaneWishes({"inner": 1, "k": 1}, ("0",)), ["j", "k"] * 4),
    ],
)
def test_the_loops_below_are_unrolled(wishes: LaneWishes, left: list[str]) -> None:
    scop = unroll(nests(), wishes)
    assert loops(scop) == left
    assert results(scop) == results(nests())


def test_an_option_comes_before_a_mark() -> None:
    outer, inner, *_ = (node.loop for node in walk_tree(nests().tree) if hasattr(node, "loop"))
    marks = {place_of(inner.span): 2}
    scop = unroll(nests(), LaneWishes(marked=marks, pipelined=frozenset([place_of(outer.span)])))
    assert loops(scop) == ["i", "j", "t", "j"]
    scop = unroll(nests(), LaneWishes(pipeline=("i",), marked=marks))
    assert loops(scop) == ["i", "t", "j"]


@pytest.mark.parametrize(
    ("wishes", "code", "remedy"),
    [
        (LaneWishes(pipeline=("4",)), "E0313", "levels go from 1, the outermost loops, to 3"),
        (LaneWishes(pipeline=("x",)), "E0313", "the loops are i, inner, k, t, j; f is the whole"),
        (LaneWishes(pipeline=("t",)), "E0314", "pipeline a loop further in: --pipeline j"),
        (LaneWishes(pipeline=("1",)), "E0314", "pipeline a loop further in: --pipeline j"),
        (LaneWishes(unroll={"t": 2}, pipeline=("0",)), "E0314", "--pipeline j"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(
    wishes: LaneWishes, code: str, remedy: str
) -> None:
    with pytest.raises(RtlgenError) as caught:
        unroll(nests(), wishes)
    assert caught.value.code == code
    assert remedy in str(caught.value.diagnostic.help)


def test_what_a_remedy_says_can_be_done() -> None:
    deeper = NESTS.replace("j <= t; j++)", "j <= t; j++) for (int m = 0; m < j; m++)")
    with pytest.raises(RtlgenError) as caught:
        unroll(parse_text(deeper, "program.c").scop, LaneWishes(pipeline=("t",)))
    name = str(caught.value.diagnostic.help).rpartition(" ")[2]
    scop = unroll(parse_text(deeper, "program.c").scop, LaneWishes(pipeline=(name,)))
    assert "m" in loops(scop)
