"""What is said of workers that gain less than there are of them.

What is said of tiles: traffic, what rules, cycles against RAM, and the picture.
"""

from __future__ import annotations

import json
import re
import xml.dom.minidom
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rtlgen.design import Design
from rtlgen.driver import compile_program
from rtlgen.ir.sets import operations
from rtlgen.ir.sharing import share_of
from rtlgen.options import CompileOptions
from rtlgen.report.html import report_html, summary_html
from rtlgen.report.text import plan_report_text
from rtlgen.tiling.form import Candidate, pareto
from rtlgen.tiling.loops import words_needed
from rtlgen.tiling.summary import tiles_report, worker_limits
from rtlgen.transforms.tile_nests import Tiling
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import (
    BACKWARDS,
    BLUR,
    PRODUCT,
    SEIDEL,
    TRANSPOSED,
    TRIANGULAR,
    TWO_PRODUCTS,
    parsed,
    planned,
)
from tests.tiling.test_sharing import PATHS


def said(text: str, size: int, tile: tuple[int, ...], workers: int) -> list[str]:
    found = planned(text, size, tile, kind="axi", workers=WorkerRequest(workers))
    report = tiles_report(found, 1 << 30)
    limits = list(worker_limits(report["units"]))
    assert report["advice"][: len(limits)] == limits
    return limits


@pytest.mark.long
def test_rows_that_run_one_at_a_time_are_named() -> None:
    assert said(PATHS, 16, (1, 4, 4), 4) == [
        "S0: 1 of 4 workers computes at a time, since each iteration of tt0 waits for the one "
        "before; more workers gain nothing"
    ]
    assert said(PATHS, 16, (1, 4, 4), 1) == []


@pytest.mark.long
def test_a_bus_that_is_busy_longer_than_the_workers_is_named() -> None:
    (limit,) = said(TRANSPOSED, 64, (4, 8), 8)
    assert limit.startswith("S0: 8 workers compute for ") and "bus that is busy for" in limit
    assert said(TRANSPOSED, 64, (8, 8), 2) == []


def unit(**workers: Any) -> dict[str, Any]:
    own = {"count": 4, "loop": "t0", "at_a_time": None, "busiest": 1.0, "apart": None, **workers}
    return {"statements": ["S0"], "kernel_cycles": 90, "bus_cycles": 30, "workers": own}


def test_an_uneven_share_is_named() -> None:
    assert list(worker_limits([unit(busiest=1.05)])) == []
    assert list(worker_limits([unit(busiest=1.33)])) == [
        "S0: the busiest worker has 1.33 of an equal share, and all end with it"
    ]


def test_units_that_one_worker_would_run_side_by_side_are_named() -> None:
    behind = {**unit(), "statements": ["S1", "S2"]}
    assert list(worker_limits([unit(apart="no loop can be shared"), behind])) == [
        "S0 come before S1, S2, not beside: in common tiles no loop can be shared; one worker can "
        "run both side by side"
    ]


Touch = tuple[str, tuple[int, ...]]


def touched_transposed(n: int) -> Iterator[tuple[list[Touch], Touch]]:
    for i in range(n):
        for j in range(1, n):
            yield [("a", (j, i)), ("a", (i, j - 1))], ("a", (i, j))


def touched_triangular(n: int) -> Iterator[tuple[list[Touch], Touch]]:
    for i in range(n):
        for j in range(n):
            for k in range(i + 1, n):
                yield [("A", (k, i)), ("B", (k, j)), ("B", (i, j))], ("B", (i, j))
            yield [("B", (i, j))], ("B", (i, j))


def touched_blur(n: int) -> Iterator[tuple[list[Touch], Touch]]:
    for i in range(n - 2):
        for j in range(n - 2):
            reads = [("x", (i + k, j + k)) for k in range(3)]
            yield [*reads, *(("w", (k,)) for k in range(3))], ("y", (i, j))


def touched_backwards(n: int) -> Iterator[tuple[list[Touch], Touch]]:
    for i in range(n - 1, 0, -2):
        yield [("a", (i,)), ("b", (i - 1,))], ("b", (i,))


