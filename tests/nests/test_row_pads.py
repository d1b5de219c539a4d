"""Block forms give the gaps and lengths that ranking every dependent pair gives."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.nests.row_pads import BlockForms, PairTable, Rows, reaching, stretched
from rtlgen.poly.ranks import enumerate_nest, rank_table

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
    forms = BlockForms(loops, [pairs], {"S0": pairs.sources})
    for _ in range(6):
        inner = tuple(rng.randint(0, 6) for _ in loops[2:])
        most = rng.randint(1, 9)
        found, lengths, places = forms.pairs(inner), forms.lengths(inner, most), forms.places(inner)
        for least in range(most + 1):
            wide = [stretched(x, n) for x, n in zip(loops, (0, least, *inner), strict=True)]
            again = enumerate_nest(wide)
            if again is None:
                # The table of lengths ends before a row without an iteration.
                assert lengths is None or lengths.most < least
                continue
            assert found is not None and lengths is not None and places is not None
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
            ranks = places["S0"].ranks(lengths.at(least))
            assert ranks.tolist() == table.of(pairs.sources).tolist()
            for bound, largest in zip(pairs.gaps_at_least(), expected[1], strict=True):
                assert bound is None or bound <= largest


def test_a_loop_is_made_to_reach_the_points_behind_its_end() -> None:
    loops = NESTS["rows that grow"]
    assert reaching(loops, np.array([[2, 2], [5, 0]])) == loops
    reached = reaching(loops, np.array([[0, 2], [5, 5]]))
    assert reached is not None and [loop.at_least for loop in reached] == [0, 3]
    assert reaching(loops, np.array([[0, -1]])) is None


@pytest.mark.parametrize("name", NESTS)
def test_a_point_is_found_in_its_row_and_nowhere_else(name: str) -> None:
    loops = NESTS[name]
    rows = Rows.of(loops)
    enumerated = enumerate_nest(loops)
    assert rows is not None and enumerated is not None
    points = enumerated[0].tolist()
    # Whatever is asked for together, one point that is in no row spoils it.
    inside = np.array(points[:1])
    for point in product(*(range(loop.at - 2, loop.at + loop.extent + 2) for loop in loops)):
        found = rows.find(np.array([point]))
        assert (found is not None) == (list(point) in points), point
        assert (rows.find(np.array([*inside.tolist(), point])) is None) == (found is None)
        if found is not None:
            (row,), (offset,) = found
            assert rows.points[row].tolist() == list(point[:-1])
            before = [p for p in points if p[:-1] == list(point[:-1])]
            assert before.index(list(point)) == offset and len(before) == rows.trips[row]
    assert rows.find(np.zeros((0, len(loops)), dtype=np.int64)) is not None


def test_a_nest_with_an_empty_loop_has_no_rows() -> None:
    empty = NestLoop("j", 6, uppers=(Bound(ROW - 1),))
    assert Rows.of((NestLoop("i", 6), empty, NestLoop("k", 2))) is None
    forms = BlockForms((NestLoop("i", 6), empty, NestLoop("k", 2)), [], {})
    assert forms.pairs((0,)) is None and forms.places((0,)) is None


def test_points_without_an_iteration_have_no_place() -> None:
    loops = NESTS["rows that grow"]
    assert BlockForms(loops, [], {"S0": np.array([[2, 2]])}).places(()) is not None
    assert BlockForms(loops, [], {"S0": np.array([[2, 3]])}).places(()) is None


def test_rows_that_were_looked_at_count_where_they_turn_out_to_be_no_nest() -> None:
    # In the rows that a minimum of j adds, k is empty.
    loops = (
        NestLoop("i", 2),
        NestLoop("j", 3, uppers=(Bound(ROW),)),
        NestLoop("k", 4, uppers=(Bound(COLUMN * -1 + 3),)),
        NestLoop("l", 2),
    )
    forms = BlockForms(loops, [], {})
    assert forms.lengths((0, 0), 2) is not None
    listed = forms.listed
    assert listed > 0
    assert forms.lengths((0, 0), 2) is not None and forms.listed == listed
    assert forms.lengths((0, 0), 1_000) is None
    assert forms.listed >= listed + 1_000


def test_a_loop_is_made_to_reach_the_last_of_several_points_and_no_further() -> None:
    loops = NESTS["rows that shrink"]
    assert reaching(loops, np.array([[1, 1], [5, 5]])) == loops
    # Row 5 begins with 5 and has one iteration; its second and third ones are 6 and 7.
    reached = reaching(loops, np.array([[5, 7], [5, 6], [0, 5]]))
    assert reached is not None and [loop.at_least for loop in reached] == [0, 3]
    reached = reaching(loops, np.array([[5, 6]]))
    assert reached is not None and [loop.at_least for loop in reached] == [0, 2]
    assert reaching(loops, np.array([[5, 5], [5, 4]])) is None
    box = reaching((NestLoop("i", 3),), np.array([[4]]))
    assert box == (NestLoop("i", 5),)


def test_a_gap_in_one_row_stays_and_one_to_a_later_row_is_an_iteration() -> None:
    pairs = [
        ((1, 2, 5), (1, 2, 2)),
        ((1, 2, 1), (1, 2, 4)),
        ((1, 3, 0), (1, 2, 4)),
        ((2, 0, 0), (1, 2, 4)),
        ((1, 1, 4), (1, 2, 0)),
        ((0, 4, 4), (1, 2, 0)),
    ]
    sources, sinks = (np.array(points) for points in zip(*pairs, strict=True))
    each = PairTable(sources, sinks, np.arange(len(pairs)))
    assert each.gaps_at_least() == [3, -3, 1, 1, None, None]
    assert PairTable(sources, sinks, np.array([0, 1, 4])).gaps_at_least() == [3, 1, None]
    assert PairTable(sources[:, 2:], sinks[:, 2:], np.array([0])).gaps_at_least() == [4]
    assert PairTable(sources[:0], sinks[:0], np.array([], dtype=np.int64)).gaps_at_least() == []
