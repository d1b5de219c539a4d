"""What workers store for others, off chip and on it, and who may know of it.

What workers store to an array off chip, and who may know of it.

The stores of one element come in the order in which the C program writes it, or nobody can tell
what is in the memory: those of one worker in the order of its tiles, those of two where the later
one knows of the first one (`tile_clocks`).

What one worker's kernel stores for another one, and what that one finds there.

The two keep no order but what they wait for (`tile_clocks`). So a value is there for a tile if the
kernel that stores it is known to be done with its tile, and the next value in its place comes in a
tile that is known to begin behind the one that reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.write_history import INITIAL
from rtlgen.judges.tile_clocks import TileClocks

UNKNOWN = -7
"""The producer of a value that nobody may use."""


@dataclass(frozen=True, slots=True, eq=False)
class OffChipStores:
    """Stores to one array.

    Members
    -------
    elements, tokens, tiles: of each. windows: through which, by its place in `names`.
    """

    clocks: TileClocks
    elements: Ints
    tokens: Ints
    tiles: Ints
    windows: Ints
    names: Sequence[str]


class OffChipHistory:
    """Stores to one array, those of an element in the order of the program."""

    def __init__(self, stores: OffChipStores) -> None:
        self.clocks = clocks = stores.clocks
        self.names = stores.names
        # What has no producer comes first, so that all that is known must come after it.
        self._first = min(UNKNOWN, INITIAL)
        self._base = int(stores.tokens.max(initial=0)) + 2 - self._first
        keys = self._keys(stores.elements, stores.tokens)
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.tokens, self.tiles = stores.tokens[order], stores.tiles[order]
        self.windows, self.elements = stores.windows[order], stores.elements[order]
        owners = np.array([clocks.owner[name] for name in stores.names] or [0], dtype=np.int64)
        self.workers = owners[self.windows]
        self._entries = np.array([clocks.entries[name] for name in stores.names] or [0])

    def _keys(self, elements: Ints, tokens: Ints) -> Ints:
        return elements * self._base + (tokens - self._first)

    def last(self, elements: Ints) -> Ints:
        """Return the token of each element in the end; INITIAL where it is not stored to."""
        place = np.searchsorted(self.keys, (elements + 1) * self._base, side="left") - 1
        return np.where(self._is_of(place, elements), self._at(self.tokens, place), INITIAL)

    def disordered(self) -> Ints:
        """Return elements of which two stores are in no order, or not in that of the program."""
        pairs = np.flatnonzero(self.elements[1:] == self.elements[:-1])
        early, late = pairs, pairs + 1
        same = self.workers[early] == self.workers[late]
        ordered = same & (self.tiles[early] < self.tiles[late])
        for number, name in enumerate(self.names):
            own = np.flatnonzero(~same & (self.windows[late] == number))
            entries = self._entries[self.windows[early[own]]]
            ordered[own] = self.clocks.has_stored(
                name, self.tiles[late[own]], entries, self.tiles[early[own]]
            )
        found: Ints = self.elements[pairs[~ordered]]
        return found

    def seen(self, worker: int, window: str, elements: Ints, tiles: Ints, moments: Ints) -> Ints:
        """Return the token that a load brings to a worker's tiles; UNKNOWN where it may differ.

        Parameters
        ----------
        moments: when the C program reads each element. What is asked is whether the load comes
            between the stores around it.
        """
        # A moment after all stores is before the first store of the next element.
        moments = np.minimum(moments, self._base - 1 + self._first)
        behind = np.searchsorted(self.keys, self._keys(elements, moments), side="left")
        found = np.full(len(elements), INITIAL, dtype=np.int64)
        stored = self._is_of(behind - 1, elements)
        place = (behind - 1)[stored]
        entries = self._entries[self.windows[place]]
        known = self.clocks.has_stored(window, tiles[stored], entries, self.tiles[place])
        found[stored] = np.where(known, self.tokens[place], UNKNOWN)
        followed = np.flatnonzero(self._is_of(behind, elements))
        place = behind[followed]
        comes_later = (self.workers[place] == worker) & (self.tiles[place] >= tiles[followed])
        for number, name in enumerate(self.names):
            own = np.flatnonzero((self.workers[place] != worker) & (self.windows[place] == number))
            comes_later[own] = self.clocks.has_loaded(
                name, self.tiles[place[own]], worker, tiles[followed[own]]
            )
        found[followed[~comes_later]] = UNKNOWN
        return found

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


@dataclass(frozen=True, slots=True, eq=False)
class PeerStores:
    """Stores to a memory that another worker loads from.

    Members
    -------
    worker: whose they are. addresses, tiles, cycles, tokens: of each.
    """

    worker: int
    addresses: list[Ints]
    tiles: list[Ints]
    cycles: list[Ints]
    tokens: list[Ints]


class PeerHistory:
    """Stores to a memory that another worker loads from, place by place in their order."""

    def __init__(self, clocks: TileClocks, stores: PeerStores) -> None:
        self.clocks = clocks
        self.worker = stores.worker
        empty = np.zeros(0, dtype=np.int64)
        addresses, tiles, cycles, tokens = (
            np.concatenate([empty, *parts])
            for parts in (stores.addresses, stores.tiles, stores.cycles, stores.tokens)
        )
        # In a tile by its cycles: no two are in one, since there is one write port.
        order = np.lexsort((cycles, tiles, addresses))
        self._addresses, self._tiles = addresses[order], tiles[order]
        self._tokens = tokens[order]
        self._base = int(tiles.max(initial=0)) + 2

    def seen(self, worker: int, addresses: Ints, tiles: Ints) -> Ints:
        """Return the token that a worker's kernel loads in each of its tiles.

        UNKNOWN where it may differ, INITIAL where nothing is stored before.
        """
        known = np.minimum(self.clocks.handed(worker, tiles, self.worker), self._base - 1)
        keys = self._addresses * self._base + self._tiles
        behind = np.searchsorted(keys, addresses * self._base + known, side="left")
        found = np.full(len(addresses), INITIAL, dtype=np.int64)
        stored = self._is_of(behind - 1, addresses)
        found[stored] = self._tokens[behind[stored] - 1]
        followed = np.flatnonzero(self._is_of(behind, addresses))
        read = self.clocks.handed(self.worker, self._tiles[behind[followed]], worker)
        found[followed[read <= tiles[followed]]] = UNKNOWN
        return found

    def _is_of(self, places: Ints, addresses: Ints) -> NDArray[np.bool_]:
        """Tell whether there is a store in each place of the order, and to the address."""
        inside = (places >= 0) & (places < len(self._addresses))
        if not len(self._addresses):
            return inside
        there = self._addresses[np.clip(places, 0, len(self._addresses) - 1)]
        found: NDArray[np.bool_] = inside & (there == addresses)
        return found
