"""Block forms give the gaps and lengths that ranking every dependent pair gives."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.poly.ranks import Ints, enumerate_nest, rank_table
from rtlgen.transforms.row_pads import BlockForms, PairTable, reaching, stretched

ROW, COLUMN = Affine.variable("i"), Affine.variable("j")
NESTS = {
    "rows that grow": (NestLoop("i", 6), NestLoop("j", 6, uppers=(Bound(ROW),))),
    "rows that shrink": (NestLoop("i", 6), NestLoop("j", 6, lowers=(Bound(ROW),))),
    "columns below a diagonal": (
        NestLoop("i", 5),
        NestLoop("j", 5, lowers=(Bound(ROW),)),
        NestLoop("k", 5, lowers=(Bound(COLUMN),)),
    ),
    "a box around a triangle": (
        NestLoop("i", 3, 1),
        NestLoop("j", 4),
        NestLoop("k", 4, uppers=(Bound(COLUMN),)),
    ),
    "four loops": (
        NestLoop("i", 3),
        NestLoop("j", 3, lowers=(Bound(ROW),)),
        NestLoop("k", 2),
        NestLoop("l", 3, uppers=(Bound(COLUMN),)),
    ),
}
DEPENDENCES = 3


def random_pairs(points: Ints, rng: random.Random) -> PairTable:
    """Return pairs of `DEPENDENCES` precedences, eight each."""
    chosen = [rng.randrange(len(points)) for _ in range(16 * DEPENDENCES)]
    half = len(chosen) // 2
    starts = np.arange(0, half, 8, dtype=np.int64)
    return PairTable(points[chosen[:half]], points[chosen[half:]], starts)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NESTS)
def test_padded_blocks_are_as_far_apart_as_their_ranks_say(name: str, seed: int) -> None:
    loops, rng = NESTS[name], random.Random(seed)
    enumerated = enumerate_nest(loops)
    assert enumerated is not None
    pairs = random_pairs(enumerated[0], rng)
    forms = BlockForms(loops, [pairs])
    for _ in range(6):
        inner = tuple(rng.randint(0, 6) for _ in loops[2:])
        most = rng.randint(1, 9)
        found, lengths = forms.pairs(inner), forms.lengths(inner, most)
        for least in range(most + 1):
            wide = [stretched(x, n) for x, n in zip(loops, (0, least, *inner), strict=True)]
            again = enumerate_nest(wide)
            if again is None:
                # The table of lengths ends before a row without an iteration.
                assert lengths is None or lengths.most < least
                continue
            assert found is not None and lengths is not None
            exact = [
                NestLoop(x.iterator, int(column.max()) - x.at + 1, x.at, x.lowers, x.uppers,
                         at_least=x.at_least)
                for x, column in zip(wide, again[0].T, strict=True)
            ]  # fmt: skip
            table = rank_table(exact, [loop.counter or "" for loop in loops])
            assert table is not None
            assert lengths.sum(least) == table.count
            gaps = table.of(pairs.sources) - table.of(pairs.sinks)
            of_each = gaps.reshape(DEPENDENCES, -1)
            (each,) = found
            expected = of_each.min(axis=1).tolist(), of_each.max(axis=1).tolist()
            assert each.gaps(lengths.at(least)) == expected


def test_a_loop_is_made_to_reach_the_points_behind_its_end() -> None:
    loops = NESTS["rows that grow"]
    assert reaching(loops, np.array([[2, 2], [5, 0]])) == loops
    reached = reaching(loops, np.array([[0, 2], [5, 5]]))
    assert reached is not None and [loop.at_least for loop in reached] == [0, 3]
    assert reaching(loops, np.array([[0, -1]])) is None
