"""The functions of <math.h> as C texts of integers: their tables, their results, their circuits."""

from __future__ import annotations

import re
from decimal import Context, Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import rtlgen
from rtlgen.frontend.text import headers
from rtlgen.frontend.text.headers import library_text, math_functions
from tests.oracles.gcc_oracle import have_gcc
from tests.oracles.math_library.functions import (
    FUNCTIONS,
    correctly_rounded,
    double_value,
    units_off,
)
from tests.oracles.math_library.hard_angles import hard_angles
from tests.oracles.math_library.judge import (
    ALL,
    OF_ONE_OPERAND,
    Range,
    compiled,
    judged,
    judged_doubles,
    judged_pairs,
    results_of_doubles,
    results_of_floats,
)
from tests.oracles.math_library.tables import FOLDER, TABLES, tables_of, with_tables

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="gcc is not installed")
each_function = pytest.mark.parametrize("name", OF_ONE_OPERAND)

A_MILLION: Range = (0, 1 << 32, 4099)

ENDS_OF_BINADES: tuple[Range, ...] = tuple(
    (first, 1 << 32, 1 << 23) for first in (0, 1, 2, (1 << 23) - 2, (1 << 23) - 1)
)

NEAREST = {
    "expf": (0x377EFF81, 0x39C6BE5B, 0x38E69CC1, 0x383A3EF1, 0x3D1A274E, 0x40315B33),
    "logf": (0x65D890D3, 0x4C5D65A5, 0x4D604EBE, 0x41178FEB, 0x1F116AB8, 0x66A8C860),
    "exp2f": (0x41966939, 0xC00CB638, 0xC1A996C7, 0x34E6D4C9, 0xB6ABAE57, 0xB986E1A8),
    "log2f": (0x64914A90, 0x09114A90, 0x186B8090, 0x73EB8090, 0x32F50F8C, 0x05174467),
    "log10f": (0x3E4E72FB, 0x76AAA09A, 0x1AF13BF1, 0x7C94B052, 0x54A4E8A3, 0x3AD0FC18),
    "atanf": (0xC0BF14C5, 0x3E136AF2, 0x447413FC, 0x4A700052, 0x4333FAD3, 0xC7B1D44A),
    "tanhf": (0x3AC37DE2, 0x3EEE0566, 0x3CD41B91, 0x40ACB4D0, 0x40C5E8CA, 0x3D7C3055),
    "sinf": (0x73243F06, 0x46199998, 0x55CAFB2A, 0x67A9242B, 0x4371ADE3, 0x5F208D82),
    "cosf": (0x6115CB11, 0x59443C0A, 0x5F18B878, 0x7A4B1A27, 0x5922AA80, 0x7908CD73),
    "tanf": (0x624684EF, 0x61FE289F, 0x4FF70099, 0xCCBF0722, 0xDF3C8E00, 0xEE6AC2D8),
    "sinhf": (0xC11A649F, 0xBCD0D6A9, 0xC086802A, 0x3C072C72, 0xBF6EECBD, 0x3F22CD8F),
    "coshf": (0xBBC6E065, 0xBDF87A94, 0xC0853734, 0xBAE2462E, 0xC0FACA02, 0x40F3BD0A),
    "expm1f": (0xBB7B3B6C, 0x3577DEF3, 0xB45DB3D8, 0x3DAE5F1A, 0xC0BF7998, 0x38C2BA42),
    "log1pf": (0xB52953FB, 0x38280093, 0xBEFADCDF, 0x5E8C886E, 0x536EE9E1, 0x7275A005),
    "erff": (0x0D2A320C, 0x9CAA320C, 0xB12A320C, 0xBE2F129D, 0x2725C046, 0xA225C046),
    "cbrtf": (0x640353B5, 0x8D0353B5, 0xCA8353B5, 0xD5526132, 0x31526132, 0x97D26132),
}
"""Inputs with values near to a midpoint between floats: 2^-21 to 2^-34 of their distance."""

