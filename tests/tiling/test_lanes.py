"""Lanes inside of tiles: what issues together, in which banks, and what cannot."""

from __future__ import annotations

from typing import NoReturn

import pytest

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan import (
    AnyBank,
)
from rtlgen.ir.plan_text import plan_from_json, plan_to_json
from rtlgen.scheduling.errors import NoLanes, RaggedDomain
from rtlgen.tiling.lanes import LaneRequest, free_loops
from rtlgen.tiling.plan import TiledProgram
from rtlgen.tiling.variations import CopySearch
from rtlgen.windows.tile_kernel import TileStreamBuilder
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import (
    BLUR,
    ELIMINATION,
    FILTER,
    JACOBI,
    LOOKUP,
    LU,
    LU_BY_STEPS,
    PRODUCT,
    SEIDEL,
    TRANSPOSED,
    TWO_PRODUCTS,
    is_proven,
    planned,
)

TILE = (4, 8, 4)

CUBE = """
void cube(int A[N][N], int B[N][N][N]) {
  for (int i = 2; i < 5; i++)
    for (int j = 2; j < 5; j++)
      for (int k = 2; k < 5; k++)
        A[i + 2][j + 2] = B[i][j][k + 2] * 3;
}
"""


IN_A_CYCLE = """
int in_a_cycle(long A[12][12], int p) {
  int sum = p;
  for (int i = 2; i < 10; i++)
    for (int j = 2; j < 10; j++) {
      sum = A[i][j] - j;
      for (int k = 2; k < 10; k++) {
        A[i + 1][j - 1] = A[i][k] * A[i + 1][j] ^ A[i][0] - i;
        sum = A[i + 2][j];
      }
    }
  return sum;
}
"""


def product(lanes: int = 4, loop: str = "j", size: int = 13) -> TiledProgram:
    return planned(PRODUCT, size, TILE, lanes=LaneRequest(loop, lanes))


@pytest.mark.sample("lanes and banks crossed", "words for two lanes")
@pytest.mark.parametrize(
    ("text", "size", "tile", "loop", "lanes"),
    [
        pytest.param(PRODUCT, 13, (4, 8, 4), "j", 4, id="words for two lanes"),
        pytest.param(PRODUCT, 13, (4, 8, 4), "j", 8, id="more lanes than a word has elements"),
        pytest.param(PRODUCT, 13, (8, 4, 4), "i", 4, id="a row for each lane"),
        pytest.param(PRODUCT, 12, (4, 6, 4), "j", 3, id="three lanes in four banks"),
        pytest.param(BLUR, 21, (8, 8), "j", 4, id="two lanes a word, four in the next"),
        pytest.param(BLUR, 21, (4, 8), "i", 2, id="two rows"),
        pytest.param(TWO_PRODUCTS, 9, (4, 4, 4), "j", 2, id="four units"),
        pytest.param(CUBE, 7, (), "j", 8, id="lanes that never run"),
        pytest.param(ELIMINATION, 11, (4, 4, 4), "j", 4, id="a triangle, read by all lanes"),
        pytest.param(FILTER, 37, (8, 4), "i", 4, id="lanes and banks crossed"),
        pytest.param(JACOBI, 11, (2, 4, 4), "j", 4, id="in skewed loops, clipped"),
        pytest.param(TRANSPOSED, 21, (8, 8), "i", 4, id="behind each other"),
        pytest.param(SEIDEL, 14, (1, 8, 8), "i", 4, id="behind each other, five read ports"),
    ],
)
def test_lanes_are_replayed(
    text: str, size: int, tile: tuple[int, ...], loop: str, lanes: int
) -> None:
    found = planned(text, size, tile, lanes=LaneRequest(loop, lanes))
    alone = planned(text, size, tile)
    assert is_proven(found)
    assert plan_from_json(plan_to_json(found.plan)) == found.plan
    for part, other in zip(found.parts, alone.parts, strict=True):
        count = len(part.kernel.statements)
        # No more lanes than iterations.
        assert 1 < part.kernel.lanes <= lanes
        assert len(part.region.kernel.streams) == part.kernel.lanes * count
        if tile:
            assert part.region.issue_cycles < other.region.issue_cycles
            # Lanes change neither what is moved nor in which tiles.
            assert part.region.tiles == other.region.tiles


