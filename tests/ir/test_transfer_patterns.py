"""The patterns of a transfer are those that its iterations have, tile by tile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtlgen.ir.iterations import (
    first_of_each,
    iterations_of,
    level_iterations,
    predicate_mask,
    told_apart,
)
from rtlgen.ir.plan_error import PlanError
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


@pytest.mark.sample(without=("a triangle",))
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


def looked_at(pattern: Pattern, extent: int, abreast: int) -> list[tuple[int, bool, bool]]:
    """Return what a mover does with the words of a tile that looks at some abreast, cycle by cycle.

    Parameters
    ----------
    pattern: of a mover that looks at one at a time.
    """
    moves: list[bool] = []
    for item in pattern:
        moves += [False] * item.dropped + [item.moves]
    rows = [moves[n : n + extent] for n in range(0, len(moves), extent)]
    groups = [row[n : n + abreast] for row in rows for n in range(0, extent, abreast)]
    found, dropped = [], 0
    for number, group in enumerate(groups):
        is_end = number == len(groups) - 1
        if not any(group):
            if is_end:
                found.append((dropped, False, True))
            dropped += 1
            continue
        for n in range(sum(group)):
            found.append((dropped, True, is_end and n == sum(group) - 1))
            dropped = 0
    return found


@pytest.mark.sample(without=("a triangle-2",))
@pytest.mark.parametrize("abreast", [2, 3, 64])
@pytest.mark.parametrize(
    ("text", "size", "tile"),
    [
        pytest.param(TRANSPOSED, 21, (8, 64), id="rows of several words"),
        pytest.param(TRIANGULAR, 9, (4, 4, 4), id="a triangle"),
        pytest.param(BLUR, 40, (5, 40), id="rows that overlap"),
    ],
)
def test_words_abreast_are_passed_by_together(
    text: str, size: int, tile: tuple[int, ...], abreast: int
) -> None:
    looked = 0
    for tiled in planned(text, size, tile).plan.tiled_regions:
        tiles = iterations_of(tiled.levels)
        for transfer in tiled.transfers:
            extent = transfer.levels[-1].extent
            if extent < 2:
                continue
            one = patterns_of(transfer, tiles, has_bursts=False)
            wide = replace(transfer, abreast=min(abreast, extent))
            found = patterns_of(wide, tiles, has_bursts=False)
            for before, after in zip(one.of_tile, found.of_tile, strict=True):
                items = [(i.dropped, i.moves, i.last) for i in found.patterns[after]]
                assert items == looked_at(one.patterns[before], extent, wide.abreast)
                looked += 1
    assert looked


def test_words_abreast_are_neighbours() -> None:
    (region,) = planned(TRANSPOSED, 21, (8, 64)).plan.tiled_regions
    (transfer,) = (t for t in region.transfers if t.window == "a_out")
    assert replace(transfer, abreast=2).groups == -(-transfer.levels[-1].extent // 2)
    apart = replace(transfer.word, coefficients=(*transfer.word.coefficients[:-1], 2))
    with pytest.raises(PlanError, match="words abreast are no neighbours"):
        replace(transfer, word=apart, abreast=2)
    with pytest.raises(PlanError, match="words abreast"):
        replace(transfer, abreast=transfer.levels[-1].extent + 1)


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
