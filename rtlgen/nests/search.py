"""The search over loop orders and pads: partial choices, the best of them first.

Partial choices of a search: one row each, and which of them are worth following.

The search over loop orders and pads that makes the fused loop shortest.

Every unit (a statement, or a cycle of statements with their common period) has a list of
candidates. The shifts follow from the choice: they are the longest paths through the required
distances. Units are taken in topological order, and of all partial choices only those are kept that
no other one beats in every respect that a later unit can see: same candidates for the units with
dependences still to come, no larger shift for any of them, no later end. That is exact (dynamic
programming over the frontier of the dependence graph), so the result is the optimum over the
candidates. A narrow search first finds an end to beat, and lower bounds cut off what cannot beat
it. Where more partial choices remain than can be followed, those with the best bounds are, and the
result says that it is not proven.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.nests.candidates import Placement
from rtlgen.nests.distances import Candidate, KnownDistances, least_tails, required_distances
from rtlgen.nests.precedence import Precedence

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


MAX_STATES = 4_000
"""Partial choices followed at a time."""

FIRST_STATES = 50
"""Partial choices followed by the narrow search that comes first."""

MAX_EXTENSIONS = 4_000_000
"""Partial choices made in one run; programs with many statements get a narrower search."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The best choice found.

    Members
    -------
    candidates: one a unit; starts: shift of every unit; end: time after the last instance.
    proven: no other choice among the candidates ends earlier.
    """

    candidates: tuple[Candidate, ...]
    starts: tuple[int, ...]
    end: int
    proven: bool

    @property
    def placements(self) -> dict[str, Placement]:
        return {name: p for c in self.candidates for name, p in c.placements.items()}

    @property
    def shifts(self) -> dict[str, int]:
        return {
            name: start + shift
            for c, start in zip(self.candidates, self.starts, strict=True)
            for name, shift in c.shifts.items()
        }

    @property
    def iis(self) -> dict[str, int]:
        return {name: c.ii for c in self.candidates for name in c.placements}


class Settle(Protocol):
    """Moves units later where they would collide over a resource."""

    def __call__(
        self,
        chosen: Ints,
        starts: Ints,
        candidates: Ints,
        earliest: Ints,
        latest: Ints | None,
    ) -> Ints:
        """Return (choices, units + 1) starts, the last one past `latest` where nothing before fits.

        Parameters
        ----------
        chosen, starts: (choices, units) candidates so far, and their starts.
        candidates, earliest: (choices,) of the unit that is new.
        latest: (choices,) the latest starts of use, or None.
        """
        ...


def best_choice(
    units: Sequence[Sequence[Candidate]],
    precedences: Sequence[Precedence],
    settle: Settle | None = None,
    limit: int | None = None,
    *,
    known: KnownDistances | None = None,
    fewest_changes: bool = True,
) -> Choice | None:
    """Return the choice with the earliest end; see `Choices`."""
    choices = Choices(units, precedences, known)
    return choices.best(settle, limit, fewest_changes=fewest_changes)


class Choices:
    """All choices of one candidate a unit, to be searched under one condition after another.

    Parameters
    ----------
    units: the candidates of every unit, in an order in which precedences point forward.
    precedences: between statements of different units; others are ignored.
    known: distances that other searches have asked for.
    """

    def __init__(
        self,
        units: Sequence[Sequence[Candidate]],
        precedences: Sequence[Precedence],
        known: KnownDistances | None = None,
    ) -> None:
        self._units = units
        self._distances = required_distances(units, precedences, known)
        self._tails = least_tails(units, self._distances)

    def best(
        self,
        settle: Settle | None = None,
        limit: int | None = None,
        *,
        fewest_changes: bool = True,
    ) -> Choice | None:
        """Return the choice with the earliest end, and among those the fewest changes.

        None: no choice that was followed ends by `limit`.

        Parameters
        ----------
        settle: moves units later where they would collide over a resource. With it the choice is
            no longer proven to be the best: another move might have been shorter.
        limit: what ends later is not pursued.
        fewest_changes: without it, any choice with the earliest end will do, which is found sooner.
        """
        search = _Search(self._units, self._distances, self._tails, settle)
        return _best(search, limit, fewest_changes=fewest_changes)


def _best(search: _Search, limit: int | None, *, fewest_changes: bool) -> Choice | None:
    settle = search.settle
    best, exhausted = search.run(FIRST_STATES, limit)
    if not exhausted and fewest_changes:
        wide, exhausted = search.run(search.width, limit if best is None else best.end)
        best = wide or best
    while not exhausted and settle is None and best is not None:
        shorter, exhausted = search.run(search.width, best.end - 1, fewest_changes=False)
        if shorter is None:
            break
        best = shorter
    return None if best is None else replace(best, proven=exhausted and settle is None)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """One search problem, to be run with different limits.

    Members
    -------
    distances: for dependent units a and b, the required start_b - start_a of all candidates.
    tails: for every unit, the least time from the start of each candidate to the end of everything.
    """

    units: Sequence[Sequence[Candidate]]
    distances: Mapping[tuple[int, int], Ints]
    tails: Sequence[Ints]
    settle: Settle | None

    @property
    def width(self) -> int:
        """How many partial choices may be followed."""
        return max(FIRST_STATES, min(MAX_STATES, MAX_EXTENSIONS // sum(map(len, self.units))))

    def run(
        self, width: int, limit: int | None, *, fewest_changes: bool = True
    ) -> tuple[Choice | None, bool]:
        """Return the best choice that ends by `limit`, and whether no choice was left out.

        Parameters
        ----------
        fewest_changes: among choices with one end, find that with the fewest changes; without it
            fewer partial choices have to be followed.
        """
        last_use: dict[int, int] = {}
        for a, b in self.distances:
            last_use[a] = max(b, last_use.get(a, b))
        frontier = Frontier.empty()
        exhausted = True
        for number in range(len(self.units)):
            keep_going(work=len(frontier) * len(self.units[number]) // 16)
            open_units = [u for u in range(number + 1) if last_use.get(u, -1) > number]
            grown = self._grown(frontier, number, limit)
            frontier = grown.undominated(open_units, fewest_changes=fewest_changes)
            exhausted = exhausted and len(frontier) <= width
            frontier = frontier.with_best_bounds(width)
        if not len(frontier):
            return None, exhausted
        best = frontier.first()
        chosen = frontier.chosen[best].tolist()
        candidates = tuple(unit[k] for unit, k in zip(self.units, chosen, strict=True))
        starts = tuple(frontier.starts[best].tolist())
        return Choice(candidates, starts, int(frontier.end[best]), proven=False), exhausted

    def _grown(self, before: Frontier, number: int, limit: int | None) -> Growth:
        """Return all choices with all candidates of the next unit that may end by `limit`."""
        candidates, tails = self.units[number], self.tails[number]
        earliest = np.zeros((len(before), len(candidates)), dtype=np.int64)
        for unit in range(number):
            if (unit, number) in self.distances:
                table = self.distances[unit, number]
                after = table[before.chosen[:, unit]] + before.starts[:, unit, None]
                np.maximum(earliest, after, out=earliest)
        bounds = np.maximum(earliest + tails, before.bound[:, None])
        possible = np.ones_like(bounds, dtype=np.bool_) if limit is None else bounds <= limit
        parents, chosen = np.nonzero(possible)
        growth = _growth(
            before, parents, chosen, earliest[possible], bounds[possible], candidates, None
        )
        return growth if self.settle is None else self._settled(growth, self.settle, limit)

    def _settled(self, free: Growth, settle: Settle, limit: int | None) -> Growth:
        """Return the choices with their units moved to where no resource is used twice."""
        tails = self.tails[free.before.chosen.shape[1]]
        moved = settle(
            free.before.chosen[free.parents],
            free.before.starts[free.parents],
            free.candidates,
            free.starts,
            None if limit is None else limit - tails[free.candidates],
        )
        bounds = np.maximum(free.bound, moved[:, -1] + tails[free.candidates])
        fits = np.flatnonzero(bounds <= limit) if limit is not None else np.arange(len(bounds))
        return _growth(
            free.before,
            free.parents[fits],
            free.candidates[fits],
            moved[fits, -1],
            bounds[fits],
            self.units[moved.shape[1] - 1],
            moved[fits],
        )


def _growth(
    before: Frontier,
    parents: Ints,
    chosen: Ints,
    starts: Ints,
    bounds: Ints,
    candidates: Sequence[Candidate],
    moved: Ints | None,
) -> Growth:
    lengths = np.array([c.length for c in candidates], dtype=np.int64)
    changes = np.array([c.changes for c in candidates], dtype=np.int64)
    return Growth(
        before,
        parents,
        chosen,
        starts,
        end=np.maximum(before.end[parents], starts + lengths[chosen]),
        changes=before.changes[parents] + changes[chosen],
        bound=bounds,
        moved=moved,
    )
