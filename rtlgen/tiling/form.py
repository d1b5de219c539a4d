"""A unit in certain loops, in whatever tiles: what they move, take and cost.

Tiles that were looked at: what each of them costs.

Each question is asked once for tiles of some sizes, in some order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import inf

from rtlgen.errors import RtlgenError
from rtlgen.ir.effort import TooComplex, improving, limited_effort, spare_effort
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import TooManyTiles
from rtlgen.ir.timeline import estimated_cycles, workers_cycles
from rtlgen.ir.transfer_patterns import MOST_TILES
from rtlgen.scheduling.errors import NoLanes, RaggedDomain
from rtlgen.scheduling.operand_registers import Wait, affordable_waits, waits_before_multipliers
from rtlgen.tiling.cut import UNLIMITED, Chip, CutPart, Refusals
from rtlgen.tiling.cuts import Cuts, Order
from rtlgen.tiling.loops import UnitLoops
from rtlgen.tiling.part import (
    Held,
    KeptInRam,
    TiledPart,
    held_in_scope,
    kept_in_ram,
    least_ram_of_part,
    plan_part,
    ram_of_part,
    tight_ram_of_part,
    traffic_of,
    widest_scope,
)
from rtlgen.transforms.tile_nests import Tiling
from rtlgen.windows.movers import WordCounts
from rtlgen.windows.planner import FEW

FOLLOWED_TILES = 1 << 17
"""Tiles up to which it is followed how long they take, where there are many choices."""

WORTH_FOLLOWING = 0.999
"""Share of the fewest cycles found below which it is followed how long other tiles take."""

SAMPLED_TILES = 1 << 13
"""Of more tiles, shared by workers, those that are followed: from these it is known what they wait
for. Those of one worker take what kernel or bus take."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One choice of tiles for a unit.

    Members
    -------
    loops: that are cut.
    cycles: that it takes; of many tiles as many as the first ones suggest, or at least so many, as
        where others are known to take fewer.
    kernel_cycles: in which tiles follow each other without a wait. bus_cycles: in which the words
        do. ram_bits: of all copies of windows and kept memories.
    """

    loops: tuple[str, ...]
    tiling: Tiling
    cycles: int
    kernel_cycles: int
    bus_cycles: int
    words: int
    ram_bits: int

    @staticmethod
    def of(
        part: TiledPart, bus: Bus, fewest: int | None = None, followed: int = FOLLOWED_TILES
    ) -> Candidate:
        """Return what a unit costs in the tiles that it is planned in.

        Parameters
        ----------
        fewest: cycles that are known to do; tiles that take more for sure are not followed.
        followed: tiles up to which it is followed how long they take.
        """
        kernel, busy = part.kernel_cycles, busy_cycles(part, bus)
        cycles = max(kernel, busy)
        is_worth_it = fewest is None or cycles < WORTH_FOLLOWING * fewest
        if part.region.tiles <= followed and is_worth_it:
            cycles = workers_cycles(part.workers, bus, fewest)
        elif is_worth_it and len(part.workers.regions) > 1:
            cycles = max(cycles, estimated_cycles(part.workers, bus, SAMPLED_TILES))
        loops = tuple(part.loops.iterators[: part.tiling.depth])
        return Candidate(loops, part.tiling, cycles, kernel, busy, part.words_moved, part.ram_bits)


def busy_cycles(part: TiledPart, bus: Bus) -> int:
    """Return the cycles in which the words of a unit follow each other on the bus."""
    bursts = part.bursts if bus.is_shared else 0
    return bus.busy_cycles(part.words_by("load"), part.words_by("store"), bursts)


class Comparison:
    """What plans of a unit cost, as exactly as it takes to know the best one that fits.

    Parameters
    ----------
    bus: to the memory off chip. budget_bits: RAM that a plan may take.
    fewest: cycles that are known to do without any of them. followed: see `Candidate.of`.
    """

    def __init__(
        self,
        bus: Bus,
        budget_bits: int,
        fewest: int | None = None,
        followed: int = FOLLOWED_TILES,
    ) -> None:
        self.bus = bus
        self.budget_bits = budget_bits
        self.fewest = fewest
        self.followed = followed
        self._known: dict[TiledPart, Candidate] = {}

    def least(self, part: TiledPart) -> int:
        """Return the cycles that a plan takes at least, as is known without following it."""
        return max(part.kernel_cycles, busy_cycles(part, self.bus))

    def of(self, part: TiledPart) -> Candidate:
        """Return what a plan costs."""
        if part not in self._known:
            found = Candidate.of(part, self.bus, self.fewest, self.followed)
            self._known[part] = found
            if part.ram_bits <= self.budget_bits:
                self.fewest = min(found.cycles, self.fewest or found.cycles)
        return self._known[part]


def pareto(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates than which none has less RAM and no more cycles, by their RAM."""
    found: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.ram_bits, c.cycles)):
        if not found or candidate.cycles < found[-1].cycles:
            found.append(candidate)
    return found


