"""Forms of counters, and what they become in others."""

from __future__ import annotations

from rtlgen.ir.levels import IndexForm


def test_forms_take_the_place_of_counters() -> None:
    assert IndexForm((2, 5), 1).substitute([IndexForm((1, 0, 4), 3)]) == IndexForm((2, 0, 8), 7)


def test_a_form_of_no_counters_stays_what_it_is() -> None:
    # As the place of a variable that is no array.
    assert IndexForm((), 3).substitute([]) == IndexForm((), 3)
