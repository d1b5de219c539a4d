"""How many dimensions the pieces of a relation tie together."""

from __future__ import annotations

import islpy as isl
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import dataflow
from rtlgen.poly.factors import widest_factor
from rtlgen.transforms.normalise import normalise


@pytest.mark.parametrize(
    ("text", "widest"),
    [
        ("{ [i, j, k] : 0 <= i < 4 and j = k and 0 <= j < 3 }", 2),
        ("{ [i, j] : 0 <= i < 4 and 0 <= j < 5 }", 1),
        # A division ties what it is of.
        ("{ [i, j, k] : 0 <= i, j, k < 4 and (i + j) % 3 = 0 }", 2),
        ("{ [] : }", 0),
    ],
)
def test_constraints_tie_dimensions_together(text: str, widest: int) -> None:
    (piece,) = isl.Set(text).get_basic_sets()
    assert widest_factor(piece) == widest


def flows_of(text: str) -> list[int]:
    """Return the widest factor of each flow of a program."""
    flows = dataflow(ScopSets(normalise(parse_text(text).scop))).flows
    return [
        max(widest_factor(piece) for piece in flow.relation.wrap().get_basic_sets())
        for flow in flows
    ]


def test_flows_are_joined_where_they_stay_as_simple() -> None:
    loops = "".join(f"for (int {i} = 0; {i} < 2; {i}++) " for i in "abcde")
    deep = f"int f(const int x[1]) {{ int s = 0; {loops} s += x[0]; return s; }}"
    assert max(flows_of(deep)) <= 2
