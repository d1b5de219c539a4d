"""Plans in tiles: what they move and keep, for all sizes; the judge has replayed each small one."""

from __future__ import annotations

import random
from typing import Any

import islpy as isl
import pytest

from rtlgen.errors import RtlgenError
from rtlgen.ir import effort
from rtlgen.ir.effort import TooComplex, limited_effort
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan import Memory, Transfer
from rtlgen.ir.plan_text import plan_from_json, plan_text, plan_to_json
from rtlgen.ir.timeline import workers_cycles
from rtlgen.poly.errors import IllegalSchedule, NothingToTile
from rtlgen.scheduling.errors import RaggedDomain, WindowsTooLarge
from rtlgen.target import get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.part import ram_bits
from rtlgen.tiling.plan import TiledProgram, plan_in_tiles
from rtlgen.windows import accesses, movers
from rtlgen.windows.movers import Moved
from tests.tiling.programs import (
    BACKWARDS,
    BLUR,
    EVERY_THIRD,
    JACOBI,
    KIB,
    LU,
    NEVER_SEEN,
    NINE,
    OVERWRITTEN,
    PIXELS,
    PRODUCT,
    SEIDEL,
    SHORTEST_PATHS,
    TRANSPOSED,
    TRIANGULAR,
    TWO_PRODUCTS,
    UNEVEN,
    is_proven,
    parsed,
    planned,
)


@pytest.mark.sample(
    "a stencil in odd tiles",
    "tiles that are cut off",
    "a loop that counts down by two",
    "values that another unit overwrites",
    "a statement whose values nobody sees",
    "a stencil",
    "one tile, larger than the array",
    "tiles of one iteration",
)
@pytest.mark.parametrize(
    ("text", "size", "tile", "word_bits"),
    [
        pytest.param(TRANSPOSED, 16, (8, 8), 64, id="whole tiles"),
        pytest.param(TRANSPOSED, 21, (8, 8), 64, id="tiles that are cut off"),
        pytest.param(TRANSPOSED, 9, (1, 1), 32, id="tiles of one iteration"),
        pytest.param(TRANSPOSED, 7, (16, 16), 64, id="one tile, larger than the array"),
        pytest.param(TRANSPOSED, 12, (4, 4), 128, id="words longer than a tile"),
        pytest.param(PRODUCT, 12, (4, 4, 4), 64, id="kept from tile to tile"),
        pytest.param(PRODUCT, 11, (4, 3, 5), 32, id="odd tiles, one element a word"),
        pytest.param(TRIANGULAR, 13, (4, 4, 4), 64, id="a triangle"),
        pytest.param(TWO_PRODUCTS, 9, (4, 4, 4), 64, id="four units"),
        pytest.param(NINE, 8, (2, 4, 4), 64, id="three rows of weights as one"),
        pytest.param(NINE, 7, (4, 2, 4), 256, id="rows of weights in long words"),
        pytest.param(PIXELS, 9, (4, 4), 64, id="pixels one behind the other"),
        pytest.param(BLUR, 21, (8, 8), 64, id="a stencil"),
        pytest.param(BLUR, 21, (5, 7), 64, id="a stencil in odd tiles"),
        pytest.param(BACKWARDS, 23, (4,), 64, id="a loop that counts down by two"),
        pytest.param(JACOBI, 12, (2, 4, 4), 64, id="tiles in time, two statements"),
        pytest.param(SEIDEL, 13, (3, 4, 5), 32, id="tiles in time, skewed twice"),
        pytest.param(LU, 11, (4, 4, 4), 64, id="statements that share one loop in C"),
        pytest.param(OVERWRITTEN, 13, (4,), 64, id="values that another unit overwrites"),
        pytest.param(NEVER_SEEN, 13, (4,), 64, id="a statement whose values nobody sees"),
        pytest.param(UNEVEN, 11, (2,), 32, id="statements of different lengths"),
        pytest.param(SHORTEST_PATHS, 9, (1, 1, 4), 64, id="stretches of a nest"),
    ],
)
def test_plans_in_tiles_are_replayed(
    text: str, size: int, tile: tuple[int, ...], word_bits: int
) -> None:
    found = planned(text, size, tile, word_bits=word_bits)
    assert is_proven(found)
    assert plan_from_json(plan_to_json(found.plan)) == found.plan
    assert "tiles, one every" in plan_text(found.plan)