EDGES = (64, 32, 16, 8, 4)
"""Iterations along the sides of the tiles that are tried first."""

SMALL_EDGES = (2, 1)
"""The same where no larger tiles do."""

SETTLED_CYCLES = 1.005
"""Cycles with values that settle over those without, at most: the clock gains more. A cycle for
each is no more than it takes on chip."""

MOST_ORDERS = 2
"""Orders in which tiles of one size are planned, where they do not need little enough RAM."""


class Form:
    """A unit in certain loops, in whatever tiles.

    Parameters
    ----------
    like: the same loops, of which cuts and orders are known already.
    """

    def __init__(
        self,
        loops: UnitLoops,
        chip: Chip,
        taken: Sequence[str],
        comparison: Comparison,
        like: Form | None = None,
    ) -> None:
        self.loops = loops
        self.chip = chip
        self.taken = taken
        self.comparison = comparison
        self.refused = Refusals(loops.program.scop, chip.budget_bits)
        self.cuts: Cuts = Cuts(loops, chip, self.refused, None if like is None else like.cuts)
        self.parts: list[TiledPart] = []
        self._busy: dict[tuple[int, ...], int | None] = {}
        self._counts: dict[tuple[object, ...], WordCounts] = {}
        self._planned: dict[Tiling, TiledPart | None] = {}
        self._with_ram: dict[Tiling, KeptInRam] = {}

    @property
    def candidates(self) -> list[Candidate]:
        """What was planned costs."""
        return list(map(self.comparison.of, self.parts))

    def has(self, part: TiledPart) -> bool:
        """Tell whether a plan is one of these loops."""
        return part in self.parts

    def beginnings(self) -> Iterator[list[tuple[int, ...]]]:
        """Yield sizes to begin with: cubes, small ones, and stretches of the nest.

        Of small ones, there are some with short loops whole: a window of few weights, say.
        A stretch is whole in its inner loops and single in its outer ones: its tiles run in the
        order of the nest itself, which is legal always. With it come cubes of the inner loops.
        """
        yield self._cubes(EDGES)
        yield list(
            dict.fromkeys([*self._cubes(SMALL_EDGES, whole=EDGES[-1]), *self._cubes(SMALL_EDGES)])
        )
        if self.loops.are_written:
            stretches = [
                (*[1] * k, min(edge, self.cuts.lengths[k]), *self.cuts.lengths[k + 1 :])
                for k in range(self.loops.depth)
                for edge in (*EDGES, *SMALL_EDGES)
            ]
            # Cubes of the inner loops, where an outer one cannot be cut.
            stretches += [
                (*[1] * k, *(min(edge, length) for length in self.cuts.lengths[k:]))
                for k in range(1, self.loops.depth)
                for edge in EDGES
            ]
            yield list(dict.fromkeys(stretches))

    def _cubes(self, edges: Sequence[int], whole: int = 1) -> list[tuple[int, ...]]:
        """Return sizes of tiles as long as they are wide; loops of up to `whole` are not cut."""
        cubes = [
            tuple(length if length <= whole else min(edge, length) for length in self.cuts.lengths)
            for edge in edges
        ]
        return [sizes for sizes in dict.fromkeys(cubes) if self.cuts.first(sizes) is not None]

    @cached_property
    def least_of_cubes(self) -> float:
        """The cycles that tiles as long as they are wide take at least; infinity without any."""
        return min(map(self.least_cycles, self._cubes(EDGES)), default=inf)

    def least_cycles(self, sizes: tuple[int, ...]) -> int:
        """Return the cycles that tiles of these sizes take at least, as far as is known at once."""
        needed = self.bus_cycles_needed
        # How many tiles there are depends on the order only where units are some behind others.
        several = (len(self.cuts.orders) or None) if len(self.loops.moved) > 1 else 1
        cuts = islice(self.cuts.legal(sizes), several)
        return max(needed, min(map(self._issuing_cycles, cuts), default=0))

    def _issuing_cycles(self, cut: CutPart) -> int:
        """Return the cycles in which the iterations of all tiles issue, shared by the workers."""
        return -(-cut.tiles // self.chip.workers.count) * cut.tile_iterations

    def busy_cycles(self, sizes: tuple[int, ...]) -> int | None:
        """Return the cycles for which tiles of these sizes keep the bus busy at least.

        None where they cannot be built.
        """
        if sizes not in self._busy:
            # What one worker moves does not depend on the order; else those count that are planned.
            first = 1 if self.chip.workers.count == 1 else len(self.cuts.orders) or None
            found = []
            for cut in islice(self.cuts.legal(sizes), first):
                # Words that cannot be counted in one order may be in another one.
                try:
                    with limited_effort():
                        found.append(None if self._has_too_many(cut) else self._counted(cut))
                except TooComplex as error:
                    self.refused.add(error)
            self._busy[sizes] = min((c for c in found if c is not None), default=None)
        return self._busy[sizes]

    def _busy_of(self, cut: CutPart) -> int:
        try:
            with limited_effort():
                busy = self._counted(cut)
        except TooComplex:
            busy = None
        return UNLIMITED if busy is None else busy

    def _least_shared(self, cut: CutPart) -> tuple[int, int]:
        """Return the cycles that tiles take at least that workers share, and those of the bus.

        Rows that wait for one another are no more workers' than run at a time.
        """
        busy, shared = self._busy_of(cut), self.cuts.shared(cut)
        workers = self.chip.workers.count
        if shared is not None and shared.across is not None:
            workers = min(workers, shared.across.rows_at_a_time)
        return max(busy, -(-cut.tiles // workers) * cut.tile_iterations), busy

    def _counted(self, cut: CutPart) -> int | None:
        """Return the cycles of the bus at least; None where the windows do not fit."""
        shared = self.cuts.shared(cut)
        traffic = traffic_of(cut, self.chip, widest_scope(cut, self.chip, shared), shared)
        bits = FEW.ram_bits(traffic)
        if bits > self.chip.worker_bits:
            self.refused.too_large(bits * self.chip.workers.count, cut)
            return None
        # Of one worker, what is moved does not depend on the order.
        like = cut.tiling.sizes, cut.tiling if self.chip.workers.count > 1 else None
        counts = self._counts.setdefault(like, WordCounts())
        return traffic.least_busy_cycles(counts, self.chip.bus)

    @property
    def words_needed(self) -> int | None:
        """The words of a single tile that is the whole unit: each is moved once."""
        return None if self._needed is None else self._needed[0]

    @property
    def bus_cycles_needed(self) -> int:
        """The cycles for which the bus is busy with these at least."""
        return 0 if self._needed is None else self._needed[1]

    @cached_property
    def _needed(self) -> tuple[int, int] | None:
        cut = next(self.cuts.in_sizes(self.cuts.lengths), None)
        if cut is None:
            return None
        counts = WordCounts()
        try:
            with limited_effort():
                traffic = traffic_of(cut, self.chip, 0)
                return traffic.count(counts), traffic.least_busy_cycles(counts, self.chip.bus)
        except TooComplex:
            return None

    def planned(self, sizes: tuple[int, ...]) -> TiledPart | None:
        """Return the unit in tiles of these sizes, in the order that did best with the first ones.

        Where it does not fit in that, or the RAM keeps less in it than in the order that keeps
        least on chip, that is tried; and that for several workers always, who share another loop
        in each order.
        """
        if not self.cuts.orders:
            return self._best(self.in_every_order(sizes))
        found: list[TiledPart] = []
        for cut in reversed(self._in_kept_orders(sizes)):
            part = self.plan(cut)
            found += [] if part is None else [part]
            if self.chip.workers.count == 1 and self._is_best_of_kept(part, sizes):
                break
        return self._best(found)

    def _is_best_of_kept(self, part: TiledPart | None, sizes: tuple[int, ...]) -> bool:
        """Tell whether none of the kept orders is known to move fewer words than a plan does."""
        if part is None or part.ram_bits > self.chip.budget_bits:
            return False
        least = self.comparison.least(part)
        return least <= self.least_cycles(sizes) or self.busy_with_ram(sizes) >= least

    def with_room(self, sizes: tuple[int, ...]) -> int | None:
        """Plan tiles of these sizes as they would be planned with RAM for all that they keep.

        Return the bits of RAM with which they keep as much, at least; None where they cannot.
        """
        for cut in self._in_kept_orders(sizes):
            part = self.plan(cut)
            if part is not None and not any(part.scopes.values()):
                return tight_ram_of_part(cut, self.chip, part.shared)
        return None

    def in_kept_orders(self, sizes: tuple[int, ...]) -> list[TiledPart]:
        """Return the unit in tiles of these sizes, in each order that did well with the first."""
        parts = map(self.plan, self._in_kept_orders(sizes))
        return [part for part in parts if part is not None]

    def _in_kept_orders(self, sizes: tuple[int, ...]) -> list[CutPart]:
        return list(islice(self.cuts.legal(sizes), len(self.cuts.orders)))

    def in_every_order(self, sizes: tuple[int, ...]) -> list[TiledPart]:
        """Return the unit in tiles of these sizes, in the orders that are worth a plan."""
        cuts, least = list(self.cuts.legal(sizes)), None
        if self.chip.workers.count > 1:
            # What stays on chip from tile to tile, and what runs side by side, depends on which
            # loop is shared.
            cuts = sorted(cuts, key=self._least_shared)[:MOST_ORDERS]
        elif len(cuts) > 1 and self.chip.buffer:
            cuts, least = self._worth_a_plan(cuts)
        found = [part for part in map(self.plan, cuts) if part is not None]
        if found:
            fastest = (self._best(found) or found[0]).tiling.order
            self.cuts.orders = tuple(dict.fromkeys([least or cuts[0].tiling.order, fastest]))
        return found

    def _worth_a_plan(self, cuts: Sequence[CutPart]) -> tuple[list[CutPart], Order]:
        """Return the orders that are worth a plan, and that which is the first for other tiles.

        Where the RAM holds all values the words are the same: what counts is how long they are
        kept. With lanes it seldom holds all: what counts is what is moved beside what it holds.
        """
        # How many tiles there are is much the same in all orders, but for units behind others.
        several = len(self.loops.moved) > 1
        issuing = [self._issuing_cycles(cut) if several else 0 for cut in cuts]
        if self.chip.lanes is None:
            sized = sorted((issuing[n], self._ram_of(cut), n) for n, cut in enumerate(cuts))
            best = [cuts[n] for _, _, n in sized]
            fits = sized[0][1] <= self.chip.worker_bits and self.plan(best[0]) is not None
            return best[: 1 if fits else MOST_ORDERS], best[0].tiling.order
        kept = [self._busy_with_ram(cut) for cut in cuts]
        busy = [max(*both) for both in zip(issuing, (k.busy_cycles for k in kept), strict=True)]
        moving = sorted(
            range(len(cuts)),
            key=lambda n: (busy[n] if several else 0, kept[n].words, kept[n].bits, n),
        )
        best = [cuts[n] for n in moving[:MOST_ORDERS]]
        first = self.plan(best[0])
        if first is not None and first.ram_bits <= self.chip.budget_bits:
            fewest = self.comparison.of(first).cycles
            if kept[moving[0]].keeps_all or busy[moving[1]] >= fewest:
                best = best[:1]
        return best, best[0].tiling.order

    def held_in_strips(self, cut: CutPart) -> Held | None:
        """Return the RAM that it takes to keep all values on chip in their strip.

        None where that takes much more than there is.
        """
        try:
            with limited_effort():
                levels = _loops_around_strips(cut.tiling)
                return held_in_scope(cut, self.chip, self.cuts.shared(cut), levels)
        except (RaggedDomain, TooComplex, NoLanes) as error:
            self.refused.add(error)
            return None

    def busy_in_strips(self, cut: CutPart) -> int:
        """Return the cycles of the bus at least, if all values stay on chip in their strip.

        0 where it takes too long to count the words.
        """
        levels = _loops_around_strips(cut.tiling)
        try:
            with limited_effort():
                traffic = traffic_of(cut, self.chip, levels)
                return traffic.least_busy_cycles(WordCounts(), self.chip.bus)
        except TooComplex:
            return 0

    def busy_with_ram(self, sizes: tuple[int, ...]) -> int:
        """Return the cycles of the bus at least with what the RAM can keep, in the kept orders."""
        moving = map(self._busy_with_ram, self._in_kept_orders(sizes))
        return min((kept.busy_cycles for kept in moving), default=UNLIMITED)

    def _busy_with_ram(self, cut: CutPart) -> KeptInRam:
        if cut.tiling not in self._with_ram:
            try:
                with limited_effort():
                    found = kept_in_ram(cut, self.chip, self.cuts.shared(cut))
            except (RaggedDomain, TooComplex, NoLanes) as error:
                # That lanes have no banks says more than that other orders are illegal.
                rather = isinstance(error, NoLanes)
                (self.refused.rather if rather else self.refused.add)(error)
                found = KeptInRam(UNLIMITED, UNLIMITED, UNLIMITED, keeps_all=False)
            self._with_ram[cut.tiling] = found
        return self._with_ram[cut.tiling]

    def _ram_of(self, cut: CutPart) -> int:
        try:
            with limited_effort():
                return ram_of_part(cut, self.chip, self.cuts.shared(cut))
        except NoLanes as error:
            # That lanes have no banks says more than that other orders of the tiles are illegal.
            self.refused.rather(error)
            return UNLIMITED
        except (RaggedDomain, TooComplex) as error:
            self.refused.add(error)
            return UNLIMITED

    def _best(self, parts: Iterable[TiledPart]) -> TiledPart | None:
        """Return the one that costs least; those that might are followed first."""
        return min(sorted(parts, key=self.comparison.least), key=self._cost, default=None)

    def _cost(self, part: TiledPart) -> tuple[bool, int, int, int]:
        fits = part.ram_bits <= self.chip.budget_bits
        cycles = self.comparison.of(part).cycles
        return not fits, cycles, part.words_moved, part.ram_bits

    def plan(self, cut: CutPart) -> TiledPart | None:
        """Return the plan of a unit that is cut; None where it has none."""
        if self._has_too_many(cut):
            return None
        if cut.tiling not in self._planned:
            try:
                with limited_effort():
                    found = plan_part(cut, self.chip, self.taken, self.cuts.shared(cut))
            except (RaggedDomain, TooComplex, NoLanes) as error:
                self.refused.add(error)
                self._planned[cut.tiling] = None
            except TooManyTiles as error:
                self.refused.too_many(str(error))
                self._planned[cut.tiling] = None
            else:
                self._planned[cut.tiling] = found
                self._note(found, cut)
        return self._planned[cut.tiling]

    def with_copies(self, part: TiledPart, copies: Mapping[str, int]) -> TiledPart:
        """Return a plan of these loops with other copies of its windows.

        Parameters
        ----------
        copies: log2 of them, by window, of those that have others.
        """
        cut = self.cuts.known(part.tiling)
        with limited_effort():
            found = plan_part(cut, self.chip, self.taken, part.shared, copies, part.overlapping)
        self._planned[cut.tiling] = found
        self._note(found, cut)
        return found

    def overlapping(self, part: TiledPart, tiles: int) -> TiledPart | None:
        """Return a plan of these loops in which so many tiles begin before one is done.

        None where there is none, or not the RAM for it.
        """
        cut = self.cuts.known(part.tiling)
        try:
            with limited_effort():
                found = plan_part(cut, self.chip, self.taken, part.shared, overlapping=tiles)
        except (RaggedDomain, TooComplex, NoLanes):
            return None
        if found.ram_bits > self.chip.budget_bits or found.scopes != part.scopes:
            return None
        self._note(found, cut)
        return found

    def settled(self, part: TiledPart) -> TiledPart:
        """Return a plan of these loops in which values settle in front of multipliers.

        As many as cost hardly any cycles: all of them together, or else half of them, and so on.
        """
        kernel = part.kernel
        useful = set(waits_before_multipliers(kernel.timing, part.region.kernel.streams))
        waits = affordable_waits(kernel.timing, kernel.decision, sorted(useful))
        best, kept = part, tuple[Wait, ...]()
        pending = [waits] if waits else []
        with improving("values that settle in tiles"), spare_effort():
            while pending:
                more = pending.pop()
                later = self._settling(part, (*kept, *more))
                if later is not None:
                    best, kept = later, (*kept, *more)
                elif len(more) > 1:
                    half = len(more) // 2
                    pending += [more[half:], more[:half]]
        self.parts = [best if each is part else each for each in self.parts]
        return best

    def _settling(self, part: TiledPart, waits: tuple[Wait, ...]) -> TiledPart | None:
        """Return the plan with some waits, or None where that takes too many cycles, or RAM."""
        cut = self.cuts.known(part.tiling).with_waits(waits)
        try:
            with limited_effort():
                later = plan_part(
                    cut, self.chip, self.taken, part.shared, overlapping=part.overlapping
                )
        except (RaggedDomain, NoLanes):
            return None
        cycles = self.comparison.of(part).cycles
        most_cycles = max(int(SETTLED_CYCLES * cycles), cycles + len(waits))
        if later.ram_bits > part.ram_bits or self.comparison.of(later).cycles > most_cycles:
            return None
        return later

    def _has_too_many(self, cut: CutPart) -> bool:
        """Tell whether a unit would run in more rows of tiles than can be followed."""
        if cut.tile_rows <= MOST_TILES:
            return False
        self.refused.too_many(f"{cut.tile_rows:,} rows of tiles")
        return True

    def _note(self, part: TiledPart, cut: CutPart) -> None:
        self.parts.append(part)
        if part.ram_bits > self.chip.budget_bits:
            self.refused.too_large(part.ram_bits, cut)

    def why_refused(self) -> RtlgenError | None:
        """Return why no tiles do; of RAM, how much would do at least."""

        def least_bits(cut: CutPart) -> int:
            return self.chip.workers.count * least_ram_of_part(
                cut, self.chip, self.cuts.shared(cut)
            )

        return self.refused.why(least_bits)


def _loops_around_strips(tiling: Tiling) -> int:
    """Return the tile loops in one iteration of which a strip is."""
    assert tiling.woven is not None, "there are strips"
    return 1 + next(n for n, step in enumerate(tiling.steps) if step.row == tiling.woven)
