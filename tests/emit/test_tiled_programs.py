"""The C of programs in tiles, with and without its copies, computes what the program does."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from rtlgen.driver import compile_program, parse_source
from rtlgen.errors import RtlgenError
from rtlgen.options import CompileOptions
from tests.emit.execution import Unit, differences
from tests.oracles.gcc_oracle import have_gcc
from tests.tiling.programs import (
    BACKWARDS,
    BLUR,
    JACOBI,
    LU,
    NINE,
    PIXELS,
    PRODUCT,
    SEIDEL,
    SHORTEST_PATHS,
    STRIDED,
    TRANSPOSED,
    TRIANGULAR,
    TWO_PRODUCTS,
)

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compile with")

LOOKED_UP = """
#include <stdint.h>
void looked_up(const uint8_t x[N][N], const int16_t t[256], int16_t y[N][N], int w0) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      y[i][j] = t[x[i][j]] / (y[i][j - 1] + w0) + (i + j) / 3;
}
"""


SPOIL = "for (int x = 0; x < 128; x++) a_kept[x]++;"


def stages(text: str, size: int, tile: Sequence[int], label: str, **options: object) -> list[Unit]:
    """Return the C after every pass of a program in tiles."""
    places = {"": "fixed:8", **dict(options.pop("places", {}))}  # type: ignore[call-overload]
    settings = CompileOptions(
        defines={"N": str(size)},
        memory=places,
        tile=tuple(tile),
        **options,  # type: ignore[arg-type]
    )
    program = parse_source(text, "program.c", settings)
    compilation = compile_program(program, settings)
    assert compilation.passes == ("parse", "prune", "fold", "normalise", "tile", "transfer")
    return [
        Unit(f"{label}.{name}", program.scop, compilation.c_text(name))
        for name in compilation.passes
    ]


def test_the_program_in_tiles_computes_the_same() -> None:
    units = [
        *stages(TRANSPOSED, 12, (8, 8), "cut-off"),
        *stages(PRODUCT, 6, (4, 3, 5), "product", bus_bits=128),
    ]
    assert differences(units) == []


def in_floating_point(text: str) -> str:
    """Return a program with `float` for its `int` arrays."""
    return re.sub(r"\b(int|uint8_t) (?=\w+\[)", "float ", text)


def test_numbers_in_tiles_are_not_converted() -> None:
    units = [
        *stages(in_floating_point(PRODUCT), 6, (4, 3, 5), "product", bus_bits=128),
        *stages(in_floating_point(TRANSPOSED), 12, (4, 4), "transposed"),
    ]
    assert all("static float" in unit.text for unit in units if "transfer" in unit.label)
    assert differences(units, kind="small") == []


@pytest.mark.long
def test_the_program_after_every_pass_computes_the_same() -> None:
    units = [
        *stages(TRANSPOSED, 16, (8, 8), "whole"),
        *stages(TRANSPOSED, 21, (8, 8), "cut-off"),
        *stages(TRANSPOSED, 9, (1, 1), "single", bus_bits=32),
        *stages(TRANSPOSED, 7, (16, 16), "larger"),
        *stages(TRANSPOSED, 12, (), "unbuffered", buffer=False),
        *stages(PRODUCT, 11, (4, 3, 5), "product", bus_bits=128),
        *stages(PRODUCT, 8, (4, 4, 4), "held", places={"B": "onchip"}),
        *stages(TRIANGULAR, 13, (4, 4, 4), "triangle"),
        *stages(TWO_PRODUCTS, 9, (4, 4, 4), "units"),
        *stages(BLUR, 21, (5, 7), "blur"),
        *stages(BACKWARDS, 23, (4,), "backwards"),
        *stages(NINE, 7, (2, 4, 2), "nine weights in a row"),
        *stages(PIXELS, 7, (2, 3), "pixels in a row"),
        *stages(SEIDEL, 7, (), "swept", buffer=False),
        *stages(LU, 7, (), "eliminated", buffer=False),
        *stages(SHORTEST_PATHS, 6, (), "paths", buffer=False),
        *stages(STRIDED, 9, (3,), "strided"),
        *stages(TRANSPOSED, 19, (8, 8), "nothing from tile to tile", buffer=False),
        *stages(TRANSPOSED, 21, (4, 4), "handed over", threads=3),
        *stages(LU, 16, (2, 2, 2), "handed over as there is room", threads=4, max_bram_kib=20),
        *stages(LOOKED_UP, 14, (4, 4), "looked-up", places={"t": "onchip"}),
    ]
    assert differences(units) == []


@pytest.mark.long
def test_tiles_in_time_of_two_statements_compute_the_same() -> None:
    assert differences(stages(JACOBI, 5, (2, 4, 4), "skewed")) == []


@pytest.mark.long
def test_random_tiles_compute_the_same() -> None:
    choose = random.Random(11)
    units: list[Unit] = []
    for number in range(14):
        text = choose.choice([TRANSPOSED, PRODUCT, TRIANGULAR, BLUR, BACKWARDS])
        tile = [choose.choice([1, 2, 3, 4, 5, 8]) for _ in range(1 + number % 3)]
        try:
            units += stages(
                text,
                choose.randint(5, 14),
                tile,
                f"random{number}",
                bus_bits=choose.choice([32, 64, 128]),
            )
        except RtlgenError:
            continue
    assert len(units) >= 4 * 8
    assert differences(units) == []


@pytest.mark.parametrize(
    ("found", "put"),
    [
        pytest.param(r"a_kept\[\(\((.*?)\) & 15\)", r"a_kept[((\1) & 7)", id="a fold too narrow"),
        pytest.param(r"if \(t0 >= t1 \+ 1\)", "if (1)", id="a strobe too wide"),
        pytest.param(r"lane < 8 && word", "lane < 7 && word", id="an element too few"),
        pytest.param(
            r"tile0\+\+;",
            "tile0++; for (int x = 0; x < 128; x++) a_kept[x]++;",
            id="a kept value spoilt",
        ),
    ],
)
def test_a_wrong_copy_is_noticed(found: str, put: str) -> None:
    (unit,) = stages(TRANSPOSED, 21, (8, 8), "spoilt")[-1:]
    text = re.sub(found, put.replace("SPOIL", SPOIL), unit.text)
    assert text != unit.text
    assert differences([Unit("spoilt", unit.program, text)]) != []


def test_names_of_the_program_are_not_hidden() -> None:
    text = TRANSPOSED.replace("a[N][N])", "a[N][N], const uint8_t a_in[N], uint8_t S0_now, int t0)")
    text = text.replace("= a[j][i]", "= a_in[i] * S0_now + t0 + a[j][i]")
    assert differences(stages(text, 10, (4, 4), "names")) == []
