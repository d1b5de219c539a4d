"""The loop orders and pads of all statements of a program, and which of them end earliest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from rtlgen.datapath.lags import Timing
from rtlgen.ir.scop import Scop, loop_paths
from rtlgen.ir.tolerance import is_worth_search
from rtlgen.memories.store_slots import StoreSlots
from rtlgen.nests.candidates import Placement
from rtlgen.nests.cyclic_orders import OrderSearch
from rtlgen.nests.distances import Candidate, KnownDistances
from rtlgen.nests.pauses import Pause
from rtlgen.nests.period import Grouping, initiation_intervals
from rtlgen.nests.precedence import Precedence, among, iteration_precedences
from rtlgen.nests.search import Choice, Choices, best_choice
from rtlgen.scheduling.statement_nests import GroupNests, OwnNests
from rtlgen.transforms.units import Unit

_CandidateSource = Callable[[Unit, int | None], list[Candidate]]
"""The candidates of a unit, padded up to a number of iterations, or unpadded for None."""

SMALL_SLACK_CYCLES = 48
"""What waiting for free ports may cost in the first attempt of the search."""


class Space:
    """The candidates of every unit of a program, and the precedences between them.

    The loops of the statements `in_order` stay in the order of `boxed`. Those with `pauses` may run
    in the nests of these, too.
    """

    def __init__(
        self,
        timing: Timing,
        boxed: Scop,
        in_order: frozenset[str] = frozenset(),
        like: Space | None = None,
        nests_as_written: bool = False,
        pauses: Sequence[Pause] = (),
        limit_cycles: int | None = None,
    ) -> None:
        self.in_order = in_order
        self.timing = timing
        self.boxed = boxed
        self.paths = loop_paths(boxed.tree)
        self._cycles: dict[tuple[Unit, bool], Grouping] = {}
        self._free_cycles: dict[tuple[Unit, bool], OrderSearch] = {}
        self._stretches: dict[tuple[str, bool], list[Candidate]] = {}
        self.cycles = timing.precedences()
        self.iterations = iteration_precedences(boxed, timing.dependences, timing.related)
        self.nests: OwnNests = (
            OwnNests(timing, boxed, self.iterations, in_order, pauses)
            if like is None
            else like.nests
        )
        self.groups = GroupNests(timing, boxed, in_order, self.iterations, self.nests, limit_cycles)
        self._like = like
        self._known: KnownDistances = KnownDistances() if like is None else like._known
        self._nests_as_written = nests_as_written
        self._fastest: dict[tuple[Unit, ...], Choice] = {}

    def retimed(self, timing: Timing) -> Space:
        """Return the space of the same program with other latencies or ports."""
        limit_cycles = self.groups.limit_cycles
        return Space(
            timing,
            self.boxed,
            self.in_order,
            self,
            self._nests_as_written,
            limit_cycles=limit_cycles,
        )

    def within(self, cycles: int) -> Space:
        """Return the space of a search in which nests that take longer are of no use."""
        return Space(self.timing, self.boxed, self.in_order, self, limit_cycles=cycles)

    def as_written(self) -> Space:
        """Return the space in which each unit has the nests of the program and no others."""
        return Space(self.timing, self.boxed, self.in_order, self, nests_as_written=True)

    @property
    def is_free(self) -> bool:
        """Whether every order and pad is a candidate.

        Of statements in a cycle only the best combination is one, which is enough where they are
        the whole program; programs with many statements get few pads; and a statement by itself
        is sunk into a deeper nest that is no box in the likeliest ways only.
        """
        ragged = self.timing.related.ragged
        deepest = max((len(self.paths[name]) for name in ragged), default=0)
        if not self.nests.is_free or any(len(path) < deepest for path in self.paths.values()):
            return False
        units = self.timing.units
        if len(units) == 1 and len(units[0].statements) > 1:
            return self._free(units[0], self.iterations, False).exhausted
        return all(len(unit.statements) == 1 for unit in units)

    @property
    def is_proven(self) -> bool:
        """Whether no fused loop is shorter than MF3's optimum as it was found."""
        fused = self.latency_free
        is_best = fused.proven and self.is_free
        return is_best or fused.end == self.floor_iterations

    @cached_property
    def floor_iterations(self) -> int:
        """The largest number of instances of one statement."""
        return max(map(self.timing.instances.count, self.timing.sets.domains))

    @cached_property
    def latency_free(self) -> Choice:
        """MF3's optimum: fewest fused iterations over orders and pads."""
        if self._like is not None:
            return self._like.latency_free

        def candidates(unit: Unit, largest: int | None) -> list[Candidate]:
            return self._candidates(unit, largest, self.iterations, with_latency=False)

        return self._search(self.timing.units, candidates, self.iterations, with_ports=False)

    @property
    def fastest(self) -> Choice:
        """The choice with the fewest cycles, latencies counted."""
        return self.fastest_of(self.timing.units)

    def fastest_of(self, units: Sequence[Unit]) -> Choice:
        """Return the choice with the fewest cycles for some of the units."""

        def candidates(unit: Unit, largest: int | None) -> list[Candidate]:
            if self._nests_as_written:
                return [self.nest_as_written(unit)]
            return self._candidates(unit, largest, self.cycles, with_latency=True)

        key = tuple(units)
        if key not in self._fastest:
            names = {name for unit in units for name in unit.statements}
            inside = among(self.cycles, names)
            self._fastest[key] = self._search(units, candidates, inside, with_ports=True)
        return self._fastest[key]

    def nest_as_written(self, unit: Unit) -> Candidate:
        """Return a unit in the loop order of the program, without pads that are not needed."""
        return self.unpadded(unit)[0]

    def unpadded(self, unit: Unit) -> list[Candidate]:
        """Return the candidates of a unit, latencies counted, without pads that are not needed."""
        return self._candidates(unit, None, self.cycles, with_latency=True)

    def _search(
        self,
        units: Sequence[Unit],
        candidates: _CandidateSource,
        precedences: Sequence[Precedence],
        *,
        with_ports: bool,
    ) -> Choice:
        unpadded = [candidates(unit, None) for unit in units]
        plain = best_choice(unpadded, precedences, known=self._known)
        assert plain is not None, "without a limit there is a choice"
        padded = [candidates(unit, plain.end) for unit in units]
        choices = Choices(padded, precedences, self._known)
        if not with_ports:
            # Nothing is built from this choice: its end is all that is asked for.
            return choices.best(limit=plain.end, fewest_changes=False) or plain
        if not self.nests.is_free:
            # Too many to weigh all nests against all ports: nests first, then when they start.
            free = choices.best(limit=plain.end, fewest_changes=False) or plain
            padded = [[candidate] for candidate in free.candidates]
            choices = Choices(padded, precedences, self._known)
        slots = StoreSlots(self.timing, padded, precedences)
        # Ports cost little more than the plain end when pads are chosen well: try that first.
        failed = slots.least_end() - 1
        for slack in (SMALL_SLACK_CYCLES, plain.end // 8, plain.end):
            limit = plain.end + slack
            if limit <= failed:
                continue
            found = choices.best(slots.settle, limit)
            if found is not None:
                return found
            failed = limit
        found = choices.best(slots.settle)
        assert found is not None, "without a limit there is a choice"
        return found

    def _candidates(
        self,
        unit: Unit,
        largest: int | None,
        precedences: Sequence[Precedence],
        with_latency: bool,
    ) -> list[Candidate]:
        if len(unit.statements) > 1:
            shared = self._shared(unit, precedences, with_latency)
            found = [self._together(shared, with_latency)]
            if largest is not None:
                free = self._free(unit, precedences, with_latency).best
                found += [] if free is None else [self._together(free, with_latency)]
            return found
        name = unit.statements[0]
        own = among(precedences, [name])
        found = self._each_alone(name, self.nests.of(name, largest), own, with_latency)
        if name in self.timing.related.ragged and self.timing.related.is_listed and found:
            slots = min(c.ii * (c.placements[name].count - 1) + 1 for c in found)
            if is_worth_search(slots, self.timing.instances.count(name)):
                found += self._stretched(name, own, slots, with_latency)
        if largest is not None and self.nests.is_free and name not in self.in_order:
            beside = self.nests.beside(name, largest)
            found += self._each_alone(name, beside, own, with_latency)
        return found

    def _each_alone(
        self,
        name: str,
        nests: Sequence[Placement],
        own: Sequence[Precedence],
        with_latency: bool,
    ) -> list[Candidate]:
        """Return a statement by itself in each of some nests."""
        iis = initiation_intervals(own, nests) if with_latency else [1] * len(nests)
        return [
            self._alone(name, nest, ii, with_latency) for nest, ii in zip(nests, iis, strict=True)
        ]

    def _stretched(
        self, name: str, precedences: Sequence[Precedence], slots: int, with_latency: bool
    ) -> list[Candidate]:
        """Return the nest of a statement with loops made longer than they are, if it is shorter.

        The others wait between iterations, or are boxes, where an empty loop has no bounds that
        are known.

        Parameters
        ----------
        slots: of the shortest of the others.
        """
        key = name, with_latency
        if key not in self._stretches:
            found = self.groups.in_common_nest(
                [name], precedences, slots - 1, with_latency=with_latency
            )
            self._stretches[key] = (
                []
                if found is None
                else [self._alone(name, found.placements[name], found.ii, with_latency)]
            )
        return self._stretches[key]

    def _alone(self, name: str, placed: Placement, ii: int, with_latency: bool) -> Candidate:
        """Return a statement by itself as a candidate."""
        length = self._length(name, placed, ii, with_latency)
        return Candidate({name: placed}, ii, {name: 0}, length, placed.changes)

    def _length(self, name: str, placed: Placement, ii: int, with_latency: bool) -> int:
        if not with_latency:
            # MF3 counts the padding behind the last instance too.
            return ii * (placed.count - 1) + 1
        return self.timing.length_cycles(name, placed, ii)

    def _together(self, grouping: Grouping, with_latency: bool) -> Candidate:
        """Return the statements of a cycle as a candidate."""
        length = max(
            grouping.shifts[name] + self._length(name, placed, grouping.ii, with_latency)
            for name, placed in grouping.placements.items()
        )
        changes = sum(placed.changes for placed in grouping.placements.values())
        return Candidate(grouping.placements, grouping.ii, grouping.shifts, length, changes)

    def _shared(
        self, unit: Unit, precedences: Sequence[Precedence], with_latency: bool
    ) -> Grouping:
        """Return the statements of a cycle in the loops that they share."""
        key = unit, with_latency
        if key not in self._cycles:
            self._cycles[key] = self.groups.in_shared_loops(
                unit.statements, precedences, with_latency=with_latency
            )
        return self._cycles[key]

    def _free(
        self, unit: Unit, precedences: Sequence[Precedence], with_latency: bool
    ) -> OrderSearch:
        """Return the best combination of any orders and pads, if it beats the shared loops."""
        if self._like is not None and not with_latency:
            return self._like._free(unit, precedences, with_latency)
        key = unit, with_latency
        if key not in self._free_cycles:
            shared = self._shared(unit, precedences, with_latency)
            self._free_cycles[key] = self.groups.in_any_orders(
                unit.statements, precedences, shared, with_latency=with_latency
            )
        return self._free_cycles[key]
