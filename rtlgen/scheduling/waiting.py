"""What the movers of tiles wait for, so that the memory off chip has what they load.

One worker runs tiles in order: a load waits for the stores of its own tiles, so many tiles before.
Workers that share the iterations of one tile loop keep no order but in the loops outside of it,
whose iterations are called *waves*. What passes from tile to tile is in one iteration of the shared
loop, and so in one worker, or it passes from one wave to a later one. So a load waits for all
workers to have stored what they store in a wave, so many waves before.

Where the iterations of the shared loop wait for one another (`scheduling.doacross`) there are no
waves: what is in two of them is in order by that. Kernels that hand values over wait in the same
way: then one comes behind the loads of the row before, as well.

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
from rtlgen.scheduling.doacross import Doacross
from rtlgen.scheduling.tile_kernel import TileKernel

MOST_WAITED = 4
"""Tiles between a store and the load that waits for it from which on it does not matter."""

FAR_WAITED = 16
"""The same where lanes run one behind the other, since the memory answers after many tiles, and
where windows have many copies, so that loads are far ahead."""


class Waiting:
    """Find what transfers wait for.

    Parameters
    ----------
    space: the tile loop that workers share; None for one worker.
    barrier: whether all workers meet after each wave.
    across: how iterations of the shared loop wait for one another; None for waves, and so with a
        barrier.
    far: whether it matters how many tiles are in between where these are many.
    """

    def __init__(
        self,
        kernel: TileKernel,
        space: int | None,
        barrier: bool,
        across: Doacross | None = None,
        far: bool = False,
    ) -> None:
        self.kernel = kernel
        self.space = space
        self.barrier = barrier
        self.across = across
        self.most = FAR_WAITED if far or not kernel.in_step else MOST_WAITED

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
            return [Wait(window, self.kernel.between(pairs, depth, self.most), depth)]
        near = equal_outer(pairs, self.space + 1).coalesce()
        far = pairs.subtract(near).coalesce()
        found = []
        if not near.is_empty():
            found.append(Wait(window, self.kernel.between(near, depth, self.most), depth))
        if not far.is_empty():
            found.append(self._behind(window, far))
        return found

    def _behind(self, window: str, pairs: isl.Map) -> Wait:
        """Return how the second of some tiles waits for the first, in another iteration."""
        if self.across is not None:
            return self.across.wait(window)
        assert self.space, "nothing passes between workers in one wave"
        return Wait(window, self.kernel.between(pairs, self.space, self.most), self.space)

    def of_kernel(self, peers: Sequence[str]) -> tuple[Wait, ...]:
        """Return what a kernel waits for that takes values from another by way of some memories."""
        if not peers:
            return ()
        assert self.across is not None, "values are handed over from row to row"
        # The kernel that stores to one of them stores to all.
        return (self.across.wait(peers[0]),)

    def for_room(self, peers: Sequence[str]) -> tuple[Wait, ...]:
        """Return what a kernel waits for that hands values over to another."""
        if not peers:
            return ()
        assert self.across is not None, "values are handed over from row to row"
        return (self.across.wait_for_room(peers[0]),)

    def completed(
        self,
        transfers: Sequence[Transfer],
        drained: Mapping[str, str],
        dependences: Iterable[Dependence],
        kernels_wait: bool = False,
    ) -> tuple[Transfer, ...]:
        """Return transfers that wait for all that they have to.

        Parameters
        ----------
        transfers: with what loads wait for. drained: by statement, the window of what it stores.
        kernels_wait: whether a kernel waits for that of the row before.
        """
        if not self._levels_between:
            return tuple(transfers)
        after = {transfer.window: list(transfer.after) for transfer in transfers}
        loads = [transfer for transfer in transfers if transfer.direction == "load"]
        if self.barrier:
            waves = self._levels_between
            every = [Wait(window, 1, waves) for window in drained.values()]
            for transfer in loads or transfers:
                own = [wait for wait in transfer.after if wait.loops != waves]
                after[transfer.window] = [*own, *every]
        gates = {
            wait.window: wait.distance
            for transfer in loads
            for wait in sorted(after[transfer.window], key=lambda wait: -wait.distance)
            if self._is_between(wait)
        }
        for dependence in dependences:
            if not (kernels_wait and dependence.kind == "anti"):
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
        gates: by window of a store, how many waves before a tile it is done; 0 where iterations
            wait for one another.
        """
        if dependence.kind == "flow" or dependence.sink not in drained:
            return
        relations = self.kernel.relations
        levels = self._levels_between
        pairs = relations.tile_pairs(relations.leaving(dependence.relation, levels))
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
        wait = self._behind(window, pairs)
        if known is not None and known <= wait.distance:
            return
        waits = after[own]
        others = [w for w in waits if w.window != window or not self._is_between(w)]
        nearest = min([wait.distance, *(w.distance for w in waits if w not in others)])
        waits[:] = [*others, replace(wait, distance=nearest)]

    @property
    def _levels_between(self) -> int:
        """How many outermost tile loops tell what is in order only if something waits."""
        if self.space is None:
            return 0
        return self.space if self.across is None else self.space + 1

    def _is_between(self, wait: Wait) -> bool:
        """Tell whether a wait is for another iteration of the loop that is shared, or of a wave."""
        if self.across is None:
            return wait.loops == self.space
        return not wait.is_plain