@pytest.mark.long
def test_random_tiles_and_words_are_sound() -> None:
    choose = random.Random(7)
    accepted = 0
    for _ in range(12):
        text = choose.choice([TRANSPOSED, PRODUCT, TRIANGULAR, BLUR, BACKWARDS])
        tile = tuple(choose.choice([1, 2, 3, 4, 5, 8]) for _ in range(3))
        kept = frozenset(choose.sample(["A", "B", "x", "w"], choose.randint(0, 2)))
        size = choose.randint(5, 14)
        word_bits = choose.choice([32, 64, 128])
        depth = max(len(s.iterators) for s in parsed(text, size).scop.statements)
        try:
            found = planned(text, size, tile[:depth], word_bits=word_bits, on_chip=kept)
        except IllegalSchedule:
            continue
        assert is_proven(found)
        accepted += 1
    assert accepted >= 8


@pytest.mark.parametrize("size", [64, 4096])
def test_every_word_is_moved_once(size: int) -> None:
    (part,) = planned(TRANSPOSED, size, (8, 8), budget_bits=96 * KIB).parts
    # What is read before it is written is on and below the diagonal, and in the first column.
    rows = size // 8
    below = 8 * rows * (rows + 1) // 2 - 1
    assert sum(part.windows.words.values()) == below + size + size * size // 8
    assert part.region.tiles == rows * rows
    assert part.region.issue_cycles == 64


def test_values_are_kept_for_one_wavefront() -> None:
    (part,) = planned(TRANSPOSED, 4096, (8, 8), budget_bits=96 * KIB).parts
    assert part.tiling.order == ((1, 1), (1, 0))
    (kept,) = (m for m in part.windows.memories if m.kind == "block")
    assert kept.depth == 8 * 4096
    assert ram_bits(part.windows.memories) <= 65 * KIB


def test_an_accumulator_stays_on_chip() -> None:
    (part,) = planned(PRODUCT, 64, (8, 8, 8)).parts
    assert part.windows.words["C_in"] == part.windows.words["C_out"] == 64 * 64 // 2
    (kept,) = (m for m in part.windows.memories if m.kind == "block")
    assert kept.depth == 8 * 8


def moves_temporary(found: TiledProgram) -> bool:
    return any(t.array == "T" for tiled in found.plan.tiled_regions for t in tiled.transfers)


def test_a_temporary_that_is_not_read_later_is_not_stored() -> None:
    assert moves_temporary(planned(TWO_PRODUCTS, 8, (4, 4, 4), buffer=False))
    plan = planned(TWO_PRODUCTS, 8, (4, 4, 4), on_chip=frozenset("T"))
    assert not moves_temporary(plan)
    assert plan.plan.memory("T").kind == "block"


def test_planning_does_not_depend_on_the_size() -> None:
    small, large = (planned(PRODUCT, size, (8, 8, 8)).parts[0] for size in (32, 1024))
    assert [m.depth for m in small.windows.memories] == [m.depth for m in large.windows.memories]
    assert small.region.kernel.length_cycles == large.region.kernel.length_cycles
    assert large.region.tiles == 128**3


def test_more_tiles_than_can_be_followed_are_refused() -> None:
    with pytest.raises(TooComplex, match="16,777,216 rows of tiles"):
        planned(PRODUCT, 4096, (1, 1, 8))


def test_tiles_are_followed_row_by_row() -> None:
    (part,) = planned(PRODUCT, 4096, (8, 8, 8)).parts
    assert part.region.tiles == 512**3
    assert part.words_moved == 2 * 4096**2 // 2 + 2 * 4096**3 // 8 // 2
    assert workers_cycles(part.workers, Bus("fixed", 8)) > 8 * part.words_moved


