"""Where arrays are kept, and what is asked of programs that have some off chip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtlgen.driver import compile_program
from rtlgen.options import EVERY_ARRAY, CompileOptions
from rtlgen.target import get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.placement import ON_CHIP_ONLY, tile_request
from tests.tiling.programs import BLUR, KIB, PRODUCT, parsed

OFF_CHIP = CompileOptions(memory={EVERY_ARRAY: "fixed:8"})


def request_of(text: str, options: CompileOptions, size: int = 16) -> TileRequest | None:
    return tile_request(parsed(text, size).scop, options, get_target("ecp5"))


def test_arrays_are_on_chip_unless_a_place_is_said() -> None:
    assert request_of(PRODUCT, CompileOptions()) is None
    assert request_of(PRODUCT, CompileOptions(memory={"A": "onchip"})) is None
    one = request_of(PRODUCT, CompileOptions(memory={"A": "fixed:3"}, bus_bits=128, tile=(4, 4)))
    assert one == TileRequest(3, 128, frozenset("BC"), (4, 4), 896 * 1024 - 2 * 8 * KIB // 8)


def test_a_name_goes_before_the_place_of_all() -> None:
    request = request_of(BLUR, replace(OFF_CHIP, memory={EVERY_ARRAY: "fixed:5", "w": "onchip"}))
    assert request is not None
    assert (request.latency_cycles, request.on_chip) == (5, frozenset("w"))


def test_arrays_on_chip_take_from_the_ram_that_windows_may_have() -> None:
    limited = replace(OFF_CHIP, max_bram_kib=24)
    request = request_of(PRODUCT, replace(limited, memory={"A": "fixed:8"}), size=32)
    assert request is not None
    assert request.budget_bits == 24 * KIB - 2 * 32 * 32 * 32
    request = request_of(PRODUCT, replace(limited, memory={"A": "fixed:8"}), size=64)
    assert request is not None
    assert request.budget_bits == 0


@pytest.mark.parametrize("member", ON_CHIP_ONLY)
def test_no_option_is_passed_over(member: str) -> None:
    others = {
        "fuse": "none", "shifts": {"S0": 1}, "index_style": "divide", "index_latency_cycles": 2,
        "checksum": True, "expand": "never", "write_ports": "one", "scheduler": "pluto",
        "fusion": "max", "wavefront": True,
    }  # fmt: skip
    options = replace(OFF_CHIP, **{member: others[member]})
    with pytest.raises(Exception, match=f"{ON_CHIP_ONLY[member]} is for programs"):
        request_of(PRODUCT, options)


def test_without_a_buffer_every_tile_is_one_iteration() -> None:
    options = replace(OFF_CHIP, buffer=False)
    plan = compile_program(parsed(PRODUCT, 6), options).plan
    (tiled,) = plan.tiled_regions
    assert tiled.tiles == 6**3
