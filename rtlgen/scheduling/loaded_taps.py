"""Values that reads pass to each other: what one has just loaded, another one need not load.

    for j  b[j] = a[j-1] + a[j] + a[j+1];       a[j+1] is loaded, a[j] is what it was one iteration
                                                ago, a[j-1] two; but for the first two of them

The value comes from registers behind the load, so that it saves a port of the array, which is a
copy of it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Array
from rtlgen.scheduling.array_loads import ArrayLoads, Bools, Loads, first_of
from rtlgen.scheduling.beside import Beside
from rtlgen.scheduling.forwarding import PassedSet, Routing
from rtlgen.scheduling.kept_values import KeptRead, Key

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
