"""What workers know of each other's tiles: what surely has happened when a tile is begun.

A *clock* has an entry for every store of every worker: so many tiles it is done with. Each transfer
has one for each of its tiles. It is what follows from these rules alone; whatever else may happen
to be in order is not counted on:

- a transfer, and a kernel, goes through its worker's tiles in order;
- a transfer begins a tile when what it waits for is done;
- a kernel begins a tile when all of it is loaded, and what it stores is stored later.

A store knows all that its kernel knows, and who waits for it learns it. Where a tile would have to
be stored before it is begun, the workers wait for ever.

Reference: Mattern, "Virtual time and global states of distributed systems", 1989: vector clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.plan import Mark, Transfer, Wait, Workers
from rtlgen.scheduling.errors import PlanUnsound

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Gate:
    """A wait, tile by tile.

    Members
    -------
    store: the window that is waited for. tiles: which wait. stored: for which tiles of the store.
    """

    store: str
    tiles: Ints
    stored: Ints


class _Clock:
    """The clock of one transfer, or kernel: it goes on at some of its tiles only.

    Members
    -------
    begins: the tiles at which it goes on, the first one among them. known: (tiles, entries).
    """

    def __init__(self, begins: Sequence[Ints], entries: int) -> None:
        self.begins: Ints = np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *begins]))
        self.known: Ints = np.zeros((len(self.begins), entries), dtype=np.int64)

    def at(self, tiles: Ints) -> Ints:
        """Return where the clocks of some tiles are in `known`."""
        found: Ints = np.searchsorted(self.begins, tiles, side="right") - 1
        return found

    def learn(self, places: Ints | slice, what: Ints) -> None:
        self.known[places] = np.maximum(self.known[places], what)

    def go_on(self) -> None:
        """What is known of one tile is known of those behind it."""
        np.maximum.accumulate(self.known, axis=0, out=self.known)


class TileClocks:
    """The clocks of the transfers of some workers.

    Members
    -------
    entries: by the window of a store, its place in a clock. owner: by window, its worker.

    Raises
    ------
    PlanUnsound: a tile waits for what is never done, or for itself.
    """

    def __init__(self, workers: Workers) -> None:
        self._regions = workers.regions
        transfers = workers.transfers
        stores = [t.window for t in transfers if t.direction == "store"]
        self.entries = {window: n for n, window in enumerate(stores)}
        self.owner = {
            transfer.window: number
            for number, region in enumerate(self._regions)
            for transfer in region.transfers
        }
        self._tiles = [iterations_of(region.levels) for region in self._regions]
        self._gates = {t.window: [self._gate(t, wait) for wait in t.after] for t in transfers}
        self._clocks: dict[str, _Clock] = {}
        for region in self._regions:
            loads = [t.window for t in region.transfers if t.direction == "load"]
            loaded = [gate.tiles for window in loads for gate in self._gates[window]]
            for transfer in region.transfers:
                own = [gate.tiles for gate in self._gates[transfer.window]]
                begins = own if transfer.direction == "load" else [*own, *loaded]
                self._clocks[transfer.window] = _Clock(begins, len(stores))
        while self._go_on():
            self._check_own()

    def _gate(self, transfer: Transfer, wait: Wait) -> _Gate:
        waiting = self._counted(self.owner[transfer.window], wait.takes, first=True)
        done = self._counted(self.owner[wait.window], wait.gives, first=False)
        # The first ones find what there is before anything is done.
        waiting = waiting[wait.distance :]
        if len(waiting) > len(done):
            raise PlanUnsound(f"{transfer.window} waits for what {wait.window} never stores")
        return _Gate(wait.window, waiting, done[: len(waiting)])

    def _counted(self, worker: int, mark: Mark, *, first: bool) -> Ints:
        """Return the first, or last, tile of each iteration that counts."""
        tiles = self._tiles[worker]
        counts = predicate_mask(mark.when, tiles)
        changes = np.any(np.diff(tiles[:, : mark.loops], axis=0) != 0, axis=1)
        is_end = np.concatenate([[True], changes] if first else [changes, [True]])
        return np.flatnonzero(counts & is_end)

    def _go_on(self) -> bool:
        """Let all clocks learn what others know; return whether there was something new."""
        is_new = False
        for region in self._regions:
            loads = [t.window for t in region.transfers if t.direction == "load"]
            for transfer in sorted(region.transfers, key=lambda t: t.direction):
                clock = self._clocks[transfer.window]
                before = clock.known.copy()
                for gate in self._gates[transfer.window]:
                    self._pass(clock, gate)
                if transfer.direction == "store":
                    for window in loads:
                        loaded = self._clocks[window]
                        clock.learn(slice(None), loaded.known[loaded.at(clock.begins)])
                clock.go_on()
                is_new |= not np.array_equal(before, clock.known)
        return is_new

    def _pass(self, clock: _Clock, gate: _Gate) -> None:
        """Let those who wait learn what the store knows, and that it is done."""
        places = clock.at(gate.tiles)
        stored, entry = self._clocks[gate.store], self.entries[gate.store]
        clock.learn(places, stored.known[stored.at(gate.stored)])
        clock.known[places, entry] = np.maximum(clock.known[places, entry], gate.stored + 1)

    def _check_own(self) -> None:
        for window, clock in self._clocks.items():
            own = self._entries_of(self.owner[window])
            if np.any(clock.known[:, own] > clock.begins[:, None]):
                raise PlanUnsound(f"{window} waits for itself")

    def _entries_of(self, worker: int) -> list[int]:
        return [n for store, n in self.entries.items() if self.owner[store] == worker]

    # What is in order.

    def has_stored(self, window: str, tiles: Ints, entries: Ints, stored: Ints) -> Bools:
        """Tell whether stores are done with tiles when a transfer begins others.

        Parameters
        ----------
        window: of the transfer. tiles: of it. entries: of the stores. stored: their tiles.
        """
        clock = self._clocks[window]
        found: Bools = clock.known[clock.at(tiles), entries] > stored
        return found

    def has_loaded(self, window: str, tiles: Ints, worker: int, loaded: Ints) -> Bools:
        """Tell whether a worker has loaded tiles when a transfer begins others."""
        own = self._entries_of(worker)
        clock = self._clocks[window]
        known = clock.known[:, own].max(axis=1, initial=0)
        found: Bools = known[clock.at(tiles)] > loaded
        return found
