"""Which values stay on chip in tiles, in how many copies, and the words that are moved.

The words that tiles move, window by window: known before their kernel is planned.

How many copies windows have: one for the tile that runs, more for the movers.

Which values stay on chip in tiles, as far as the RAM allows, and what is moved therefore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile

import islpy as isl

from rtlgen.ir.plan import Bus, OffChip
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import bounding_box
from rtlgen.memories.footprints import Footprint, User
from rtlgen.memories.lane_banks import LanePorts, LaneRead, bits_for, lane_ports, told_apart_by
from rtlgen.poly.tiling import Crossings, TileRelations
from rtlgen.target import Target
from rtlgen.windows.kept_memories import (
    HANDED,
    HANDED_TIGHT,
    FoldKey,
    Hands,
    KeptMemory,
    KeptPlanner,
)
from rtlgen.windows.movers import Accesses, Moved, WordCounts
from rtlgen.windows.places import HandingOver, KeptFlow, Key, Passing, Read, Scopes, passing
from rtlgen.windows.tile_kernel import TileKernel
from rtlgen.windows.waiting import Waiting


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """What tiles load and store.

    Members
    -------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    lane_loop: whose iterations run side by side; None where each issues by itself.
    addressed: by read, what those that are made in one cycle of an iteration have in common;
        without it, all of a statement are.
    shared: whether reads of lanes share ports as far as banks tell them apart.
    folded: makes windows as small as they may be, with so many bits of every subscript at least.
    """

    relations: TileRelations
    tile_loops: Sequence[NestLoop]
    off_chip: Mapping[str, OffChip]
    word_bits: int
    passing: Passing
    lane_loop: NestLoop | None = None
    addressed: Mapping[Key, object] | None = None
    shared: bool = True
    folded: Callable[[Moved, Mapping[int, int]], Moved] | None = None

    def ports(self, keys: Sequence[Key]) -> int:
        """Return the read ports of a window that is filled for some reads."""
        return self.lane_ports(keys).count

    def lane_ports(self, keys: Sequence[Key]) -> LanePorts:
        """Return how reads that step alike share the ports of a window that is filled for them."""
        lanes, in_step = self.lane_loop, self.relations.in_step
        reads = [self.lane_read(key) for key in keys]
        # They step alike: what tells the lanes of one apart does so of all.
        dim = told_apart_by(reads[0].access, lanes, in_step)
        dims = () if dim is None else (dim,)
        return lane_ports(reads, lanes, dims, in_step=in_step, shared=self.shared)

    def lane_read(self, key: Key) -> LaneRead:
        """Return a read as one of those that may share a port."""
        name, read = key
        access = self.relations.sets.scop.statement(name).reads[read]
        return LaneRead(access, (name, self.addressed and self.addressed[key]))

    def loads(self) -> Iterator[tuple[Moved, list[Key]]]:
        """Yield what is loaded: by one mover for all reads of an array that step alike."""
        sets = self.relations.sets
        groups: dict[tuple[object, ...], list[Key]] = {}
        for name, read in self.passing.loaded:
            access = sets.scop.statement(name).reads[read]
            steps = tuple(subscript.terms for subscript in access.affine)
            groups.setdefault((access.array, steps), []).append((name, read))
        for keys in groups.values():
            users = []
            for name, read in keys:
                statement = sets.scop.statement(name)
                loaded = self.passing.loaded[name, read]
                users.append(self._user(statement, statement.reads[read], loaded))
            instances = [self.passing.loaded[key] for key in keys]
            footprint = self._footprint(users)
            far = any(self.passing.awaited[key] for key in keys)
            name = "" if far else f"loads {keys}"
            moved = Moved(sets, footprint, tuple(zip(users, instances, strict=True)), name)
            yield self._in_places(moved, self.lane_ports(keys).cuts), keys

    def store(self, statement: Statement) -> Moved | None:
        """Return what a statement stores off chip, or None where that is nothing."""
        instances = self.passing.stored[statement.name]
        if statement.write.array not in self.off_chip or instances.is_empty():
            return None
        user = self._user(statement, statement.write)
        awaited = {name for waits in self.passing.awaited.values() for name in waits}
        name = "" if statement.name in awaited else f"stores {statement.name}"
        moved = Moved(self.relations.sets, self._footprint([user]), ((user, instances),), name)
        return self._in_places(moved, self.store_cuts(statement))

    def store_cuts(self, statement: Statement) -> dict[int, int]:
        """Return by how many bits of which subscript a window is cut that lanes store to."""
        lanes = self.lane_loop
        dim = told_apart_by(statement.write, lanes, self.relations.in_step)
        return {} if dim is None or lanes is None else {dim: bits_for(lanes.extent)}

    def _in_places(self, moved: Moved, cuts: Mapping[int, int]) -> Moved:
        return moved if self.folded is None else self.folded(moved, cuts)

    def count(self, counts: WordCounts) -> int:
        """Return the words that all tiles together move."""
        return sum(counts.of(m) for m, _ in self.loads()) + sum(map(counts.of, self.stores()))

    def least_busy_cycles(self, counts: WordCounts, bus: Bus) -> int:
        """Return the cycles for which the bus is busy at least with what all tiles move."""
        moved = [m for m, _ in self.loads()]
        loads = len(moved)
        moved += self.stores()
        words = [counts.of(m) for m in moved]
        bursts = 0
        if bus.is_shared:
            longest = [m.footprint.burst_words(self.word_bits) for m in moved]
            bursts = sum(-(-count // most) for count, most in zip(words, longest, strict=True))
        return bus.busy_cycles(sum(words[:loads]), sum(words[loads:]), bursts)

    def stores(self) -> Iterator[Moved]:
        """Yield what is stored."""
        for statement in self.relations.sets.scop.statements:
            moved = self.store(statement)
            if moved is not None:
                yield moved

    def _user(self, statement: Statement, access: Access, loaded: isl.Set | None = None) -> User:
        """Return an access with the range of every iterator that is not of a tile.

        Parameters
        ----------
        loaded: the instances for which words are loaded; None: all count. A mover looks at a word
            a cycle, moved or not, and lanes behind each other leave it no more cycles than a lane
            has iterations. So of what no lane has to itself there is no more than is loaded.
        """
        tile = {loop.iterator for loop in self.tile_loops}
        box = self.relations.sets.scop.schedule.box(statement.name)
        if loaded is not None and not self.relations.in_step and not loaded.is_empty():
            ends = dict(zip(statement.iterators, bounding_box(loaded), strict=True))
            lane = statement.iterators[-1]
            by_lanes = {
                n for form in access.affine if form.coefficient(lane) for n, _ in form.terms
            }
            box = {name: box[name] if name in by_lanes else ends[name] for name in box}
        return User(statement, access, {k: ends for k, ends in box.items() if k not in tile})

    def _footprint(self, users: Sequence[User]) -> Footprint:
        array = self.off_chip[users[0].access.array]
        return Footprint.of(array, self.word_bits // array.width_bits, self.tile_loops, users)


FEW_BITS = 1
"""Log2 of the copies of a window: one is in use while the mover is at the other."""

MORE_BITS = 2
"""The same where the RAM is there: tiles that take longer than others are made up for."""

FREE_WORDS = 512
"""Words of a window up to which more copies take no more block RAM. Larger ones of what is loaded
have few copies, since all their readers have them."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Which windows have many copies."""

    drained: bool
    filled: bool

    def bits_of(self, moved: Moved, drained: bool) -> int:
        """Return log2 of the copies of a window."""
        if drained:
            return MORE_BITS if self.drained else FEW_BITS
        is_small = moved.window_words(MORE_BITS) <= FREE_WORDS
        return MORE_BITS if self.filled and is_small else FEW_BITS

    def ram_bits(self, traffic: Traffic) -> int:
        """Return the bits of all windows, each copy for a reader of its own."""
        loads = [(m, self.bits_of(m, False), traffic.ports(keys)) for m, keys in traffic.loads()]
        stores = [(m, self.bits_of(m, True), 1) for m in traffic.stores()]
        return sum(
            moved.window_words(bits) * traffic.word_bits * readers
            for moved, bits, readers in (*loads, *stores)
        )