@pytest.mark.parametrize(
    ("text", "size", "tile", "budget_bits"),
    [
        pytest.param(TRANSPOSED, 40, (8, 8), 3 * KIB // 4, id="a transposed array"),
        pytest.param(PRODUCT, 16, (4, 4, 4), KIB // 2, id="an accumulator"),
        pytest.param(JACOBI, 20, (2, 4, 4), 20 * KIB, id="tiles in time", marks=pytest.mark.long),
        pytest.param(
            LU, 18, (4, 4, 4), 3 * KIB, id="three writers of one array", marks=pytest.mark.long
        ),
    ],
)
def test_what_does_not_fit_passes_through_the_memory_off_chip(
    text: str, size: int, tile: tuple[int, ...], budget_bits: int
) -> None:
    (part,) = planned(text, size, tile, budget_bits=budget_bits).parts
    assert any(part.scopes.values())
    assert any(transfer.after for transfer in part.region.transfers)
    assert part.ram_bits <= budget_bits


@pytest.mark.long
def test_sweeps_in_lanes_run_in_strips_along_an_inner_loop() -> None:
    request = LaneRequest("j", 4)
    found = planned(JACOBI, 82, (2, 4, 4), kind="axi", lanes=request, budget_bits=6 * KIB)
    (part,), (candidates,) = found.parts, found.candidates
    # A tile's sweeps, strip by strip, and in a strip row by row.
    assert part.tiling.order == ((1, 0, 0), (0, 0, 1), (0, 1, 0))
    assert part.tiling.woven == 1 and part.tiling.phases[1] > 1
    assert part.scopes == {"S0": 2, "S1": 2}
    assert part.ram_bits <= 6 * KIB and is_proven(found)
    fitting = [c for c in candidates if c.ram_bits <= 6 * KIB]
    cycles = workers_cycles(part.workers, Bus("axi", 8))
    assert all(c.cycles > cycles for c in fitting if c.tiling.woven is None)


@pytest.mark.long
def test_strips_keep_on_chip_what_they_read_again() -> None:
    budget_bits = 7 * 512
    found = planned(TRANSPOSED, 64, (4, 4), budget_bits=budget_bits)
    (part,), (candidates,) = found.parts, found.candidates
    # Strips of four tiles; a front, and in it the tiles of the strip.
    assert part.tiling.order == ((1, 0), (1, 1))
    assert part.tiling.phases[0] == 4
    assert part.tiling.woven == 0 and not part.tiling.spread
    assert part.scopes == {"S0": 1}
    fitting = [c for c in candidates if c.ram_bits <= budget_bits]
    cycles = workers_cycles(part.workers, Bus("fixed", 8))
    assert all(c.cycles > cycles for c in fitting if c.tiling.woven is None)
    assert part.words_moved == min(c.words for c in fitting)
    assert is_proven(found)


def test_reads_have_memories_of_their_own_where_ram_is_short() -> None:
    roomy = planned(TRANSPOSED, 64, (8, 8))
    (shared,) = kept_by(roomy)
    assert shared.read_ports == 2
    (part,) = roomy.parts
    found = planned(TRANSPOSED, 64, (8, 8), budget_bits=part.ram_bits // 2)
    apart = kept_by(found)
    assert [memory.read_ports for memory in apart] == [1, 1]
    # Half of the rows for what is read by columns; an element of each for what follows in its row.
    assert [memory.depth for memory in apart] == [32 * 8, 64]
    assert is_proven(found) and found.parts[0].words_moved == part.words_moved


def kept_by(found: TiledProgram) -> list[Memory]:
    return [memory for memory in found.plan.memories if memory.kind == "block"]


def test_strips_are_not_tried_where_all_stays_on_chip() -> None:
    (candidates,) = planned(TRANSPOSED, 64, (4, 4), budget_bits=64 * KIB).candidates
    assert all(candidate.tiling.woven is None for candidate in candidates)


@pytest.mark.sample("5-c", "9-c")
@pytest.mark.parametrize("text", [TRANSPOSED, PRODUCT, BLUR, LU], ids=["a", "b", "c", "d"])
@pytest.mark.parametrize("size", [5, 9])
def test_without_buffers_every_access_goes_off_chip(text: str, size: int) -> None:
    found = planned(text, size, buffer=False)
    assert is_proven(found)
    for part in found.parts:
        assert set(part.tiling.sizes) == {1}
        assert set(part.scopes.values()) == {part.tiling.loop_count}


def test_tiles_that_break_a_dependence_are_refused() -> None:
    with pytest.raises(IllegalSchedule) as refused:
        planned(SHORTEST_PATHS, 20, (4, 4, 4))
    told = refused.value.diagnostic
    assert told.message == (
        "cutting the loops into tiles of 4,4,4 iterations breaks a flow dependence"
    )
    later, earlier = told.labels
    assert later.text == "read by S0(5,0,0) in tile (1, 0, 0), which would run first"
    assert earlier.text == "written by S0(4,0,5) in tile (1, 0, 1)"
    assert told.notes == (
        "tile (1, 0, 1) has to be done before tile (1, 0, 0), which runs first;"
        " other orders of the tiles fail, too",
    )
    assert told.help == "tiles of 1,1,4 iterations run in the order of the program: --tile 1,1,4"
    assert is_proven(planned(SHORTEST_PATHS, 9, (1, 1, 4)))


def test_elements_that_only_a_quotient_tells_are_refused() -> None:
    with pytest.raises(RaggedDomain) as refused:
        planned(EVERY_THIRD, 32, (16,))
    told = refused.value.diagnostic
    assert told.message == (
        "the words of b whose element 0 of 4 a tile stores have no simple description"
    )
    assert [label.text for label in told.labels] == ["does not step by whole words"]
    assert told.notes == ("to tell them takes a quotient, or more than 64 comparisons",)
    assert is_proven(planned(EVERY_THIRD, 32, (4,)))
    assert is_proven(planned(EVERY_THIRD, 32))


def test_more_sizes_than_loops_are_refused() -> None:
    with pytest.raises(NothingToTile) as refusal:
        planned(TRANSPOSED, 9, (4, 4, 4))
    assert refusal.value.diagnostic.help == "give 2 sizes, or none"


def test_windows_that_do_not_fit_are_refused_with_what_would() -> None:
    with pytest.raises(WindowsTooLarge) as refused:
        planned(PRODUCT, 64, (8, 8, 8), budget_bits=KIB)
    assert refused.value.bits > KIB
    assert isinstance(refused.value, RtlgenError)


def test_sizes_are_chosen_within_the_budget() -> None:
    (part,) = planned(TRANSPOSED, 256, budget_bits=6 * KIB).parts
    assert ram_bits(part.windows.memories) <= 6 * KIB


@pytest.mark.long
def test_loops_inside_of_one_that_cannot_be_cut_are_tiled() -> None:
    (part,) = planned(SHORTEST_PATHS, 64, budget_bits=12 * KIB).parts
    single, *others = part.tiling.sizes
    assert single == 1
    assert min(others) > 1


STEEP = """
#include <stdint.h>
void f(int8_t a[8][8][8]) {
  for (int i = 2; i < N; i += 2)
    for (int j = 2; j < N; j++)
      a[i][j][i] = a[i - 1][j][j - 1];
}
"""


def test_words_with_holes_are_loaded_with_what_is_between() -> None:
    assert is_proven(planned(STEEP, 6, (2, 1), word_bits=32))


def test_a_word_too_many_needs_a_place_in_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Moved] = []
    honest = movers.load_words

    def watched(moved: Moved, *others: Any) -> Transfer:
        seen.append(moved)
        return honest(moved, *others)

    monkeypatch.setattr(accesses, "load_words", watched)
    # Plans are remembered: this one is made here alone.
    assert is_proven(planned(STEEP, 7, (2, 1), word_bits=32))
    (moved, *_) = seen
    words = movers._from_first(moved.words(), moved.footprint.loops())
    assert movers._have_places(words, moved)
    row = moved.window_words(0)
    there = isl.MultiAff.identity_on_domain_space(words.get_space())
    last = words.dim(isl.dim_type.set) - 1
    there = there.set_aff(last, there.get_aff(last).add_constant_val(row))
    assert not movers._have_places(words.union(words.preimage_multi_aff(there)), moved)


@pytest.mark.long
def test_words_at_the_edges_are_no_reason_to_load_those_in_between() -> None:
    """What comes in from off chip: the first sweep, and the borders in all others."""
    text = """
void smoothed(int A[N][N], int B[N][N]) {
  for (int t = 0; t < 8; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        B[i][j] = A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j];
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j];
  }
}
"""
    (part,) = planned(text, 64, (4, 8, 8), budget_bits=1000 * KIB).parts
    moved = part.words_by("load")
    needed = 64 * 64 // 2
    # Tiles next to each other load some words of the first sweep twice.
    assert needed < moved < 3 * needed


def test_a_read_whose_value_does_not_matter_orders_nothing() -> None:
    text = """
void f(int a[N], int x[1]) {
  for (int i = 1; i < N; i++) {
    a[i] = x[0] * 0 + a[i - 1];
    x[0] = a[i];
  }
}
"""
    assert is_proven(planned(text, 8))


@pytest.mark.long
def test_units_share_the_ram_on_chip() -> None:
    """Each of them alone takes more than its share."""
    budget = 3 * KIB
    found = planned(TWO_PRODUCTS, 12, budget_bits=budget)
    taken = [part.ram_bits for part in found.parts]
    assert sum(taken) <= budget
    alone = planned(PRODUCT, 12, budget_bits=budget)
    assert alone.parts[0].ram_bits > budget // 2


SCALED_PRODUCT = """
void scaled(int C[N][N], int A[N][N], int B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] *= 3;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "size", "tile"),
    [
        (PRODUCT, 32, (8, 8, 8)),
        pytest.param(TWO_PRODUCTS, 16, (8, 8, 8), marks=pytest.mark.long),
        pytest.param(SCALED_PRODUCT, 32, (16, 16, 16), marks=pytest.mark.long),
    ],
)
def test_ram_that_is_said_to_do_does(text: str, size: int, tile: tuple[int, ...]) -> None:
    with pytest.raises(WindowsTooLarge) as refused:
        planned(text, size, tile, budget_bits=KIB // 8)
    least = refused.value.bits
    found = planned(text, size, tile, budget_bits=least)
    assert sum(part.ram_bits for part in found.parts) <= least
    with pytest.raises(WindowsTooLarge) as again:
        planned(text, size, tile, budget_bits=least - 1)
    assert again.value.bits == least


@pytest.mark.long
def test_however_many_units_there_are_each_has_its_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones leave enough for the last ones: VGG has some sixty."""
    nests = "\n".join(
        f"  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) a{n}[i][j] *= {n + 2};"
        for n in range(12)
    )
    arrays = ", ".join(f"int a{n}[N][N]" for n in range(12))
    monkeypatch.setattr(effort, "MAX_WORK", 3_000_000)
    with limited_effort():
        found = planned.__wrapped__(f"void many({arrays}) {{\n{nests}\n}}\n", 16)
    assert sum(len(part.program.scop.statements) for part in found.parts) == 12


@pytest.mark.long
def test_a_search_for_tiles_that_ends_for_its_effort_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = planned(SEIDEL, 40)
    monkeypatch.setattr(effort, "MAX_WORK", 6_000_000)
    monkeypatch.setattr(effort, "MORE_WORK", 3_000_000)
    with effort.noting_limits() as limits:
        found = planned.__wrapped__(SEIDEL, 40)
    assert is_proven(found)
    assert list(limits) == [
        f"{what} would take too long to be weighed to the end"
        for what in ("tiles of other sizes", "tiles that end where loops do")
    ]
    assert sum(p.kernel_cycles for p in found.parts) >= sum(p.kernel_cycles for p in whole.parts)


@pytest.mark.parametrize(
    ("target", "tile", "windows"),
    [("ecp5", (2, 2), "distributed"), ("ecp5", (8, 8), "block"), ("ice40", (2, 2), "block")],
)
def test_what_has_few_words_takes_no_block_ram_where_logic_cells_have_memories(
    target: str, tile: tuple[int, int], windows: str
) -> None:
    request = TileRequest(Bus("fixed", 8), 64, frozenset(), tile, 64 * KIB)
    tiled = plan_in_tiles(parsed(TRANSPOSED, 64), request, get_target(target))
    assert {memory.name: memory.style for memory in tiled.plan.memories} == {
        "a_in": windows, "a_in1": windows, "a_out": windows, "a_kept": "block",
    }  # fmt: skip
