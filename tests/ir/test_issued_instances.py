"""What streams issue are the instances of the program, each in its one iteration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.issued_instances import instances_of, issued_instances
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from tests.judges.toy_plans import toy
from tests.poly.sources import SMALL, analysed, points_of

GUARDED = {
    "chessboard": """void f(int a[5][5]) {
      for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++)
        if ((i + 2 * j) % 3 == 1) a[i][j] = 4; }""",
    "band": """void f(int a[6][6]) {
      for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++)
        if (i - j <= 1 && j - i < 2 && i + j > 3) a[i][j] = i; }""",
    "third": """void f(int a[9]) { for (int i = 1; 3 * i < 20; i++) a[i] = i; }""",
}


@pytest.mark.parametrize("name", [*SMALL, *GUARDED])
def test_iterations_outside_of_the_program_are_padding(name: str) -> None:
    assert_padded(analysed({**SMALL, **GUARDED}[name]).scop)


@pytest.mark.parametrize("name", GUARDED)
def test_iterations_that_a_condition_leaves_out_are_padding(name: str) -> None:
    # As written: normalising makes bounds of conditions.
    assert_padded(parse_text(GUARDED[name], "program.c").scop)


def assert_padded(scop: Scop) -> None:
    domains = ScopSets(scop).domains
    for statement in scop.statements:
        own = points_of(domains[statement.name])
        if not statement.iterators:
            continue
        # A box two wider than the domain, and around it a loop in whose iteration max(i, 2) it is.
        columns = list(zip(*own, strict=True))
        loops = [
            NestLoop(iterator, max(values) - min(values) + 3, min(values) - 1)
            for iterator, values in zip(statement.iterators, columns, strict=True)
        ]
        first = Affine.variable(statement.iterators[0])
        pad = NestLoop(None, 12, pad="p", pinned=(first, Affine((), 2)))
        ranges = [range(loop.extent) for loop in (pad, *loops)]
        counters = np.array(list(product(*ranges)), dtype=np.int64)
        real, points = instances_of(statement, [pad, *loops], counters)
        assert sorted(map(tuple, points.tolist())) == sorted(own)
        assert counters[real][:, 0].tolist() == [max(p[0], 2) for p in points.tolist()]


def test_an_access_is_inside_where_every_subscript_is() -> None:
    given = toy(
        "void f(int a[3][4], int b[6][6]) {"
        " for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++)"
        " b[i][j] = i > 0 && i < 4 && j > 0 && j < 5 ? a[i - 1][j - 1] : 7; }"
    )
    ((member,),) = issued_instances(given.plan, given.scop, given.scop.schedule, given.placed)
    (access,) = member.statement.reads
    expected = [0 < i < 4 and 0 < j < 5 for i, j in member.points.tolist()]
    assert member.inside(access, (3, 4)).tolist() == expected
    assert sum(expected) == 12


def test_program_order_goes_through_all_statements() -> None:
    given = toy(
        "void f(int a[3], int b[3]) { for (int i = 0; i < 3; i++) { a[i] = i; b[i] = a[2 - i]; } }"
    )
    regions = issued_instances(given.plan, given.scop, given.scop.schedule, given.placed)
    members = [member for members in regions for member in members]
    order = sorted((m, member.statement.name) for member in members for m in member.moments)
    assert order == [(n, f"S{n % 2}") for n in range(6)]
    tokens = sorted(token for member in members for token in member.tokens.tolist())
    assert tokens == list(range(6))
