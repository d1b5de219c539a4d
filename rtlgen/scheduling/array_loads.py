"""What the reads of an array load from it: which values, whose, and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.ints import Ints
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Array
from rtlgen.ir.write_history import WriteHistory
from rtlgen.poly.instances import Pairs, members
from rtlgen.scheduling.beside import Beside
from rtlgen.scheduling.comparisons import described
from rtlgen.scheduling.forwarding import Routing
from rtlgen.scheduling.kept_values import Key
from rtlgen.scheduling.stored_values import elements_of

Bools = NDArray[np.bool_]


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
    base = max(int(there.max(initial=0)), int(when.max(initial=0))) + 2
    keys = elements * base + there
    order = np.argsort(keys)
    place = np.searchsorted(keys[order], wanted * base + when) - 1
    found = order[np.maximum(place, 0)]
    return np.where((place >= 0) & (elements[found] == wanted), found, -1)
