"""Partial choices of a search: one row each, and which of them are worth following."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints

MAX_NUMBER = 1 << 62
"""What the numbers that stand for the rows of several columns stay below."""


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Partial choices, in lexicographic order of the candidates chosen.

    Members
    -------
    chosen, starts: (choices, units so far) candidate and start of every unit.
    end, changes: (choices,) of the units so far.
    bound: (choices,) no completion of the choice ends earlier.
    """

    chosen: Ints
    starts: Ints
    end: Ints
    changes: Ints
    bound: Ints

    def __post_init__(self) -> None:
        rows = {len(x) for x in (self.chosen, self.starts, self.end, self.changes, self.bound)}
        if len(rows) != 1 or self.chosen.shape != self.starts.shape:
            raise ValueError("the columns of partial choices have different lengths")

    @staticmethod
    def empty() -> Frontier:
        """Return the one choice of nothing."""
        nothing, zero = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        return Frontier(nothing, nothing, zero, zero, zero)

    def __len__(self) -> int:
        return len(self.end)

    def rows(self, places: Ints) -> Frontier:
        """Return some of the choices, given by ascending place."""
        return Frontier(
            self.chosen[places],
            self.starts[places],
            self.end[places],
            self.changes[places],
            self.bound[places],
        )

    def with_best_bounds(self, number: int) -> Frontier:
        """Return the `number` choices that promise most."""
        if len(self) <= number:
            return self
        merit = np.lexsort((self.changes, self.end, self.bound))
        return self.rows(np.sort(merit[:number]))

    def first(self) -> int:
        """Return the place of the choice that ends first, of those with the fewest changes."""
        return int(np.lexsort((self.changes, self.end))[0])


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """The choices of a frontier, each with some candidates of the next unit.

    Members
    -------
    parents: place of the choice before. candidates, starts: of the unit that is new.
    end, changes, bound: of the grown choice.
    moved: the starts of all units, where the new one moved those before it.
    """

    before: Frontier
    parents: Ints
    candidates: Ints
    starts: Ints
    end: Ints
    changes: Ints
    bound: Ints
    moved: Ints | None = None

    def undominated(self, open_units: Sequence[int], *, fewest_changes: bool) -> Frontier:
        """Return the choices that no other one beats in all that later units can see.

        Parameters
        ----------
        open_units: the units on which later ones depend.
        fewest_changes: whether the number of changes counts.
        """
        chosen = [self._chosen(unit) for unit in open_units]
        columns = [self.end, *(self._starts(unit) for unit in open_units)]
        if fewest_changes:
            columns.append(self.changes)
        groups = packed(chosen, len(self.parents))
        # What beats a choice in every column comes before it in lexicographic order.
        preference = np.lexsort(packed([*groups, *columns, self.changes], len(self.parents))[::-1])
        kept = _pareto(groups, columns, preference)
        return self._frontier(np.sort(kept))

    def _chosen(self, unit: int) -> Ints:
        if unit == self.before.chosen.shape[1]:
            return self.candidates
        result: Ints = self.before.chosen[self.parents, unit]
        return result

    def _starts(self, unit: int) -> Ints:
        if self.moved is not None:
            result: Ints = self.moved[:, unit]
            return result
        if unit == self.before.starts.shape[1]:
            return self.starts
        result = self.before.starts[self.parents, unit]
        return result

    def _frontier(self, rows: Ints) -> Frontier:
        parents = self.parents[rows]
        chosen = np.column_stack([self.before.chosen[parents], self.candidates[rows]])
        if self.moved is not None:
            starts = self.moved[rows]
        else:
            starts = np.column_stack([self.before.starts[parents], self.starts[rows]])
        return Frontier(chosen, starts, self.end[rows], self.changes[rows], self.bound[rows])


def packed(columns: Sequence[Ints], rows: int) -> list[Ints]:
    """Return fewer columns, at least one, whose rows compare as those of `columns` do."""
    found, room = [np.zeros(rows, dtype=np.int64)], MAX_NUMBER
    for column in columns:
        low, high = (int(column.min()), int(column.max())) if rows else (0, 0)
        size = high - low + 1
        if size > room:
            found.append(np.zeros(rows, dtype=np.int64))
            room = MAX_NUMBER
        found[-1] = found[-1] * size + (column - low)
        room //= size
    return found


def _pareto(groups: Sequence[Ints], measures: Sequence[Ints], preference: Ints) -> Ints:
    """Return the rows that no preferred row of their group equals or beats in every measure.

    Parameters
    ----------
    measures: of every row, the smaller the better.
    preference: the rows, group after group.
    """
    kept = []
    left = preference
    while len(left):
        keep_going(work=len(left) * len(measures) // 16)
        is_head = np.zeros(len(left), dtype=np.bool_)
        is_head[0] = True
        for column in groups:
            own = column[left]
            is_head[1:] |= own[1:] != own[:-1]
        heads = left[is_head]
        kept.append(heads)
        rival = heads[np.cumsum(is_head) - 1]
        beaten = np.ones(len(left), dtype=np.bool_)
        for measure in measures:
            beaten &= measure[rival] <= measure[left]
        left = left[~beaten]
    return np.concatenate(kept) if kept else preference
