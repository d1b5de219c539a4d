"""The nests that a statement by itself may run in: orders of its loops, and pads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Scop
from rtlgen.scheduling.lags import Timing
from rtlgen.transforms.candidates import Bounding, Placement, padded_once, placements
from rtlgen.transforms.period import self_distances
from rtlgen.transforms.precedence import Precedence
from rtlgen.transforms.ragged import ragged_loops

MANY_STATEMENTS = 24
"""With more of them, a statement gets a single pad, to run in step with some statement nearby."""

NEARBY = 3
"""Dependences between a statement and one that it may be made to run in step with."""


class OwnNests:
    """Nests of single statements that keep the order of each statement's own dependences.

    The loops of the statements `in_order` stay in the order of `boxed`.
    """

    def __init__(
        self,
        timing: Timing,
        boxed: Scop,
        iterations: Sequence[Precedence],
        in_order: frozenset[str],
    ) -> None:
        self._timing = timing
        self._boxed = boxed
        self._iterations = iterations
        self._in_order = in_order
        loops = {s.name: boxed.schedule.loops(s.name) for s in boxed.statements}
        self._extents = [loop.extent for own in loops.values() for loop in own]
        self._depth = max(map(len, loops.values()))
        self._counts = {name: prod(x.extent for x in own) for name, own in loops.items()}
        self._found: dict[tuple[str, int], list[Placement]] = {}

    @property
    def is_free(self) -> bool:
        """Whether every pad up to the depth of the deepest nest is tried."""
        return len(self._boxed.statements) <= MANY_STATEMENTS

    def of(self, name: str, largest: int | None) -> list[Placement]:
        """Return the nests of a statement, padded up to a number of iterations; None: unpadded."""
        key = name, largest or 0
        if key not in self._found:
            self._found[key] = self._nests(name, largest or 0)
        return self._found[key]

    def _nests(self, name: str, most: int) -> list[Placement]:
        if most == 0:
            return self._order_keeping(name, self._placed(name, (), 0, 0))
        depth = len(self._boxed.schedule.loops(name))
        if self.is_free and depth < self._depth:
            return self._order_keeping(name, self._placed(name, self._extents, self._depth, most))
        unpadded, steps = self.of(name, None), self._steps(name, most)
        is_ragged = name in self._timing.related.ragged
        if not steps or (is_ragged and depth == self._depth):
            return unpadded
        if is_ragged:
            return self._order_keeping(name, self._placed(name, steps, depth + 1, most))
        return padded_once(unpadded, steps)

    def _placed(self, name: str, extents: Sequence[int], depth: int, most: int) -> list[Placement]:
        bounded = self._bounding(name) if name in self._timing.related.ragged else None
        own, iterators = self._boxed.schedule.loops(name), self._boxed.statement(name).iterators
        return placements(own, iterators, extents, depth, most, bounded, name in self._in_order)

    def _order_keeping(self, name: str, found: Sequence[Placement]) -> list[Placement]:
        kept = list(found)
        for p in self._iterations:
            if p.source == p.sink == name:
                distances = self_distances(p, kept)
                kept = [placed for placed, d in zip(kept, distances, strict=True) if d > 0]
        return kept

    def _steps(self, name: str, most: int) -> list[int]:
        """Return the pads with which a statement takes as long as some statement nearby."""
        near = {name}
        for _ in range(NEARBY):
            pairs = [(d.source, d.sink) for d in self._timing.dependences]
            near |= {b for a, b in pairs if a in near} | {a for a, b in pairs if b in near}
        own = self._counts[name]
        totals = {self._counts[other] for other in near}
        return sorted(n // own for n in totals if own < n <= most and n % own == 0)

    def _bounding(self, name: str) -> Bounding:
        domain = self._timing.sets.domains[name]
        iterators = self._boxed.statement(name).iterators

        def bounded(order: Sequence[NestLoop]) -> tuple[NestLoop, ...]:
            return ragged_loops(domain, iterators, order)

        return bounded