FEW = Copies(False, False)


@dataclass(frozen=True, slots=True, eq=False)
class Sized:
    """What stays on chip, and what does not.

    Members
    -------
    kept: all memories that keep values. handed: those by way of which they are handed over.
    is_tight: whether who hands values over waits for room for them.
    copies: of the windows. taken_bits: RAM, with few copies of each window.
    keeps_all: whether nothing passes through the memory off chip that could stay on chip.
    """

    scopes: Scopes
    traffic: Traffic
    kept: Sequence[KeptMemory]
    handed: Sequence[KeptMemory]
    is_tight: bool
    copies: Copies
    taken_bits: int
    keeps_all: bool


@dataclass(frozen=True, slots=True)
class _Kept:
    """Values of a statement that stay on chip: within their scope, or handed over."""

    name: str
    is_handed: bool


class WindowPlanner:
    """Plan the windows of a tile kernel.

    Parameters
    ----------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    target: of whose RAM the windows are made. waiting: says what transfers wait for.
    folds: see `KeptPlanner`. workers: how many share the tiles.
    over: what they may hand over to each other.
    overlapping: see `KeptPlanner`.
    """

    def __init__(
        self,
        kernel: TileKernel,
        crossings: Crossings,
        off_chip: Mapping[str, OffChip],
        word_bits: int,
        target: Target,
        folds: dict[FoldKey, tuple[int, ...]],
        waiting: Waiting,
        workers: int = 1,
        over: HandingOver | None = None,
        overlapping: int = 0,
    ) -> None:
        self.kernel = kernel
        self.waiting = waiting
        self.crossings = crossings
        self.sets = kernel.sets
        self.off_chip = off_chip
        self.word_bits = word_bits
        self.target = target
        hands = None if waiting.across is None else Hands(waiting.across, workers, False)
        self.keeper = KeptPlanner(kernel, folds, hands, overlapping)
        self.over = over
        self.reads = [
            (statement.name, read)
            for statement in kernel.statements
            for read in kernel.timing.datapaths[statement.name].node_of_read
        ]
        self.taps = {key: kernel.taps(*key) for key in self.reads}
        self.instances = list(map(self._instances, self.reads))
        # The accesses of what is loaded by way of a window that is not folded.
        self.wide: set[Accesses] = set()
        # With what they are folded from, whose sets are to stay what they are.
        self._folds_of_windows: dict[tuple[object, ...], tuple[Moved, Moved]] = {}

    def _instances(self, key: Key) -> Read:
        """Return a read, its instances, and those that no tap serves."""
        statement = self.sets.scop.statement(key[0])
        left = instances = self.sets.accessing(statement, self.keeper.read(key))
        for tap in self.taps[key]:
            left = left.subtract(tap.instances)
        return key, instances, left.coalesce()

    def within(self, scopes: Scopes, budget_bits: int) -> Sized:
        """Return what stays on chip, so that it fits if anything does.

        Parameters
        ----------
        scopes: the widest ones. budget_bits: RAM that may be taken.
        """
        sized = None
        for sized in self._narrowed(scopes, budget_bits):
            if sized.taken_bits <= budget_bits:
                break
        assert sized is not None, "with nothing kept there is something"
        # Ports that reads share take multiplexers: where the RAM is there, each has its own.
        if self._shares_ports:
            apart = self._with_copies(sized)
            sized = apart if apart.taken_bits <= budget_bits else sized
        held = sized.taken_bits - FEW.ram_bits(sized.traffic)
        choices = (Copies(True, True), Copies(True, False))
        fitting = (c for c in choices if held + c.ram_bits(sized.traffic) <= budget_bits)
        return replace(sized, copies=next(fitting, FEW))

    @property
    def _shares_ports(self) -> bool:
        """Whether reads of lanes may share ports, and windows are as small as they may be."""
        return self.kernel.lanes > 1 and self.kernel.in_step

    def _with_copies(self, sized: Sized) -> Sized:
        """Return the same with a read port for each read."""
        traffic = replace(sized.traffic, shared=False)
        kept, handed = (
            list(map(self.keeper.with_copies, memories)) for memories in (sized.kept, sized.handed)
        )
        taken = sum(map(self.keeper.ram_bits, [*kept, *handed])) + FEW.ram_bits(traffic)
        return replace(sized, traffic=traffic, kept=kept, handed=handed, taken_bits=taken)

    def tight(self, scopes: Scopes, budget_bits: int | None = None) -> Sized | None:
        """Return what keeps all values in these scopes in the least RAM.

        None where one memory alone takes more than the budget.
        """
        kept = takewhile(lambda sized: sized.keeps_all, self._narrowed(scopes, budget_bits))
        return min(kept, key=lambda sized: sized.taken_bits, default=None)

    def least_bits(self, scopes: Scopes) -> int:
        """Return the RAM that it takes at least, in bits, whatever stays on chip.

        Parameters
        ----------
        scopes: the widest ones.
        """
        return min(sized.taken_bits for sized in self._narrowed(scopes, None))

    def _narrowed(self, scopes: Scopes, budget_bits: int | None) -> Iterator[Sized]:
        """Yield what stays on chip with few copies of the windows, less and less of it.

        What several reads take from one memory, in as many copies, is in a memory for each of them
        before less is kept: a fold that serves one alone is no larger.

        Parameters
        ----------
        scopes: the widest ones. budget_bits: what alone takes more goes off chip sooner, however
            much more it is; None: nothing does.
        """
        apart: frozenset[_Kept] = frozenset()
        widest, over, is_tight = scopes, self.over, False
        while True:
            passed = passing(self.crossings, self.instances, self.off_chip, scopes, over)
            flows = {_Kept(name, False): own for name, own in passed.kept.items()}
            flows |= {_Kept(name, True): own for name, own in passed.handed.items()}
            found: dict[_Kept, tuple[KeptMemory, ...]] = {}
            larger = []
            for kept, own in flows.items():
                scope = scopes[kept.name]
                if kept.is_handed:
                    scope = HANDED_TIGHT if is_tight else HANDED
                most = budget_bits if scope < self.kernel.depth else None
                memories = self._smaller(kept.name, scope, own, kept in apart, most)
                if memories is None:
                    larger.append(kept)
                else:
                    found[kept] = memories
            if not larger:
                keeps_all = scopes == widest and over == self.over
                sized = self._sized(scopes, passed, found, is_tight, keeps_all)
                yield sized
                # The largest of what is kept goes off chip sooner, or is first taken apart.
                wanted = {k: sum(map(self.keeper.ram_bits, own)) for k, own in found.items()}
                smaller = [
                    kept
                    for kept in wanted
                    if kept.is_handed
                    or scopes[kept.name] < self.kernel.depth
                    or (kept not in apart and len(flows[kept]) > 1)
                ]
                if not smaller:
                    return
                # But what is handed over, where that alone is enough.
                excess = 0 if budget_bits is None else sized.taken_bits - budget_bits
                enough = [kept for kept in smaller if kept.is_handed and wanted[kept] >= excess > 0]
                largest = max(smaller, key=lambda kept: wanted[kept])
                larger = [min(enough, key=lambda kept: wanted[kept], default=largest)]
            if not is_tight and self._has_room and any(kept.is_handed for kept in larger):
                is_tight = True
                continue
            for kept in larger:
                if kept not in apart and len(flows[kept]) > 1:
                    apart |= {kept}
                    continue
                apart -= {kept}
                if kept.is_handed:
                    over = over and over.without(kept.name)
                else:
                    scopes = {**scopes, kept.name: scopes[kept.name] + 1}

    @property
    def _has_room(self) -> bool:
        """Whether who hands values over can wait for room for them."""
        return self.waiting.across is not None and self.waiting.across.room is not None

    def _sized(
        self,
        scopes: Scopes,
        passed: Passing,
        found: Mapping[_Kept, Sequence[KeptMemory]],
        is_tight: bool,
        keeps_all: bool,
    ) -> Sized:
        """Return what stays on chip in some memories, with few copies of the windows."""
        traffic = self._traffic(passed)
        kept, handed = (
            [m for key, memories in found.items() if key.is_handed == is_handed for m in memories]
            for is_handed in (False, True)
        )
        taken = sum(map(self.keeper.ram_bits, [*kept, *handed])) + FEW.ram_bits(traffic)
        return Sized(scopes, traffic, kept, handed, is_tight, FEW, taken, keeps_all)

    def _smaller(
        self, name: str, scope: int, flows: Sequence[KeptFlow], apart: bool, most: int | None
    ) -> tuple[KeptMemory, ...] | None:
        """Return the memories that keep the values of some flows; of lanes, apart if that is less.

        See `KeptPlanner.memories`. Lanes leave little RAM for windows, and a memory with a copy for
        each read is no fewer circuits than one for each.
        """
        found = self.keeper.memories(name, scope, flows, apart, most)
        if apart or len(flows) < 2 or self.kernel.lanes == 1:
            return found
        own = self.keeper.memories(name, scope, flows, True, most)
        if found is None or own is None:
            return found or own
        taken, less = (sum(map(self.keeper.ram_bits, each)) for each in (found, own))
        return own if less < taken else found

    def _traffic(self, passed: Passing) -> Traffic:
        kernel = self.kernel
        return Traffic(
            kernel.relations,
            kernel.tile_loops,
            self.off_chip,
            self.word_bits,
            passed,
            kernel.lane_loop,
            {key: kernel.address_cycle(*key) for key in self.reads},
            folded=self._folded if self._shares_ports else None,
        )

    def _folded(self, moved: Moved, cuts: Mapping[int, int]) -> Moved:
        """Return what is moved by way of a window that is as small as it may be."""
        if moved.accesses in self.wide:
            return moved
        footprint = moved.footprint
        key = footprint, tuple(cuts.items()), tuple(id(instances) for _, instances in moved.users)
        if key not in self._folds_of_windows:
            touched = []
            for user, instances in moved.users:
                written = instances
                if user.access == user.statement.write:
                    written = self.keeper.tellable(user.statement, [[instances]])
                touched.append(footprint.words_touched(self.sets, user, written))
            within = reduce(isl.Set.union, touched).coalesce()
            least = [cuts.get(dim, 0) for dim in range(len(footprint.extents))]
            least[-1] = max(0, least[-1] - footprint.lane_bits)
            self._folds_of_windows[key] = moved.folded(least, within), moved
        return self._folds_of_windows[key][0]