def test_lanes_need_no_more_ram() -> None:
    (part,), (alone,) = product().parts, planned(PRODUCT, 13, TILE).parts
    assert part.ram_bits <= alone.ram_bits
    assert part.words_moved == alone.words_moved


def test_lanes_have_banks_of_their_own() -> None:
    found = product()
    for stream in found.plan.streams:
        (store, *_) = stream.stores
        assert isinstance(store.address, AnyBank) and store.address.banks == (stream.lane,)
    banks = {memory.name: memory.bank_map.banks for memory in found.plan.memories}
    # All lanes want the same element of A.
    assert banks == {"A_in": 1, "B_in": 4, "C_in": 4, "C_out": 4, "C_kept": 4}
    assert all(memory.read_ports == 1 for memory in found.plan.memories)


def test_workers_may_have_lanes() -> None:
    found = planned(
        PRODUCT, 13, TILE, lanes=LaneRequest("j", 4), workers=WorkerRequest(2, "cyclic", False)
    )
    assert is_proven(found) and len(found.plan.tiled_regions) == 2
    assert {stream.lane for stream in found.plan.streams} == {0, 1, 2, 3}


def test_tiles_that_nobody_asks_for_are_multiples_of_the_lanes() -> None:
    (part,) = planned(PRODUCT, 13, lanes=LaneRequest("j", 3)).parts
    assert part.tiling.sizes[1] % 3 == 0 and part.kernel.lanes == 3


def test_a_unit_without_the_loop_has_one_lane() -> None:
    text = BLUR.replace("}\n", "  for (int m = 0; m < N; m++) y[m][0] = 1;\n}\n")
    lanes = [part.kernel.lanes for part in planned(text, 9, lanes=LaneRequest("j", 2)).parts]
    assert sorted(lanes) == [1, 2]


@pytest.mark.parametrize(
    ("text", "tile", "loop", "lanes", "message"),
    [
        (PRODUCT, TILE, "k", 2, "lanes of S0 wait for each other"),
        (SEIDEL, (2, 4, 4), "j", 2, "lanes of S0 wait for each other"),
        (TRANSPOSED, (8, 8), "j", 2, "lanes of S0 wait for each other"),
        (TRANSPOSED, (6, 6), "i", 3, "lanes of S0 have no banks of their own to store to"),
        (PRODUCT, TILE, "j", 3, "tiles of 4,8,4 iterations do not divide among the lanes of j"),
        (PRODUCT, (4,), "j", 2, "the loop j is not cut into tiles"),
        (LU, (4, 4, 4), "k", 2, "the loop k is none of those that all statements share in tiles"),
        (
            LU_BY_STEPS,
            (4, 4, 2),
            "i",
            4,
            "in tiles of 4,4,2 iterations each one of a lane waits for the one before",
        ),
    ],
)
def test_lanes_that_cannot_be(
    text: str, tile: tuple[int, ...], loop: str, lanes: int, message: str
) -> None:
    with pytest.raises(NoLanes, match=message):
        planned(text, 12, tile, lanes=LaneRequest(loop, lanes))


@pytest.mark.sample("24-tile1-4")
@pytest.mark.parametrize(
    ("size", "tile", "lanes"), [(22, (8, 16), 4), (24, (12, 12), 4), (64, (32, 32), 8)]
)
def test_where_lanes_take_values_by_taps_may_be_ragged(
    size: int, tile: tuple[int, ...], lanes: int
) -> None:
    found = planned(TRANSPOSED, size, tile, kind="axi", lanes=LaneRequest("i", lanes))
    assert is_proven(found)
    (part,) = found.parts
    (alone,) = planned(TRANSPOSED, size, tile, kind="axi").parts
    assert part.words_moved == alone.words_moved


