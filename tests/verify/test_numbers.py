"""Numbers go in and out by NumPy's types, are compared by their bits, and shown as numbers."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.frontend import parse_text
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FloatType
from rtlgen.manifest.contents import Manifest
from rtlgen.verify import c_oracle
from rtlgen.verify.c_oracle import COptions, c_outcomes, with_known_nan
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import KINDS, Kind, Recipe, given_data_set, random_data_sets
from rtlgen.verify.equivalence import Outcome
from rtlgen.verify.errors import InputTypeError
from rtlgen.verify.golden import run_golden
from rtlgen.verify.inputs import check_inputs, check_ranges, load_inputs, save_outputs
from rtlgen.verify.sensitivity import perturbed
from rtlgen.verify.values import element_dtype, is_nan, stored_dtype, to_words, value_of
from tests.oracles import scops
from tests.oracles.gcc_oracle import have_gcc

SCALED = """
double scaled(const float x[4], float y[4], float a, double b) {
  for (int i = 0; i < 4; i++) y[i] = a * x[i] + y[i];
  return y[3] * b;
}"""
GIVEN: dict[str, Any] = {
    "x": np.ones(4, np.float32),
    "y": np.zeros(4, np.float32),
    "a": 2.0,
    "b": 0.1,
}


@cache
def manifest() -> Manifest:
    return rtlgen.compile(source=SCALED).manifest


def test_the_manifest_names_the_types() -> None:
    types = {array.name: array.type for array in manifest().arrays}
    types |= {scalar.name: scalar.type for scalar in manifest().scalars}
    assert {name: types[name] for name in GIVEN} == {
        "x": "float32", "y": "float32", "a": "float32", "b": "float64",
    }  # fmt: skip
    returned = manifest().returned
    assert returned is not None and returned.type == "float64"


@pytest.mark.parametrize("a", [0.1, np.float32(0.1), np.float64(0.1), np.array(0.1)])
def test_a_scalar_is_converted_as_an_argument_of_c(a: Any) -> None:
    checked = check_inputs({**GIVEN, "a": a}, manifest())
    assert type(checked["a"]) is np.float32 and checked["a"] == np.float32(0.1)
    assert type(checked["b"]) is np.float64 and checked["b"] == 0.1


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("x", np.ones(4), "array x is float64 of shape (4,), not float32 of shape (4,)"),
        ("x", np.ones(4, np.uint32), "array x is uint32 of shape (4,), not float32 of shape (4,)"),
        ("a", 1e39, "scalar a is 1e+39, out of the range of its C type"),
        ("a", np.complex64(1), "scalar a is complex64 of shape (), not one number"),
        ("a", np.ones(1, np.float32), "scalar a is float32 of shape (1,), not one number"),
    ],
)
def test_what_is_no_such_number_is_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(InputTypeError) as caught:
        check_inputs({**GIVEN, name: value}, manifest())
    assert caught.value.diagnostic.message == message


def test_infinite_arguments_are_numbers() -> None:
    assert check_inputs({**GIVEN, "a": float("-inf")}, manifest())["a"] == -np.inf


def test_a_number_is_no_argument_of_an_integer() -> None:
    manifest = rtlgen.compile(
        source="void f(int n, int y[4]) { for (int i = 0; i < 4; i++) y[i] = n; }"
    ).manifest
    with pytest.raises(InputTypeError, match=r"scalar n is 1.5, not an integer"):
        check_inputs({"n": 1.5}, manifest)


def test_numbers_survive_the_way_through_files(tmp_path: Path) -> None:
    nan = np.array([0x7FC00001, 0x80000000, 1, 0xFF800000], np.uint32).view(np.float32)
    np.savez(tmp_path / "in.npz", allow_pickle=False, **{**GIVEN, "x": nan})
    loaded = load_inputs(tmp_path / "in.npz", manifest())
    assert to_words(np.asarray(loaded["x"])).tolist() == to_words(nan).tolist()
    save_outputs(tmp_path / "out.npz", {"y": nan}, np.float64(0.5), manifest())
    with np.load(tmp_path / "out.npz") as archive:
        assert to_words(archive["y"]).tolist() == to_words(nan).tolist()
        np.testing.assert_array_equal(archive["return"], np.float64(0.5), strict=True)


@pytest.mark.parametrize("dtype", ["u2", "V2"])
def test_bfloat16_is_given_as_patterns_too(dtype: str) -> None:
    manifest = rtlgen.compile(
        source="void f(__bf16 x[4]) { for (int i = 0; i < 4; i++) x[i] = -x[i]; }"
    ).manifest
    words = np.array([0x3F80, 0x7FC1, 0x8000, 1], np.uint16)
    checked = np.asarray(check_inputs({"x": words.view(dtype)}, manifest)["x"])
    assert checked.dtype == element_dtype(BFLOAT16) and to_words(checked).tolist() == words.tolist()
    with pytest.raises(InputTypeError, match="array x is float16"):
        check_inputs({"x": words.view(np.float16)}, manifest)


@pytest.mark.parametrize(
    ("limits", "is_right"),
    [
        ((-1.0, 1.0), True), ((0, 1), True), ((1.0, -1.0), False), ((0.0, 1e39), False),
        ((0.0, float("inf")), False), ((float("nan"), 1.0), False),
    ],
)  # fmt: skip
def test_limits_are_finite_numbers_in_order(limits: tuple[float, float], is_right: bool) -> None:
    if is_right:
        assert check_ranges({"x": limits}, manifest()) == {"x": limits}
        return
    with pytest.raises(InputTypeError, match="is no range of values of x"):
        check_ranges({"x": limits}, manifest())


def test_a_difference_shows_numbers_and_their_bits() -> None:
    expected = {"y": np.array([0.1, -0.0, np.nan, 1], np.float32)}
    got = {"y": np.array([0.1, 0.0, np.nan, 1 + 2**-23], np.float32)}
    found = compare_memories(expected, got)
    assert [str(mismatch) for mismatch in found.first] == [
        "y[1]: expected -0.0 (0x80000000), got 0.0 (0x00000000)",
        "y[3]: expected 1.0 (0x3f800000), got 1.0000001 (0x3f800001)",
    ]
    document = json.loads(json.dumps(found.first[0].to_json(), allow_nan=False))
    assert document["expected"] == {"value": "-0.0", "bits": "0x80000000"}


def test_a_nan_of_other_bits_is_a_difference() -> None:
    one, other = (np.array([bits], np.uint32).view(np.float32) for bits in (0x7FC00000, 0x7FC00001))
    assert compare_memories({"y": one}, {"y": other}).mismatches == 1


# Of the compiler's results any NaN is as good as another, and nothing else is.


def outcomes(golden: list[int], of_gcc: list[int]) -> tuple[list[int], list[int]]:
    """Return what the golden model leaves, and what is taken for the compiler's results."""
    program = parse_text("void f(float y[4]) { for (int i = 0; i < 4; i++) y[i] += 1; }").scop
    known, said = (np.array(bits, np.uint32).view(np.float32) for bits in (golden, of_gcc))
    result = run_golden(program, {"y": known})
    result.arrays["y"] = known
    found = with_known_nan(program, Outcome({"y": said}, None), result)
    return to_words(known).tolist(), to_words(found.arrays["y"]).tolist()