@pytest.mark.sample(without=("transposed",))
@pytest.mark.parametrize(
    ("text", "touched", "size", "width_bits"),
    [
        pytest.param(TRANSPOSED, touched_transposed, 21, 8, id="transposed"),
        pytest.param(TRIANGULAR, touched_triangular, 11, 32, id="triangular"),
        pytest.param(BLUR, touched_blur, 19, 8, id="blur"),
        pytest.param(BACKWARDS, touched_backwards, 22, 16, id="backwards"),
    ],
)
def test_words_that_are_needed_are_those_of_the_program_run_by_hand(
    text: str,
    touched: Callable[[int], Iterator[tuple[list[Touch], Touch]]],
    size: int,
    width_bits: int,
) -> None:
    tiled = planned(text, size, (4,) if text is BACKWARDS else (4, 4))
    lanes = 64 // width_bits
    written: set[Touch] = set()
    loaded: set[Touch] = set()
    for reads, write in touched(size):
        loaded |= {(name, (*at[:-1], at[-1] // lanes)) for name, at in set(reads) - written}
        written.add(write)
    stored = {(name, (*at[:-1], at[-1] // lanes)) for name, at in written}
    assert tiled.plan.memory_side is not None
    assert words_needed(tiled.program, tiled.plan.memory_side) == len(loaded) + len(stored)


def test_a_candidate_is_kept_where_less_ram_takes_more_cycles() -> None:
    def candidate(cycles: int, ram_bits: int) -> Candidate:
        return Candidate(("i",), Tiling((ram_bits,), ((1,),)), cycles, 1, 1, 1, ram_bits)

    found = pareto([candidate(9, 1), candidate(9, 2), candidate(5, 4), candidate(7, 3)])
    assert [(c.cycles, c.ram_bits) for c in found] == [(9, 1), (7, 3), (5, 4)]


def design(text: str, size: int, **options: Any) -> Design:
    settings = CompileOptions(memory={"": "fixed:8"}, **options)
    return Design(compile_program(parsed(text, size), settings), settings)


def test_the_report_of_tiles_has_what_scripts_rely_on() -> None:
    made = design(TRANSPOSED, 64, tile=(8, 8), max_bram_kib=24)
    report = json.loads(json.dumps(made.report()))
    assert report["tiles"] == {
        "count": 64, "sizes": [8, 8], "loops": ["i", "j"], "begins": [0, 0],
        "order": ["i + j", "i"],
    }  # fmt: skip
    assert report["words_moved"] == report["words_loaded"] + report["words_stored"] == 863
    assert report["words_needed"] == 800
    assert report["bound"] == "bus"
    assert report["bus_cycles"] == 8 * 863
    assert (report["workers"], report["lanes"]) == (1, 1)
    assert report["onchip_bytes"] == 2048 <= report["onchip_limit_bytes"] == 24 * 1024
    # Three windows of 64 bits, of two block RAMs each; a kept memory with two read ports.
    assert report["block_rams"] == 3 * 2 + 2
    assert report["distributed_bytes"] == 0
    text = plan_report_text(report)
    assert "64 tiles of 8 x 8 iterations (i, j), in the order (i + j, i), 64 cycles apart" in text
    assert "moved: 863 words, 351 in and 512 out; needed: 800" in text
    assert "bound: the bus, 6,904 cycles (the kernel: 4,096)" in text


@pytest.mark.long
def test_tiles_of_other_loops_are_named_by_these() -> None:
    """The nest can be cut as a whole in rows of time, or in PLUTO's loops, which are slanted."""
    (unit,) = design(SEIDEL, 24, max_bram_kib=40).report()["units"]
    loops = {tuple(choice["loops"]) for choice in unit["choice"]}
    assert len(loops) > 1
    for choice in unit["choice"]:
        named = set(re.findall(r"[a-z]\w*", " ".join(choice["order"])))
        assert named <= set(choice["loops"]) and len(choice["loops"]) == len(choice["sizes"])


@pytest.mark.long
def test_more_ram_is_named_where_it_would_be_faster() -> None:
    small = design(TRANSPOSED, 256, max_bram_kib=1).report()
    (line,) = small["advice"]
    found = re.fullmatch(
        r"S0: ([\d,]+) bytes on chip would do with ([\d,]+) cycles \(--tile 8,8\)", line
    )
    assert found is not None
    enough, cycles = (int(number.replace(",", "")) for number in found.groups())
    assert enough > 1024 and cycles < small["predicted_cycles"]
    kib = -(-enough // 1024)
    large = design(TRANSPOSED, 256, tile=(8, 8), max_bram_kib=kib).report()
    assert large["predicted_cycles"] <= cycles and large["onchip_bytes"] >= enough
    # With a KiB less it would not do.
    less = design(TRANSPOSED, 256, tile=(8, 8), max_bram_kib=kib - 1).report()
    assert less["words_moved"] > large["words_moved"] == small["words_needed"] + 255
    assert "does not fit" in plan_report_text(small)


def test_the_picture_has_the_tiles_in_their_order() -> None:
    report = design(TRANSPOSED, 32, tile=(8, 8)).report()
    picture = report["units"][0]["picture"]
    fronts = sorted(((i, j) for i in range(4) for j in range(4)), key=lambda t: (sum(t), t[0]))
    assert [tuple(tile) for tile in picture["tiles"]] == fronts
    assert not picture["cut_off"]
    large = design(TRANSPOSED, 200, tile=(8, 8)).report()["units"][0]["picture"]
    assert large["cut_off"]
    assert len(large["tiles"]) == 24 * 24


@pytest.mark.sample("text2")
@pytest.mark.parametrize("text", [TRANSPOSED, TWO_PRODUCTS, BACKWARDS])
def test_the_page_shows_tiles_and_is_well_formed(text: str) -> None:
    made = design(text, 12, tile=(4,) if text is BACKWARDS else (4, 4))
    report = made.report()
    page = report_html(report, made.compilation.analysis.program.scop.source)
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 2 * len(report["units"])
    for picture in pictures:
        xml.dom.minidom.parseString(picture)
    assert page.count('class="order"') == len(report["units"])
    assert "Cycles against RAM" in page
    assert "predicted cycles" in summary_html(report)


@pytest.mark.long
def test_what_passes_between_units_is_moved_beyond_what_is_needed() -> None:
    report = design(TWO_PRODUCTS, 8, buffer=False).report()
    assert len(report["units"]) == 3
    # A, B, C, D are read, D written; T is nobody's business off chip.
    assert report["words_needed"] == 5 * 32
    assert report["words_moved"] > report["words_needed"]


def test_a_product_is_bound_by_its_kernel() -> None:
    report = design(PRODUCT, 32, tile=(16, 16, 8), bus_bits=512).report()
    assert report["bound"] == "kernel"
    assert report["kernel_cycles"] >= 32**3
    assert "one iteration a cycle" in " ".join(report["advice"])


def test_the_picture_says_whose_a_tile_is() -> None:
    made = design(TRANSPOSED, 64, tile=(8, 8), threads=3, strategy="C")
    report = made.report()
    (unit,) = report["units"]
    picture = unit["picture"]
    assert (report["workers"], report["strategy"]) == (3, "C")
    waves: dict[int, list[tuple[int, int]]] = {}
    for (row, _), wave, owner in zip(
        picture["tiles"], picture["waves"], picture["owners"], strict=True
    ):
        waves.setdefault(wave, []).append((row, owner))
    assert len(waves) == unit["workers"]["waves"] == 22
    for tiles in waves.values():
        rows = sorted(row for row, _ in tiles)
        for row, owner in tiles:
            assert row in share_of("C", rows[0], rows[-1], 3, owner)
    page = report_html(report, made.compilation.analysis.program.scop.source)
    assert "3 workers share loop t1 by C, in 22 waves" in page
    assert "worker 2, wave 4" in page


def test_advice_that_would_take_too_long_is_left_out() -> None:
    found = planned(PRODUCT, 8)
    assert tiles_report(found, 1 << 20)["units"][0]["more_lanes"]
    context = found.parts[0].loops.program.sets.context
    with operations(context, 1):
        assert tiles_report(found, 1 << 20)["units"][0]["more_lanes"] == []