ONE_LOOP_MORE_IN_PLUTO = """
void one_loop_more(int A[N][N]) {
  for (int i = 2; i < N - 3; i++)
    for (int j = i; j < N - 3; j++) {
      A[i + 2][j] = A[i + 1][j] + 1;
      for (int k = 2; k < N - 3; k++)
        if (i >= j)
          A[k + 1][k] += A[k][j];
    }
}
"""


def test_more_sizes_than_the_loops_with_the_lanes_have_are_for_other_loops() -> None:
    # PLUTO's loops are three, without i. C's are two, and their lanes are refused for themselves.
    with pytest.raises(NoLanes, match="lanes of S1 have no banks of their own"):
        planned(ONE_LOOP_MORE_IN_PLUTO, 16, (6, 2, 6), kind="axi", lanes=LaneRequest("i", 2))


def test_loops_without_the_lanes_do_not_say_why_the_others_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In C's loops the lanes are there, but what they read takes too many conditions; PLUTO's loops
    # have no loop i.
    def refused(*_: object) -> NoReturn:
        raise RaggedDomain("the iterations of S0 have no simple description")

    monkeypatch.setattr(TileStreamBuilder, "_needed", refused)
    with pytest.raises(RaggedDomain, match="iterations of S0 have no simple description"):
        planned.__wrapped__(TRANSPOSED, 22, (8, 16), kind="axi", lanes=LaneRequest("i", 4))


def test_lanes_whose_statements_have_no_order_are_refused() -> None:
    with pytest.raises(NoLanes, match="lanes of S1, S2, S3 wait for each other in a cycle"):
        planned(IN_A_CYCLE, 12, (5, 15), kind="axi", lanes=LaneRequest("i", 5))


def test_lanes_do_not_store_to_an_array_on_chip() -> None:
    with pytest.raises(NoLanes, match="lanes of S0 cannot store in one cycle"):
        planned(PRODUCT, 8, TILE, on_chip=frozenset("C"), lanes=LaneRequest("j", 4))


def test_lanes_read_an_array_on_chip_through_ports_of_their_own() -> None:
    found = planned(PRODUCT, 8, TILE, on_chip=frozenset("AB"), lanes=LaneRequest("j", 4))
    assert found.plan.memory("B").read_ports == 4
    assert found.plan.memory("A").read_ports == 1


def test_lanes_look_up_a_table_through_ports_of_their_own() -> None:
    found = planned(LOOKUP, 37, (8,), on_chip=frozenset("t"), lanes=LaneRequest("i", 4))
    assert found.plan.memory("t").read_ports == 4


@pytest.mark.sample("text2-loops2")
@pytest.mark.parametrize(
    ("text", "loops"),
    [(PRODUCT, ["j", "i"]), (TRANSPOSED, []), (FILTER, ["i"]), (BLUR, ["j", "i"])],
)
def test_loops_that_may_run_in_lanes_are_known(text: str, loops: list[str]) -> None:
    (part,) = planned(text, 12).parts
    assert list(free_loops(part.loops).values()) == loops
    for loop in loops:
        assert is_proven(planned(text, 12, lanes=LaneRequest(loop, 2)))


def test_windows_have_the_copies_that_save_cycles_and_fit() -> None:
    (part,) = product().parts
    bus = Bus("fixed", 8)
    assert CopySearch(part, bus, part.ram_bits).best(1) is None
    found = CopySearch(part, bus, part.ram_bits).best(1 << 40)
    assert found is not None and set(found) == {t.window for t in part.region.transfers}
    before = {t.window: t.at.tile_bits for t in part.region.transfers}
    bits = {m.name: m.depth * m.width_bits * m.read_ports for m in part.windows.memories}
    taken = sum((bits[w] >> before[w]) << found[w] for w in found)
    assert taken <= sum(bits[w] for w in found)