def test_a_nan_of_the_compiler_is_that_of_the_golden_model() -> None:
    golden, found = outcomes([0x7FC00000, 0, 1, 2], [0xFFC00123, 0, 1, 2])
    assert golden == found


def test_a_nan_where_the_golden_model_has_none_stays() -> None:
    _, found = outcomes([0x7F800000, 0, 1, 2], [0xFFC00000, 0x80000000, 1, 3])
    assert found == [0xFFC00000, 0x80000000, 1, 3]
    _, found = outcomes([0x7FC00000, 0, 1, 2], [0x7F800000, 0, 1, 2])
    assert found == [0x7F800000, 0, 1, 2]


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to ask")
@pytest.mark.parametrize(
    "body",
    [
        "y[i] = a * x[i] + y[i]",
        "y[i] = x[i] / a - sqrtf(y[i])",
        "y[i] = fmaf(x[i], a, y[i]) * 0.1",
        "y[i] = (float)(x[i] * 0.1) > a ? floorf(x[i]) : fminf(x[i], y[i])",
        "y[i] = (unsigned char)(int)(x[i] < a) + (float)(1.0 / y[i])",
    ],
)
def test_the_compiler_agrees_with_the_golden_model_on_all_data(body: str) -> None:
    text = "#include <math.h>\n" + SCALED.replace("y[i] = a * x[i] + y[i]", body)
    program = parse_text(text, "scaled.c").scop
    data, found = c_outcomes(program, random_data_sets(program), COptions({}, ()))
    for each, outcome in zip(data.sets, found, strict=True):
        assert compare_memories(each.golden.arrays, outcome.arrays).exact, each.name
        assert is_nan(np.asarray(each.golden.returned), FLOAT64) or (
            each.golden.returned == outcome.returned
        )


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to ask")
def test_the_compiler_fuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With contraction, as gcc has it by default, x * x - y of a fused unit is another number."""
    program = parse_text(SCALED, "scaled.c").scop
    x = np.full(4, 1 + 2**-12, np.float32)
    given: dict[str, Any] = {"x": x, "y": -x * x, "a": np.float32(1 + 2**-12), "b": np.float64(1)}
    data = given_data_set(program, "cancels", given)
    options = COptions({}, (), flags=("-O2", "-mfma"))
    assert not data.sets[0].golden.arrays["y"].any()
    _, (right,) = c_outcomes(program, data, options)
    assert not right.arrays["y"].any()
    monkeypatch.setattr(c_oracle, "_OPTIONS", ("-O1", "-fwrapv", "-ffp-contract=fast"))
    _, (fused,) = c_outcomes(program, data, options)
    assert fused.arrays["y"].all()


# Data.


def patterns(type_: FloatType, kind: Kind, **limits: tuple[float, float]) -> list[int]:
    program = scops.scop([scops.array("x", (4000,), "in", type_)], [], {})
    found = np.asarray(Recipe(kind, 1, limits).inputs(program)["x"])
    assert found.dtype == element_dtype(type_)
    words: list[int] = found.view(stored_dtype(type_)).tolist()
    return words


FORMATS = (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)
each_format = pytest.mark.parametrize("type_", FORMATS, ids=str)


@each_format
def test_each_kind_of_data_has_what_it_is_for(type_: FloatType) -> None:
    one, sign = type_.bias << type_.fraction_bits, type_.sign_bit
    limits = set(patterns(type_, "limits"))
    special = {0, 1, one, one + 1, one - 1, type_.infinity - 1, type_.infinity, type_.nan}
    special |= {1 << type_.fraction_bits, (1 << type_.fraction_bits) - 1}
    assert special | {pattern | sign for pattern in special} <= limits
    small = patterns(type_, "small")
    near = [abs(float(np.float64(p & (sign - 1)))) for p in small]
    low, high = (one + (e << type_.fraction_bits) for e in (-3, 3))
    assert all(low <= p < high for p in near) and len(set(small)) > 500
    exponents = {(p & (sign - 1)) >> type_.fraction_bits for p in patterns(type_, "full")}
    assert len(exponents) > 0.8 * min(1 << type_.exponent_bits, 2000)


@each_format
def test_mixed_data_cancels_and_lies_halfway(type_: FloatType) -> None:
    mixed = patterns(type_, "mixed")
    magnitudes = [p & (type_.sign_bit - 1) for p in mixed]
    # Neighbours of opposite signs, whose sum is a number of few digits.
    assert sum(abs(a - b) <= 1 for a, b in pairwise(magnitudes)) > 20
    half = type_.bias - type_.fraction_bits // 2
    assert any(p >> type_.fraction_bits == half for p in magnitudes)


@each_format
@pytest.mark.parametrize("kind", KINDS)
def test_data_stays_within_its_limits_and_reaches_them(type_: FloatType, kind: Kind) -> None:
    found = [float(_value(p, type_)) for p in patterns(type_, kind, x=(-0.3, 2.5))]
    low, high = min(found), max(found)
    assert low >= -0.3 * (1 + 2**-type_.fraction_bits) and high <= 2.5
    if kind != "mixed":
        assert low < -0.29 and high == 2.5
    elif type_ != FLOAT64:
        assert min(abs(x) for x in found if x) < 1e-3


def _value(pattern: int, type_: FloatType) -> float:
    if type_ == BFLOAT16:
        return float(value_of(pattern << 16, FLOAT32))
    return float(value_of(pattern, type_))


def test_a_long_run_has_data_that_leaves_numbers() -> None:
    text = SCALED.replace("i < 4", "i < 4000").replace("[4]", "[4000]")
    program = parse_text(text.replace("y[i] = a", "for (int k = 0; k < 6000; k++) y[i] = a")).scop
    data = random_data_sets(program)
    assert [each.name for each in data.sets] == ["small, seed 1"]
    assert np.isfinite(data.sets[0].golden.arrays["y"]).any()


# What data shows.


def test_a_number_is_changed_in_its_last_place() -> None:
    program = parse_text(SCALED).scop
    asked = perturbed(program, ["S0"])
    given = {**Recipe("small", 1).inputs(program)}
    plain = run_golden(program, given).arrays["y"]
    (stored,) = (site for site in asked.sites if site.is_result)
    changes = {
        change: run_golden(asked.scop, {**given, **asked.arguments(stored, change)}).arrays["y"]
        for change in stored.changes
    }
    assert to_words(changes["step"]).tolist() == [word ^ 1 for word in to_words(plain).tolist()]
    assert changes["negate"].tolist() == (-plain).tolist()
    assert not changes["zero"].any() and set(changes["one"].tolist()) == {1.0}
    unchanged = run_golden(asked.scop, {**given, **asked.arguments()}).arrays["y"]
    assert to_words(unchanged).tolist() == to_words(plain).tolist()


def test_the_first_value_of_a_sum_is_seen() -> None:
    program = parse_text("""
        float f(const float x[8]) {
          float s = 0;
          for (int i = 0; i < 8; i++) s += x[i];
          return s;
        }""").scop
    assert random_data_sets(program).shown.unseen == ()


def test_what_infinities_hide_is_told() -> None:
    program = parse_text("""
        void f(const float x[4], const float w[4], float y[4]) {
          for (int i = 0; i < 4; i++) y[i] = x[i] + w[i];
        }""").scop
    infinite = np.full(4, np.inf, np.float32)
    given = {"x": infinite, "w": np.ones(4, np.float32), "y": infinite}
    data = given_data_set(program, "infinite", given)
    assert [site.text for site in data.shown.unseen] == ["w[i]"]
