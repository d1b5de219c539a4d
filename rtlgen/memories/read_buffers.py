"""What reads have brought: loaded once, passed on or kept in rows for other reads.

Parts of arrays: a copy for a read holds no more than that read loads.

Where several reads of an array need ports in one cycle, each port is a copy of the array. What one
of them loads may be little of it: a row, or a column of the border. Then its copy is that part,
whose address is a few low bits of each subscript. Stores, and the host, write it with the array.

Nothing of it is believed: the plan is replayed, whatever place a value is in.

What the reads of an array load from it: which values, whose, and when.

Memories of what a read has brought: each value of an array is loaded once, and kept for others.

Reads of a stencil are of the same elements, some rows or columns apart. The one that is first loads
them all, as they come; what it brings goes to a memory of a few rows besides, where the others find
it. The array needs ports for the first read, and for what it does not bring: the border.

    for i, j  b[i][j] = f(a[i-1][j], a[i][j-1], a[i][j], a[i][j+1], a[i+1][j]);

    a[i+1][j] brings rows 2, 3, .. and two of them are kept. Row 1 and the border are loaded.

Nothing of it is believed: the plan is replayed, whatever place a value is in.

Values that reads pass to each other: what one has just loaded, another one need not load.

    for j  b[j] = a[j-1] + a[j] + a[j+1];       a[j+1] is loaded, a[j] is what it was one iteration
                                                ago, a[j-1] two; but for the first two of them

The value comes from registers behind the load, so that it saves a port of the array, which is a
copy of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl
import numpy as np

from rtlgen.ir.bank_map import ArrayPart
from rtlgen.ir.effort import count_work, keep_going
from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Array
from rtlgen.ir.sets import bounding_box, for_each
from rtlgen.ir.write_history import WriteHistory
from rtlgen.memories.folds import fewest_bits
from rtlgen.memories.forwarding import PassedSet, Routing
from rtlgen.memories.ports import Busy, stores_meeting
from rtlgen.memories.predicates import described
from rtlgen.memories.row_buffers import (
    SHARE_ALIVE,
    Beside,
    KeptRead,
    Key,
    PartMemory,
    RowMemory,
    Rows,
    StoredValues,
    elements_of,
)
from rtlgen.poly.counting import count_points
from rtlgen.poly.instances import Pairs, members

MOST_PIECES = 4
"""Of what a read loads, each of which may be in another part."""


def part_arrays(beside: Beside, rows: Rows) -> Rows:
    """Return more memories, for parts of arrays that reads need more ports for."""
    # What the host writes to a RAM of the user's, nobody here sees.
    arrays = [array for array in beside.arrays() if not array.is_external]
    found = [memory for array in arrays for memory in _Parting(beside, rows, array).parts()]
    moved = [read for memory in found for read in memory.reads]
    return Rows((*rows.memories, *found), beside.left(rows.routing, moved))


@dataclass(slots=True)
class _Box:
    """A part, and what is read there."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    reads: list[tuple[Key, isl.Set]] = field(default_factory=list)

    def with_box(self, low: Sequence[int], high: Sequence[int]) -> _Box:
        """Return the box around this one and another one."""
        return _Box(
            tuple(map(min, self.low, low)), tuple(map(max, self.high, high)), list(self.reads)
        )

    @property
    def extents(self) -> tuple[int, ...]:
        return tuple(b - a + 1 for a, b in zip(self.low, self.high, strict=True))

    @property
    def words(self) -> int:
        return 1 << sum((extent - 1).bit_length() for extent in self.extents)


