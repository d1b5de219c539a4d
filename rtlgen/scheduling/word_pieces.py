"""Words in simple shapes, around those that are needed: a comparison a side of each piece.

What tiles read from off chip is often in several places, such as the first sweep of a stencil and
the borders of all others. One shape around all of it would be nearly everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import combinations

import islpy as isl

from rtlgen.ir.plan import Condition, Predicate
from rtlgen.ir.sets import attempt, for_each
from rtlgen.scheduling.predicates import predicate_within

PIECE_OPERATIONS = 50_000
"""isl operations that it may take to tell the words of a piece, or to join two."""

MOST_PIECES = 16
"""Pieces of a set of words that are joined two by two; of more, all are at once."""


class Pieces:
    """Words in pieces without holes, of which two by two are joined to one around both.

    Parameters
    ----------
    words: [tile, word], as `there` and `box`, which have all words and all counters.
    most: conditions that may tell them. will_do: whether some words can be moved.
    """

    def __init__(
        self,
        words: isl.Set,
        there: isl.Set,
        box: isl.Set,
        most: int,
        will_do: Callable[[isl.Set], bool],
    ) -> None:
        self.there, self.box, self.most, self.will_do = there, box, most, will_do
        self.context = words.get_ctx()
        basics = for_each(words.foreach_basic_set)
        # A hole that a quotient makes is filled.
        self.pieces = [basic.remove_divs() for basic in basics]
        if len(basics) > MOST_PIECES:
            self.pieces = [_common(words)]
        self.told = list(map(self._told, self.pieces))
        self.around = {
            pair: self._around(*pair) for pair in combinations(range(len(self.pieces)), 2)
        }

    def joined(self) -> Iterator[Predicate]:
        """Yield predicates for the words in fewer and fewer pieces.

        Those are joined first that have the most in common.
        """
        left = list(range(len(self.pieces)))
        while True:
            found = self._of([self.told[k] for k in left])
            if found is not None and self._will_do([self.pieces[k] for k in left]):
                yield found
            pairs = ((pair, self.around[pair]) for pair in combinations(left, 2))
            choices = [(pair, around) for pair, around in pairs if around is not None]
            if not choices:
                return
            pair, around = min(choices, key=lambda choice: _looseness(choice[1]))
            left = [k for k in left if k not in pair]
            new = len(self.pieces)
            self.pieces.append(around)
            self.told.append(self._told(around))
            self.around.update({(k, new): self._around(k, new) for k in left})
            left.append(new)

    def _of(self, told: Sequence[Predicate | None]) -> Predicate | None:
        """Return the predicate that one of some holds, if it can be built."""
        alternatives: list[tuple[Condition, ...]] = []
        for when in told:
            if when is None:
                return None
            alternatives += when.alternatives
        few = sum(map(len, alternatives)) <= self.most
        return Predicate(tuple(alternatives)) if few else None

    def _told(self, piece: isl.BasicSet) -> Predicate | None:
        words = isl.Set.from_basic_set(piece)
        return attempt(
            self.context,
            PIECE_OPERATIONS,
            lambda: predicate_within(self.there.intersect(words), self.box, self.most),
        )

    def _around(self, first: int, second: int) -> isl.BasicSet | None:
        both = self.pieces[first].union(self.pieces[second])
        return attempt(self.context, PIECE_OPERATIONS, lambda: _common(both))

    def _will_do(self, pieces: Sequence[isl.BasicSet]) -> bool:
        words = reduce(isl.Set.union, map(isl.Set.from_basic_set, pieces)).intersect(self.there)
        found = attempt(self.context, PIECE_OPERATIONS, lambda: self.will_do(words))
        return found is True


def _common(words: isl.Set) -> isl.BasicSet:
    """Return the constraints that all words keep to, of those that some have."""
    return words.simple_hull().remove_divs()


def _looseness(piece: isl.BasicSet) -> tuple[int, int]:
    """Return how little ties a piece down: few equations, then few constraints."""
    constraints = for_each(piece.foreach_constraint)
    equations = sum(1 for constraint in constraints if constraint.is_equality())
    return -equations, -len(constraints)
