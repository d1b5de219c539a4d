"""Row buffers: memories beside an array that keep some of its values, for ports of their own.

Memories beside the arrays: some values of an array, for reads through ports of their own.

Values in the order in which they go to a memory: how long each is needed there.

A value is stored in one cycle and read in later ones. The next one at its place may not come before
it has been read last.

What all memories beside the arrays have in common: who can tell, which ports, what is left.

Memories of a few rows: values that are read soon after they are stored.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TypeAlias

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.datapath.lags import Timing
from rtlgen.ir.bank_map import ArrayPart
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints, distinct_rows
from rtlgen.ir.memories import numbered_name
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Access, Array, Statement
from rtlgen.memories.folds import fewest_bits, fields_of
from rtlgen.memories.footprints import Fields
from rtlgen.memories.forwarding import IssueTimes, Routing
from rtlgen.memories.ports import Busy, busy_cycles, colours, followed_arrays
from rtlgen.memories.predicates import CounterSpace
from rtlgen.poly.counting import count_points
from rtlgen.poly.instances import members

Key = tuple[str, int]
"""A statement, and the number of one of its reads."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptRead:
    """A read that finds some of its values beside the array.

    Members
    -------
    instances: which. port: of the memory.
    """

    key: Key
    instances: isl.Set
    port: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class KeptStore:
    """A store to a memory beside the array.

    Members
    -------
    fields: the place. instances: that store. read: whose value it is; None: the statement's own.
    """

    memory: str
    fields: Fields
    instances: isl.Set
    read: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RowMemory:
    """The latest values of a statement, or those that one of its reads has brought.

    Members
    -------
    source, access, array: the statement, its write or its read, what that is to. stored: the
        instances whose value goes there. bits: low bits of each subscript that are the place.
    read: the number of the read; None: the write.
    """

    name: str
    source: str
    access: Access
    array: Array
    stored: isl.Set
    bits: tuple[int, ...]
    reads: tuple[KeptRead, ...]
    read: int | None = None

    def fields_of(self, access: Access) -> Fields:
        """Return the place of the element of an access."""
        return fields_of(access, self.bits)

    def stores_of(self, name: str) -> Iterator[KeptStore]:
        """Yield what a statement stores there."""
        if name == self.source:
            yield KeptStore(self.name, self.fields_of(self.access), self.stored, self.read)

    @property
    def part(self) -> ArrayPart | None:
        """What it has of the array all the time."""
        return None

    @property
    def words(self) -> int:
        return 1 << sum(width for _, width in self.fields_of(self.access))


@dataclass(frozen=True, slots=True, eq=False)
class PartMemory:
    """A box of an array, that is written whenever the array is, by the host too.

    Members
    -------
    writes: of the statements that store there. stored: by statement, the instances that do.
    """

    name: str
    array: Array
    part: ArrayPart
    writes: Mapping[str, Access]
    stored: Mapping[str, isl.Set]
    reads: tuple[KeptRead, ...]

    def fields_of(self, access: Access) -> Fields:
        """Return the place of the element of an access."""
        return fields_of(access, self.part.bits)

    def stores_of(self, name: str) -> Iterator[KeptStore]:
        """Yield what a statement stores there."""
        if name in self.stored:
            yield KeptStore(self.name, self.fields_of(self.writes[name]), self.stored[name])

    @property
    def words(self) -> int:
        return self.part.words


KeptMemory: TypeAlias = RowMemory | PartMemory


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """All memories beside the arrays, and what is left to the arrays."""

    memories: tuple[KeptMemory, ...]
    routing: Routing

    def stored_by(self, name: str) -> Iterator[KeptStore]:
        """Yield what a statement stores to these memories, its own value first."""
        found = [store for memory in self.memories for store in memory.stores_of(name)]
        yield from sorted(found, key=lambda store: store.read is not None)

    def read_by(self, key: Key) -> Iterator[tuple[KeptMemory, KeptRead]]:
        """Yield the memories in which a read finds its values."""
        for memory in self.memories:
            yield from ((memory, read) for read in memory.reads if read.key == key)


def without_rows(routing: Routing) -> Rows:
    """Return what leaves every value to its array."""
    return Rows((), routing)


