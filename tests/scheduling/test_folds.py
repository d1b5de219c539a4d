"""Folds are the smallest ones, wherever the search for them begins."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rtlgen.ir.sets import ScopSets
from rtlgen.scheduling import kept_memories
from rtlgen.scheduling.folds import Collisions, Fold, Kept, smallest_fold
from tests.tiling.programs import PRODUCT, TRANSPOSED, planned


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
    asked: list[tuple[ScopSets, Kept, int, Sequence[int]]] = []

    def noting(
        sets: ScopSets,
        kept: Kept,
        depth: int,
        shape: Sequence[int],
        guess: Sequence[int],
        most_bits: int | None,
    ) -> Fold:
        asked.append((sets, kept, depth, shape))
        return smallest_fold(sets, kept, depth, shape, guess, most_bits)

    monkeypatch.setattr(kept_memories, "smallest_fold", noting)
    planned.__wrapped__(text, size, tile)
    sets, kept, depth, shape = asked[0]
    bits = smallest_fold(sets, kept, depth, shape).bits
    assert not smallest_fold(sets, kept, depth, shape, most_bits=sum(bits) - 1).is_enough
    enough = smallest_fold(sets, kept, depth, shape, most_bits=sum(bits))
    assert enough.is_enough
    assert enough.bits == bits
    assert any(1 << width < extent for width, extent in zip(bits, shape, strict=True))
    assert Collisions(sets, kept, depth).apart(bits) is None
    for place, width in enumerate(bits):
        fewer = [*bits[:place], width - 1, *bits[place + 1 :]]
        assert width == 0 or Collisions(sets, kept, depth).apart(fewer) is not None
    for guess in ([0, 0], [b + 1 for b in bits], [9, 9], bits, bits[::-1]):
        assert smallest_fold(sets, kept, depth, shape, guess).bits == bits
