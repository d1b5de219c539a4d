"""Stores of several statements to one array are kept apart while the search is choosing."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.memories import store_slots
from rtlgen.memories.store_slots import StoreSlots
from rtlgen.nests.distances import Candidate
from rtlgen.nests.search import Choice, Choices, Settle, best_choice
from rtlgen.options import CompileOptions
from rtlgen.planning.planned import timing_of
from rtlgen.scheduling import space as space_module
from rtlgen.scheduling.space import Space

Ints = NDArray[np.int64]

# Two statements that store to different places of one array, and one that stores to some of both.
OVERLAPPING = """void f(int a[4][6], int x[4][12]) {
  for (int i = 0; i < 4; i++) for (int j = 0; j < 6; j++) x[i][j] = a[i][j];
  for (int i = 0; i < 4; i++) for (int j = 0; j < 6; j++) x[i][j + 6] = a[3 - i][j] * 3;
  for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++) x[i][2 * j] += a[i][j];
}"""

# The first statement hands all its values to the second.
HANDED = """void f(int a[8], int b[8], int x[8]) {
  for (int i = 0; i < 8; i++) x[i] = a[i] * 5;
  for (int i = 0; i < 8; i++) x[i] = x[i] + b[i];
}"""


def spaces(text: str) -> Space:
    compilation = compile_program(parse_text(text), CompileOptions())
    return Space(timing_of(compilation.analysis, compilation.target), compilation.analysis.scop)


def slots_of(space: Space) -> tuple[StoreSlots, list[list[Candidate]]]:
    nests = [space._candidates(u, 40, space.cycles, with_latency=True) for u in space.timing.units]
    return StoreSlots(space.timing, nests, space.cycles), nests


def rows(values: list[tuple[int, ...]]) -> Ints:
    return np.array(values, dtype=np.int64)


def store_cycles(slots: StoreSlots, unit: int, chosen: int, start: int) -> set[int]:
    (name,) = slots._units[unit][chosen].placements
    return {
        start + cycle
        for bank in slots._store_cycles(unit, chosen, name).values()
        for cycle in bank.tolist()
    }


@pytest.mark.parametrize("at_once", [False, True])
def test_a_unit_starts_as_early_as_its_stores_meet_none_before_them(
    monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    slots, nests = slots_of(spaces(OVERLAPPING))
    choices = [
        (chosen, starts, candidate, earliest)
        for chosen in product(*(range(len(unit)) for unit in nests[:2]))
        for starts in ((0, 3), (0, 24), (5, 1))
        for candidate in range(len(nests[2]))
        for earliest in (0, 9, 60)
    ]
    chosen, starts, candidates, earliest = zip(*choices, strict=True)
    if at_once:
        # After so many rounds, all that are before it are avoided at once.
        monkeypatch.setattr(store_slots, "MAX_ROUNDS", 0)
        monkeypatch.setattr(store_slots, "MAX_ALONE", len(choices))
    found = slots.settle(
        rows(list(chosen)), rows(list(starts)), np.array(candidates), np.array(earliest), None
    )
    moved = 0
    for (before, begun, candidate, first), settled in zip(choices, found.tolist(), strict=True):
        taken = set[int]().union(
            *(store_cycles(slots, n, before[n], begun[n]) for n in range(len(before)))
        )
        free = (
            start
            for start in range(first, 200)
            if not taken & store_cycles(slots, 2, candidate, start)
        )
        assert settled == [*begun, next(free)]
        moved += settled[-1] > first
    assert 0 < moved < len(choices)


@given(st.sets(st.integers(0, 40), min_size=1), st.sets(st.integers(3, 60), min_size=1))
def test_the_distances_at_which_stores_meet_are_found_in_runs(a: set[int], b: set[int]) -> None:
    met = {x - y for x in a for y in b}
    firsts, lasts = store_slots._differences(np.array(sorted(a)), np.array(sorted(b)))
    assert set().union(*(range(f, n + 1) for f, n in zip(firsts, lasts, strict=True))) == met
    assert (firsts[1:] > lasts[:-1] + 1).all()


def test_a_unit_whose_values_are_all_handed_on_waits_for_the_one_that_takes_them() -> None:
    slots, nests = slots_of(spaces(HANDED))
    last = [len(unit) - 1 for unit in nests]
    chosen, starts = rows([(0,), (last[0],)]), rows([(0,), (0,)])
    late = np.array([30, 30])
    found = slots.settle(chosen, starts, np.array([0, last[1]]), late, None)
    # Just in time, not as early as possible; and the taker is not moved.
    assert found[:, 1].tolist() == [30, 30]
    assert (found[:, 0] > 0).all()
    assert slots.least_end() < 16


def test_what_is_too_late_need_not_be_settled() -> None:
    slots, _ = slots_of(spaces(OVERLAPPING))
    chosen, starts = rows([(0, 0)]), rows([(0, 24)])
    first = np.array([0])
    (free,) = slots.settle(chosen, starts, first, first, None)[:, -1].tolist()
    (early,) = slots.settle(chosen, starts, first, first, np.array([free]))[:, -1].tolist()
    (late,) = slots.settle(chosen, starts, first, first, np.array([free - 1]))[:, -1].tolist()
    assert early == free
    assert late >= free


@pytest.mark.parametrize("text", [OVERLAPPING, HANDED])
def test_no_choice_ends_before_all_values_can_have_been_stored(text: str) -> None:
    space = spaces(text)
    slots, nests = slots_of(space)
    choice = best_choice(nests, space.cycles, slots.settle)
    assert choice is not None
    assert slots.least_end() <= choice.end


def test_an_end_before_all_values_can_have_been_stored_is_not_searched_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Parts of uneven lengths: no cut into banks keeps them apart.
    ends = [0, 31, 68, 97, 138, 161, 192]
    copies = " ".join(
        f"for (int i = {a}; i < {b}; i++) x[i] = a[i] + {a};" for a, b in pairwise(ends)
    )
    space = spaces(f"void f(int a[192], int x[192]) {{ {copies} }}")
    limits: list[int | None] = []

    class Recorded(Choices):
        def best(
            self,
            settle: Settle | None = None,
            limit: int | None = None,
            *,
            fewest_changes: bool = True,
        ) -> Choice | None:
            if settle is not None:
                limits.append(limit)
            return super().best(settle, limit, fewest_changes=fewest_changes)

    monkeypatch.setattr(space_module, "Choices", Recorded)
    assert space.fastest.end >= ends[-1]
    assert limits == [None]
