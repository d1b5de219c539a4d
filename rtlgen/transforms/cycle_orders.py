"""Give statements that depend on each other in a cycle any loop orders and pads that suit.

Such statements need not run through the same loops: it is enough that all their dependences hold
at once. Here every one of them is free to take any of its nests, and of all combinations for which
there are shifts the shortest is taken.

Rewrite
-------
    for q { for p { sum[p] = 0;                  ->   S0: [q<8, p<8, pad@0<8] + 0
                    for s  sum[p] += a[q][s]; }       S1: [q<8, p<8, s<8]     + 0
            for p  a[q][p] = sum[p]; }                S2: [q<8, pad@7<8, p<8] + 0

S2 runs one column after another in the last eight iterations of a row: behind the sums that it
reads, and before the next row begins to write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.distances import Candidate, required_distances
from rtlgen.transforms.period import LAST_ISSUE, Ending, Grouping
from rtlgen.transforms.precedence import Precedence, requirements, smallest_shifts

BoolArray = NDArray[np.bool_]

MAX_TABLE = 1_000_000
"""Pairs of nests of two statements whose distance is computed."""

MAX_NODES = 5_000
"""Partial choices that are extended."""

NEVER = -(10**12)
"""A distance that asks for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderSearch:
    """The best combination of nests that was found, if any.

    Members
    -------
    exhausted: whether no combination was left out.
    """

    best: Grouping | None
    exhausted: bool


def best_orders(
    nests: Mapping[str, Sequence[Placement]],
    precedences: Sequence[Precedence],
    iteration_precedences: Sequence[Precedence],
    ii: int,
    limit: int | None,
    ending: Ending = LAST_ISSUE,
) -> OrderSearch:
    """Return the nests with which the last statement ends first, before `limit` if given.

    Parameters
    ----------
    nests: by statement, those that keep its precedences with itself at `ii`, the preferred first.
    precedences: between the statements, in the unit of time of the result's shifts.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    """
    candidates = {
        name: [Candidate({name: placed}, ii, {name: 0}, 0, placed.changes) for placed in found]
        for name, found in nests.items()
    }
    sizes = sorted((len(found) for found in candidates.values()), reverse=True)
    if not sizes[-1]:
        return OrderSearch(None, exhausted=True)
    if len(sizes) > 1 and sizes[0] * sizes[1] > MAX_TABLE:
        return OrderSearch(None, exhausted=False)
    names = list(candidates)
    tables = {
        (names[a], names[b]): table
        for (a, b), table in required_distances(list(candidates.values()), precedences).items()
    }
    search = _Search(nests, ii, tables, iteration_precedences, ending)
    search.limit = None if limit is None else limit - 1
    search.run()
    return OrderSearch(search.best, search.nodes <= MAX_NODES)


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """Nests of some of the statements.

    Members
    -------
    names, nests: the statements, and the column of the nest of each.
    into, out: longest paths of distances from and to each of them, to and from the nests of all
        statements; NEVER where there is none: (chosen, columns) each.
    """

    names: tuple[str, ...]
    nests: tuple[int, ...]
    into: Ints
    out: Ints


def _with(chosen: _Chosen, name: str, nest: int, into: Ints, out: Ints) -> _Chosen:
    """Return what is chosen and a nest more, with the longest paths that lead through it.

    Parameters
    ----------
    into, out: (columns,) the distances to and from all nests that the new one itself asks for.
    """
    before, after = chosen.into[:, nest, None], chosen.out[:, nest, None]
    # From the new nest on, also by way of one that was chosen before; and to it.
    into = np.maximum(into, (after + chosen.into).max(axis=0, initial=NEVER))
    out = np.maximum(out, (before + chosen.out).max(axis=0, initial=NEVER))
    return _Chosen(
        (*chosen.names, name),
        (*chosen.nests, nest),
        np.vstack([np.maximum(chosen.into, before + into), into]),
        np.vstack([np.maximum(chosen.out, after + out), out]),
    )


