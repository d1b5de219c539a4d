"""The nests that a statement by itself may run in: orders of its loops, and pads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import tee
from math import prod

from rtlgen.ir.effort import note_limit
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Scop, loop_paths
from rtlgen.poly.instances import MAX_INSTANCES
from rtlgen.scheduling.lags import Timing
from rtlgen.transforms.candidates import (
    Placement,
    Placing,
    closed_placement,
    padded_once,
    placement,
    placements,
)
from rtlgen.transforms.pauses import Pause
from rtlgen.transforms.period import Member, self_distances
from rtlgen.transforms.precedence import Precedence, among
from rtlgen.transforms.ragged import RaggedBounds
from rtlgen.transforms.sink import CommonNest, common_nests, exchanged_nests

MANY_STATEMENTS = 24
"""With more of them, a statement gets a single pad, to run in step with some statement nearby."""

CHANGES = 4
"""How far a nest that is shared with another statement is from the program as written."""

PAUSE_CHANGES = 3
"""How far a nest with a pause is from the program as written: as far as one with a pad."""

MAX_NEIGHBOURS = 4
"""Deeper or shallower statements in step with which one statement is tried to run."""

MAX_SHARED_NESTS = 6
"""Nests of a statement and a deeper one that both are tried in."""

NEARBY = 3
"""Dependences between a statement and one that it may be made to run in step with."""


class OwnNests:
    """Nests of single statements that keep the order of each statement's own dependences.

    The loops of the statements `in_order` stay in the order of `boxed`. One with `pauses` has the
    nest with its pause too, before all others.
    """

    def __init__(
        self,
        timing: Timing,
        boxed: Scop,
        iterations: Sequence[Precedence],
        in_order: frozenset[str],
        pauses: Sequence[Pause] = (),
    ) -> None:
        self._timing = timing
        self._boxed = boxed
        self._iterations = iterations
        self._in_order = in_order
        self._pauses = {pause.statement: pause for pause in pauses}
        self._paused_nests: dict[str, list[Placement]] = {}
        loops = {s.name: boxed.schedule.loops(s.name) for s in boxed.statements}
        self._extents = [loop.extent for own in loops.values() for loop in own]
        self._depth = max(map(len, loops.values()))
        self._counts = {name: prod(x.extent for x in own) for name, own in loops.items()}
        self._paths = loop_paths(boxed.tree)
        self._found: dict[tuple[str, int], list[Placement]] = {}
        self._placings: dict[str, Placing] = {}
        self._sought: dict[tuple[object, ...], list[Placement]] = {}
        self._common: dict[tuple[tuple[str, ...], bool], Iterator[CommonNest]] = {}
        self._beside: dict[tuple[str, str], list[dict[str, Placement]]] = {}

    @property
    def is_free(self) -> bool:
        """Whether every pad up to the depth of the deepest nest is tried."""
        return self.has_pads and len(self._boxed.statements) <= MANY_STATEMENTS

    @property
    def has_pads(self) -> bool:
        """Whether pads are tried: distances in closed form take too long for many nests."""
        return self._timing.related.is_listed or not self._timing.related.ragged

    def of(self, name: str, largest: int | None) -> list[Placement]:
        """Return the nests of a statement, padded up to a number of iterations; None: unpadded."""
        key = name, largest or 0
        if key not in self._found:
            self._found[key] = [*self._paused(name), *self._nests(name, largest or 0)]
        return self._found[key]

    def beside(self, name: str, largest: int) -> list[Placement]:
        """Return nests of any shape in which a statement runs in step with another one.

        One of the two is sunk: it lacks some of the loops, and the other one's bounds depend on
        outer loops, so that no pad of the same length everywhere does.
        """
        if not self._timing.related.is_listed:
            return []
        depths = {s.name: len(s.loops) for s in self._boxed.statements}
        ragged, found = self._timing.related.ragged, []
        for other in self._neighbours(name)[:MAX_NEIGHBOURS]:
            if not {name, other} <= ragged or depths[name] == depths[other]:
                continue
            shallow, deep = sorted((name, other), key=lambda each: depths[each])
            found += [pair[name] for pair in self._shared(shallow, deep)]
        return self._order_keeping(name, [placed for placed in found if placed.count <= largest])

    def common(self, names: Sequence[str], *, exchanged: bool = False) -> Iterator[CommonNest]:
        """Return the nests that statements may share, the likeliest first.

        They do not depend on latencies or ports, so each is made once for all searches.

        Parameters
        ----------
        exchanged: each statement may have its loops in an order of its own.
        """
        key = tuple(names), exchanged
        if key not in self._common:
            members = [self.member(name) for name in names]
            sets, orders = self._timing.sets, among(self._iterations, names)
            in_order = self._in_order.issuperset(names)
            if exchanged:
                self._common[key] = iter(()) if in_order else exchanged_nests(members, sets, orders)
            else:
                self._common[key] = common_nests(members, sets, orders, in_order)
        self._common[key], found = tee(self._common[key])
        return found

    def _neighbours(self, name: str) -> list[str]:
        """Return the statements with dependences to or from one, in program order."""
        pairs = [(d.source, d.sink) for d in self._timing.dependences]
        near = {b for a, b in pairs if a == name} | {a for a, b in pairs if b == name}
        singles = {u.statements[0] for u in self._timing.units if len(u.statements) == 1}
        return [s.name for s in self._boxed.statements if s.name in (near & singles) - {name}]

    def _shared(self, shallow: str, deep: str) -> list[dict[str, Placement]]:
        """Return nests that two statements share, the likeliest first."""
        key = shallow, deep
        if key in self._beside:
            return self._beside[key]
        members = [self.member(name) for name in key]
        found: list[dict[str, Placement]] = []
        for nest in self.common(key):
            if nest.backward or len(found) == MAX_SHARED_NESTS:
                break
            placed = {
                m.name: placement(nest.loops_of(m.name, nest.loops), m.iterators, CHANGES)
                for m in members
            }
            known = {name: each for name, each in placed.items() if each is not None}
            if len(known) == len(members):
                found.append(known)
        self._beside[key] = found
        return found

    def member(self, name: str) -> Member:
        """Return a statement with its loops as boxes."""
        iterators, loops = self._boxed.statement(name).iterators, self._boxed.schedule.loops(name)
        return Member(name, iterators, loops, self._paths[name])

    def _nests(self, name: str, most: int) -> list[Placement]:
        if most == 0 or not self.has_pads:
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

    def _paused(self, name: str) -> list[Placement]:
        """Return the nest in which a statement pauses, if it is to and the ranks are known."""
        if name not in self._pauses:
            return []
        if name in self._paused_nests:
            return self._paused_nests[name]
        nest, iterators = self._pauses[name].nest, self._boxed.statement(name).iterators
        if self._timing.related.is_listed:
            placed = placement(nest, iterators, PAUSE_CHANGES)
        else:
            placed = closed_placement(
                self._timing.sets.domains[name], nest, iterators, PAUSE_CHANGES
            )
        self._paused_nests[name] = [] if placed is None else self._order_keeping(name, [placed])
        return self._paused_nests[name]

    def _placed(self, name: str, extents: Sequence[int], depth: int, most: int) -> list[Placement]:
        own, iterators = self._boxed.schedule.loops(name), self._boxed.statement(name).iterators
        place = self._placing(name) if name in self._timing.related.ragged else None
        in_order = name in self._in_order
        # A reader that splits one statement by its conditions leaves many with the same instances.
        key = own, iterators, tuple(extents), depth, most, place, in_order
        if key not in self._sought:
            self._sought[key] = placements(own, iterators, extents, depth, most, place, in_order)
        return self._sought[key]

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

    def _placing(self, name: str) -> Placing:
        """Return how a ragged statement is placed; those with the same instances have the same."""
        if name not in self._placings:
            alike = (
                placing for other, placing in self._placings.items() if self._alike(name, other)
            )
            self._placings[name] = next(alike, None) or self._new_placing(name)
        return self._placings[name]

    def _alike(self, name: str, other: str) -> bool:
        """Tell whether two statements have the same instances in the same loops."""
        if self._boxed.schedule.loops(name) != self._boxed.schedule.loops(other):
            return False
        if self._boxed.statement(name).iterators != self._boxed.statement(other).iterators:
            return False
        first, second = (self._timing.sets.domains[each].reset_tuple_id() for each in (name, other))
        return bool(first.is_equal(second))

    def _new_placing(self, name: str) -> Placing:
        domain = self._timing.sets.domains[name]
        iterators = self._boxed.statement(name).iterators
        bounds = RaggedBounds(domain, iterators)
        is_listed = self._timing.related.is_listed

        # Searches with several limits ask for the same orders.
        @cache
        def place(order: tuple[NestLoop, ...], changes: int) -> Placement | None:
            loops = bounds.loops(order)
            if is_listed:
                return placement(loops, iterators, changes)
            placed = closed_placement(domain, loops, iterators, changes)
            if placed is None:
                note_limit(
                    f"{name} runs in a box around its loops in some orders: with more than "
                    f"{MAX_INSTANCES:,} instances in the program, bounds must be affine, and no "
                    "loop empty"
                )
            return placed

        return place
