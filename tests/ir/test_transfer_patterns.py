"""The patterns of a transfer are those that its iterations have, tile by tile."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.ir.alike import first_of_each, told_apart
from rtlgen.ir.iterations import iterations_of, level_iterations, predicate_mask
from rtlgen.ir.tiled import Transfer
from rtlgen.ir.transfer_patterns import Item, Pattern, patterns_of
from tests.tiling.programs import BLUR, STRIDED, TRANSPOSED, TRIANGULAR, planned


def enumerated(transfer: Transfer, tiles: np.ndarray) -> list[Pattern]:
    """Return the pattern of every tile, from all iterations of all tiles."""
    for rows, _ in level_iterations(transfer.levels):
        counters = rows
    moves = predicate_mask(transfer.when, counters)
    found: list[Pattern] = []
    for tile in tiles:
        mine = np.flatnonzero((counters[:, : len(tile)] == tile).all(axis=1))
        items: list[Item] = []
        dropped = 0
        for place in mine.tolist():
            if moves[place] or place == mine[-1]:
                items.append(Item(dropped, bool(moves[place]), place == mine[-1]))
                dropped = 0
            else:
                dropped += 1
        found.append(tuple(items))
    return found


@pytest.mark.parametrize(
    ("text", "size", "tile", "word_bits"),
    [
        pytest.param(TRANSPOSED, 21, (8, 8), 64, id="wavefronts"),
        pytest.param(TRIANGULAR, 9, (4, 4, 4), 64, id="a triangle"),
        pytest.param(BLUR, 21, (5, 7), 64, id="words that tiles share"),
        pytest.param(STRIDED, 10, (5,), 256, id="words between bounds that depend on the tile"),
    ],
)
def test_patterns_are_those_of_the_iterations(
    text: str, size: int, tile: tuple[int, ...], word_bits: int
) -> None:
    for tiled in planned(text, size, tile, word_bits=word_bits).plan.tiled_regions:
        tiles = iterations_of(tiled.levels)
        for transfer in tiled.transfers:
            found = patterns_of(transfer, tiles, has_bursts=False)
            by_tile = [found.patterns[number] for number in found.of_tile]
            assert by_tile == enumerated(transfer, tiles)
            assert found.words == sum(item.moves for items in by_tile for item in items)


@pytest.mark.parametrize("span", [1, 3, 1 << 40], ids=["all alike", "few values", "far values"])
def test_numbers_tell_pairs_apart_whatever_their_values(span: int) -> None:
    draw = np.random.default_rng(5)
    kinds = np.sort(draw.integers(0, 4, 200))
    values = draw.integers(-2, 3, 200) * (span - 1)
    found = told_apart(kinds, values)
    pairs = list(zip(kinds.tolist(), values.tolist(), strict=True))
    numbers, count = found.tolist(), len(set(pairs))
    assert len(set(zip(pairs, numbers, strict=True))) == count
    assert set(numbers) == set(range(count))
    assert first_of_each(found).tolist() == [numbers.index(number) for number in range(count)]