@dataclass(eq=False)
class _Search:
    """Depth first, the nearest end first.

    The nests of all statements are columns, those of one statement next to each other.

    Members
    -------
    limit: the latest end that is of use.
    """

    nests: Mapping[str, Sequence[Placement]]
    ii: int
    tables: Mapping[tuple[str, str], Ints]
    iteration_precedences: Sequence[Precedence]
    ending: Ending
    limit: int | None = None
    best: Grouping | None = None
    nodes: int = 0
    columns: Sequence[Placement] = field(init=False)
    first: Mapping[str, int] = field(init=False)
    lengths: Ints = field(init=False)
    changes: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.columns = [placed for found in self.nests.values() for placed in found]
        before = accumulate((len(found) for found in self.nests.values()), initial=0)
        self.first = dict(zip(self.nests, before, strict=False))
        spans = [
            self.ending.span(name, placed, self.ii)
            for name, found in self.nests.items()
            for placed in found
        ]
        self.lengths = np.array(spans, dtype=np.int64)
        self.changes = np.array([placed.changes for placed in self.columns], dtype=np.int64)

    def run(self) -> None:
        """Look for the best combination."""
        none = np.zeros((0, len(self.columns)), dtype=np.int64)
        self._extend(_Chosen((), (), none, none))

    def _extend(self, chosen: _Chosen) -> None:
        """Look for better combinations that have what is chosen."""
        left = [name for name in self.nests if name not in chosen.names]
        keep_going(work=4 * len(chosen.names) * len(left))
        if not left:
            self._finish(chosen)
            return
        self.nodes += 1
        ends, possible = self._options(chosen)
        found = {name: np.flatnonzero(possible[self._own(name)]) for name in left}
        # The statement with the fewest nests left: a contradiction shows soonest.
        name = min(left, key=lambda n: len(found[n]))
        nests = found[name] + self.first[name]
        nests = nests[np.lexsort((nests, self.changes[nests], ends[nests]))]
        for nest, end in zip(nests.tolist(), ends[nests].tolist(), strict=True):
            if self.nodes > MAX_NODES:
                return
            if self.limit is None or end <= self.limit:
                self._extend(_with(chosen, name, nest, *self._distances(name, nest)))

    def _own(self, name: str) -> slice:
        """Return the columns of the nests of a statement."""
        return slice(self.first[name], self.first[name] + len(self.nests[name]))

    def _distances(self, name: str, nest: int) -> tuple[Ints, Ints]:
        """Return the distances to and from all nests that one nest asks for."""
        into, out = np.full((2, len(self.columns)), NEVER)
        own = nest - self.first[name]
        for other in self.nests:
            if (name, other) in self.tables:
                into[self._own(other)] = self.tables[name, other][own]
            if (other, name) in self.tables:
                out[self._own(other)] = self.tables[other, name][:, own]
        return into, out

    def _options(self, chosen: _Chosen) -> tuple[Ints, BoolArray]:
        """Return the end with each nest beside those chosen, and which are possible."""
        into, out, nests = chosen.into, chosen.out, list(chosen.nests)
        start = into.max(axis=0, initial=0)
        earliest = start[nests, None]
        ends = self.lengths[nests, None] + np.maximum(earliest, start + out)
        ends = np.maximum(start + self.lengths, ends.max(axis=0, initial=0))
        possible: BoolArray = np.all(into + out <= 0, axis=0)
        if self.limit is not None:
            possible = possible & (ends <= self.limit)
        return ends, possible

    def _finish(self, chosen: _Chosen) -> None:
        chosen_nests = list(chosen.nests)
        placed = dict(zip(chosen.names, (self.columns[n] for n in chosen_nests), strict=True))
        ones = dict.fromkeys(placed, 1)
        required = requirements(self.iteration_precedences, placed, ones)
        if smallest_shifts(list(placed), required, {}) is None:
            return
        starts = chosen.into[:, chosen_nests].max(axis=0, initial=0).tolist()
        shifts = dict(zip(chosen.names, starts, strict=True))
        names = list(self.nests)
        self.best = Grouping(
            {name: placed[name] for name in names}, self.ii, {name: shifts[name] for name in names}
        )
        self.limit = self.ending.of(self.best) - 1
