"""Folds are the smallest ones, wherever the search for them begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import islpy as isl
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.sets import ScopSets
from rtlgen.memories.folds import Collisions, Fold, Kept, smallest_fold
from rtlgen.poly.instances import listed_points
from rtlgen.tiling import choice
from rtlgen.windows import kept_memories
from tests.tiling.programs import JACOBI, KIB, LU, PRODUCT, TRANSPOSED, planned


@pytest.mark.parametrize(
    ("text", "size", "tile"),
    [
        pytest.param(TRANSPOSED, 40, (8, 8), id="rows and columns"),
        pytest.param(PRODUCT, 12, (4, 4, 4), id="one tile of sums"),
    ],
)
def test_a_guess_does_not_change_the_fold(
    text: str, size: int, tile: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    collisions, shape = folded(text, size, tile, monkeypatch)[0]
    bits = smallest_fold(collisions, shape).bits
    assert not smallest_fold(collisions, shape, most_bits=sum(bits) - 1).is_enough
    enough = smallest_fold(collisions, shape, most_bits=sum(bits))
    assert enough.is_enough
    assert enough.bits == bits
    assert any(1 << width < extent for width, extent in zip(bits, shape, strict=True))
    assert collisions.apart(bits) is None
    for place, width in enumerate(bits):
        fewer = [*bits[:place], width - 1, *bits[place + 1 :]]
        assert width == 0 or collisions.apart(fewer) is not None
    for guess in ([0, 0], [b + 1 for b in bits], [9, 9], bits, bits[::-1]):
        assert smallest_fold(collisions, shape, guess).bits == bits


@pytest.mark.sample("one tile of sums")
@pytest.mark.parametrize(
    ("text", "size", "tile", "budget_bits"),
    [
        pytest.param(TRANSPOSED, 10, (3, 3), 64 * KIB, id="rows and columns"),
        pytest.param(TRANSPOSED, 16, (2, 2), 1200, id="strips", marks=pytest.mark.long),
        pytest.param(PRODUCT, 6, (2, 2, 2), 64 * KIB, id="one tile of sums"),
        pytest.param(LU, 6, (2, 2, 2), 64 * KIB, id="a triangle"),
        pytest.param(JACOBI, 7, (2, 2, 2), 64 * KIB, id="sweeps"),
        pytest.param(JACOBI, 7, (2, 3, 2), 7 * KIB, id="sweeps, in part"),
    ],
)
def test_a_fold_loses_what_is_lost_one_by_one(
    text: str,
    size: int,
    tile: tuple[int, ...],
    budget_bits: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verdicts = set()
    for collisions, shape in folded(text, size, tile, monkeypatch, budget_bits):
        sets, kept, depth = collisions.sets, collisions.kept, collisions.depth
        most = [(extent - 1).bit_length() for extent in shape]
        for bits in product(*(range(width + 1) for width in most)):
            loses = collisions.apart(bits) is not None
            assert loses == is_lost(sets, kept, depth, bits, most)
            verdicts.add(loses)
    assert verdicts == {False, True}


def is_lost(
    sets: ScopSets,
    kept: Kept,
    depth: int,
    bits: Sequence[int],
    most: Sequence[int],
    tiles: int = 0,
) -> bool:
    """Tell the same instance by instance: p writes, q reads that, p' writes to the place of p.

    Parameters
    ----------
    tiles: p' is in one of so many tiles behind that of q; there is a p in each.
    """

    def time_of(names: Sequence[str], cycle: Affine, values: Sequence[int]) -> tuple[int, ...]:
        return (*values[:depth], cycle.evaluate(dict(zip(names, values, strict=True))))

    names = kept.statement.iterators
    stores: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for point in every_point(kept.written):
        values = dict(zip(names, point, strict=True))
        subscripts = [form.evaluate(values) for form in kept.statement.write.affine]
        place = tuple(
            s if width >= full else s % (1 << width)
            for s, width, full in zip(subscripts, bits, most, strict=True)
        )
        stores.setdefault(place, []).append(point)
    place_of = {point: place for place, points in stores.items() for point in points}
    times = {p: time_of(names, kept.store_cycle, p) for p in place_of}
    order = sorted({time[:depth] for time in times.values()})

    def apart(first: tuple[int, ...], second: tuple[int, ...]) -> int:
        return order.index(second[:depth]) - order.index(first[:depth])

    for flow, cycle in zip(kept.flows, kept.read_cycles, strict=True):
        for pair in every_point(flow.relation.wrap().flatten()):
            p, q = pair[: len(names)], pair[len(names) :]
            read = time_of(sets.scop.statement(flow.sink).iterators, cycle, q)
            others = [times[other] for other in stores[place_of[p]] if other != p]
            if tiles and any(0 < apart(read, time) <= tiles for time in others):
                return True
            if not tiles and any(times[p] < time <= read for time in others):
                return True
    return False


def folded(
    text: str,
    size: int,
    tile: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
    budget_bits: int = 64 * KIB,
) -> list[tuple[Collisions, Sequence[int]]]:
    """Return all that is asked for a fold of while a program is planned."""
    asked: list[tuple[Collisions, Sequence[int]]] = []

    def noting(
        collisions: Collisions,
        shape: Sequence[int],
        guess: Sequence[int],
        most_bits: int | None,
    ) -> Fold:
        asked.append((collisions, shape))
        return smallest_fold(collisions, shape, guess, most_bits)

    monkeypatch.setattr(kept_memories, "smallest_fold", noting)
    monkeypatch.setattr(choice, "MOST_OVERLAPPING", 1)
    planned.__wrapped__(text, size, tile, budget_bits=budget_bits)
    return asked


def every_point(points: isl.Set) -> list[tuple[int, ...]]:
    return [tuple(map(int, point)) for point in listed_points(points)]
