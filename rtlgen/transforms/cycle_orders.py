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

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.distances import Candidate, required_distances
from rtlgen.transforms.period import Grouping
from rtlgen.transforms.precedence import Precedence, requirements, smallest_shifts

IntArray = NDArray[np.int64]

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
) -> OrderSearch:
    """Return the nests with which the last iteration is issued first, before `limit` if given.

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
    search = _Search(nests, ii, tables, iteration_precedences)
    search.limit = None if limit is None else limit - 1
    search.extend(_Chosen((), (), np.zeros((0, 0), dtype=np.int64)))
    return OrderSearch(search.best, search.nodes <= MAX_NODES)


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """Nests of some of the statements.

    Members
    -------
    names, nests: the statements, and the number of the nest of each.
    paths: longest path of distances between them; NEVER where there is none, 0 to itself.
    """

    names: tuple[str, ...]
    nests: tuple[int, ...]
    paths: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _Options:
    """The possible nests of a statement beside those that are chosen, the earliest end first.

    Members
    -------
    nests, ends: their numbers, and the last issue with each.
    into, out: the longest paths to and from all nests of the statement: (chosen, nests) each.
    """

    nests: Sequence[int]
    ends: Sequence[int]
    into: IntArray
    out: IntArray


def _with(chosen: _Chosen, name: str, nest: int, into: IntArray, out: IntArray) -> _Chosen:
    """Return what is chosen and a nest more, with the longest paths to it and from it."""
    size = len(chosen.names)
    paths = np.zeros((size + 1, size + 1), dtype=np.int64)
    paths[:size, :size] = np.maximum(chosen.paths, into[:, None] + out[None, :])
    paths[:size, size], paths[size, :size] = into, out
    return _Chosen((*chosen.names, name), (*chosen.nests, nest), np.maximum(paths, NEVER))


@dataclass(eq=False)
class _Search:
    """Depth first, the nearest end first.

    Members
    -------
    limit: the latest last issue that is of use.
    """

    nests: Mapping[str, Sequence[Placement]]
    ii: int
    tables: Mapping[tuple[str, str], IntArray]
    iteration_precedences: Sequence[Precedence]
    limit: int | None = None
    best: Grouping | None = None
    nodes: int = 0
    lengths: Mapping[str, IntArray] = field(init=False)

    def __post_init__(self) -> None:
        self.lengths = {
            name: np.array([self.ii * (placed.count - 1) for placed in found], dtype=np.int64)
            for name, found in self.nests.items()
        }

    def extend(self, chosen: _Chosen) -> None:
        """Look for better combinations that have what is chosen."""
        left = [name for name in self.nests if name not in chosen.names]
        keep_going(work=4 * len(chosen.names) * len(left))
        if not left:
            self._finish(chosen)
            return
        self.nodes += 1
        options = {name: self._options(chosen, name) for name in left}
        # The statement with the fewest nests left: a contradiction shows soonest.
        name = min(left, key=lambda n: len(options[n].nests))
        own = options[name]
        for nest, end in zip(own.nests, own.ends, strict=True):
            if self.nodes > MAX_NODES:
                return
            if self.limit is None or end <= self.limit:
                self.extend(_with(chosen, name, nest, own.into[:, nest], own.out[:, nest]))

    def _distances(self, chosen: _Chosen, name: str) -> tuple[IntArray, IntArray]:
        """Return the longest paths to and from the nests of `name`: (chosen, nests) each."""
        shape = len(chosen.names), len(self.nests[name])
        into, out = np.full(shape, NEVER), np.full(shape, NEVER)
        for k, (other, nest) in enumerate(zip(chosen.names, chosen.nests, strict=True)):
            if (other, name) in self.tables:
                into[k] = self.tables[other, name][nest]
            if (name, other) in self.tables:
                out[k] = self.tables[name, other][:, nest]
        if not len(into):
            return into, out
        return (
            (chosen.paths[:, :, None] + into[None, :, :]).max(axis=1),
            (chosen.paths.T[:, :, None] + out[None, :, :]).max(axis=1),
        )

    def _options(self, chosen: _Chosen, name: str) -> _Options:
        """Return what nests of `name` are possible."""
        into, out = self._distances(chosen, name)
        start = np.maximum(0, into.max(axis=0, initial=0))
        ends = start + self.lengths[name]
        possible = ((into + out) <= 0).all(axis=0)
        if chosen.names:
            others = zip(chosen.names, chosen.nests, strict=True)
            lengths = np.array([self.lengths[other][nest] for other, nest in others])
            starts = np.maximum(np.maximum(0, chosen.paths.max(axis=0))[:, None], start + out)
            ends = np.maximum(ends, (starts + lengths[:, None]).max(axis=0))
        if self.limit is not None:
            possible &= ends <= self.limit
        rows = np.flatnonzero(possible)
        changes = np.array([self.nests[name][row].changes for row in rows.tolist()], dtype=np.int64)
        rows = rows[np.lexsort((rows, changes, ends[rows]))]
        return _Options(rows.tolist(), ends[rows].tolist(), into, out)

    def _finish(self, chosen: _Chosen) -> None:
        placed = {
            name: self.nests[name][nest]
            for name, nest in zip(chosen.names, chosen.nests, strict=True)
        }
        ones = dict.fromkeys(placed, 1)
        required = requirements(self.iteration_precedences, placed, ones)
        if smallest_shifts(list(placed), required, {}) is None:
            return
        starts = np.maximum(chosen.paths.max(axis=0), 0).tolist()
        shifts = dict(zip(chosen.names, starts, strict=True))
        names = list(self.nests)
        self.best = Grouping(
            {name: placed[name] for name in names}, self.ii, {name: shifts[name] for name in names}
        )
        self.limit = self.best.last_issue - 1