SPECIAL = {
    "expf": {0x7F800000: 0x7F800000, 0xFF800000: 0, 0: 0x3F800000, 0x80000000: 0x3F800000},
    "logf": {0x7F800000: 0x7F800000, 0xFF800000: 0x7FC00000, 0: 0xFF800000, 0x80000000: 0xFF800000,
             0xBF800000: 0x7FC00000, 0x80000001: 0x7FC00000, 0x3F800000: 0},
    "exp2f": {0x7F800000: 0x7F800000, 0xFF800000: 0, 0: 0x3F800000, 0x80000000: 0x3F800000,
              0xC3160000: 0, 0xC3150000: 1, 0x43000000: 0x7F800000, 0x42FE0000: 0x7F000000},
    "log2f": {0x7F800000: 0x7F800000, 0xFF800000: 0x7FC00000, 0: 0xFF800000, 0x80000000: 0xFF800000,
              0xBF800000: 0x7FC00000, 0x80000001: 0x7FC00000, 0x3F800000: 0, 0x41000000: 0x40400000,
              1: 0xC3150000},
    "log10f": {0x7F800000: 0x7F800000, 0xFF800000: 0x7FC00000, 0: 0xFF800000, 0x3F800000: 0,
               0x80000000: 0xFF800000, 0xBF800000: 0x7FC00000, 0x80000001: 0x7FC00000,
               0x41200000: 0x3F800000, 0x501502F9: 0x41200000},
    "atanf": {0x7F800000: 0x3FC90FDB, 0xFF800000: 0xBFC90FDB, 0: 0, 0x80000000: 0x80000000},
    "tanhf": {0x7F800000: 0x3F800000, 0xFF800000: 0xBF800000, 0: 0, 0x80000000: 0x80000000},
    "sinf": {0x7F800000: 0x7FC00000, 0xFF800000: 0x7FC00000, 0: 0, 0x80000000: 0x80000000},
    "cosf": {0x7F800000: 0x7FC00000, 0xFF800000: 0x7FC00000, 0: 0x3F800000, 0x80000000: 0x3F800000},
    "tanf": {0x7F800000: 0x7FC00000, 0xFF800000: 0x7FC00000, 0: 0, 0x80000000: 0x80000000},
    "sinhf": {0x7F800000: 0x7F800000, 0xFF800000: 0xFF800000, 0: 0, 0x80000000: 0x80000000,
              0x42B2D4FC: 0x7F7FFFEC, 0x42B2D4FD: 0x7F800000},
    "coshf": {0x7F800000: 0x7F800000, 0xFF800000: 0x7F800000, 0: 0x3F800000, 0x80000000: 0x3F800000,
              0xC2B2D4FC: 0x7F7FFFEC, 0xC2B2D4FD: 0x7F800000},
    "expm1f": {0x7F800000: 0x7F800000, 0xFF800000: 0xBF800000, 0: 0, 0x80000000: 0x80000000,
               0x42B17218: 0x7F800000, 0xC3000000: 0xBF800000, 0x80000001: 0x80000001},
    "log1pf": {0x7F800000: 0x7F800000, 0xFF800000: 0x7FC00000, 0: 0, 0x80000000: 0x80000000,
               0xBF800000: 0xFF800000, 0xBF800001: 0x7FC00000, 0x80000001: 0x80000001},
    "erff": {0x7F800000: 0x3F800000, 0xFF800000: 0xBF800000, 0: 0, 0x80000000: 0x80000000,
             1: 1, 0x80000004: 0x80000005},
    "cbrtf": {0x7F800000: 0x7F800000, 0xFF800000: 0xFF800000, 0: 0, 0x80000000: 0x80000000,
              0xC1D80000: 0xC0400000, 4: 0x27000000},
}  # fmt: skip
"""Of infinities, zeros, and what a logarithm is not defined for."""


UNITS_OFF = {
    "exp": Decimal("0.6"), "exp2": Decimal("0.6"), "log": Decimal("0.51"),
    "log2": Decimal("0.51"), "log10": Decimal("0.51"), "pow": Decimal("0.65"),
    "sin": Decimal("0.52"), "cos": Decimal("0.52"), "tanh": Decimal("0.6"),
    "expm1": Decimal("0.65"), "sinh": Decimal("0.6"), "cosh": Decimal("0.6"),
    "erf": Decimal("0.6"), "cbrt": Decimal("0.6"), "log1p": Decimal("0.65"),
}  # fmt: skip
"""Bounds of functions of doubles, in units in the last place."""

OF_PAIRS = {"atan2f": (np.arctan2, 2**-14), "hypotf": (np.hypot, 2**-27)}
"""Functions of two floats as doubles, and how far results may be from half a unit."""

EXACT = ("fmodf", "fmod")
"""Functions of two operands whose results are never rounded."""

LARGEST = {"sin": 0x3F7452FC98B34E97, "cos": 0xBFEFFFE62ECFAB75, "tanh": 0x3FF << 52}
"""Of the largest double."""


def test_every_function_is_judged() -> None:
    assert {*OF_ONE_OPERAND, "powf", *OF_PAIRS, *UNITS_OFF, *EXACT} == math_functions()


def test_a_text_that_two_functions_include_is_there_once() -> None:
    text = library_text(["sin", "cos"])
    assert text.count("uint64_t rtlgen_sine(") == text.count("rtlgen_sine_c0[512]") == 1
    assert text.index("rtlgen_product(uint64_t a") < text.index("rtlgen_sine(uint64_t x")
    assert "double sin(double x)" in text and "double cos(double x)" in text


def test_no_two_texts_define_the_same_name() -> None:
    text = library_text(sorted(math_functions()))
    defined = re.findall(r"static (?:const )?\w+ (\w+)[\[(]", text)
    assert len(defined) > 100
    assert len(defined) == len(set(defined))


