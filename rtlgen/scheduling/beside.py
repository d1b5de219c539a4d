"""What all memories beside the arrays have in common: who can tell, which ports, what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.memories import numbered_name
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Array
from rtlgen.poly.counting import count_points
from rtlgen.poly.instances import members
from rtlgen.scheduling.forwarding import IssueTimes, Routing
from rtlgen.scheduling.kept_values import KeptRead, Key
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.ports import Busy, busy_cycles, colours
from rtlgen.scheduling.predicates import CounterSpace
from rtlgen.scheduling.stored_values import StoredValues, elements_of
from rtlgen.scheduling.versions import followed_arrays

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
