"""Both engines of the golden model compute what `ir.float_arithmetic` says, bit for bit."""

from __future__ import annotations

import ctypes
import platform
import random
from typing import get_args

import numpy as np
import pytest

from rtlgen.ir.expr import (
    COMPARISONS,
    SIGN_OPS,
    Expr,
    FloatOp,
    FloatOperation,
    Read,
    ScalarParameter,
)
from rtlgen.ir.float_arithmetic import evaluate, fits_integer
from rtlgen.ir.scop import LoopNode, ScalarArgument, Scop, StatementNode
from rtlgen.ir.types import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    FloatType,
    IntType,
    NumberType,
)
from rtlgen.verify import golden_compiled
from rtlgen.verify.golden import Engine, run_golden
from rtlgen.verify.values import (
    element_dtype,
    element_value,
    is_nan,
    is_same,
    pattern_of,
    stored_dtype,
    to_words,
    value_json,
    value_of,
    value_text,
)
from tests.oracles.scops import HERE, access, array, loop, scop

ENGINES: tuple[Engine, Engine] = ("interpreter", "compiled")
both_engines = pytest.mark.parametrize("engine", ENGINES)
FORMATS = (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)
SMALL = (FloatType(3, 4), FloatType(4, 3), FloatType(5, 2))
"""Of 8 bits: every pair of their numbers is tried."""

ARITY = {"fma": 3} | dict.fromkeys(
    ("add", "sub", "mul", "div", "copysign", "min", "max", "lt", "le", "eq"), 2
)
PLAIN = tuple(op for op in get_args(FloatOp) if op not in ("from_int", "to_int", "convert"))


def program(expr: Expr, count: int, operands: list[NumberType]) -> Scop:
    """Return `r[i] = expr` for all i; the operands are x0[i], x1[i], ..."""
    arrays = [array(f"x{n}", (count,), "in", type_) for n, type_ in enumerate(operands)]
    reads = tuple(access(f"x{n}", "i") for n in range(len(operands)))
    body = {"S0": (access("r", "i"), reads, expr)}
    result = array("r", (count,), "out", expr.type)
    return scop([*arrays, result], [LoopNode(loop("i", 0, count), (StatementNode("S0"),))], body)


def run(
    expr: Expr, operands: list[NumberType], rows: list[tuple[int, ...]], engine: Engine
) -> list[int]:
    """Return what is stored of `expr` for each row of what is stored of its operands."""
    columns = zip(*rows, strict=True)
    given = {
        f"x{n}": np.array(column, stored_dtype(type_)).view(element_dtype(type_))
        for n, (column, type_) in enumerate(zip(columns, operands, strict=True))
    }
    found = run_golden(program(expr, len(rows), operands), given, engine=engine).arrays["r"]
    assert found.dtype == element_dtype(expr.type)
    stored: list[int] = found.view(stored_dtype(expr.type)).tolist()
    return stored


def check(
    op: FloatOp,
    of: NumberType,
    to: NumberType,
    rows: list[tuple[int, ...]],
    engine: Engine,
    *,
    flushes: bool = False,
) -> None:
    types = [of] * len(rows[0])
    expr = FloatOperation(op, tuple(Read(n, of) for n in range(len(types))), to, flushes)
    expected = [evaluate(op, row, *expr.formats) for row in rows]
    found = run(expr, types, rows, engine)
    assert [r for r, e, f in zip(rows, expected, found, strict=True) if e != f] == []


def drawn(type_: FloatType, rng: random.Random) -> int:
    """Return a pattern: near a boundary of the format, or of few bits, or any."""
    exponent = rng.choice(
        [0, 1, type_.bias - 1, type_.bias, type_.bias + 1, type_.bias + type_.fraction_bits,
         (1 << type_.exponent_bits) - 2, (1 << type_.exponent_bits) - 1,
         rng.getrandbits(type_.exponent_bits)]
    )  # fmt: skip
    ones, low = (1 << type_.fraction_bits) - 1, rng.randrange(type_.fraction_bits)
    fraction = rng.choice(
        [0, 1, ones, ones - 1, 1 << low, ones >> low << low, (1 << low) | 1,
         rng.getrandbits(type_.fraction_bits)]
    )  # fmt: skip
    return rng.getrandbits(1) * type_.sign_bit | exponent << type_.fraction_bits | fraction


def integers(type_: IntType, rng: random.Random) -> int:
    value = rng.getrandbits(rng.randrange(1, type_.width_bits + 1))
    near = [value, 1 << value % type_.width_bits, (1 << value % type_.width_bits) - 1]
    return type_.wrap(rng.choice([1, -1]) * rng.choice(near))