@pytest.mark.parametrize("called", [(), ("expf",)])
def test_only_texts_of_what_is_called_are_read(
    called: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    headers._library_file.cache_clear()
    read: list[str] = []

    def text_of(path: Path, _: str) -> str:
        read.append(path.name)
        return path.read_bytes().decode()

    monkeypatch.setattr(Path, "read_text", text_of)
    headers.declarations(["math.h"], ["x", *called])
    known = {path.name for path in FOLDER.iterdir()}
    assert set(read) & known == (
        {"expf.c", "_expf.c", "_ln2.c", "_integers.c"} if called else set()
    )


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_that_the_script_makes(name: str) -> None:
    text = (FOLDER / f"{name}.c").read_text()
    assert with_tables(text, tables_of(name)) == text


@needs_gcc
@each_function
def test_results_are_correctly_rounded(name: str, tmp_path: Path) -> None:
    program = compiled(name, FOLDER / f"{name}.c", tmp_path)
    nearest = tuple((bits, bits + 1, 1) for bits in NEAREST[name])
    ranges = (A_MILLION, *ENDS_OF_BINADES, *nearest)
    judgement = judged(name, program, ranges)
    assert judgement.compared == sum(len(range(*inputs)) for inputs in ranges)
    assert judgement.near >= len(nearest)
    assert judgement.wrong == ()


@needs_gcc
@pytest.mark.long
@each_function
def test_all_results_are_correctly_rounded(name: str, tmp_path: Path) -> None:
    judgement = judged(name, compiled(name, FOLDER / f"{name}.c", tmp_path), [ALL])
    assert judgement.compared == 1 << 32
    assert judgement.wrong == ()


@needs_gcc
def test_powers_are_correctly_rounded(tmp_path: Path) -> None:
    program = compiled("powf", FOLDER / "powf.c", tmp_path)
    judgement = judged_pairs("powf", program, 1_000_000)
    assert judgement.compared == 1_000_000
    # Most are midpoints.
    assert judgement.near > 400
    assert judgement.wrong == ()


@needs_gcc
@pytest.mark.long
def test_many_powers_are_correctly_rounded(tmp_path: Path) -> None:
    program = compiled("powf", FOLDER / "powf.c", tmp_path)
    assert judged_pairs("powf", program, 200_000_000, seed=1234567).wrong == ()


@needs_gcc
def test_a_power_that_goes_the_other_way_at_midpoints_is_noticed(tmp_path: Path) -> None:
    text = (FOLDER / "powf.c").read_text()
    assert "guarded & 3) == 1" in text
    path = tmp_path / "powf.c"
    path.write_text(text.replace("guarded & 3) == 1", "guarded & 3) == 3"))
    assert judged_pairs("powf", compiled("powf", path, tmp_path), 100_000).wrong


@needs_gcc
def test_e_to_a_double_keeps_to_annex_f(tmp_path: Path) -> None:
    infinity, one, nan = 0x7FF0000000000000, 0x3FF0000000000000, 0x7FF8000000000000
    expected = {
        0: one, 1 << 63: one, 1: one, 0x3C80000000000000: one,
        infinity: infinity, infinity | 1 << 63: 0, infinity - 1: infinity, 0xC090000000000000: 0,
        nan: nan, infinity + 1: nan, nan | 1 << 63: nan,
        # The largest of which e^x is finite, the smallest of which it is not 0; their neighbours.
        0x40862E42FEFA39EF: 0x7FEFFFFFFFFFFF2A, 0x40862E42FEFA39F0: infinity,
        0xC0874910D52D3051: 1, 0xC0874910D52D3052: 0,
    }  # fmt: skip
    results = results_of_doubles("exp", FOLDER / "exp.c", tmp_path, list(expected))
    assert dict(zip(expected, results, strict=True)) == expected


def pairs_of_floats(count: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return pairs of floats of any kind: some near to each other, some far, some subnormal."""
    random = np.random.default_rng(seed)
    y, x = random.integers(1 << 32, size=(2, count), dtype=np.uint32)
    signs = np.uint32(0x80000000)
    # Exponents side by side; magnitudes next to each other; both next to nothing.
    x[::4] = y[::4] & 0x7F800000 | x[::4] & 0x807FFFFF
    x[1::4] = y[1::4] + (x[1::4] & 0xFFF)
    y[2::8] &= 0x80FFFFFF
    x[2::8] &= 0x81FFFFFF
    special = np.array([0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000], np.uint32)
    special = np.concatenate([special, special | signs])
    y[: 14**2] = np.repeat(special, 14)
    x[: 14**2] = np.tile(special, 14)
    return y, x


def most_units_off(results: NDArray[np.uint32], values: NDArray[np.float64]) -> float:
    """Return the largest distance of floats, in units in the last place; of zeros, the sign."""
    floats = results.view(np.float32)
    with np.errstate(over="ignore"):
        nearest = values.astype(np.float32)
    is_nan = np.isnan(values)
    assert (results[is_nan] == 0x7FC00000).all()
    assert (np.signbit(floats) == np.signbit(values))[~is_nan].all()
    assert (floats[np.isinf(nearest)] == nearest[np.isinf(nearest)]).all()
    kept = np.isfinite(nearest)
    exponents = np.maximum(np.frexp(values[kept])[1] - 24, -149)
    off = np.abs(floats[kept].astype(float) - values[kept]) / np.ldexp(1.0, exponents)
    return float(off.max())


def pairs_are_within(bound: float, name: str, count: int, seed: int, folder: Path) -> bool:
    x, y = pairs_of_floats(count, seed)
    results = results_of_floats(name, FOLDER / f"{name}.c", folder, x, y)
    with np.errstate(all="ignore"):
        values = OF_PAIRS[name][0](*(side.view(np.float32).astype(float) for side in (x, y)))
    return most_units_off(results, values) < bound


@needs_gcc
@pytest.mark.parametrize("name", OF_PAIRS)
def test_results_of_two_floats_are_within_the_bound(name: str, tmp_path: Path) -> None:
    assert pairs_are_within(0.5 + OF_PAIRS[name][1], name, 500_000, 3, tmp_path)
    assert not pairs_are_within(0.499, name, 500_000, 3, tmp_path)


@needs_gcc
@pytest.mark.long
@pytest.mark.parametrize("name", OF_PAIRS)
@pytest.mark.parametrize("seed", range(20))
def test_many_results_of_two_floats_are_within_the_bound(
    seed: int, name: str, tmp_path: Path
) -> None:
    assert pairs_are_within(0.5 + OF_PAIRS[name][1], name, 1_000_000, 100 + seed, tmp_path)


@needs_gcc
@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("name", OF_PAIRS)
def test_circuits_of_two_floats_compute_the_same(name: str, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.c"
    kernel.write_text(
        "#include <math.h>\n"
        "void kernel(const float x[512], const float y[512], float z[512])\n"
        f"{{\n  for (int i = 0; i < 512; i++) z[i] = {name}(x[i], y[i]);\n}}\n"
    )
    x, y = pairs_of_floats(512, 4)
    expected = results_of_floats(name, FOLDER / f"{name}.c", tmp_path, x, y)
    out = rtlgen.compile(kernel).run(x=x.view(np.float32), y=y.view(np.float32)).arrays["z"]
    assert out.view(np.uint32).tolist() == expected.tolist()


Doubles = NDArray[np.uint64]

FORMATS = {"fmodf": (32, 23), "fmod": (64, 52)}


def pairs_with_remainders(name: str, count: int, seed: int) -> tuple[Doubles, Doubles]:
    """Return bits of pairs of numbers: of any exponents, and near to each other."""
    bits, fraction = FORMATS[name]
    random = np.random.default_rng(seed)
    x, y = random.integers(1 << bits - 1, size=(2, count), dtype=np.uint64)
    infinity = (1 << bits - 1) - (1 << fraction)
    # A subnormal divisor of any number; a short one; few doublings.
    y[::5] &= np.uint64((1 << fraction) - 1)
    y[1::5] &= np.uint64((1 << bits) - (1 << fraction // 2))
    more = random.integers(9, size=len(x[2::5]), dtype=np.uint64) << np.uint64(fraction)
    x[2::5] = np.minimum(y[2::5] + more, np.uint64(infinity))
    special = [0, 1, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity, infinity + 1]
    of_x, of_y = np.meshgrid(np.array(special, np.uint64), np.array(special, np.uint64))
    x[: of_x.size], y[: of_y.size] = of_x.ravel(), of_y.ravel()
    signs = random.integers(2, size=(2, count), dtype=np.uint64) << np.uint64(bits - 1)
    return x | signs[0], y | signs[1]


def remainders(name: str, folder: Path, x: Doubles, y: Doubles) -> list[int]:
    """Return what the C text of `fmodf` or `fmod` gives, as bits."""
    text = FOLDER / f"{name}.c"
    if name == "fmodf":
        found = results_of_floats(name, text, folder, x.astype(np.uint32), y.astype(np.uint32))
        return [int(bits) for bits in found]
    return results_of_doubles(name, text, folder, x.tolist(), y.tolist())


@needs_gcc
@pytest.mark.parametrize(("name", "count"), [("fmodf", 300_000), ("fmod", 20_000)])
def test_remainders_are_exact(name: str, count: int, tmp_path: Path) -> None:
    x, y = pairs_with_remainders(name, count, 7)
    results = np.array(remainders(name, tmp_path, x, y), np.uint64)
    with np.errstate(all="ignore"):
        if name == "fmodf":
            floats = [side.astype(np.uint32).view(np.float32) for side in (x, y)]
            of_floats = np.fmod(*floats)
            is_nan, expected = np.isnan(of_floats), of_floats.view(np.uint32).astype(np.uint64)
        else:
            of_doubles = np.fmod(x.view(np.float64), y.view(np.float64))
            is_nan, expected = np.isnan(of_doubles), of_doubles.view(np.uint64)
    assert is_nan.sum() > 20
    assert (results[is_nan] == (0x7FC00000 if name == "fmodf" else 0x7FF8 << 48)).all()
    assert (results == expected)[~is_nan].all()


@needs_gcc
@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("name", EXACT)
def test_circuits_of_remainders_compute_the_same(name: str, tmp_path: Path) -> None:
    x, y = pairs_with_remainders(name, 256, 8)
    bits, _ = FORMATS[name]
    word = f"uint{bits}_t"
    kernel = tmp_path / "kernel.c"
    kernel.write_text(
        f'#include "{FOLDER / name}.c"\n'
        f"void kernel(const {word} x[256], const {word} y[256], {word} z[256])\n"
        f"{{\n  for (int i = 0; i < 256; i++) z[i] = rtlgen_{name}(x[i], y[i]);\n}}\n"
    )
    operands = {"x": x.astype(f"uint{bits}"), "y": y.astype(f"uint{bits}")}
    found = rtlgen.compile(kernel).run(inputs=operands).arrays["z"]
    assert found.tolist() == remainders(name, tmp_path, x, y)


def with_a_wrong_row(name: str, table: str, row: int, change: int, folder: Path) -> Path:
    """Return a function's text in a folder, and beside it all others, one with another table."""
    texts = {path.name: path.read_text() for path in FOLDER.glob("*.c")}
    head = f"_t {table}["
    (holder,) = (file for file, text in texts.items() if head in text)
    before, declared, behind = texts[holder].partition(head)
    values = behind.split(",")
    first, brace, value = values[row].rpartition("{")
    values[row] = f"{first}{brace} {hex(int(value.strip().rstrip('l'), 16) ^ change)}l"
    texts[holder] = before + declared + ",".join(values)
    for file, text in texts.items():
        (folder / file).write_text(text)
    return folder / f"{name}.c"


@needs_gcc
@pytest.mark.parametrize("name", UNITS_OFF)
def test_results_of_doubles_are_within_the_bound(name: str, tmp_path: Path) -> None:
    distance = judged_doubles(name, FOLDER / f"{name}.c", tmp_path, 400_000)
    assert distance.wrong == ()
    assert distance.finite > 240_000
    assert distance.most < UNITS_OFF[name]


@needs_gcc
@pytest.mark.long
@pytest.mark.parametrize("name", UNITS_OFF)
def test_many_results_of_doubles_are_within_the_bound(name: str, tmp_path: Path) -> None:
    distance = judged_doubles(name, FOLDER / f"{name}.c", tmp_path, 20_000_000, seed=1234567)
    assert distance.wrong == ()
    assert distance.most < UNITS_OFF[name]


@pytest.mark.sample(every=3)
@needs_gcc
@pytest.mark.parametrize(
    ("name", "table", "row", "change"),
    [("log", "rtlgen_ln_c", 300, 1 << 20), ("log", "rtlgen_ln_c", 1, 1 << 50),
     ("pow", "rtlgen_pow_c", 300, 1 << 28), ("pow", "rtlgen_pow_m", 77, 1),
     ("pow", "rtlgen_exp2_e", 400, 1 << 12), ("exp2", "rtlgen_exp2_t", 200, 1 << 14),
     ("sin", "rtlgen_sine_turns1", 64, 1 << 20), ("cos", "rtlgen_sine_c1", 300, 1 << 22),
     ("tanh", "rtlgen_tanh_c2", 200, 1 << 24), ("erf", "rtlgen_erf_c1", 200, 1 << 20),
     ("cbrt", "rtlgen_cbrt_c0", 40, 1 << 12), ("sinh", "rtlgen_sinh_c1", 200, 1 << 20),
     ("log1p", "rtlgen_ln_m", 300, 1 << 8),
     ("cosh", "rtlgen_exp_e", 200, 1 << 12), ("expm1", "rtlgen_expm1_c1", 160, 1 << 20)],
)  # fmt: skip
def test_a_table_of_doubles_that_is_wrong_in_one_row_is_noticed(
    name: str, table: str, row: int, change: int, tmp_path: Path
) -> None:
    path = with_a_wrong_row(name, table, row, change, tmp_path)
    assert judged_doubles(name, path, tmp_path, 400_000).most > UNITS_OFF[name]


@needs_gcc
@pytest.mark.parametrize(("base", "exponents"), [(2, range(-1074, 1024)), (10, range(23))])
def test_logarithms_of_powers_are_exact(base: int, exponents: range, tmp_path: Path) -> None:
    powers = np.array([float(base) ** n for n in exponents]).view(np.uint64).tolist()
    name = f"log{base}"
    results = results_of_doubles(name, FOLDER / f"{name}.c", tmp_path, powers)
    assert np.array(results, np.uint64).view(float).tolist() == list(exponents)


@needs_gcc
def test_powers_that_are_doubles_are_exact(tmp_path: Path) -> None:
    powers = [(float(x), float(n)) for x in range(2, 200) for n in range(54) if x**n < 1 << 53]
    powers += [(2.0, float(n)) for n in range(-1074, 1024)]
    powers += [(float(x * x), 0.5) for x in range(1, 3000)]
    expected = [
        int(x) ** int(n) if n >= 1 else x**n if x == 2 or n == 0 else round(x**n) for x, n in powers
    ]
    x, y = (np.array(side).view(np.uint64).tolist() for side in zip(*powers, strict=True))
    results = results_of_doubles("pow", FOLDER / "pow.c", tmp_path, x, y)
    assert np.array(results, np.uint64).view(float).tolist() == [float(it) for it in expected]


@needs_gcc
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_angles_nearest_to_multiples_of_a_quarter_turn(name: str, tmp_path: Path) -> None:
    inputs = hard_angles(range(-20, 972))
    assert len(inputs) > 1000
    results = results_of_doubles(name, FOLDER / f"{name}.c", tmp_path, inputs)
    with localcontext(Context(prec=40)):
        values = [FUNCTIONS[name](double_value(bits)) for bits in inputs]
        off = [units_off(value, bits) for value, bits in zip(values, results, strict=True)]
    assert min(map(abs, values)) < Decimal(2) ** -58
    assert max(off) < UNITS_OFF[name]


@needs_gcc
@pytest.mark.parametrize("name", ["sin", "cos", "tanh"])
def test_functions_of_doubles_keep_to_annex_f(name: str, tmp_path: Path) -> None:
    infinity, one, nan, negative = 0x7FF << 52, 0x3FF << 52, 0x7FF8 << 48, 1 << 63
    expected = {nan: nan, nan | negative: nan, infinity + 1: nan, infinity - 1: LARGEST[name]}
    for bits in (0, 1, 0x000FFFFFFFFFFFFF, 0x3E3FFFFFFFFFFFFF):
        expected[bits] = one if name == "cos" else bits
    expected[infinity] = one if name == "tanh" else nan
    for bits, value in list(expected.items()):
        is_even = name == "cos" or value == nan
        expected[bits | negative] = value if is_even else value | negative
    results = results_of_doubles(name, FOLDER / f"{name}.c", tmp_path, list(expected))
    assert dict(zip(expected, results, strict=True)) == expected


@needs_gcc
def test_logarithms_keep_to_annex_f(tmp_path: Path) -> None:
    infinity, nan, negative = 0x7FF0000000000000, 0x7FF8000000000000, 1 << 63
    expected = {
        0: infinity | negative, negative: infinity | negative, 0x3FF0000000000000: 0,
        infinity: infinity, infinity | negative: nan, negative | 1: nan, 0xBFF0000000000000: nan,
        nan: nan, nan | negative: nan, infinity + 1: nan,
        # The smallest subnormal and the largest double; the neighbours of 1.
        1: 0xC0874385446D71C3, infinity - 1: 0x40862E42FEFA39EF,
        0x3FF0000000000001: 0x3CAFFFFFFFFFFFFF, 0x3FEFFFFFFFFFFFFF: 0xBCA0000000000000,
    }  # fmt: skip
    results = results_of_doubles("log", FOLDER / "log.c", tmp_path, list(expected))
    assert dict(zip(expected, results, strict=True)) == expected


@needs_gcc
def test_the_logarithm_of_1_and_x_keeps_to_annex_f(tmp_path: Path) -> None:
    infinity, nan, negative, one = 0x7FF << 52, 0x7FF8 << 48, 1 << 63, 0x3FF << 52
    expected = {bits: bits for bits in (0, 1, negative, negative | 1, infinity, one >> 1)}
    expected |= {negative | one: infinity | negative, negative | infinity: nan, infinity + 1: nan}
    # Next to -1 on both sides, and the largest double.
    expected |= {(negative | one) - 1: 0xC0425E4F7B2737FA, (negative | one) + 1: nan}
    expected |= {infinity - 1: 0x40862E42FEFA39EF}
    results = results_of_doubles("log1p", FOLDER / "log1p.c", tmp_path, list(expected))
    assert dict(zip(expected, results, strict=True)) == expected


@needs_gcc
def test_powers_of_doubles_keep_to_annex_f(tmp_path: Path) -> None:
    infinity, nan, half, huge = float("inf"), float("nan"), 0.5, 1e300
    any_number = (0.0, -0.0, 5e-324, half, 1.0, -1.0, 2.0, -3.0, huge, -huge, infinity, -infinity)
    rows = [(nan, -0.0, 1.0), (nan, 0.0, 1.0), (1.0, nan, 1.0), (nan, nan, nan)]
    for y in (3.0, 1.0, 2.0**53 - 1):
        rows += [(0.0, -y, infinity), (-0.0, -y, -infinity), (0.0, y, 0.0), (-0.0, y, -0.0)]
        rows += [(-infinity, -y, -0.0), (-infinity, y, -infinity), (-1.0, y, -1.0)]
    for y in (half, 2.5, 2.0, 2.0**53, 2.0**63, huge, infinity):
        rows += [(0.0, -y, infinity), (-0.0, -y, infinity), (0.0, y, 0.0), (-0.0, y, 0.0)]
        rows += [(-infinity, -y, 0.0), (-infinity, y, infinity)]
        rows += [(infinity, -y, 0.0), (infinity, y, infinity)]
    rows += [(-1.0, y, 1.0) for y in (2.0, 2.0**53, huge, infinity, -infinity)]
    for x in (5e-324, half, -half, 1 - 2**-53):
        rows += [(x, infinity, 0.0), (x, -infinity, infinity)]
    for x in (1 + 2**-52, 2.0, -3.0, -huge):
        rows += [(x, infinity, infinity), (x, -infinity, 0.0)]
    for x in (-5e-324, -half, -1.0, -huge):
        rows += [(x, y, nan) for y in (half, -half, 2.5, 5e-324, 2.0**51 + half)]
    rows += [(-2.0, 3.0, -8.0), (-2.0, 4.0, 16.0), (-2.0, -1075.0, -0.0), (2.0, -1075.0, 0.0)]
    rows += [(-2.0, 1025.0, -infinity), (-2.0, 1024.0, infinity), (2.0, huge, infinity)]
    rows += [(2.0, -huge, 0.0), (half, huge, 0.0), (huge, 5e-324, 1.0), (5e-324, -1.0, infinity)]
    rows += [(5e-324, 1.0, 5e-324), (2.0, -1074.0, 5e-324), (2.0**-537, 2.0, 5e-324)]
    for x in any_number:
        rows += [(x, 0.0, 1.0), (x, -0.0, 1.0), (1.0, x, 1.0)]
        rows += [(x, nan, nan)] if x != 1 else []
        rows += [(nan, x, nan)] if x != 0 else []
    x, y, expected = (np.array(side).view(np.uint64).tolist() for side in zip(*rows, strict=True))
    assert results_of_doubles("pow", FOLDER / "pow.c", tmp_path, x, y) == expected


def some_operands(name: str, count: int) -> tuple[list[int], ...]:
    """Return as many operands of a function of doubles, special ones among them."""
    random = np.random.default_rng(2)
    special = [0, 1 << 63, 1, 0x3FF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000]
    if not name.startswith(("log", "pow")):
        size = np.ldexp(random.uniform(-1, 1, count), random.integers(-30, 10, count))
        x = size.view(np.uint64)
        x[: count // 8] = random.integers(1, 0x7FF << 52, count // 8)
        x[: len(special)] = special
        return (x.tolist(),)
    near_1 = 1 + np.ldexp(random.uniform(-1, 1, count // 2), -random.integers(0, 52, count // 2))
    x = np.concatenate(
        [near_1.view(np.uint64), random.integers(1, 0x7FF << 52, count - count // 2)]
    )
    x[: len(special)] = special
    x = x.astype(np.uint64)
    if name != "pow":
        return (x.tolist(),)
    with np.errstate(all="ignore"):
        y = random.uniform(-1080, 1080, count) / np.log2(x.view(float))
    return x.tolist(), y.view(np.uint64).tolist()


@needs_gcc
@pytest.mark.simulation
@pytest.mark.long
def test_sine_and_cosine_of_one_angle_share_their_tables(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.c"
    kernel.write_text(
        "#include <math.h>\n"
        "void kernel(const double x[64], double y[64])\n"
        "{\n  for (int i = 0; i < 64; i++) y[i] = sin(x[i]) + cos(x[i]);\n}\n"
    )
    design = rtlgen.compile(kernel)
    tables = [memory.name for memory in design.plan.memories if memory.name == "rtlgen_sine_c0"]
    assert len(tables) == 1
    assert design.verify(oracle="gcc").failures == ()


@needs_gcc
@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("name", UNITS_OFF)
def test_circuits_of_functions_of_doubles_compute_the_same(name: str, tmp_path: Path) -> None:
    operands = some_operands(name, 512)
    names = "xy"[: len(operands)]
    given = ", ".join(f"const uint64_t {operand}[512]" for operand in names)
    called = ", ".join(f"{operand}[i]" for operand in names)
    kernel = tmp_path / "kernel.c"
    kernel.write_text(
        f'#include "{FOLDER / name}.c"\n'
        f"void kernel({given}, uint64_t z[512])\n"
        f"{{\n  for (int i = 0; i < 512; i++) z[i] = rtlgen_{name}({called});\n}}\n"
    )
    arrays = {
        operand: np.array(bits, dtype=np.uint64)
        for operand, bits in zip(names, operands, strict=True)
    }
    expected = results_of_doubles(name, FOLDER / f"{name}.c", tmp_path, *operands)
    assert rtlgen.compile(kernel).run(inputs=arrays).arrays["z"].tolist() == expected


@pytest.mark.sample(every=3)
@needs_gcc
@pytest.mark.parametrize(
    ("name", "table", "row", "change"),
    [
        ("expf", "rtlgen_expf_e", 77, 1 << 30),
        ("logf", "rtlgen_logf_c0", 300, 1 << 36),
        ("exp2f", "rtlgen_exp2_e", 100, 1 << 32),
        ("log2f", "rtlgen_log2f_c2", 300, 1 << 38),
        ("log10f", "rtlgen_log10f_c1", 400, 1 << 36),
        ("atanf", "rtlgen_atanf_c1", 400, 1 << 40),
        ("tanhf", "rtlgen_tanhf_c2", 500, 1 << 52),
        ("powf", "rtlgen_powf_c2", 300, 1 << 38),
        ("sinf", "rtlgen_sinef_angle", 200, 1 << 20),
        ("cosf", "rtlgen_sinef_c1", 100, 1 << 24),
        ("tanf", "rtlgen_sinf_c1", 100, 1 << 40),
        ("sinhf", "rtlgen_sinh_c1", 200, 1 << 40),
        ("coshf", "rtlgen_exp_e", 200, 1 << 44),
        ("expm1f", "rtlgen_expm1_c1", 160, 1 << 40),
        ("log1pf", "rtlgen_ln_m", 300, 1 << 8),
        ("erff", "rtlgen_erf_c1", 200, 1 << 40),
        ("cbrtf", "rtlgen_cbrt_c0", 40, 1 << 36),
    ],
)
def test_a_table_that_is_wrong_in_one_row_is_noticed(
    name: str, table: str, row: int, change: int, tmp_path: Path
) -> None:
    path = with_a_wrong_row(name, table, row, change, tmp_path)
    program = compiled(name, path, tmp_path)
    is_power = name == "powf"
    judgement = (
        judged_pairs(name, program, 1 << 20) if is_power else judged(name, program, [A_MILLION])
    )
    assert judgement.wrong


@pytest.mark.parametrize(
    ("bits", "result"), [(0x3F800000, 0x402DF854), (0xC2CE8ED0, 1), (0x42B17217, 0x7F7FFF84)]
)
def test_decimal_values_are_rounded_to_normal_and_subnormal_floats(bits: int, result: int) -> None:
    assert correctly_rounded("expf", bits) == result


@pytest.mark.simulation
@pytest.mark.long
@each_function
def test_circuits_compute_the_same(name: str, tmp_path: Path) -> None:
    count = 512
    kernel = tmp_path / "kernel.c"
    kernel.write_text(
        f'#include "{FOLDER / name}.c"\n'
        f"void kernel(const uint32_t x[{count}], uint32_t y[{count}])\n"
        f"{{\n  for (int i = 0; i < {count}; i++) y[i] = rtlgen_{name}(x[i]);\n}}\n"
    )
    special = SPECIAL[name] | {0x7FC00000: 0x7FC00000, 0xFFFFFFFF: 0x7FC00000}
    random = np.random.default_rng(1)
    # Of each exponent one, and more of where the function is neither 0 nor an infinity nor 1.
    exponents = np.concatenate([np.arange(1, 255), random.integers(110, 140, size=192)])
    x = (exponents << 23 | random.integers(1 << 23, size=len(exponents))).astype(np.uint32)
    if not name.startswith("log"):
        x |= random.integers(2, size=len(x), dtype=np.uint32) << np.uint32(31)
    x = np.concatenate([np.array([*special, *NEAREST[name]], dtype=np.uint32), x])
    x = np.resize(x, count)
    out = rtlgen.compile(kernel).run(x=x)
    expected = [
        special[bits] if bits in special else correctly_rounded(name, bits) for bits in x.tolist()
    ]
    assert out.arrays["y"].tolist() == expected


@pytest.mark.simulation
@pytest.mark.long
def test_the_circuit_of_powers_computes_the_same(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.c"
    kernel.write_text(
        f'#include "{FOLDER / "powf.c"}"\n'
        "void kernel(const uint32_t x[512], const uint32_t y[512], uint32_t z[512])\n"
        "{\n  for (int i = 0; i < 512; i++) z[i] = rtlgen_powf(x[i], y[i]);\n}\n"
    )
    random = np.random.default_rng(1)
    near_1 = 0x3F800000 + random.integers(-(1 << 22), 1 << 22, size=256)
    x = np.concatenate([near_1, random.integers(0x00000001, 0x7F800000, size=253)])
    y = np.concatenate(
        [
            random.integers(0x40000000, 0x43000000, size=256),
            random.integers(0x3E000000, 0x41000000, size=253),
        ]
    )
    y[1::2] |= 0x80000000
    # 4097^2 and 2^-150 are midpoints; 2^128 is no float.
    x = np.append(x, [0x45800800, 0x40000000, 0x40000000]).astype(np.uint32)
    y = np.append(y, [0x40000000, 0xC3160000, 0x43000000]).astype(np.uint32)
    out = rtlgen.compile(kernel).run(x=x, y=y)
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    assert out.arrays["z"].tolist() == [correctly_rounded("powf", *pair) for pair in pairs]
