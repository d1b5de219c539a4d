"""The nests that a statement may run in alone, and those of statements that move together.

The nests that a statement by itself may run in: orders of its loops, and pads.

Nests of statements that move together: those that depend on each other in a cycle.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import tee
from math import prod

from rtlgen.datapath.floor import floor_cycles
from rtlgen.datapath.lags import Timing
from rtlgen.ir.effort import note_limit
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Scop, loop_paths
from rtlgen.ir.sets import domain_text
from rtlgen.ir.tolerance import is_worth_search
from rtlgen.nests.candidates import (
    Placement,
    Placing,
    RaggedBounds,
    closed_placement,
    padded_once,
    placement,
    placements,
)
from rtlgen.nests.common_nest import (
    EXCHANGED_EFFORT,
    MAX_EFFORT,
    NestProblem,
    best_closed_nest,
    best_common_nest,
)
from rtlgen.nests.cyclic_orders import OrderSearch, SweepProblem, best_orders, best_sweeps
from rtlgen.nests.distances import StoreSlot
from rtlgen.nests.pauses import Pause
from rtlgen.nests.period import (
    LAST_ISSUE,
    Ending,
    Grouping,
    Member,
    common_period,
    initiation_intervals,
    self_distances,
)
from rtlgen.nests.precedence import Precedence, among
from rtlgen.nests.sinking import CommonNest, common_nests, exchanged_nests
from rtlgen.poly.errors import NoLegalSchedule
from rtlgen.poly.extrema import PairExtrema
from rtlgen.poly.instances import MAX_INSTANCES

MANY_NESTS = 16
"""With more different ones, a statement gets a single pad, to run in step with some nearby.

