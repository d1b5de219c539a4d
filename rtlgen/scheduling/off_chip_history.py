"""What workers store to an array off chip, and who may know of it.

A store and a load, or two stores, of one element are in order where they are one worker's, or where
the later one comes so many waves after the first one that something waits for it in between. Waves
are the iterations of the tile loops in which workers wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.iterations import iterations_of
from rtlgen.ir.plan import Transfer, Workers
from rtlgen.scheduling.write_history import INITIAL

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNKNOWN = -7
"""The producer of a value that nobody may use."""

NEVER = 1 << 40
"""More waves, or tiles, than there are: what is not waited for is never known to be done."""


class WaitRules:
    """How far apart tiles of workers are in order.

    Members
    -------
    waves: by worker, the wave of each of its tiles.
    """

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.owner = {
            transfer.window: number
            for number, region in enumerate(workers.regions)
            for transfer in region.transfers
        }
        self._loops = self._shared_loops()
        self.waves = [self._waves(number) for number in range(len(workers.regions))]

    def _shared_loops(self) -> int:
        """Return in how many loops workers wait for each other; 0 where they do not."""
        found = {
            wait.loops
            for transfer in self.workers.transfers
            for wait in transfer.after
            if wait.loops < self._depth(transfer)
        }
        return min(found, default=0)

    def _waves(self, number: int) -> Ints:
        rows = iterations_of(self.workers.regions[number].levels)
        changes = np.any(np.diff(rows[:, : self._loops], axis=0) != 0, axis=1)
        return np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)

    def _depth(self, transfer: Transfer) -> int:
        """Return the number of tile loops of a transfer's worker."""
        return len(self.workers.regions[self.owner[transfer.window]].levels)

    def in_waves(self, transfer: Transfer, window: str) -> int:
        """Return so many waves before a transfer's tile a store is done."""
        depth, loops = self._depth(transfer), self._loops
        found = [
            wait.distance
            for wait in transfer.after
            if wait.window == window and wait.loops == loops < depth
        ]
        return min(found, default=NEVER)

    def in_tiles(self, transfer: Transfer, window: str) -> int:
        """Return so many tiles before a transfer's tile a store of its own worker is done."""
        depth = self._depth(transfer)
        found = [w.distance for w in transfer.after if (w.window, w.loops) == (window, depth)]
        return min(found, default=NEVER)

    def after_store(self, window: str, earlier: str) -> int:
        """Return so many waves before a store to a window comes, another store is done.

        A kernel starts when its tile is loaded, so what its loads have waited for is done, too.
        """
        region = self.workers.regions[self.owner[window]]
        gates = [t for t in region.transfers if t.direction == "load" or t.window == window]
        return min([self.in_waves(transfer, earlier) for transfer in gates], default=NEVER)

    def after_tile(self, window: str, worker: int) -> int:
        """Return so many waves before a store to a window comes, a worker's tiles are loaded.

        They are when any of its stores is done with them.
        """
        region = self.workers.regions[worker]
        stores = [t.window for t in region.transfers if t.direction == "store"]
        return min([self.after_store(window, earlier) for earlier in stores], default=NEVER)


@dataclass(frozen=True, slots=True, eq=False)
class OffChipStores:
    """Stores to one array, as they come.

    Members
    -------
    elements, tokens, tiles: of each. windows: through which, by its place in `names`.
    """

    rules: WaitRules
    elements: Ints
    tokens: Ints
    tiles: Ints
    windows: Ints
    names: Sequence[str]


class OffChipHistory:
    """Stores to one array, in order."""

    def __init__(self, stores: OffChipStores) -> None:
        rules = stores.rules
        self.rules = rules
        self.names = stores.names
        owners = np.array([rules.owner[name] for name in stores.names] or [0], dtype=np.int64)
        workers = owners[stores.windows]
        waves = np.zeros(len(workers), dtype=np.int64)
        for number, own in enumerate(rules.waves):
            mine = workers == number
            waves[mine] = own[stores.tiles[mine]]
        self._tiles_base = max(len(own) for own in rules.waves) + 1
        self._base = (max(int(own[-1]) for own in rules.waves) + 2) * self._tiles_base
        keys = stores.elements * self._base + waves * self._tiles_base + stores.tiles
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.tokens = stores.tokens[order]
        self.tiles, self.waves = stores.tiles[order], waves[order]
        self.windows, self.workers = stores.windows[order], workers[order]
        self.elements = stores.elements[order]

    def last(self, elements: Ints) -> Ints:
        """Return the token of each element in the end; INITIAL where it is not stored to."""
        place = np.searchsorted(self.keys, (elements + 1) * self._base, side="left") - 1
        return np.where(self._is_of(place, elements), self._at(self.tokens, place), INITIAL)

    def disordered(self) -> Ints:
        """Return elements to which two workers store in no order."""
        same = self.elements[1:] == self.elements[:-1]
        other = same & (self.workers[1:] != self.workers[:-1])
        pairs = np.flatnonzero(other)
        apart = self.waves[pairs + 1] - self.waves[pairs]
        needed = self._table(self.rules.after_store)[self.windows[pairs + 1], self.windows[pairs]]
        found: Ints = self.elements[pairs[apart < needed]]
        return found

    def seen(self, worker: int, transfer: Transfer, elements: Ints, tiles: Ints) -> Ints:
        """Return the token that a load brings to a worker's tiles; UNKNOWN where it may differ."""
        waves = self.rules.waves[worker][tiles]
        asked = elements * self._base + waves * self._tiles_base + tiles
        behind = np.searchsorted(self.keys, asked, side="left")
        found = np.full(len(elements), INITIAL, dtype=np.int64)
        stored = self._is_of(behind - 1, elements)
        place = (behind - 1)[stored]
        found[stored] = self.tokens[place]
        own = self.workers[place] == worker
        rules = self.rules
        in_tiles = np.array([rules.in_tiles(transfer, name) for name in self.names] or [0])
        in_waves = np.array([rules.in_waves(transfer, name) for name in self.names] or [0])
        windows = self.windows[place]
        known = waves[stored] - self.waves[place] >= in_waves[windows]
        known |= own & (tiles[stored] - self.tiles[place] >= in_tiles[windows])
        unknown = np.zeros(len(elements), dtype=np.bool_)
        unknown[stored] = ~known
        # What another worker stores later must not come before the load.
        next_one = self._is_of(behind, elements)
        place = behind[next_one]
        after = np.array([rules.after_tile(name, worker) for name in self.names] or [0])
        early = self.waves[place] - waves[next_one] < after[self.windows[place]]
        unknown[next_one] |= early & (self.workers[place] != worker)
        return np.where(unknown, UNKNOWN, found)

    def _is_of(self, place: Ints, elements: Ints) -> Bools:
        """Tell whether there is a store at each place, and of the element."""
        inside = (place >= 0) & (place < len(self.keys))
        found: Bools = inside & (self._at(self.elements, place) == elements)
        return found

    def _at(self, values: Ints, place: Ints) -> Ints:
        if not len(values):
            return np.full(len(place), UNKNOWN, dtype=np.int64)
        found: Ints = values[np.clip(place, 0, len(values) - 1)]
        return found

    def _table(self, rule: Callable[[str, str], int]) -> Ints:
        """Return a rule for every two windows."""
        found = [[rule(late, early) for early in self.names] for late in self.names]
        return np.array(found or [[0]], dtype=np.int64)