class _Parting:
    """Find the parts of one array."""

    def __init__(self, beside: Beside, rows: Rows, array: Array) -> None:
        self.beside = beside
        self.timing = beside.timing
        self.routing: Routing = rows.routing
        # What is kept of a load is what comes from the array.
        self.sources = {(m.source, m.read) for m in rows.memories if isinstance(m, RowMemory)}
        self.array = array

    def parts(self) -> Iterator[PartMemory]:
        """Yield a memory for each part."""
        boxes: list[_Box] = []
        for key in self._without_port():
            for instances in self._pieces(key):
                self._put(boxes, key, instances)
        for box in boxes:
            memory = self._memory(box)
            if memory is not None:
                yield memory

    def _loads(self) -> dict[Key, isl.Set]:
        found: dict[Key, isl.Set] = {}
        for (name, read), instances in self.routing.loaded.items():
            datapath = self.timing.datapaths[name]
            access = self.timing.scop.statement(name).reads[read]
            if access.array != self.array.name or instances.is_empty():
                continue
            if datapath.nodes[datapath.node_of_read[read]].read == read:
                found[name, read] = instances
        return found

    def _without_port(self) -> list[Key]:
        """Return the reads that meet others that load more, for which one port is enough."""
        loads = self._loads()
        busy = {key: self.beside.busy(key, instances) for key, instances in loads.items()}
        order = sorted(loads, key=lambda k: (k not in self.sources, -count_points(loads[k])))
        served: list[Busy] = []
        left: list[Key] = []
        for key in order:
            keep_going(self.timing.sets.context)
            if any(busy[key].meets(other) and busy[key].differs(other) for other in served):
                left.append(key)
            else:
                served.append(busy[key])
        return left

    def _pieces(self, key: Key) -> list[isl.Set]:
        """Return the instances of a read in few pieces that the circuit can tell, or none."""
        access = self.timing.scop.statement(key[0]).reads[key[1]]
        if access.is_partial:
            return []
        disjoint = self.routing.loaded[key].coalesce().make_disjoint().coalesce()
        pieces = [isl.Set.from_basic_set(b) for b in for_each(disjoint.foreach_basic_set)]
        if len(pieces) > MOST_PIECES or not self.beside.can_tell(key[0], *pieces):
            return []
        return pieces

    def _put(self, boxes: list[_Box], key: Key, instances: isl.Set) -> None:
        """Put a piece of a read into a box that needs no more words for it, or into a new one."""
        own = self.timing.scop.statement(key[0])
        relation = self.timing.sets.access_map(own, own.reads[key[1]])
        limits = bounding_box(relation.intersect_domain(instances).range())
        low, high = tuple(a for a, _ in limits), tuple(b for _, b in limits)
        alone = _Box(low, high, [(key, instances)])
        if alone.words > self.array.depth // SHARE_ALIVE:
            return
        for number, box in enumerate(boxes):
            joined = box.with_box(low, high)
            if joined.words <= max(box.words, alone.words):
                joined.reads.append((key, instances))
                boxes[number] = joined
                return
        boxes.append(alone)

    def _memory(self, box: _Box) -> PartMemory | None:
        """Return the memory of a part, if one port can take all that is stored there."""
        stored = self._stored(box)
        if stored is None:
            return None
        routing = replace(self.routing, stored={**self.routing.stored, **stored})
        if stores_meeting(self.timing, self.beside.times, routing, list(stored)):
            return None
        array, statements = self.array, self.timing.scop.statements
        part = ArrayPart(
            array.name, array.shape, box.low, box.extents, is_hosted=array.storage != "local"
        )
        return PartMemory(
            name=self.beside.name(f"{array.name}_part"),
            array=array,
            part=part,
            writes={s.name: s.write for s in statements if s.name in stored},
            stored=stored,
            reads=self.beside.on_ports(box.reads),
        )

    def _stored(self, box: _Box) -> Mapping[str, isl.Set] | None:
        """Return the instances that store to a box what is needed there, if they can be told."""
        sets, scop = self.timing.sets, self.timing.scop
        loaded: dict[Key, isl.Set] = {}
        for key, instances in box.reads:
            loaded[key] = loaded[key].union(instances) if key in loaded else instances
        inside = sets.element_set(self.array)
        for dim, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
            inside = inside.lower_bound_val(isl.dim_type.set, dim, isl.Val(low, sets.context))
            inside = inside.upper_bound_val(isl.dim_type.set, dim, isl.Val(high, sets.context))
        found: dict[str, isl.Set] = {}
        for statement in scop.statements:
            if statement.write.array != self.array.name:
                continue
            within = sets.access_map(statement, statement.write).intersect_range(inside).domain()
            needed = self.beside.needed(statement.name, loaded).intersect(within).coalesce()
            if not self.beside.can_tell(statement.name, needed):
                needed = within.coalesce()
            if not self.beside.can_tell(statement.name, needed):
                return None
            if not needed.is_empty():
                found[statement.name] = needed
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What a read loads from its array, n values.

    Members
    -------
    instances, points: that load. elements: which. producers: the places in program order of the
        writes that made the values, or one that stands for what was there before the run. cycles:
        in which they are asked for.
    """

    key: Key
    instances: isl.Set
    points: Ints
    elements: Ints
    producers: Ints
    cycles: Ints

    def within(self, instances: isl.Set) -> Loads:
        """Return some of them."""
        some = members(instances, self.points)
        return Loads(
            self.key,
            instances,
            self.points[some],
            self.elements[some],
            self.producers[some],
            self.cycles[some],
        )

    def bring(self, others: Loads, latency: int, later: int) -> tuple[Ints, Bools]:
        """Return which of these each of some others may have its value from, and where it may.

        Parameters
        ----------
        latency: from the cycle of a load here until its value is there. later: from the cycle of
            one of the others until, strictly before which, it has to be.
        """
        found = _last_before(
            self.elements, self.cycles + latency, others.elements, others.cycles + later
        )
        return found, (found >= 0) & (self.producers[found] == others.producers)


class ArrayLoads:
    """The loads from one array, by read; equal reads count as one."""

    def __init__(self, beside: Beside, array: Array) -> None:
        self.beside = beside
        self.timing = beside.timing
        self.array = array

    def every(self, routing: Routing) -> dict[Key, Loads]:
        """Return what all reads load, where it is known and may be found elsewhere."""
        needed = {key: _needed(routing, key) for key in routing.loaded if self._is_known(key)}
        loaded = {key: instances for key, instances in needed.items() if not instances.is_empty()}
        if len(loaded) < 2:
            return {}
        history = self._history()
        return {key: self._of(history, key, instances) for key, instances in loaded.items()}

    def latency(self, key: Key) -> int:
        """Return the cycles from the address of a read to its value."""
        datapath = self.timing.datapaths[key[0]]
        return datapath.latencies[datapath.node_of_read[key[1]]]

    def touched(self, key: Key, instances: isl.Set) -> isl.Set:
        """Return the elements that some instances read."""
        own = self.timing.scop.statement(key[0])
        relation = self.timing.sets.access_map(own, own.reads[key[1]])
        return relation.intersect_domain(instances).range()

    def touching(self, key: Key, elements: isl.Set) -> isl.Set:
        """Return the instances that read some elements."""
        own = self.timing.scop.statement(key[0])
        relation = self.timing.sets.access_map(own, own.reads[key[1]])
        return relation.intersect_range(elements).domain()

    def told(self, loads: Loads, source: Loads, chosen: Bools) -> isl.Set | None:
        """Return the chosen instances of some loads, if the circuit can tell them and the others.

        Parameters
        ----------
        source: whose elements they are among.
        """
        if not chosen.any():
            return None
        elements = self.touched(source.key, source.instances)
        tried = self.touching(loads.key, elements).intersect(loads.instances).coalesce()
        if np.array_equal(members(tried, loads.points), chosen):
            return self._if_told(loads, tried)
        found = self._described(loads, chosen)
        return None if found is None else self._if_told(loads, found)

    def _if_told(self, loads: Loads, some: isl.Set) -> isl.Set | None:
        others = loads.instances.subtract(some).coalesce()
        return some if self.beside.is_plain(loads.key[0], some, others) else None

    def _described(self, loads: Loads, chosen: Bools) -> isl.Set | None:
        every = loads.instances
        same = every.identity()
        points = self.timing.instances.points(loads.key[0])
        found = described(same, Pairs(loads.points, loads.points), chosen, points)
        if found is None:
            return None
        found = found.intersect(every).coalesce()
        return found if np.array_equal(members(found, loads.points), chosen) else None

    def _is_known(self, key: Key) -> bool:
        """Tell whether a read is one of the array, and is made in all instances that are known."""
        name, read = key
        datapath = self.timing.datapaths[name]
        access = self.timing.scop.statement(name).reads[read]
        return (
            access.array == self.array.name
            and not access.is_partial
            and datapath.nodes[datapath.node_of_read[read]].read == read
            and self.beside.is_small(name)
        )

    def _of(self, history: WriteHistory, key: Key, instances: isl.Set) -> Loads:
        points = self.beside.points(key[0], instances)
        elements, cycles = self.beside.read_at(key, points)
        producers = history.before(elements, self._moments(key[0], points))
        return Loads(key, instances, points, elements, producers, cycles)

    def _history(self) -> WriteHistory:
        """Return the writes to the array in program order, each known by its place there."""
        writers = [s for s in self.timing.scop.statements if s.write.array == self.array.name]
        elements, moments = [_NONE], [_NONE]
        for statement in writers:
            points = self.timing.instances.points(statement.name)
            elements.append(elements_of(self.array, statement, statement.write, points))
            moments.append(self._moments(statement.name, points))
        when = np.concatenate(moments)
        return WriteHistory(np.concatenate(elements), when, when)

    def _moments(self, name: str, points: Ints) -> Ints:
        """Return the places of instances in program order, with gaps between them."""
        scop = self.timing.scop
        names = scop.statement(name).iterators
        found = np.zeros(len(points), dtype=np.int64)
        for form, (low, extent) in zip(scop.schedule.time(name), self.beside.time_box, strict=True):
            found = found * extent + (affine_values(form, names, points) - low)
        return found


_NONE: Ints = np.zeros(0, dtype=np.int64)


def _needed(routing: Routing, key: Key) -> isl.Set:
    """Return the instances whose value is what they load: more load where nobody can tell these."""
    found = routing.loaded[key]
    for tap in routing.taps[key]:
        found = found.subtract(tap.instances)
    return found.coalesce()


def first_of(loads: Mapping[Key, Loads], among: Iterable[Key]) -> Key:
    """Return the read that loads most values before all others do."""
    every = [loads[key] for key in among]
    numbers = np.repeat(np.arange(len(every)), [len(each.points) for each in every])
    elements = np.concatenate([each.elements for each in every])
    producers = np.concatenate([each.producers for each in every])
    cycles = np.concatenate([each.cycles for each in every])
    order = np.lexsort((cycles, producers, elements))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (np.diff(elements[order]) != 0) | (np.diff(producers[order]) != 0)
    counts = np.bincount(numbers[order][is_new], minlength=len(every))
    return every[int(np.argmax(counts))].key


def _last_before(elements: Ints, there: Ints, wanted: Ints, when: Ints) -> Ints:
    """Return the number of what was there last of each wanted element before a cycle, or -1."""
    # Few loads are too many to be listed, but some of them take seconds.
    count_work((len(elements) + len(wanted)) // 2)
    base = max(int(there.max(initial=0)), int(when.max(initial=0))) + 2
    keys = elements * base + there
    order = np.argsort(keys)
    place = np.searchsorted(keys[order], wanted * base + when) - 1
    found = order[np.maximum(place, 0)]
    return np.where((place >= 0) & (elements[found] == wanted), found, -1)


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


MOST_CYCLES = 3
"""From when a value is there to when it is passed on: each takes a register, none a wire."""

LEAST_SHARE = 0.5
"""Of what a read still loads: where sweeps meet by chance it is a row, and no port becomes free."""


def pass_loaded(beside: Beside, routing: Routing) -> Routing:
    """Return the routing with values taken from other reads, where reads meet at an array."""
    passed: dict[Key, tuple[PassedSet, ...]] = {}
    for array in beside.arrays():
        passed |= _Passing(beside, array).passed(routing)
    moved = [KeptRead(key, each.instances) for key, found in passed.items() for each in found]
    return replace(beside.left(routing, moved), passed=passed)


class _Passing:
    """Find what reads of one array pass to each other."""

    def __init__(self, beside: Beside, array: Array) -> None:
        self.beside = beside
        self.loads = ArrayLoads(beside, array)

    def passed(self, routing: Routing) -> dict[Key, tuple[PassedSet, ...]]:
        """Return what each read takes from another one."""
        every = self.loads.every(routing)
        found: dict[Key, tuple[PassedSet, ...]] = {}
        # What has given a value away is loaded as it is: nothing more of it comes from others.
        left = list(every)
        while len(left) > 1:
            keep_going(self.beside.timing.sets.context)
            source = every[first_of(every, left)]
            left.remove(source.key)
            for key in left:
                given = self._given(source, every[key])
                if given is not None:
                    found[key] = (*found.get(key, ()), given)
                    rest = every[key].instances.subtract(given.instances).coalesce()
                    every[key] = every[key].within(rest)
            left = [key for key in left if len(every[key].points)]
        return found

    def _given(self, source: Loads, loads: Loads) -> PassedSet | None:
        """Return what a read may take from another one, always as many cycles later."""
        (giver, _), (taker, read) = source.key, loads.key
        if self.beside.region_of(giver) != self.beside.region_of(taker):
            return None
        busy, others = (self.beside.busy(each.key, each.instances) for each in (source, loads))
        if not (busy.meets(others) and busy.differs(others)):
            return None
        datapath = self.beside.timing.datapaths[taker]
        use = datapath.use_stage(read) - datapath.address_stage(read)
        latency = self.loads.latency(source.key)
        found, same = source.bring(loads, latency, use + 1)
        delays = loads.cycles + use - (source.cycles[found] + latency)
        near = same & (delays <= MOST_CYCLES)
        if not near.any():
            return None
        delay = int(np.argmax(np.bincount(delays[near])))
        chosen: Bools = near & (delays == delay)
        if np.count_nonzero(chosen) < len(chosen) * LEAST_SHARE:
            return None
        instances = self.loads.told(loads, source, chosen)
        return None if instances is None else PassedSet(source.key, delay, instances)
