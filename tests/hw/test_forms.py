"""Registers that follow affine forms, and guards, agree with their definitions on every point."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rtlgen.hw.forms import (
    Delayed,
    Fixed,
    Follower,
    FormRequest,
    Slices,
    follower,
    realise,
    slice_lows,
)
from rtlgen.hw.predicates import (
    Atom,
    FormIsZero,
    FormNonNegative,
    Guard,
    LevelAtMost,
    LevelIs,
    Literal,
    simplify,
)
from rtlgen.ir.plan import Condition, IndexForm, Predicate

Extents = tuple[int, ...]


@st.composite
def boxes_and_forms(draw: st.DrawFn) -> tuple[Extents, IndexForm]:
    extents = tuple(draw(st.lists(st.integers(2, 5), min_size=1, max_size=3)))
    coefficients = tuple(draw(st.integers(-9, 9)) for _ in extents)
    return extents, IndexForm(coefficients, draw(st.integers(-20, 20)))


def step_code(counters: Extents, extents: Extents) -> int:
    """Return how many of the innermost levels are at their last value."""
    code = 0
    for counter, extent in zip(reversed(counters), reversed(extents), strict=True):
        if counter < extent - 1:
            break
        code += 1
    return code


@given(boxes_and_forms(), st.integers(1, 12))
def test_a_follower_follows_its_form_through_two_runs(
    box: tuple[Extents, IndexForm], width: int
) -> None:
    extents, form = box
    assume(any(coefficient % (1 << width) for coefficient in form.coefficients))
    register = follower(form, width, extents)
    value = register.initial
    for counters in list(product(*map(range, extents))) * 2:
        assert value == form.evaluate(counters) % (1 << width)
        code = step_code(counters, extents)
        if register.advance is not None and code >= register.advance:
            assert register.deltas[code] == register.deltas[-1]
        elif register.advance is not None:
            assert register.deltas[code] == 0
        value = (value + register.deltas[code]) % (1 << width)


@given(boxes_and_forms())
def test_slices_are_the_form_where_they_exist(box: tuple[Extents, IndexForm]) -> None:
    extents, form = box
    lows = slice_lows(form, extents)
    if lows is None:
        return
    for counters in product(*map(range, extents)):
        parts = [form.constant, *(c << low for c, low in zip(counters, lows, strict=True)
                                  if low is not None)]  # fmt: skip
        joined = 0
        for part in parts:
            assert joined & part == 0
            joined |= part
        assert joined == form.evaluate(counters)


def test_power_of_two_arrays_need_no_address_logic_in_stage_0() -> None:
    assert slice_lows(IndexForm((8, 0, 1)), (8, 8, 8)) == (3, None, 0)
    assert slice_lows(IndexForm((9, 0, 1)), (8, 8, 9)) is None
    assert slice_lows(IndexForm((8, 0, 1)), (8, 8, 9)) is None


def test_near_stages_are_delayed_and_far_ones_followed() -> None:
    form = IndexForm((9, 1))
    requests = [FormRequest(form, stage, 7) for stage in (9, 0, 1, 3)]
    how = {value.stage: value.how for value in realise(requests, (9, 9))}
    assert isinstance(how[0], Follower) and isinstance(how[9], Follower)
    assert (how[1], how[3]) == (Delayed(0), Delayed(1))


def test_counters_side_by_side_and_constants_cost_no_register() -> None:
    requests = [FormRequest(IndexForm((4, 1)), 0, 4), FormRequest(IndexForm((0, 0), -1), 5, 3)]
    sliced, fixed = realise(requests, (4, 4))
    assert sliced.how == Slices((2, 0))
    assert fixed.how == Fixed(7)


def test_a_form_whose_moving_bits_are_cut_off_is_fixed() -> None:
    (value,) = realise([FormRequest(IndexForm((8, 16), 5), 4, 3)], (3, 3))
    assert value.how == Fixed(5)


def test_an_address_that_moves_with_one_level_needs_one_enable() -> None:
    """C[i][j] along k advances by one whenever k ends, over the wrap of j as well."""
    assert follower(IndexForm((8, 1, 0)), 6, (8, 8, 8)).advance == 1
    assert follower(IndexForm((8, 0, 1)), 6, (8, 8, 8)).advance is None


def holds(guard: Guard, counters: Extents) -> bool:
    """Evaluate a guard by the definition of its atoms."""

    def atom(a: Atom) -> bool:
        match a:
            case LevelIs(level, value):
                return counters[level] == value
            case LevelAtMost(level, value):
                return counters[level] <= value
            case FormNonNegative(form):
                return form.evaluate(counters) >= 0
            case FormIsZero(form):
                return form.evaluate(counters) == 0

    return any(
        all(atom(literal.atom) == literal.holds for literal in parts)
        for parts in guard.alternatives
    )


@st.composite
def boxes_and_predicates(draw: st.DrawFn) -> tuple[Extents, Predicate]:
    extents = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    coefficients = st.tuples(*(st.integers(-2, 2) for _ in extents))
    forms = st.builds(IndexForm, coefficients, st.integers(-4, 4))
    conditions = st.builds(Condition, forms, st.booleans())
    parts = st.lists(conditions, max_size=3).map(tuple)
    return extents, Predicate(tuple(draw(st.lists(parts, max_size=3))))


@given(boxes_and_predicates())
def test_a_simplified_guard_holds_where_the_predicate_does(
    box: tuple[Extents, Predicate],
) -> None:
    extents, predicate = box
    guard = simplify(predicate, extents)
    for counters in product(*map(range, extents)):
        assert holds(guard, counters) == predicate.holds(counters)


@pytest.mark.parametrize(
    ("form", "equal", "literal"),
    [
        (IndexForm((0, -1), 0), False, Literal(LevelIs(1, 0), True)),
        (IndexForm((0, 1), -1), False, Literal(LevelIs(1, 0), False)),
        (IndexForm((0, 1), -7), False, Literal(LevelIs(1, 7), True)),
        (IndexForm((0, -1), 6), False, Literal(LevelIs(1, 7), False)),
        (IndexForm((0, 3), -7), False, Literal(LevelAtMost(1, 2), False)),
        (IndexForm((0, 2), -6), True, Literal(LevelIs(1, 3), True)),
        (IndexForm((-1, 0), 0), False, Literal(LevelIs(0, 1), False)),
        (IndexForm((1, -1), 0), False, Literal(FormNonNegative(IndexForm((1, -1), 0)), True)),
    ],
    ids=str,
)
def test_conditions_become_the_cheapest_literal(
    form: IndexForm, equal: bool, literal: Literal
) -> None:
    guard = simplify(Predicate(((Condition(form, equal),),)), (2, 8))
    assert guard == Guard(((literal,),))


def test_conditions_that_the_box_decides_disappear() -> None:
    always = Condition(IndexForm((1, 1), 0))
    never = Condition(IndexForm((1, 1), -9))
    odd = Condition(IndexForm((2, 0), -1), equal=True)
    assert simplify(Predicate(((always,),)), (2, 8)).is_true
    assert simplify(Predicate(((always, never), (odd,))), (2, 8)).is_false
