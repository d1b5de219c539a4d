"""What one worker's kernel stores for another one, and what that one finds there.

The two keep no order but what they wait for (`tile_clocks`). So a value is there for a tile if the
kernel that stores it is known to be done with its tile, and the next value in its place comes in a
tile that is known to begin behind the one that reads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.ints import Ints
from rtlgen.ir.write_history import INITIAL
from rtlgen.judges.off_chip_history import UNKNOWN
from rtlgen.judges.tile_clocks import TileClocks


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