def result_type(op: FloatOp, type_: FloatType) -> NumberType:
    return INT32 if op in COMPARISONS else type_


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("op", PLAIN)
@pytest.mark.parametrize("type_", FORMATS, ids=str)
@both_engines
def test_an_operation_is_what_its_definition_says(
    op: FloatOp, type_: FloatType, engine: Engine
) -> None:
    rng = random.Random(f"{op} {type_}")
    count = 3000 if engine == "compiled" else 100
    rows = [tuple(drawn(type_, rng) for _ in range(ARITY.get(op, 1))) for _ in range(count)]
    # Sums that cancel, and exact halves.
    if len(rows[0]) == 2:
        rows += [(a, a ^ type_.sign_bit ^ rng.getrandbits(2)) for a, _ in rows[: count // 4]]
    check(op, type_, result_type(op, type_), rows, engine)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("op", [op for op in PLAIN if op not in SIGN_OPS])
@pytest.mark.parametrize("type_", [FLOAT32, BFLOAT16], ids=str)
@both_engines
def test_an_operation_takes_subnormal_numbers_as_zeros(
    op: FloatOp, type_: FloatType, engine: Engine
) -> None:
    rng = random.Random(f"{op} {type_}")
    count = 2000 if engine == "compiled" else 100
    rows = [tuple(drawn(type_, rng) for _ in range(ARITY.get(op, 1))) for _ in range(count)]
    check(op, type_, result_type(op, type_), rows, engine, flushes=True)


@both_engines
def test_conversions_take_subnormal_numbers_as_zeros(engine: Engine) -> None:
    rng = random.Random(5)
    for of, to in ((FLOAT32, FLOAT64), (FLOAT64, FLOAT32), (FLOAT32, BFLOAT16), (FLOAT16, FLOAT32)):
        rows: list[tuple[int, ...]] = [(drawn(of, rng),) for _ in range(300)]
        check("convert", of, to, rows, engine, flushes=True)


@pytest.mark.parametrize("op", PLAIN)
@pytest.mark.parametrize("type_", SMALL, ids=str)
@pytest.mark.sample(
    "float5_2-add", "float5_2-mul", "float5_2-div", "float5_2-fma", "float3_4-sub", "float4_3-sqrt"
)
def test_compiled_operations_are_right_for_all_numbers_of_8_bits(
    op: FloatOp, type_: FloatType
) -> None:
    arity = ARITY.get(op, 1)
    rows: list[tuple[int, ...]] = [(a,) for a in range(256)]
    if arity > 1:
        rows = [(*row, b) for row in rows for b in range(256)]
    if arity > 2:
        rng = random.Random(1)
        rows = [(a, b, rng.randrange(256)) for a, b in rows[::3]]
    check(op, type_, result_type(op, type_), rows, "compiled")


@pytest.mark.parametrize("type_", [FloatType(9, 6), FloatType(7, 24)], ids=str)
def test_what_double_does_not_hold_is_not_compiled(type_: FloatType) -> None:
    with pytest.raises(ValueError, match="not exact in double"):
        check("add", type_, type_, [(0, 0)], "compiled")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of a rounding is of x86")
def test_what_other_code_has_asked_for_is_neither_used_nor_changed() -> None:
    libm = ctypes.CDLL(None)
    before = libm.fegetround()
    libm.fesetround(0xC00)  # Towards zero.
    try:
        check(
            "div", FLOAT32, FLOAT32, [(1 << 23, 0x40400000), (0x3F800000, 0x40400000)], "compiled"
        )
        assert libm.fegetround() == 0xC00
    finally:
        libm.fesetround(before)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("of", (*FORMATS, FloatType(4, 3)), ids=str)
@pytest.mark.parametrize("to", (*FORMATS, FloatType(4, 3)), ids=str)
@both_engines
def test_a_conversion_between_formats_rounds_once(
    of: FloatType, to: FloatType, engine: Engine
) -> None:
    rng = random.Random(f"{of} {to}")
    rows: list[tuple[int, ...]] = [
        (drawn(of, rng),) for _ in range(2000 if engine == "compiled" else 200)
    ]
    # What is nearly half between two numbers of the narrower format.
    rows += [
        (evaluate("convert", (drawn(to, rng),), to, of) ^ rng.choice([0, 1, 2]),) for _ in rows
    ]
    check("convert", of, to, rows, engine)


INTEGERS = [IntType(width, signed) for width in (8, 16, 32, 64) for signed in (True, False)]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("of", [*INTEGERS, IntType(8, False, is_bool=True)], ids=str)
@pytest.mark.parametrize("to", FORMATS, ids=str)
@both_engines
def test_an_integer_becomes_the_nearest_number(of: IntType, to: FloatType, engine: Engine) -> None:
    rng = random.Random(f"{of} {to}")
    rows: list[tuple[int, ...]] = [
        (integers(of, rng),) for _ in range(1000 if engine == "compiled" else 200)
    ]
    check("from_int", of, to, rows, engine)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("to", [*INTEGERS, IntType(8, False, is_bool=True)], ids=str)
@pytest.mark.parametrize("of", FORMATS, ids=str)
@both_engines
def test_a_number_becomes_its_integer_part_within_the_type(
    of: FloatType, to: IntType, engine: Engine
) -> None:
    rng = random.Random(f"{of} {to}")
    rows: list[tuple[int, ...]] = [
        (drawn(of, rng),) for _ in range(500 if engine == "compiled" else 50)
    ]
    ends = (to.minimum - 1, to.minimum, to.maximum, to.maximum + 1)
    near = [
        evaluate("from_int", (end,), IntType(64, end < 0), of)
        for end in ends
        if -(2**63) <= end < 2**64
    ]
    rows += [(max(0, pattern + step) & of.maximum,) for pattern in near for step in (-1, 0, 1)]
    check("to_int", of, to, rows, engine)
    expr = FloatOperation("to_int", (Read(0, of),), to)
    given = {"x0": np.array(rows, stored_dtype(of)).view(element_dtype(of)).reshape(-1)}
    result = run_golden(program(expr, len(rows), [of]), given, engine=engine)
    beyond = [n for n, row in enumerate(rows) if not fits_integer(row[0], of, to)]
    events = [(e.kind, e.count, e.first) for e in result.events]
    assert events == ([("float conversion", len(beyond), (beyond[0],))] if beyond else [])


@both_engines
@pytest.mark.parametrize(
    ("type_", "given", "expected"),
    [
        (FLOAT32, 0.1, np.float32(0.1)),
        (FLOAT32, np.float32(-0.0), np.float32(-0.0)),
        (FLOAT32, np.float64(0.1), np.float32(0.1)),
        (FLOAT32, 16777217, np.float32(16777216)),
        (FLOAT64, 0.1, np.float64(0.1)),
        (FLOAT64, float("-inf"), np.float64("-inf")),
        (FLOAT16, 0.1, np.float16(0.1)),
    ],
)
def test_scalars_and_results_are_numbers(
    engine: Engine, type_: FloatType, given: float, expected: np.generic
) -> None:
    body = {"S0": (access("r"), (), ScalarParameter("a", type_))}
    cell = array("r", (), "local", type_)
    one = scop([cell], [StatementNode("S0")], body, [ScalarArgument("a", type_, HERE)], "r")
    returned = run_golden(one, {"a": np.asarray(given)[()]}, engine=engine).returned
    assert is_same(returned, expected) and type(returned) is type(expected)


def test_patterns_of_values_and_back() -> None:
    for type_ in FORMATS:
        for bits in (
            0,
            type_.sign_bit,
            1,
            type_.infinity - 1,
            type_.infinity,
            type_.nan,
            type_.nan + 1,
        ):
            assert pattern_of(value_of(bits, type_), type_) == bits
    assert pattern_of(1.0, BFLOAT16) == 0x3F80
    assert pattern_of(float("nan"), FLOAT32) == FLOAT32.nan
    # By way of double, it would be halfway, and even.
    assert pattern_of(2**60 + 2**36 + 1, FLOAT32) == (127 + 60) << 23 | 1
    assert type(value_of(5, INT32)) is int and value_of(2**32 - 1, INT32) == -1
    assert pattern_of(-1e-50, FLOAT32) == FLOAT32.sign_bit
    assert pattern_of(1e39, FLOAT32) == FLOAT32.infinity
    assert to_words(np.array([1.0], np.float32)).tolist() == [0x3F800000]


@pytest.mark.long
@pytest.mark.parametrize("type_", [*FORMATS, SMALL[0]], ids=str)
def test_compiled_operations_leave_nothing_undefined(
    type_: FloatType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sanitized = ("-O1", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-fsanitize=undefined")
    monkeypatch.setattr(golden_compiled, "_OPTIONS", sanitized)
    rng = random.Random(str(type_))
    for op in PLAIN:
        rows = [tuple(drawn(type_, rng) for _ in range(ARITY.get(op, 1))) for _ in range(400)]
        check(op, type_, result_type(op, type_), rows, "compiled")
    for integer in INTEGERS:
        numbers: list[tuple[int, ...]] = [(drawn(type_, rng),) for _ in range(200)]
        check("to_int", type_, integer, numbers, "compiled")
        check("from_int", integer, type_, [(integers(integer, rng),) for _ in numbers], "compiled")
    for other in FORMATS:
        check("convert", type_, other, numbers, "compiled")
    assert capfd.readouterr().err == ""


def test_values_are_the_same_by_their_bits() -> None:
    one, other, zero = (value_of(bits, FLOAT32) for bits in (0x7FC00000, 0x7FC00001, 0))
    assert is_same(one, one) and not is_same(one, other)
    assert not is_same(zero, value_of(FLOAT32.sign_bit, FLOAT32))
    assert is_same(3, 3) and not is_same(3, 4) and is_same(None, None)
    assert not is_same(zero, None) and not is_same(None, zero)


def test_a_nan_is_told_by_its_bits_and_no_integer_is_one() -> None:
    words = np.array([0x7F800001, 0x7F800000, 0xFF800001, 1], np.uint32)
    assert is_nan(words.view(np.float32), FLOAT32).tolist() == [True, False, True, False]
    assert not is_nan(words, IntType(32, False)).any()


def test_integers_are_shown_as_they_are() -> None:
    assert (value_text(-5), value_json(-5)) == ("-5", -5)
    shown = element_value(np.int16(-5))
    assert type(shown) is int and shown == -5
