"""Hyperplanes that carry the dependences of statements in one nest, from their distances.

A hyperplane is an affine form h of the loops of a nest, with an offset for each statement. It
carries a dependence if h grows along it: all instances with one value of h, a *wavefront*, are then
independent of each other. Its coefficients are found from the innermost loop outwards, each the
smallest one with which the dependences inside of the outer loops are carried: of all hyperplanes
that may be built up in this order of the loops it has the fewest wavefronts.

Reference: Lamport, "The parallel execution of DO loops", CACM 17(2), 1974.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.nests.precedence import smallest_shifts, strongest

MAX_PERMUTED = 4
"""Loops of which all orders are tried; of deeper nests the outermost ones keep theirs."""

MAX_COEFFICIENT = 1 << 20
"""Of a loop in a hyperplane: where it is larger, nothing runs side by side any more."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The pairs of one dependence.

    Members
    -------
    distances: (n, loops) of sink from source, each once; lag: cycles that must lie between.
    """

    source: str
    sink: str
    distances: Ints
    lag: int

    def within(self, outer: Sequence[int]) -> Edges | None:
        """Return those inside one iteration of the loops `outer`, if there are any."""
        inside = (self.distances[:, list(outer)] == 0).all(axis=1)
        if not inside.any():
            return None
        return replace(self, distances=self.distances[inside])


@dataclass(frozen=True, slots=True)
class Hyperplane:
    """Wavefronts inside of some loops of a nest.

    Members
    -------
    outer: the loops around, outermost first; rest: the loops inside of a wavefront.
    coefficients: of the hyperplane, one for each loop of the nest; offsets: by statement.
    """

    outer: tuple[int, ...]
    coefficients: tuple[int, ...]
    offsets: tuple[tuple[str, int], ...]
    rest: tuple[int, ...]

    def __post_init__(self) -> None:
        dropped = set(range(len(self.coefficients))) - {*self.outer, *self.rest}
        if len(dropped) != 1 or abs(self.coefficients[dropped.pop()]) != 1:
            raise ValueError(f"{self} does not tell all iterations apart")

    def matrix(self) -> Ints:
        """Return the (loops, loops) unimodular matrix of the new loops, without the offsets."""
        depth = len(self.coefficients)
        unit = np.eye(depth, dtype=np.int64)
        front = np.array([self.coefficients], dtype=np.int64)
        return np.concatenate([unit[list(self.outer)], front, unit[list(self.rest)]])

    @property
    def is_permutation(self) -> bool:
        """Whether it only puts the loops into another order."""
        return sum(map(abs, self.coefficients)) == 1 and not any(o for _, o in self.offsets)

    def fronts(self, edges: Edges) -> Ints:
        """Return by how many wavefronts the sink of every distance comes after its source."""
        offsets = dict(self.offsets)
        between: Ints = edges.distances @ np.array(self.coefficients)
        return between + (offsets[edges.sink] - offsets[edges.source])

    def wavefront_cycles(self, edges: Sequence[Edges]) -> int:
        """Return the least cycles from one wavefront to the next at which no result is waited for.

        A statement may issue a constant time after another one.
        """
        inside = [e for edge in edges if (e := edge.within(self.outer)) is not None]
        low, high = 0, max((e.lag for e in inside), default=0)
        high = max(1, high) * max(1, len(self.offsets))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._suffices(middle, inside) else (middle, high)
        return high

    def _suffices(self, cycles: int, inside: Sequence[Edges]) -> bool:
        required = strongest(
            ((e.source, e.sink), e.lag - cycles * int(self.fronts(e).min())) for e in inside
        )
        return smallest_shifts([name for name, _ in self.offsets], required, {}) is not None


def hyperplanes(
    statements: Sequence[str], edges: Sequence[Edges], depth: int
) -> Iterator[Hyperplane]:
    """Yield hyperplanes inside of every possible set of outer loops, each once.

    Each carries all dependences that the outer loops do not carry, but for those of statements that
    follow each other in one and the same iteration.
    """
    seen = set()
    for order in _orders(depth):
        for around in range(depth):
            outer = order[:around]
            if not _forward(edges, outer):
                break
            found = _smallest(statements, edges, order, around)
            if found is None:
                continue
            coefficients, offsets = found
            ones = [d for d in range(depth) if abs(coefficients[d]) == 1]
            if not ones or (outer, coefficients) in seen:
                continue
            seen.add((outer, coefficients))
            rest = tuple(d for d in range(depth) if d not in outer and d != ones[-1])
            yield Hyperplane(outer, coefficients, tuple(offsets.items()), rest)


def diagonals(
    statements: Sequence[str], edges: Sequence[Edges], depth: int
) -> Iterator[Hyperplane]:
    """Yield the sums of all loops inside of outer ones that carry all dependences.

    What reads all neighbours of an element, in whatever loop, is along such wavefronts as few
    iterations behind what writes them as can be: rows of a plane, or planes, are longer.
    """
    for around in range(1, depth - 2):
        coefficients = (*(0 for _ in range(around)), *(1 for _ in range(around, depth)))
        rest = tuple(range(around, depth - 1))
        plane = Hyperplane(
            tuple(range(around)), coefficients, tuple((name, 0) for name in statements), rest
        )
        inside = [e for edge in edges if (e := edge.within(plane.outer)) is not None]
        if all((plane.fronts(edge) > 0).all() for edge in inside):
            yield plane


def follow_each_other(
    statements: Sequence[str], edges: Sequence[Edges], outer: Sequence[int]
) -> bool:
    """Tell whether statements may run one after another inside of the loops `outer`."""
    places = {name: place for place, name in enumerate(statements)}
    return _forward(edges, outer) and all(
        places[edge.source] <= places[edge.sink] for edge in edges if edge.within(outer) is not None
    )


def _orders(depth: int) -> Iterator[tuple[int, ...]]:
    fixed = max(0, depth - MAX_PERMUTED)
    for inner in permutations(range(fixed, depth)):
        yield (*range(fixed), *inner)


def _forward(edges: Sequence[Edges], outer: Sequence[int]) -> bool:
    """Tell whether no dependence runs backward in the loops `outer`."""
    for edge in edges:
        leading = np.zeros(len(edge.distances), dtype=np.int64)
        for dim in outer:
            leading = np.where(leading == 0, edge.distances[:, dim], leading)
        if leading.size and leading.min() < 0:
            return False
    return True


def _smallest(
    statements: Sequence[str], edges: Sequence[Edges], order: Sequence[int], around: int
) -> tuple[tuple[int, ...], dict[str, int]] | None:
    """Return the coefficients and offsets of a hyperplane inside of the first `around` loops."""
    coefficients = np.zeros(len(order), dtype=np.int64)
    offsets: dict[str, int] | None = dict.fromkeys(statements, 0)
    for place in reversed(range(around, len(order))):
        inside = [e for edge in edges if (e := edge.within(order[:place])) is not None]
        low, high = -1, 0
        while True:
            coefficients[order[place]] = high
            offsets = _carrying(statements, inside, coefficients)
            if offsets is not None:
                break
            low, high = high, max(1, 2 * high)
            if high > MAX_COEFFICIENT:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            coefficients[order[place]] = middle
            found = _carrying(statements, inside, coefficients)
            if found is None:
                low = middle
            else:
                high, offsets = middle, found
        coefficients[order[place]] = high
    assert offsets is not None, "the loop ends with offsets"
    return tuple(coefficients.tolist()), offsets


def _carrying(
    statements: Sequence[str], edges: Sequence[Edges], coefficients: Ints
) -> dict[str, int] | None:
    """Return offsets with which the hyperplane carries all edges, or None."""

    def least(e: Edges) -> int:
        # Within one iteration statements follow each other as in the program.
        needed = (e.distances != 0).any(axis=1).astype(np.int64)
        return int((needed - e.distances @ coefficients).max())

    required = strongest(((e.source, e.sink), least(e)) for e in edges)
    return smallest_shifts(statements, required, {})
