"""Which values stay on chip in tiles, as far as the RAM allows, and what is moved therefore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile

import islpy as isl

from rtlgen.ir.plan import OffChip
from rtlgen.poly.crossings import Crossings
from rtlgen.scheduling.kept_memories import FoldKey, KeptMemory, KeptPlanner
from rtlgen.scheduling.movers import Accesses, Moved
from rtlgen.scheduling.passing import KeptFlow, Key, Passing, Read, Scopes, passing
from rtlgen.scheduling.tile_kernel import TileKernel
from rtlgen.scheduling.traffic import Traffic
from rtlgen.scheduling.waiting import Waiting
from rtlgen.scheduling.window_copies import FEW, Copies


@dataclass(frozen=True, slots=True, eq=False)
class Sized:
    """What stays on chip, and what does not.

    Members
    -------
    kept: all memories that keep values. copies: of the windows. taken_bits: RAM, with few copies of
        each window.
    """

    scopes: Scopes
    traffic: Traffic
    kept: Sequence[KeptMemory]
    copies: Copies
    taken_bits: int


class WindowPlanner:
    """Plan the windows of a tile kernel.

    Parameters
    ----------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    read_latency_cycles: of block RAM. waiting: says what transfers wait for.
    folds: see `KeptPlanner`.
    """

    def __init__(
        self,
        kernel: TileKernel,
        crossings: Crossings,
        off_chip: Mapping[str, OffChip],
        word_bits: int,
        read_latency_cycles: int,
        folds: dict[FoldKey, tuple[int, ...]],
        waiting: Waiting,
    ) -> None:
        self.kernel = kernel
        self.waiting = waiting
        self.crossings = crossings
        self.sets = kernel.sets
        self.off_chip = off_chip
        self.word_bits = word_bits
        self.read_latency_cycles = read_latency_cycles
        self.keeper = KeptPlanner(kernel, folds)
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
        kept = list(map(self.keeper.with_copies, sized.kept))
        taken = sum(map(self.keeper.ram_bits, kept)) + FEW.ram_bits(traffic)
        return replace(sized, traffic=traffic, kept=kept, taken_bits=taken)

    def tight(self, scopes: Scopes, budget_bits: int | None = None) -> Sized | None:
        """Return what keeps all values in these scopes in the least RAM.

        None where one memory alone takes more than the budget.
        """
        kept = takewhile(lambda sized: sized.scopes == scopes, self._narrowed(scopes, budget_bits))
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
        apart: frozenset[str] = frozenset()
        while True:
            passed = passing(self.crossings, self.instances, self.off_chip, scopes)
            kept: dict[str, tuple[KeptMemory, ...]] = {}
            larger = []
            for name, flows in passed.kept.items():
                most = budget_bits if scopes[name] < self.kernel.depth else None
                memories = self._smaller(name, scopes[name], flows, name in apart, most)
                if memories is None:
                    larger.append(name)
                else:
                    kept[name] = memories
            if not larger:
                traffic = self._traffic(passed)
                every = [memory for memories in kept.values() for memory in memories]
                taken = sum(map(self.keeper.ram_bits, every)) + FEW.ram_bits(traffic)
                yield Sized(scopes, traffic, every, FEW, taken)
                # The largest of what is kept goes off chip sooner, or is first taken apart.
                wanted = {n: sum(map(self.keeper.ram_bits, kept[n])) for n in kept}
                smaller = [
                    name
                    for name in wanted
                    if scopes[name] < self.kernel.depth
                    or (name not in apart and len(passed.kept[name]) > 1)
                ]
                if not smaller:
                    return
                larger = [max(smaller, key=lambda name: wanted[name])]
            for name in larger:
                if name not in apart and len(passed.kept[name]) > 1:
                    apart |= {name}
                else:
                    apart -= {name}
                    scopes = {**scopes, name: scopes[name] + 1}

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
