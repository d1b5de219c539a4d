"""What the movers of tiles wait for, so that the memory off chip has what they load.

One worker runs tiles in order: a load waits for the stores of its own tiles, so many tiles before.
Workers that share the iterations of one tile loop keep no order but in the loops outside of it,
whose iterations are called *waves*. What passes from tile to tile is in one iteration of the shared
loop, and so in one worker, or it passes from one wave to a later one. So a load waits for all
workers to have stored what they store in a wave, so many waves before.

A store that writes over what an earlier wave reads or writes waits likewise, unless the loads of
its own tile do already: a kernel does not start before its words are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from rtlgen.ir.plan import Transfer, Wait
from rtlgen.ir.sets import equal_outer
from rtlgen.poly.dependences import Dependence
from rtlgen.scheduling.tile_kernel import TileKernel

MOST_WAITED = 4
"""Tiles between a store and the load that waits for it from which on it does not matter."""


class Waiting:
    """Find what transfers wait for.

    Parameters
    ----------
    space: the tile loop that workers share; None for one worker.
    barrier: whether all workers meet after each wave.
    """

    def __init__(self, kernel: TileKernel, space: int | None, barrier: bool) -> None:
        self.kernel = kernel
        self.space = space
        self.barrier = barrier

    def of_load(self, pairs: Mapping[str, isl.Map]) -> list[Wait]:
        """Return what a load waits for.

        Parameters
        ----------
        pairs: by the window of a store, the tiles that store and the later ones that load it.
        """
        return [wait for window, found in pairs.items() for wait in self._within(window, found)]

    def _within(self, window: str, pairs: isl.Map) -> list[Wait]:
        depth = self.kernel.depth
        if self.space is None:
            return [Wait(window, self.kernel.between(pairs, depth, MOST_WAITED), depth)]
        near = equal_outer(pairs, self.space + 1).coalesce()
        far = pairs.subtract(near).coalesce()
        found = []
        if not near.is_empty():
            found.append(Wait(window, self.kernel.between(near, depth, MOST_WAITED), depth))
        if not far.is_empty():
            found.append(Wait(window, self._waves(far), self.space))
        return found

    def _waves(self, pairs: isl.Map) -> int:
        """Return how many waves are between tiles at least."""
        assert self.space, "nothing passes between workers in one wave"
        return self.kernel.between(pairs, self.space, MOST_WAITED)

    def completed(
        self,
        transfers: Sequence[Transfer],
        drained: Mapping[str, str],
        dependences: Iterable[Dependence],
    ) -> tuple[Transfer, ...]:
        """Return transfers that wait for all that they have to.

        Parameters
        ----------
        transfers: with what loads wait for. drained: by statement, the window of what it stores.
        """
        if not self.space:
            return tuple(transfers)
        after = {transfer.window: list(transfer.after) for transfer in transfers}
        loads = [transfer for transfer in transfers if transfer.direction == "load"]
        if self.barrier:
            every = [Wait(window, 1, self.space) for window in drained.values()]
            for transfer in loads or transfers:
                own = [wait for wait in transfer.after if wait.loops != self.space]
                after[transfer.window] = [*own, *every]
        gates = {
            wait.window: wait.distance
            for transfer in loads
            for wait in sorted(after[transfer.window], key=lambda wait: -wait.distance)
            if wait.loops == self.space
        }
        for dependence in dependences:
            self._add(after, gates, drained, dependence)
        return tuple(replace(t, after=tuple(after[t.window])) for t in transfers)

    def _add(
        self,
        after: Mapping[str, list[Wait]],
        gates: Mapping[str, int],
        drained: Mapping[str, str],
        dependence: Dependence,
    ) -> None:
        """Let a store wait for what it writes over, where its tile does not wait for that yet.

        Parameters
        ----------
        gates: by window of a store, how many waves before a tile it is done.
        """
        if dependence.kind == "flow" or dependence.sink not in drained:
            return
        assert self.space
        relations = self.kernel.relations
        pairs = relations.tile_pairs(relations.leaving(dependence.relation, self.space))
        own = drained[dependence.sink]
        if dependence.kind == "anti":
            # A store that is done with a wave says that its tiles have been loaded, too.
            known = min(gates.values(), default=None)
            window: str | None = own
        else:
            window = drained.get(dependence.source)
            known = None if window is None else gates.get(window)
        if window is None or pairs.is_empty():
            return
        distance = self._waves(pairs)
        if known is not None and known <= distance:
            return
        waits = after[own]
        others = [w for w in waits if (w.window, w.loops) != (window, self.space)]
        nearest = min([distance, *(w.distance for w in waits if w not in others)])
        waits[:] = [*others, Wait(window, nearest, self.space)]
