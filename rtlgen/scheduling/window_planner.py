"""Which values stay on chip in tiles, as far as the RAM allows, and what is moved therefore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile

import islpy as isl

from rtlgen.ir.plan import OffChip
from rtlgen.poly.crossings import Crossings
from rtlgen.scheduling.kept_memories import HANDED, HANDED_TIGHT, FoldKey, KeptMemory, KeptPlanner
from rtlgen.scheduling.movers import Accesses, Moved
from rtlgen.scheduling.passing import (
    HandingOver,
    KeptFlow,
    Key,
    Passing,
    Read,
    Scopes,
    passing,
)
from rtlgen.scheduling.peer_folds import Hands
from rtlgen.scheduling.tile_kernel import TileKernel
from rtlgen.scheduling.traffic import Traffic
from rtlgen.scheduling.waiting import Waiting
from rtlgen.scheduling.window_copies import FEW, Copies
from rtlgen.target import Target


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
    ) -> None:
        self.kernel = kernel
        self.waiting = waiting
        self.crossings = crossings
        self.sets = kernel.sets
        self.off_chip = off_chip
        self.word_bits = word_bits
        self.target = target
        hands = None if waiting.across is None else Hands(waiting.across, workers, False)
        self.keeper = KeptPlanner(kernel, folds, hands)
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
