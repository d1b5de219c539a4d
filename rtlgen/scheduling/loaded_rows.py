"""Memories of what a read has brought: each value of an array is loaded once, and kept for others.

Reads of a stencil are of the same elements, some rows or columns apart. The one that is first loads
them all, as they come; what it brings goes to a memory of a few rows besides, where the others find
it. The array needs ports for the first read, and for what it does not bring: the border.

    for i, j  b[i][j] = f(a[i-1][j], a[i][j-1], a[i][j], a[i][j+1], a[i+1][j]);

    a[i+1][j] brings rows 2, 3, .. and two of them are kept. Row 1 and the border are loaded.

Nothing of it is believed: the plan is replayed, whatever place a value is in.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.scop import Array
from rtlgen.poly.instances import members
from rtlgen.scheduling.array_loads import ArrayLoads, Loads, first_of
from rtlgen.scheduling.beside import SHARE_ALIVE, Beside
from rtlgen.scheduling.folds import fewest_bits
from rtlgen.scheduling.kept_values import Key, RowMemory, Rows
from rtlgen.scheduling.stored_values import StoredValues


def keep_loaded(beside: Beside, rows: Rows) -> Rows:
    """Return more memories, for what reads have loaded that others read later."""
    found = [
        memory
        for array in beside.arrays()
        if (memory := _Keeping(beside, array).memory(rows)) is not None
    ]
    moved = [read for memory in found for read in memory.reads]
    return Rows((*rows.memories, *found), beside.left(rows.routing, moved))


class _Keeping:
    """Find what is kept of the loads from one array."""

    def __init__(self, beside: Beside, array: Array) -> None:
        self.beside = beside
        self.array = array
        self.loads = ArrayLoads(beside, array)

    def memory(self, rows: Rows) -> RowMemory | None:
        """Return a memory of what one read brings, if others find much of theirs there."""
        every = self.loads.every(rows.routing)
        if not every:
            return None
        first = every[first_of(every, every)]
        brought = self._brought(first)
        fed: dict[Key, isl.Set] = {}
        last: list[Ints] = []
        for key, loads in every.items():
            keep_going(self.beside.timing.sets.context)
            instances = None if key == first.key else self._fed(first, loads)
            if instances is None:
                continue
            ends = self.beside.last_reads(brought, key, instances)
            if brought.most_alive(ends) <= self.array.depth // SHARE_ALIVE:
                fed[key] = instances
                last.append(ends)
        return self._kept(first, brought, fed, np.max(last, axis=0)) if fed else None

    def _brought(self, first: Loads) -> StoredValues:
        """Return what a read would store of what it loads."""
        (name, read), timing = first.key, self.beside.timing
        own = timing.scop.statement(name)
        stage = timing.datapaths[name].address_stage(read) + self.loads.latency(first.key)
        times, access = self.beside.times, own.reads[read]
        return StoredValues.of(times, own, self.array, access, first.points, stage)

    def _fed(self, first: Loads, loads: Loads) -> isl.Set | None:
        """Return the instances of a read that find their value where the first one's are kept.

        None: there are none, or they cannot be told.
        """
        _, same = first.bring(loads, self.loads.latency(first.key), 0)
        return self.loads.told(loads, first, same)

    def _kept(
        self, first: Loads, brought: StoredValues, fed: Mapping[Key, isl.Set], ends: Ints
    ) -> RowMemory | None:
        (name, read), instances = first.key, first.instances
        stored = instances.subtract(instances)
        for key, some in fed.items():
            stored = stored.union(self.loads.touching(first.key, self.loads.touched(key, some)))
        stored = stored.intersect(instances).coalesce()
        if not self.beside.can_tell(name, stored):
            stored = instances
        if not self.beside.can_tell(name, stored):
            return None
        there = members(stored, brought.points)
        bits = fewest_bits(self.array.shape, brought.among(there).clashes(ends[there]))
        if 1 << sum(bits) >= self.array.depth:
            return None
        return RowMemory(
            name=self.beside.name(f"{self.array.name}_rows"),
            source=name,
            access=self.beside.timing.scop.statement(name).reads[read],
            array=self.array,
            stored=stored,
            bits=bits,
            reads=self.beside.on_ports(fed.items()),
            read=read,
        )