def read_ports(memory: KeptMemory) -> int:
    """Return how many ports the reads of a memory have."""
    return 1 + max(read.port for read in memory.reads)


MAX_DIFFERENCES = 64
"""Pairs of values in one place that are looked at together."""


def elements_of(array: Array, statement: Statement, access: Access, points: Ints) -> Ints:
    """Return the row-major numbers of the elements that an access is to, at each point."""
    strides = np.array(array.strides, dtype=np.int64)
    numbers: Ints = subscripts_of(statement, access, points) @ strides
    return numbers


def subscripts_of(statement: Statement, access: Access, points: Ints) -> Ints:
    """Return the (n, subscripts) of an access at (n, iterators) points."""
    values = [affine_values(form, statement.iterators, points) for form in access.affine]
    return np.stack(values, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class StoredValues:
    """What an access of a statement brings to a memory, in the order of the cycles.

    Members
    -------
    points: the instances. subscripts: (n, subscripts) of the elements. cycles: of the stores.
    """

    array: Array
    points: Ints
    subscripts: Ints
    cycles: Ints

    @staticmethod
    def of(
        times: IssueTimes,
        statement: Statement,
        array: Array,
        access: Access,
        points: Ints,
        stage: int,
    ) -> StoredValues:
        """Return what some instances of a statement store in a stage."""
        cycles = times[statement.name].cycles(points, stage)
        order = np.argsort(cycles, kind="stable")
        points = points[order]
        subscripts = subscripts_of(statement, access, points)
        return StoredValues(array, points, subscripts, cycles[order])

    def among(self, some: NDArray[np.bool_]) -> StoredValues:
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

    def clashes(self, last: Ints) -> Clashes:
        return Clashes(self, last)


@dataclass(frozen=True, slots=True, eq=False)
class Clashes:
    """Values that lose their place to others before they have been read."""

    stored: StoredValues
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
        found = distinct_rows(apart)[:MAX_DIFFERENCES]
        return [tuple(row) for row in found.tolist()]


MAX_INSTANCES = 1_000_000
"""Of a statement; what the values of more are read by is not listed."""

LEAST_ROOM = 16
"""Elements of an array from which on it is looked at: fewer fit a small RAM as they are."""

FEW_CONDITIONS = 8
"""That tell which instances take a value from another read: more are dearer than a port."""

SHARE_ALIVE = 4
"""Values are beside the array if no more are alive at any time than 1 / so many of its elements."""


class Beside:
    """A scheduled program, some values of which may be beside their arrays.

    Parameters
    ----------
    regions: the statements of each region.
    """

    def __init__(self, timing: Timing, times: IssueTimes, regions: Sequence[Sequence[str]]) -> None:
        self.timing = timing
        self.times = times
        self._regions = {name: n for n, names in enumerate(regions) for name in names}
        self.spaces = {
            s.name: CounterSpace(timing.sets, s, times[s.name].placement.loops)
            for s in timing.scop.statements
        }
        self._names = {array.name for array in timing.scop.arrays}

    def arrays(self) -> Iterator[Array]:
        """Yield the arrays some values of which may be somewhere else."""
        scop = self.timing.scop
        lookups = {a.array for s in scop.statements for a in s.reads if a.is_lookup}
        several = followed_arrays(scop) - lookups
        for array in scop.arrays:
            if array.name in several and not array.cuts and array.depth >= LEAST_ROOM:
                yield array

    def name(self, wanted: str) -> str:
        """Return a name for a memory."""
        return numbered_name(wanted, self._names)

    def region_of(self, statement: str) -> int:
        """Return the number of the region of a statement."""
        return self._regions[statement]

    def is_small(self, statement: str) -> bool:
        """Tell whether the instances of a statement may be listed."""
        return count_points(self.timing.sets.domains[statement]) <= MAX_INSTANCES

    def can_tell(self, statement: str, *parts: isl.Set) -> bool:
        """Tell whether the circuit knows which instances these are."""
        keep_going(self.timing.sets.context)
        return all(self.spaces[statement].predicate(part) is not None for part in parts)

    def is_plain(self, statement: str, *parts: isl.Set) -> bool:
        """Tell whether the circuit knows which instances these are by few comparisons."""
        keep_going(self.timing.sets.context)
        found = [self.spaces[statement].predicate(part) for part in parts]
        return all(
            predicate is not None and sum(map(len, predicate.alternatives)) <= FEW_CONDITIONS
            for predicate in found
        )

    def points(self, statement: str, instances: isl.Set) -> Ints:
        """List some instances of a statement."""
        points = self.timing.instances.points(statement)
        found: Ints = points[members(instances, points)]
        return found

    @cached_property
    def time_box(self) -> list[tuple[int, int]]:
        """Return (smallest, how many) values of every dimension of the program's time."""
        scop = self.timing.scop
        ranges: list[list[int]] = []
        for statement in scop.statements:
            points = self.timing.instances.points(statement.name)
            for dim, form in enumerate(scop.schedule.time(statement.name)):
                values = affine_values(form, statement.iterators, points)
                if dim == len(ranges):
                    ranges.append([])
                if len(values):
                    ranges[dim] += [int(np.min(values)), int(np.max(values))]
        return [(min(r, default=0), max(r, default=0) - min(r, default=0) + 1) for r in ranges]

    def read_at(self, key: Key, points: Ints) -> tuple[Ints, Ints]:
        """Return the elements that a read is of, and the cycles in which it asks for them."""
        scop = self.timing.scop
        own = scop.statement(key[0])
        access = own.reads[key[1]]
        stage = self.timing.datapaths[key[0]].address_stage(key[1])
        elements = elements_of(scop.array(access.array), own, access, points)
        return elements, self.times[key[0]].cycles(points, stage)

    def last_reads(self, stored: StoredValues, key: Key, instances: isl.Set) -> Ints:
        """Return when each value that is stored is read last by a read, or when it is stored."""
        return stored.last_reads(*self.read_at(key, self.points(key[0], instances)))

    def busy(self, key: Key, instances: isl.Set) -> Busy:
        """Return when a read of some instances needs a port."""
        own = self.timing.scop.statement(key[0])
        stage = self.timing.datapaths[key[0]].address_stage(key[1])
        return busy_cycles(self.timing, self.times, key[0], own.reads[key[1]], stage, instances)

    def on_ports(self, kept: Iterable[tuple[Key, isl.Set]]) -> tuple[KeptRead, ...]:
        """Return the reads with ports such that no two need one for two elements in one cycle."""
        every = list(kept)
        ports = colours([self.busy(key, instances) for key, instances in every])
        return tuple(
            KeptRead(key, instances, port)
            for (key, instances), port in zip(every, ports, strict=True)
        )

    def needed(self, statement: str, loaded: Mapping[Key, isl.Set]) -> isl.Set:
        """Return the instances whose value the array needs, where so much is loaded from it."""
        needed = self.timing.dataflow.outliving(self.timing.scop, statement)
        for flow in self.timing.dataflow.flows:
            if flow.source == statement:
                later = loaded.get((flow.sink, flow.sink_read))
                if later is not None:
                    needed = needed.union(flow.relation.intersect_range(later).domain())
        return needed.coalesce()

    def left(self, routing: Routing, moved: Iterable[KeptRead]) -> Routing:
        """Return the routing without the loads of what is read somewhere else."""
        loaded = dict(routing.loaded)
        for read in moved:
            statement, number = read.key
            nodes = self.timing.datapaths[statement].node_of_read
            for other, node in nodes.items():
                # Equal accesses share a load.
                if node == nodes[number]:
                    key = statement, other
                    loaded[key] = loaded[key].subtract(read.instances).coalesce()
        return replace(routing, loaded=loaded)

    def stored(self, routing: Routing, before: Routing) -> Routing:
        """Return the routing without the stores of what nobody loads any more.

        Parameters
        ----------
        before: with loads that are somewhere else now.
        """
        scop = self.timing.scop
        arrays = {
            scop.statement(name).reads[read].array
            for (name, read), instances in before.loaded.items()
            if routing.loaded[name, read] is not instances
        }
        stored = dict(routing.stored)
        for statement in scop.statements:
            if statement.write.array in arrays and not stored[statement.name].is_empty():
                keep_going(self.timing.sets.context)
                needed = self.needed(statement.name, routing.loaded)
                if self.can_tell(statement.name, needed):
                    stored[statement.name] = needed
        return replace(routing, stored=stored)


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
