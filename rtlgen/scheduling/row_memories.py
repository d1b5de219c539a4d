"""Memories of a few rows: values that are read soon after they are stored.

A sweep that follows another one some rows behind reads its values while they are new. What is
alive of them at any time is a few rows, and these go to a memory of their own: every subscript is
cut to its low bits, as few as keep values apart that are alive together. The array is left what is
read of it later, or from before the run, and what a run leaves in it. So it has fewer copies for
reads, and fewer versions for stores.

    for i  b[i] = f(a[i-1], a[i], a[i+1]);      b and a of 1,000 elements, 1 statement 2 behind:
    for i  a[i] = f(b[i-1], b[i], b[i+1]);  ->  b's values are in 4 words, read through 3 ports

Nothing of it is believed: the plan is replayed, whatever place a value is in.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import islpy as isl
import numpy as np

from rtlgen.ir.scop import Array, Statement
from rtlgen.poly.instances import members
from rtlgen.scheduling.beside import SHARE_ALIVE, Beside
from rtlgen.scheduling.folds import fewest_bits
from rtlgen.scheduling.forwarding import Routing
from rtlgen.scheduling.kept_values import Key, RowMemory, Rows, without_rows
from rtlgen.scheduling.stored_values import StoredValues


def fold_rows(beside: Beside, routing: Routing) -> Rows:
    """Return memories for the values that are read soon after they are stored."""
    return _Folding(beside, routing).rows()


class _Folding:
    def __init__(self, beside: Beside, routing: Routing) -> None:
        self.timing = beside.timing
        self.times = beside.times
        self.routing = routing
        self.beside = beside

    def rows(self) -> Rows:
        found: list[RowMemory] = []
        for array in self.beside.arrays():
            for statement in self.timing.scop.statements:
                if statement.write.array == array.name:
                    memory = self._memory(array, statement)
                    found += [] if memory is None else [memory]
        if not found:
            return without_rows(self.routing)
        moved = [read for memory in found for read in memory.reads]
        left = self.beside.left(self.routing, moved)
        return Rows(tuple(found), self.beside.stored(left, self.routing))

    def _memory(self, array: Array, statement: Statement) -> RowMemory | None:
        """Return a memory for the values of a statement that are read soon, if it is small."""
        name, beside = statement.name, self.beside
        if not beside.is_small(name):
            return None
        points = self.timing.instances.points(name)
        stage = self.timing.datapaths[name].result_stage
        stored = StoredValues.of(self.times, statement, array, statement.write, points, stage)
        fed = {key: i for key, i in self._fed(name).items() if beside.is_small(key[0])}
        last = {key: beside.last_reads(stored, key, instances) for key, instances in fed.items()}
        most = array.depth // SHARE_ALIVE
        keys = [key for key in fed if stored.most_alive(last[key]) <= most]
        if not keys:
            return None
        ends = np.max([last[key] for key in keys], axis=0)
        kept = {key: fed[key] for key in keys}
        instances = self._stored(name, kept)
        there = members(instances, stored.points)
        bits = fewest_bits(array.shape, stored.among(there).clashes(ends[there]))
        if 1 << sum(bits) >= array.depth:
            return None
        return RowMemory(
            name=beside.name(f"{array.name}_rows"),
            source=name,
            access=statement.write,
            array=array,
            stored=instances,
            bits=bits,
            reads=beside.on_ports(kept.items()),
        )

    def _fed(self, name: str) -> dict[Key, isl.Set]:
        """Return the instances that load a value of a statement, by read, if they can be told."""
        found: dict[Key, isl.Set] = {}
        for flow in self.timing.dataflow.flows:
            key = flow.sink, flow.sink_read
            loaded = self.routing.loaded.get(key)
            if flow.source != name or loaded is None:
                continue
            instances = flow.relation.range().intersect(loaded)
            if not instances.is_empty():
                found[key] = found[key].union(instances) if key in found else instances
        joined = {key: instances.coalesce() for key, instances in found.items()}
        return {
            key: instances
            for key, instances in joined.items()
            if self.beside.can_tell(
                key[0], instances, self.routing.loaded[key].subtract(instances).coalesce()
            )
        }

    def _stored(self, name: str, kept: Mapping[Key, isl.Set]) -> isl.Set:
        """Return the instances whose value is stored for what is read."""
        read = [
            flow.relation.intersect_range(kept[flow.sink, flow.sink_read]).domain()
            for flow in self.timing.dataflow.flows
            if flow.source == name and (flow.sink, flow.sink_read) in kept
        ]
        stored = reduce(isl.Set.union, read).coalesce()
        return stored if self.beside.can_tell(name, stored) else self.timing.sets.domains[name]