Statements in like nests, as those of a function that was written out, take hardly longer together.
"""

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
        self._different = len({tuple(x.extent for x in own) for own in loops.values()})
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
        return self.has_pads and self._different <= MANY_NESTS

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


def _told(precedences: Sequence[Precedence]) -> list[tuple[object, ...]]:
    """Return all of some precedences but where they come from."""
    return [(p.source, p.sink, p.lag, p.uniform_lag, p.related) for p in precedences]


@dataclass(frozen=True, slots=True, eq=False)
class GroupNests:
    """The nests that groups of statements may be given.

    The precedences that its methods take are those of a whole program, in cycles, or in iterations
    where latencies do not count.

    Members
    -------
    in_order: statements whose loops stay in the order of `boxed`.
    iterations: what must be satisfiable too by the same placements, counting iterations.
    nests: those of each statement by itself.
    limit_cycles: no common nest that takes longer is looked for; None: they all are.
    """

    timing: Timing
    boxed: Scop
    in_order: frozenset[str]
    iterations: Sequence[Precedence]
    nests: OwnNests
    limit_cycles: int | None = None

    def in_shared_loops(
        self, names: Sequence[str], precedences: Sequence[Precedence], *, with_latency: bool
    ) -> Grouping:
        """Return the best of rectangular nests with a common period, of a common nest, of sweeps.

        Raises
        ------
        NoLegalSchedule
        """
        ragged = self.timing.related.ragged
        if ragged.issuperset(names) and self.in_order.issuperset(names):
            # Loops of a schedule are no boxes: those would only be slow to compare with.
            shared = self.in_common_nest(names, precedences, None, with_latency=with_latency)
            if shared is not None:
                return shared
        members = [self.nests.member(name) for name in names]
        own, orders = among(precedences, names), among(self.iterations, names)
        ending = self._ending(names, with_latency=with_latency)
        boxed: Grouping | None = None
        refusal: NoLegalSchedule | None = None
        try:
            boxed = common_period(members, own, self.timing.related, orders, ending)
        except NoLegalSchedule as error:
            refusal = error
        sunk = None
        if ragged.issuperset(names):
            limit = ending.of(boxed) if boxed else None
            if limit is not None and self.limit_cycles is not None and with_latency:
                limit = min(limit, self.limit_cycles)
            sunk = self.in_common_nest(names, precedences, limit, with_latency=with_latency)
        if refusal is not None and sunk is None:
            raise refusal
        best = sunk or boxed
        assert best is not None, "one of the two is there"
        if ragged.intersection(names):
            return best
        stores = self.store_slots(names) if with_latency else {}
        problem = SweepProblem(
            members, own, orders, self.timing.related, self._points(names), stores, ending
        )
        return best_sweeps(problem, ending.of(best)) or best

    def _ending(self, names: Sequence[str], *, with_latency: bool) -> Ending:
        """Return when groupings end: in cycles, or where latencies do not count, in iterations."""
        if not with_latency:
            return LAST_ISSUE
        tails = {name: self.timing.datapaths[name].result_stage for name in names}
        return Ending(tails, self.timing.instances.last_rank)

    def in_common_nest(
        self,
        names: Sequence[str],
        precedences: Sequence[Precedence],
        limit: int | None,
        *,
        with_latency: bool,
    ) -> Grouping | None:
        """Return the best nest of any shape that all share, ending before `limit`.

        Where those with the loops in their order leave slots empty, they are exchanged, too.
        """
        found: Grouping | None = None
        if self.timing.related.is_listed or self.in_order.issuperset(names):
            found = self._best_of(names, precedences, limit, with_latency=with_latency)
            if len(names) == 1 or not self._is_long(found, names):
                return found
            limit = (
                limit if found is None else self._ending(names, with_latency=with_latency).of(found)
            )
        # These are all of them, where few can be judged: those with no loop exchanged come first.
        shorter = self._best_of(
            names, precedences, limit, with_latency=with_latency, exchanged=True
        )
        return shorter or found

    def _best_of(
        self,
        names: Sequence[str],
        precedences: Sequence[Precedence],
        limit: int | None,
        *,
        with_latency: bool,
        exchanged: bool = False,
    ) -> Grouping | None:
        if exchanged and not self.timing.related.is_listed:
            # Of too many, the loops of each cannot be exchanged.
            exchanged = next(self.nests.common(names, exchanged=True), None) is not None
        nests = self.nests.common(names, exchanged=exchanged)
        members = [self.nests.member(name) for name in names]
        # Others keep stores of boxes apart.
        own = [p for p in among(precedences, names) if not isinstance(p.related, PairExtrema)]
        orders = among(self.iterations, names)
        stores = self.store_slots(names) if with_latency else {}
        ending = self._ending(names, with_latency=with_latency)
        if not self.timing.related.is_listed:
            problem = NestProblem(members, self.timing.sets, own, orders, stores, ending)
            return best_closed_nest(problem, nests, limit, lambda x: not self._is_long(x, names))
        points = self._points(names)
        overlap = self.timing.may_overlap
        # The end of a grouping is the cycle of its last store, its length is one more.
        floor = floor_cycles(self.timing, names) - 1 if with_latency else 0
        if limit is not None and limit <= floor:
            return None

        def search() -> Grouping | None:
            effort = EXCHANGED_EFFORT if exchanged else MAX_EFFORT
            return best_common_nest(
                members,
                nests,
                points,
                own,
                orders,
                stores,
                limit,
                effort,
                may_overlap=overlap,
                ending=ending,
                floor=floor,
            )

        # Programs in other banks or lanes, and other ports, often ask what was asked before, of
        # objects of their own.
        told = [_told(required) for required in (own, orders)]
        asked = (
            self._nests_asked(names),
            exchanged,
            members,
            points,
            told,
            stores,
            limit,
            overlap,
            floor,
        )
        question = hashlib.sha256(pickle.dumps((asked, ending.tails), pickle.HIGHEST_PROTOCOL))
        return self.timing.sets.found_once((best_common_nest, question.digest()), search)

    def _nests_asked(self, names: Sequence[str]) -> tuple[bool, list[str]]:
        """Return what nests follow from, beside members and precedences; see `OwnNests.common`."""
        program = self.timing.sets.scop
        domains = [domain_text(program.statement(name)) for name in names]
        return self.in_order.issuperset(names), domains

    def _is_long(self, found: Grouping | None, names: Sequence[str]) -> bool:
        """Tell whether a grouping leaves so many slots empty that others are worth a search."""
        if found is None:
            return True
        floor = max(map(self.timing.instances.count, names))
        return is_worth_search(found.last_issue + 1, floor)

    def in_any_orders(
        self,
        names: Sequence[str],
        precedences: Sequence[Precedence],
        shared: Grouping,
        *,
        with_latency: bool,
    ) -> OrderSearch:
        """Return the best combination of any orders and pads that beats `shared`, if there is one.

        The smallest interval for which there is any counts.
        """
        if self.timing.related.ragged & set(names):
            return OrderSearch(None, exhausted=False)
        own, orders = among(precedences, names), among(self.iterations, names)
        ending = self._ending(names, with_latency=with_latency)
        end, tails = ending.of(shared), ending.tails or dict.fromkeys(names, 0)
        for ii in range(1, shared.ii + 1):
            nests = {
                name: self._at_interval(name, (end - tails[name]) // ii + 1, own, ii)
                for name in names
            }
            found = best_orders(nests, own, orders, ii, end, ending)
            if found.best is not None or not found.exhausted:
                return found
        return OrderSearch(None, exhausted=True)

    def store_slots(self, names: Sequence[str]) -> dict[str, StoreSlot]:
        """Return when statements store, counted from their issue."""
        arrays = {name: self.boxed.statement(name).write.array for name in names}
        return {
            name: StoreSlot(array, self.timing.datapaths[name].result_stage)
            for name, array in arrays.items()
            if array not in self.timing.banked
        }

    def _at_interval(
        self, name: str, largest: int, precedences: Sequence[Precedence], ii: int
    ) -> list[Placement]:
        """Return the nests of a statement that allow an initiation interval."""
        found = self.nests.of(name, largest)
        iis = initiation_intervals(among(precedences, [name]), found)
        return [placed for placed, least in zip(found, iis, strict=True) if least <= ii]

    def _points(self, names: Sequence[str]) -> dict[str, Ints]:
        """Return the instances of statements."""
        return {name: self.timing.instances.points(name) for name in names}
