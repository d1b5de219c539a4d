"""Tiles that end where loops end: fewer of them, of the same iterations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.scop import Statement
from rtlgen.ir.timeline import workers_cycles
from rtlgen.poly.errors import RewriteUnsound
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.part import TiledPart
from rtlgen.transforms import reschedule
from rtlgen.transforms.tile_nests import Tiling
from tests.tiling.programs import ELIMINATION, KIB, LU_BY_STEPS, PRODUCT, planned


def part_of(text: str, size: int, tile: tuple[int, ...]) -> TiledPart:
    (part,) = planned(text, size, tile, kind="axi", lanes=LaneRequest("i", 4)).parts
    return part


def count_tiles(size: int, tile: tuple[int, int, int], origins: tuple[int, ...]) -> int:
    """Return how many tiles have an iteration of `k < i, j`."""
    return len(
        {
            tuple(
                (at + before) // side
                for at, before, side in zip((k, i, j), origins, tile, strict=True)
            )
            for k in range(size)
            for i in range(k + 1, size)
            for j in range(k + 1, size)
        }
    )


@pytest.mark.long
@pytest.mark.sample("two columns before-text1")
@pytest.mark.parametrize("text", [ELIMINATION, LU_BY_STEPS])
@pytest.mark.parametrize(
    ("size", "tile", "origins"),
    [
        pytest.param(16, (2, 4, 6), (0, 0, 2), id="two columns before"),
        pytest.param(22, (4, 4, 6), (0, 0, 2), id="no whole lanes before"),
        pytest.param(19, (2, 4, 8), (0, 0, 4), id="whole words before"),
        pytest.param(12, (4, 8, 8), (0, 4, 4), id="two loops"),
    ],
)
def test_tiles_of_a_triangle_end_where_its_loops_do(
    text: str, size: int, tile: tuple[int, int, int], origins: tuple[int, ...]
) -> None:
    part = part_of(text, size, tile)
    assert part.tiling.origins == origins
    fewest = count_tiles(size, tile, origins)
    assert fewest < count_tiles(size, tile, (0, 0, 0))
    assert part.region.tiles == fewest or text == LU_BY_STEPS


@pytest.mark.sample("12")
@pytest.mark.parametrize("size", [12, 22])
def test_tiles_that_are_no_fewer_begin_with_the_loops(size: int) -> None:
    assert not any(part_of(PRODUCT, size, (8, 4, 4)).tiling.origins)


@pytest.mark.long
def test_sides_need_not_be_powers_of_two() -> None:
    options: dict[str, Any] = {"kind": "axi", "lanes": LaneRequest("i", 2), "budget_bits": 4 * KIB}
    (chosen,) = planned(ELIMINATION, 18, **options).parts
    (cube,) = planned(ELIMINATION, 18, (4, 4, 4), **options).parts
    assert any(side & (side - 1) for side in chosen.tiling.sizes)
    assert chosen.kernel_cycles < 0.9 * cube.kernel_cycles


@pytest.mark.parametrize("origins", [(0, 8, 0), (0, -1, 0), (0, 0)])
def test_tiles_begin_no_tile_before_their_loop(origins: tuple[int, ...]) -> None:
    order = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    with pytest.raises(ValueError, match="do not begin"):
        Tiling((8, 8, 8), order, origins=origins)


def test_iterations_that_touch_other_elements_where_tiles_begin_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = reschedule._delayed

    def unmoved(statement: Statement, level: int, by: int) -> Statement:
        return replace(original(statement, level, by), write=statement.write)

    monkeypatch.setattr(reschedule, "_delayed", unmoved)
    lanes = LaneRequest("i", 4)
    with pytest.raises(RewriteUnsound):
        planned.__wrapped__(LU_BY_STEPS, 16, (2, 4, 6), kind="axi", lanes=lanes)


@pytest.mark.long
def test_a_triangle_in_lanes_takes_little_longer_than_its_products() -> None:
    lanes, latency = LaneRequest("i", 16), 30
    found = planned(
        LU_BY_STEPS,
        256,
        (4, 16, 24),
        kind="axi",
        latency_cycles=latency,
        budget_bits=24 * KIB,
        lanes=lanes,
    )
    (part,) = found.parts
    assert part.ram_bits <= 24 * KIB
    products = sum(n * n for n in range(256)) // 16
    assert workers_cycles(part.workers, Bus("axi", latency)) <= 1.15 * products
