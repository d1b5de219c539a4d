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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.ir.memories import numbered_name
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Access, Array, Statement
from rtlgen.poly.counting import count_points
from rtlgen.poly.instances import members
from rtlgen.scheduling.folds import fewest_bits, fields_of
from rtlgen.scheduling.footprints import Fields
from rtlgen.scheduling.forwarding import IssueTimes, Routing
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.ports import busy_cycles, colours
from rtlgen.scheduling.predicates import CounterSpace
from rtlgen.scheduling.versions import versioned_arrays

Ints = NDArray[np.int64]

Key = tuple[str, int]
"""A statement, and the number of one of its reads."""

MAX_INSTANCES = 1_000_000
"""Of a statement; what the values of more are read by is not listed."""

LEAST_ROOM = 128
"""Elements of an array from which on it is looked at: fewer fit a small RAM as they are."""

SHARE_ALIVE = 4
"""Values of a statement are in rows of their own if no more are alive at any time than 1 / so many
of the array's elements."""

MAX_DIFFERENCES = 64
"""Pairs of values in one place that are looked at together."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptRead:
    """A read that finds some of its values in rows.

    Members
    -------
    instances: which. port: of the memory.
    """

    key: Key
    instances: isl.Set
    port: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class RowMemory:
    """The latest values of a statement.

    Members
    -------
    source, write, array: the statement, its write, what it writes to. stored: the instances whose
        value goes there. bits: low bits of each subscript that are the place.
    """

    name: str
    source: str
    write: Access
    array: Array
    stored: isl.Set
    bits: tuple[int, ...]
    reads: tuple[KeptRead, ...]

    @property
    def fields(self) -> Fields:
        """Where its statement stores."""
        return self.fields_of(self.write)

    def fields_of(self, access: Access) -> Fields:
        """Return the place of the element of an access."""
        return fields_of(access, self.bits)

    @property
    def words(self) -> int:
        return 1 << sum(width for _, width in self.fields)

    @property
    def read_ports(self) -> int:
        return 1 + max(read.port for read in self.reads)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """All the memories of rows, and what is left to the arrays."""

    memories: tuple[RowMemory, ...]
    routing: Routing

    def stored_by(self, name: str) -> Iterator[RowMemory]:
        """Yield the memories that a statement stores to."""
        yield from (memory for memory in self.memories if memory.source == name)

    def read_by(self, key: Key) -> Iterator[tuple[RowMemory, KeptRead]]:
        """Yield the memories in which a read finds its values."""
        for memory in self.memories:
            yield from ((memory, read) for read in memory.reads if read.key == key)


def without_rows(routing: Routing) -> Rows:
    """Return what leaves every value to its array."""
    return Rows((), routing)


def fold_rows(timing: Timing, times: IssueTimes, routing: Routing) -> Rows:
    """Return memories for the values that are read soon after they are stored."""
    return _Folding(timing, times, routing).rows()


class _Folding:
    def __init__(self, timing: Timing, times: IssueTimes, routing: Routing) -> None:
        self.timing = timing
        self.times = times
        self.routing = routing
        self.spaces = {
            s.name: CounterSpace(timing.sets, s, times[s.name].placement.loops)
            for s in timing.scop.statements
        }
        self.names = {array.name for array in timing.scop.arrays}

    def rows(self) -> Rows:
        found: list[RowMemory] = []
        for array in self._arrays():
            for statement in self.timing.scop.statements:
                if statement.write.array == array.name:
                    memory = self._memory(array, statement)
                    found += [] if memory is None else [memory]
        return Rows(tuple(found), self._left(found)) if found else without_rows(self.routing)

    def _arrays(self) -> Iterator[Array]:
        """Yield the arrays some values of which may be somewhere else."""
        scop = self.timing.scop
        lookups = {a.array for s in scop.statements for a in s.reads if a.is_lookup}
        several = versioned_arrays(scop) - lookups
        for array in scop.arrays:
            if array.name in several and not array.cuts and array.depth >= LEAST_ROOM:
                yield array

    def _memory(self, array: Array, statement: Statement) -> RowMemory | None:
        """Return a memory for the values of a statement that are read soon, if it is small."""
        if not self._is_small(statement.name):
            return None
        stored = _Stored.of(self.timing, self.times, statement, array)
        fed = {key: i for key, i in self._fed(statement.name).items() if self._is_small(key[0])}
        last = {key: self._last_reads(stored, key, instances) for key, instances in fed.items()}
        most = array.depth // SHARE_ALIVE
        keys = [key for key in fed if stored.most_alive(last[key]) <= most]
        if not keys:
            return None
        ends = np.max([last[key] for key in keys], axis=0)
        kept = {key: fed[key] for key in keys}
        instances = self._stored(statement.name, kept)
        there = members(instances, stored.points)
        bits = fewest_bits(array.shape, stored.among(there).clashes(ends[there]))
        if 1 << sum(bits) >= array.depth:
            return None
        name = numbered_name(f"{array.name}_rows", self.names)
        return RowMemory(
            name, statement.name, statement.write, array, instances, bits, self._on_ports(kept)
        )

    def _is_small(self, name: str) -> bool:
        return count_points(self.timing.sets.domains[name]) <= MAX_INSTANCES

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
            key: instances for key, instances in joined.items() if self._can_tell(key, instances)
        }

    def _can_tell(self, key: Key, instances: isl.Set) -> bool:
        """Tell whether the circuit knows which instances these are, and which are the others."""
        keep_going(self.timing.sets.context)
        space, others = self.spaces[key[0]], self.routing.loaded[key].subtract(instances)
        return all(space.predicate(each) is not None for each in (instances, others.coalesce()))

    def _last_reads(self, stored: _Stored, key: Key, instances: isl.Set) -> Ints:
        """Return when each value that is stored is read last by a read, or when it is stored."""
        own = self.timing.scop.statement(key[0])
        points = self.timing.instances.points(key[0])
        points = points[members(instances, points)]
        stage = self.timing.datapaths[key[0]].address_stage(key[1])
        elements = _elements(stored.array, own, own.reads[key[1]], points)
        return stored.last_reads(elements, self.times[key[0]].cycles(points, stage))

    def _stored(self, name: str, kept: Mapping[Key, isl.Set]) -> isl.Set:
        """Return the instances whose value is stored for what is read."""
        read = [
            flow.relation.intersect_range(kept[flow.sink, flow.sink_read]).domain()
            for flow in self.timing.dataflow.flows
            if flow.source == name and (flow.sink, flow.sink_read) in kept
        ]
        stored = reduce(isl.Set.union, read).coalesce()
        if self.spaces[name].predicate(stored) is None:
            return self.timing.sets.domains[name]
        return stored

    def _on_ports(self, kept: Mapping[Key, isl.Set]) -> tuple[KeptRead, ...]:
        """Return the reads with ports such that no two need one for two elements in one cycle."""
        busy = []
        for (name, read), instances in kept.items():
            own = self.timing.scop.statement(name)
            stage = self.timing.datapaths[name].address_stage(read)
            busy.append(
                busy_cycles(self.timing, self.times, name, own.reads[read], stage, instances)
            )
        return tuple(
            KeptRead(key, instances, port)
            for (key, instances), port in zip(kept.items(), colours(busy), strict=True)
        )

    def _left(self, found: Sequence[RowMemory]) -> Routing:
        """Return the routing of what the arrays are left with."""
        loaded = dict(self.routing.loaded)
        for memory in found:
            for read in memory.reads:
                loaded[read.key] = loaded[read.key].subtract(read.instances).coalesce()
        stored = dict(self.routing.stored)
        for memory in found:
            name = memory.source
            needed = self.timing.dataflow.outliving(self.timing.scop, name)
            for flow in self.timing.dataflow.flows:
                if flow.source == name:
                    later = loaded.get((flow.sink, flow.sink_read))
                    if later is not None:
                        needed = needed.union(flow.relation.intersect_range(later).domain())
            needed = needed.coalesce()
            if self.spaces[name].predicate(needed) is not None:
                stored[name] = needed
        return replace(self.routing, loaded=loaded, stored=stored)


def _elements(array: Array, statement: Statement, access: Access, points: Ints) -> Ints:
    numbers: Ints = _subscripts(statement, access, points) @ np.array(array.strides, dtype=np.int64)
    return numbers


def _subscripts(statement: Statement, access: Access, points: Ints) -> Ints:
    """Return the (n, subscripts) of an access at (n, iterators) points."""
    values = [affine_values(form, statement.iterators, points) for form in access.affine]
    return np.stack(values, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """What a statement stores, in the order of the cycles.

    Members
    -------
    points: the instances. subscripts: (n, subscripts) of the elements. cycles: of the stores.
    """

    array: Array
    points: Ints
    subscripts: Ints
    cycles: Ints

    @staticmethod
    def of(timing: Timing, times: IssueTimes, statement: Statement, array: Array) -> _Stored:
        """Return what all instances of a statement would store."""
        points = timing.instances.points(statement.name)
        stage = timing.datapaths[statement.name].result_stage
        cycles = times[statement.name].cycles(points, stage)
        order = np.argsort(cycles, kind="stable")
        points = points[order]
        subscripts = _subscripts(statement, statement.write, points)
        return _Stored(array, points, subscripts, cycles[order])

    def among(self, some: NDArray[np.bool_]) -> _Stored:
        """Return some of it."""
        return replace(
            self,
            points=self.points[some],
            subscripts=self.subscripts[some],
            cycles=self.cycles[some],
        )

    def last_reads(self, elements: Ints, when: Ints) -> Ints:
        """Return when each value is read last, by reads of elements that follow its store.

        It is the store's own cycle for one that nobody reads.
        """
        base = max(int(self.cycles.max(initial=0)), int(when.max(initial=0))) + 2
        keys = self.subscripts @ np.array(self.array.strides, dtype=np.int64) * base + self.cycles
        order = np.argsort(keys)
        place = np.searchsorted(keys[order], elements * base + when) - 1
        last = self.cycles.copy()
        # A value is read after its store, so that there is one before each read.
        np.maximum.at(last, order[np.maximum(place, 0)], when)
        return last

    def most_alive(self, last: Ints) -> int:
        """Return how many values are stored from the store of a value to its last read, at most."""
        return int((np.searchsorted(self.cycles, last, side="right") - np.arange(len(last))).max())

    def clashes(self, last: Ints) -> _Clashes:
        return _Clashes(self, last)


@dataclass(frozen=True, slots=True, eq=False)
class _Clashes:
    """Values that lose their place to others before they have been read."""

    stored: _Stored
    last: Ints

    def __call__(self, bits: Sequence[int]) -> list[tuple[int, ...]]:
        """Return how far some values are apart, by subscript, one of which is lost in a fold."""
        keep_going()
        places = np.zeros(len(self.last), dtype=np.int64)
        for column, width in zip(self.stored.subscripts.T, bits, strict=True):
            places = places << width | column & ((1 << width) - 1)
        order = np.argsort(places, kind="stable")
        early, late = order[:-1], order[1:]
        lost = (places[early] == places[late]) & (self.last[early] >= self.stored.cycles[late])
        apart = self.stored.subscripts[late[lost]] - self.stored.subscripts[early[lost]]
        found = np.unique(apart, axis=0)[:MAX_DIFFERENCES]
        return [tuple(row) for row in found.tolist()]
