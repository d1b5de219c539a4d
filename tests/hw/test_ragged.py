"""Nests whose bounds depend on outer counters, against isl's own enumeration of the domain."""

from __future__ import annotations

import pytest

from rtlgen.hw.ragged import Add, Jump, Nest, RaggedOdometer, moves, nest_of
from rtlgen.ir.plan import IndexForm
from tests.hw.nests import cases, issued, levels_of


def nests() -> list[tuple[str, tuple[int, ...]]]:
    """Return the shapes and orders whose bounds are neither quotients nor maxima."""
    return [case for case in cases() if nest_of(levels_of(*case)[0]) is not None]


def ragged(name: str, order: tuple[int, ...]) -> tuple[Nest, list[tuple[int, ...]]]:
    levels, points = levels_of(name, order)
    nest = nest_of(levels)
    assert nest is not None
    return nest, points


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(("name", "order"), nests())
def test_counts_through_the_domain_as_isl_enumerates_it(name: str, order: tuple[int, ...]) -> None:
    nest, points = ragged(name, order)
    assert issued(RaggedOdometer(nest, 1), runs=2) == points * 2


def test_quotients_and_maxima_are_left_to_others() -> None:
    assert nest_of(levels_of("quotients", (0, 1))[0]) is None
    assert nest_of(levels_of("hexagon", (0, 1))[0]) is None
    assert nest_of(levels_of("capped triangle", (0, 1))[0]) is not None


@pytest.mark.parametrize("ii", [2, 3])
def test_issues_every_ii_cycles(ii: int) -> None:
    nest, points = ragged("tetrahedron", (0, 1, 2))
    assert issued(RaggedOdometer(nest, ii)) == points


def test_a_form_of_outer_counters_does_not_move_with_inner_ones() -> None:
    nest, _ = ragged("tetrahedron", (0, 1, 2))
    assert moves(IndexForm((3, 0, 0), 1), nest)[:2] == (Add(0), Add(0))


def test_a_form_of_an_inner_counter_jumps_to_its_value_at_the_lower_bound() -> None:
    zero = (0, 0)
    triangle = Nest(
        (4, 4),
        (IndexForm(zero), IndexForm((1, 0))),
        ((IndexForm(zero, 3),), (IndexForm(zero, 3),)),
        (0, 0),
    )
    # for i<4, j=i..3: when i advances, 10*i + j becomes 10*(i + 1) + (i + 1).
    assert moves(IndexForm((10, 1)), triangle) == (
        Add(1),
        Jump(IndexForm((11, 0), 11)),
        Jump(IndexForm(zero)),
    )


def test_a_wrong_bound_is_noticed() -> None:
    nest, points = ragged("triangle", (0, 1))
    (first, (upper,)) = nest.uppers
    wrong = Nest(
        nest.extents,
        nest.lowers,
        (first, (IndexForm(upper.coefficients, upper.constant + 1),)),
        nest.at_least,
    )
    assert issued(RaggedOdometer(wrong, 1)) != points
