"""Hyperplanes carry every dependence, with the smallest coefficients of their order of loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.nests.hyperplanes import Edges, Hyperplane, diagonals, follow_each_other, hyperplanes

SEIDEL = [(0, 0, 1), (0, 1, -1), (0, 1, 0), (0, 1, 1), (1, -1, -1), (1, -1, 0), (1, 0, -1)]


def edges(distances: Sequence[tuple[int, ...]], lag: int = 3, names: str = "SS") -> Edges:
    return Edges(names[0], names[1], np.array(distances), lag)


def found(given: list[Edges], depth: int) -> dict[tuple[tuple[int, ...], tuple[int, ...]], str]:
    statements = sorted({e.source for e in given} | {e.sink for e in given})
    return {(p.outer, p.coefficients): str(p) for p in hyperplanes(statements, given, depth)}


def test_a_sweep_in_place_has_lamports_hyperplane() -> None:
    planes = found([edges(SEIDEL)], 3)
    assert ((), (4, 2, 1)) in planes
    assert ((0,), (0, 2, 1)) in planes


def test_loops_that_carry_nothing_have_coefficient_zero() -> None:
    planes = found([edges([(0, 1)])], 2)
    assert ((), (0, 1)) in planes


def test_an_order_of_loops_in_which_a_dependence_runs_backward_is_left_out() -> None:
    planes = found([edges([(1, -1)])], 2)
    assert ((0,), (0, 1)) not in planes or ((1,), (1, 0)) not in planes
    assert all(1 not in outer for outer, _ in planes)


def test_the_statements_of_two_sweeps_get_offsets() -> None:
    # a[i] = f(a[i-1], b[i]); b[i] = g(a[i-1], a[i], a[i+1]), in a time loop.
    along = edges([(0, 1)], names="AA")
    there = edges([(0, -1), (0, 0), (0, 1)], names="AB")
    back = edges([(1, 0)], names="BA")
    planes = hyperplanes("AB", [along, there, back], 2)
    (plane,) = [p for p in planes if p.coefficients == (3, 1)]
    assert dict(plane.offsets) == {"A": 0, "B": 2}
    for edge in (along, there, back):
        carried = plane.fronts(edge) >= (edge.distances != 0).any(axis=1)
        assert carried.all()


def test_sweeps_of_an_outer_loop_may_follow_each_other() -> None:
    behind = edges([(0, -1), (0, 0), (0, 1)], names="AB")
    carried, ahead = edges([(1, 0)], names="BA"), edges([(0, 1)], names="BA")
    assert follow_each_other("AB", [behind, carried], (0,))
    # What the outer loop does not carry runs from a statement to one behind it, or not at all.
    assert not follow_each_other("AB", [behind, carried], ())
    assert not follow_each_other("BA", [behind, carried], (0,))
    assert not follow_each_other("AB", [behind, carried, ahead], (0,))


def test_diagonals_are_for_statements_that_may_run_along_them() -> None:
    free = list(diagonals("AB", [], 4))
    assert [(p.outer, p.coefficients, p.rest) for p in free] == [((0,), (0, 1, 1, 1), (1, 2))]
    assert not list(diagonals("AB", [], 3)), "of a plane, they are no shorter than rows"
    forward = edges([(0, 1, 0, 0), (0, 0, 1, 0), (1, -1, 0, 0)], names="AA")
    across = edges([(0, 1, -1, 0)], names="AA")
    assert list(diagonals("AB", [forward], 4)) == free
    assert not list(diagonals("AB", [forward, across], 4))


def test_wavefronts_must_be_as_far_apart_as_the_lag_over_the_wavefronts_between() -> None:
    plane = Hyperplane((), (2, 1), (("S", 0),), (0,))
    assert plane.wavefront_cycles([edges([(0, 1)], lag=7)]) == 7
    assert plane.wavefront_cycles([edges([(1, 0)], lag=7)]) == 4
    assert plane.wavefront_cycles([edges([(1, 0)], lag=7), edges([(0, 1)], lag=5)]) == 5


def test_a_hyperplane_that_does_not_tell_iterations_apart_cannot_exist() -> None:
    with pytest.raises(ValueError, match="does not tell all iterations apart"):
        Hyperplane((), (2, 3), (("S", 0),), (0,))


def test_the_new_loops_are_unimodular() -> None:
    for plane in hyperplanes("S", [edges(SEIDEL)], 3):
        assert abs(round(float(np.linalg.det(plane.matrix())))) == 1


@given(
    st.integers(1, 3).flatmap(
        lambda depth: st.lists(
            st.tuples(*[st.integers(-3, 3)] * depth).filter(lambda d: d > (0,) * depth),
            min_size=1,
            max_size=6,
        )
    )
)
def test_every_hyperplane_carries_what_the_loops_around_do_not(
    distances: list[tuple[int, ...]],
) -> None:
    edge = edges(distances)
    planes = list(hyperplanes("S", [edge], len(distances[0])))
    assert planes, "the order of the program always has one"
    for plane in planes:
        inside = edge.within(plane.outer)
        assert inside is None or plane.fronts(inside).min() >= 1
