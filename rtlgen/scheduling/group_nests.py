"""Nests of statements that move together: those that depend on each other in a cycle."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.ir.ints import Ints
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import domain_text
from rtlgen.ir.tolerance import is_worth_search
from rtlgen.poly.errors import NoLegalSchedule
from rtlgen.poly.extrema import PairExtrema
from rtlgen.scheduling.dataflow_limit import floor_cycles
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.own_nests import OwnNests
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.closed_nest import NestProblem, best_closed_nest
from rtlgen.transforms.common_nest import EXCHANGED_EFFORT, MAX_EFFORT, best_common_nest
from rtlgen.transforms.cycle_orders import OrderSearch, best_orders
from rtlgen.transforms.period import (
    LAST_ISSUE,
    Ending,
    Grouping,
    common_period,
    initiation_intervals,
)
from rtlgen.transforms.precedence import Precedence, among
from rtlgen.transforms.store_slot import StoreSlot
from rtlgen.transforms.sweeps import SweepProblem, best_sweeps


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
