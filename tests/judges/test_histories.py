"""A history of stores off chip answers as a list of them does, one question at a time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.ints import Bools
from rtlgen.ir.write_history import INITIAL
from rtlgen.judges.histories import UNKNOWN, OffChipHistory, OffChipStores
from rtlgen.judges.tile_clocks import TileClocks

Ints = NDArray[np.int64]
Store = tuple[int, int, int, str]
"""Element, token, tile and window."""

OWNER = {"p": 0, "q": 1, "r": 1, "s": 2}


class Clocks:
    """Clocks of which nobody knows what they will say, but that say the same again."""

    owner: Mapping[str, int] = OWNER
    entries: Mapping[str, int] = {"p": 2, "q": 0, "r": 3, "s": 1}

    def stored(self, window: str, tile: int, entry: int, stored: int) -> bool:
        return random.Random(f"{window} {tile} {entry} {stored}").random() < 0.6

    def loaded(self, window: str, tile: int, worker: int, loaded: int) -> bool:
        return random.Random(f"{window} {tile} of {worker} {loaded}").random() < 0.6

    def has_stored(self, window: str, tiles: Ints, entries: Ints, stored: Ints) -> Bools:
        each = zip(tiles.tolist(), entries.tolist(), stored.tolist(), strict=True)
        return np.array([self.stored(window, *one) for one in each], dtype=np.bool_)

    def has_loaded(self, window: str, tiles: Ints, worker: int, loaded: Ints) -> Bools:
        each = zip(tiles.tolist(), loaded.tolist(), strict=True)
        return np.array([self.loaded(window, t, worker, n) for t, n in each], dtype=np.bool_)


CLOCKS = Clocks()


def history_of(stores: list[Store]) -> OffChipHistory:
    table = np.array([store[:3] for store in stores], dtype=np.int64).reshape(-1, 3)
    names = list(OWNER) if stores else []
    return OffChipHistory(
        OffChipStores(
            clocks=cast(TileClocks, CLOCKS),
            elements=table[:, 0],
            tokens=table[:, 1],
            tiles=table[:, 2],
            windows=np.array([names.index(store[3]) for store in stores], dtype=np.int64),
            names=names,
        )
    )


def random_stores(draw: random.Random) -> list[Store]:
    """Return stores of a few elements; what was never in a tile has a negative token."""
    elements, tokens = draw.randint(1, 3), draw.randint(1, 6)
    places = [(e, t) for e in range(elements) for t in (UNKNOWN, INITIAL, *range(tokens))]
    chosen = draw.sample(places, draw.randint(0, min(len(places), 9)))
    return [(e, t, draw.randrange(5), draw.choice(list(OWNER))) for e, t in chosen]


def in_order(stores: list[Store], element: int) -> list[Store]:
    return sorted((s for s in stores if s[0] == element), key=lambda store: store[1])


def is_ordered(early: Store, late: Store) -> bool:
    if OWNER[early[3]] == OWNER[late[3]]:
        return early[2] < late[2]
    return CLOCKS.stored(late[3], late[2], CLOCKS.entries[early[3]], early[2])


def seen(stores: list[Store], worker: int, window: str, ask: tuple[int, int, int]) -> int:
    """Return what a load sees that asks for an element in a tile, at a moment of the program."""
    element, tile, moment = ask
    own = in_order(stores, element)
    before = [store for store in own if store[1] < moment]
    found = INITIAL
    if before:
        _, token, stored, name = before[-1]
        is_known = CLOCKS.stored(window, tile, CLOCKS.entries[name], stored)
        found = token if is_known else UNKNOWN
    if behind := own[len(before) :]:
        _, _, stored, name = behind[0]
        if OWNER[name] == worker:
            comes_later = stored >= tile
        else:
            comes_later = CLOCKS.loaded(name, stored, worker, tile)
        found = found if comes_later else UNKNOWN
    return found


def test_it_answers_as_the_list_of_stores() -> None:
    draw, answers = random.Random(3), Counter[int]()
    for _ in range(150):
        stores = random_stores(draw)
        history = history_of(stores)
        elements = np.arange(5, dtype=np.int64)
        ends = [in_order(stores, e)[-1][1] if in_order(stores, e) else INITIAL for e in range(5)]
        assert history.last(elements).tolist() == ends
        broken = [
            late[0]
            for e in range(5)
            for early, late in zip(in_order(stores, e), in_order(stores, e)[1:], strict=False)
            if not is_ordered(early, late)
        ]
        assert sorted(history.disordered().tolist()) == broken
        asks = [(e, tile, moment) for e in range(4) for tile in range(5) for moment in range(7)]
        table = np.array(asks, dtype=np.int64)
        for worker, window in ((0, "p"), (1, "a load"), (2, "s")):
            found = history.seen(worker, window, *table.T).tolist()
            assert found == [seen(stores, worker, window, ask) for ask in asks]
            answers.update(found)
    assert min(answers[token] for token in (UNKNOWN, INITIAL, 0, 1, 2)) >= 100, answers


def test_what_nobody_may_use_is_no_token() -> None:
    assert UNKNOWN < 0 and UNKNOWN != INITIAL
