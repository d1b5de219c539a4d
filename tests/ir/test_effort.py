"""Effort is shared by pieces of work so that each has some."""

from __future__ import annotations

import pytest

from rtlgen.ir.effort import (
    MAX_WORK,
    STEP_WORK,
    TURN_WORK,
    Reserve,
    TooComplex,
    Turns,
    advising,
    counted_effort,
    keep_going,
    limited_effort,
    more_effort,
)


def test_a_reserve_is_there_whatever_was_used_up_before() -> None:
    reserve = Reserve(10_000)
    with pytest.raises(TooComplex), limited_effort():
        keep_going(work=MAX_WORK)
    with limited_effort():
        with reserve.spent():
            keep_going(work=6_000)
        with pytest.raises(TooComplex), reserve.spent():
            keep_going(work=6_000)
        # What was taken from the reserve was not taken from the rest.
        keep_going(work=MAX_WORK - 2 * STEP_WORK)


def test_what_stays_for_later_is_not_spent() -> None:
    reserve = Reserve(10_000)
    with pytest.raises(TooComplex), reserve.spent(but=5_000):
        keep_going(work=6_000)
    with reserve.spent():
        keep_going(work=3_000)


def test_of_few_turns_the_first_may_take_most() -> None:
    turns = Turns(2)
    with turns.next():
        keep_going(work=MAX_WORK - TURN_WORK - STEP_WORK)
    with turns.next():
        keep_going(work=TURN_WORK - STEP_WORK)


@pytest.mark.parametrize("count", [1, 5, 30])
def test_no_turn_leaves_the_others_less_than_theirs(count: int) -> None:
    turns = Turns(2 * count)
    for _ in range(count):
        with pytest.raises(TooComplex), turns.next():
            keep_going(work=10 * MAX_WORK)
        with turns.next():
            keep_going(work=TURN_WORK - STEP_WORK)


def test_all_steps_are_counted_whatever_pays_for_them() -> None:
    with counted_effort() as effort, limited_effort():
        keep_going(work=500)
        with more_effort():
            keep_going(work=600)
        with pytest.raises(TooComplex):
            keep_going(work=MAX_WORK)
    keep_going(work=700)
    assert effort.steps == 500 + 600 + MAX_WORK + 3 * STEP_WORK


def test_an_advice_that_takes_too_long_is_not_given_and_leaves_enough() -> None:
    found: list[str] = []
    with limited_effort():
        with advising():
            keep_going(work=1_000)
            found.append("known")
        with advising():
            keep_going(work=MAX_WORK)
            found.append("unknown")
        keep_going(work=MAX_WORK - 2 * TURN_WORK)
    assert found == ["known"]


def test_the_error_names_what_gave_up_and_nothing_else() -> None:
    with pytest.raises(TooComplex) as named, limited_effort("its loops"):
        with limited_effort("its subscripts"):
            keep_going()
        with limited_effort():
            keep_going(work=MAX_WORK)
    assert named.value.diagnostic.notes[1:] == ("what gave up is the analysis of its loops",)
    with pytest.raises(TooComplex) as unnamed, limited_effort():
        keep_going(work=MAX_WORK)
    assert len(unnamed.value.diagnostic.notes) == 1


def test_what_is_given_so_many_steps_ends_with_them_however_it_counts_itself() -> None:
    with counted_effort() as outer:
        with (
            pytest.raises(TooComplex),
            counted_effort(most=1000) as effort,
            counted_effort() as inner,
            more_effort(),
        ):
            keep_going(work=800 - STEP_WORK)
            keep_going(work=800 - STEP_WORK)
        assert effort.is_over and effort.steps == inner.steps == 1600
        assert outer.steps == 1600 and not outer.is_over
