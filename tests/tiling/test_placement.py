"""Where arrays are kept, and what is asked of programs that have some off chip."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtlgen.driver import compile_program
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.memory_side import Bus
from rtlgen.options import EVERY_ARRAY, CompileOptions, PartitionWish
from rtlgen.planning import in_tiles
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.scheduling.errors import RaggedDomain
from rtlgen.target import get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import StaysOnChip, UnknownArray
from rtlgen.tiling.placement import ON_CHIP_ONLY, Placement, place_arrays
from tests.tiling.programs import BLUR, KIB, LOOKUP, PRODUCT, TRANSPOSED, parsed

OFF_CHIP = CompileOptions(memory={EVERY_ARRAY: "fixed:8"})


def request_of(text: str, options: CompileOptions, size: int = 16) -> TileRequest | None:
    return place_arrays(parsed(text, size).scop, options, get_target("ecp5")).request


def test_arrays_are_on_chip_unless_a_place_is_said() -> None:
    assert request_of(PRODUCT, CompileOptions()) is None
    assert request_of(PRODUCT, CompileOptions(memory={"A": "onchip"})) is None
    one = request_of(PRODUCT, CompileOptions(memory={"A": "fixed:3"}, bus_bits=128, tile=(4, 4)))
    assert one == TileRequest(
        Bus("fixed", 3), 128, frozenset("BC"), (4, 4), 896 * 1024 - 2 * 8 * KIB // 8
    )


def test_a_name_goes_before_the_place_of_all() -> None:
    request = request_of(BLUR, replace(OFF_CHIP, memory={EVERY_ARRAY: "fixed:5", "w": "onchip"}))
    assert request is not None
    assert (request.bus, request.on_chip) == (Bus("fixed", 5), frozenset("w"))


def test_arrays_on_chip_take_from_the_ram_that_windows_may_have() -> None:
    limited = replace(OFF_CHIP, max_bram_kib=24)
    request = request_of(PRODUCT, replace(limited, memory={"A": "fixed:8"}), size=32)
    assert request is not None
    assert request.budget_bits == 24 * KIB - 2 * 32 * 32 * 32
    places = {"A": "fixed:8", "B": "onchip", "C": "onchip"}
    request = request_of(PRODUCT, replace(limited, memory=places), size=64)
    assert request is not None
    assert request.budget_bits == 0


@pytest.mark.parametrize("member", ON_CHIP_ONLY)
def test_no_option_is_passed_over(member: str) -> None:
    others: dict[str, Any] = {
        "fuse": "none", "shifts": {"S0": 1}, "index_style": "divide", "index_latency_cycles": 2,
        "checksum": True, "expand": "never", "write_ports": "one", "scheduler": "pluto",
        "fusion": "max", "wavefront": True, "unroll": {"i": 2}, "interface": "external",
        "pipeline": ("i",),
        "max_dsp": 8,
        "partitions": {"A": (PartitionWish("cyclic", 1, 2),)},
    }  # fmt: skip
    options = replace(OFF_CHIP, **{member: others[member]})
    with pytest.raises(Exception, match=f"{ON_CHIP_ONLY[member]} is for programs"):
        request_of(PRODUCT, options)


def test_without_a_buffer_every_tile_is_one_iteration() -> None:
    options = replace(OFF_CHIP, buffer=False)
    plan = compile_program(parsed(PRODUCT, 6), options).plan
    (tiled,) = plan.tiled_regions
    assert tiled.tiles == 6**3


def test_the_largest_arrays_move_out_until_the_others_fit() -> None:
    text = "void f(int A[N][N], int B[N][2 * N], int C[N]) {\n  for (int i = 0; i < N; i++)\n"
    text += "    for (int j = 0; j < N; j++)\n      B[i][j] = A[i][j] + C[i];\n}\n"
    small, large = (
        place_arrays(parsed(text, n).scop, CompileOptions(), get_target("ecp5")) for n in (96, 128)
    )
    assert small == Placement(None)
    assert large.request is not None
    assert large.request.on_chip == frozenset("AC")
    assert large.request.budget_bits == (112 - 64) * KIB - 32 * 128
    assert large.notes[0] == (
        "arrays take 193 KiB on chip, and ECP5-25k has 112 KiB: B is off chip, as with "
        "--memory axi:30"
    )
    assert large.request.bus == Bus("axi", 30)
    plan = compile_program(parsed(text, 128), CompileOptions())
    on_chip = (
        "on chip, on a larger device, it takes at least 16,384 cycles in one lane: "
        "--memory onchip plans that"
    )
    assert plan.limits == (*large.notes, on_chip)
    assert plan.remarks == (f"limit: {large.notes[0]}", f"limit: {on_chip}")
    there = compile_program(parsed(text, 128), CompileOptions(memory={"": "onchip"}))
    assert predicted_cycles(there.plan) >= 16_384
    limited = place_arrays(
        parsed(text, 16).scop, CompileOptions(max_bram_kib=1), get_target("ecp5")
    )
    assert limited.is_asked
    assert "they may take 1 KiB: B, A are off chip" in limited.notes[0]


def test_what_no_tile_suits_stays_on_chip_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RaggedDomain("it has no simple description")

    monkeypatch.setattr(in_tiles, "plan_in_lanes", refuse)
    found = compile_program(parsed(TRANSPOSED, 400), CompileOptions())
    assert isinstance(found, IslandCompilation)
    assert found.limits == (
        "it has no simple description: all arrays are on chip",
        "ECP5-25k has 112 KiB for arrays: they take 313 with their copies, which is for a larger "
        "device",
    )
    with pytest.raises(RaggedDomain):
        compile_program(parsed(TRANSPOSED, 400), CompileOptions(max_bram_kib=112))


def test_arrays_that_are_looked_up_do_not_move_out() -> None:
    text = LOOKUP.replace("t[256]", "t[40000]").replace("t[x[i]]", "t[4 * x[i]]")
    placement = place_arrays(parsed(text, 16).scop, CompileOptions(), get_target("ecp5"))
    assert placement.request is None
    assert placement.notes[0].endswith("those that may be off chip are not enough")


def test_an_option_for_islands_keeps_arrays_on_chip_and_that_is_said() -> None:
    found = compile_program(parsed(TRANSPOSED, 400), CompileOptions(fuse="none"))
    assert isinstance(found, IslandCompilation)
    assert found.limits == (
        "arrays take 157 KiB on chip, and ECP5-25k has 112 KiB: they stay on chip for the sake "
        "of --fuse",
        "ECP5-25k has 112 KiB for arrays: they take 313 with their copies, which is for a larger "
        "device",
    )


SMALL = """
void small(int A[N], int B[N], int s[1], int m[1][1]) {
  for (int i = 0; i < N; i++) {
    s[0] += A[i];
    m[0][0] = s[0];
  }
}
"""


def test_arrays_that_nobody_uses_may_be_anywhere() -> None:
    scop = parsed(SMALL, 16).scop
    on_chip = CompileOptions(memory={"B": "onchip"})
    assert place_arrays(scop, on_chip, get_target("ecp5")) == Placement(None)
    off_chip = replace(OFF_CHIP, memory={"B": "fixed:8"})
    assert place_arrays(scop, off_chip, get_target("ecp5")) == Placement(
        None, ("B is neither read nor written: nothing of it is off chip",)
    )
    with pytest.raises(UnknownArray) as refused:
        place_arrays(scop, replace(OFF_CHIP, memory={"D": "onchip"}), get_target("ecp5"))
    assert refused.value.diagnostic.help == "the arrays are A, s, m, B"


def test_arrays_of_one_element_stay_on_chip_and_plan_says_so() -> None:
    plan = compile_program(parsed(SMALL, 16), OFF_CHIP)
    assert plan.limits == (
        "s is a single element: it stays on chip, in a register",
        "m is a single element: it stays on chip, in a register",
    )
    with pytest.raises(StaysOnChip) as refused:
        place_arrays(
            parsed(SMALL, 16).scop, replace(OFF_CHIP, memory={"s": "fixed:8"}), get_target("ecp5")
        )
    assert refused.value.diagnostic.message == "s is a single element: it stays on chip"
