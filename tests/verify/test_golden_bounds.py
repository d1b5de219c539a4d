"""Where the golden model's own limits begin and end: engines, ranges, inputs, events."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.expr import Binary, Cast, Constant, IndexValue, Read, ScalarParameter
from rtlgen.ir.scop import ConditionNode, LoopNode, ScalarArgument, Scop, StatementNode
from rtlgen.ir.types import INT32, IntType
from rtlgen.verify import golden
from rtlgen.verify.golden import Engine, run_golden
from rtlgen.verify.golden_ranges import RunBounds, run_bounds
from rtlgen.verify.values import element_dtype
from tests.oracles.scops import HERE, access, array, loop, scop

ROW, COLUMN = Affine.variable("i"), Affine.variable("j")
UINT8 = IntType(8, False)


def one_loop(start: int, stop: int, step: int = 1, scale: int = 1) -> Scop:
    body = {"S0": (access("r"), (), Constant(0, INT32))}
    head = loop("i", start, stop, step, scale)
    return scop([array("r", (), "out")], [LoopNode(head, (StatementNode("S0"),))], body)


@pytest.mark.parametrize(
    ("instances", "magnitude", "engine", "chosen"),
    [
        (3_999, 0, "auto", "interpreter"),
        (4_000, 0, "auto", "compiled"),
        (4_000, (1 << 62) - 1, "auto", "compiled"),
        (4_000, 1 << 62, "auto", "interpreter"),
        (1, (1 << 62) - 1, "compiled", "compiled"),
        (1, 1 << 62, "compiled", None),
        (10_000, 0, "interpreter", "interpreter"),
    ],
)
def test_long_runs_are_compiled_where_64_bits_hold_them(
    instances: int,
    magnitude: int,
    engine: Engine,
    chosen: Engine | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(golden, "run_bounds", lambda _: RunBounds(instances, magnitude))
    program = one_loop(0, 1)
    if chosen is None:
        with pytest.raises(ValueError, match="64 bits"):
            golden._choose(program, engine)
    else:
        assert golden._choose(program, engine) == chosen


@pytest.mark.parametrize(
    ("program", "bounds"),
    [
        # The value that fails the test is computed too: 10, and scaled 3 * 4.
        (one_loop(0, 10), (10, 10)),
        (one_loop(0, 10, 3), (4, 12)),
        (one_loop(0, 10, 1, 3), (4, 12)),
        (one_loop(0, 9, 1, 3), (3, 9)),
        (one_loop(5, 0, -1), (5, 6)),
        (one_loop(5, -1, -1), (6, 6)),
        (one_loop(-7, 0), (7, 8)),
        (one_loop(9, 4, -1, 2), (7, 20)),
        (one_loop(4, 4), (0, 5)),
        (one_loop(5, 4), (0, 6)),
        (one_loop(4, 5), (1, 5)),
        (one_loop(0, 1, 100), (1, 100)),
    ],
)
def test_a_loop_has_its_trips_and_its_largest_value(program: Scop, bounds: tuple[int, int]) -> None:
    assert run_bounds(program) == RunBounds(*bounds)


def nested(inner: tuple[StatementNode | ConditionNode, ...], subscript: Affine) -> Scop:
    body = {"S0": (access("a", subscript), (), IndexValue(ROW * 3 - COLUMN, INT32))}
    tree = [LoopNode(loop("i", 2, 5), (LoopNode(loop("j", ROW, 8), inner),))]
    return scop([array("a", (1000,), "out")], tree, body)


def test_bounds_of_nests_hold_for_their_boxes_and_all_that_is_computed_in_them() -> None:
    # i = 2..4, j = 2..7 in the box.
    statement = (StatementNode("S0"),)
    assert run_bounds(nested(statement, ROW)) == RunBounds(18, 3 * 4 + 7)
    assert run_bounds(nested(statement, ROW * 10 + 1)) == RunBounds(18, 41)
    assert run_bounds(nested(statement, ROW * -10)) == RunBounds(18, 40)
    guard = ConditionNode((ROW * 50 - 300,), statement)
    assert run_bounds(nested((guard,), ROW)) == RunBounds(18, 500)
    modulus = ConditionNode((Congruence(COLUMN * 11 + 1, 3),), statement)
    assert run_bounds(nested((modulus,), ROW)) == RunBounds(18, 78)
    twice = (StatementNode("S0"), StatementNode("S0"))
    assert run_bounds(nested(twice, ROW)) == RunBounds(36, 19)
    body = {"S0": (access("r"), (access("a", COLUMN * 60),), Read(0, INT32))}
    tree = [LoopNode(loop("j", 0, 4), (StatementNode("S0"),))]
    reading = scop([array("a", (1000,)), array("r", (), "out")], tree, body)
    assert run_bounds(reading) == RunBounds(4, 180)


def test_what_never_runs_computes_nothing() -> None:
    body = {"S0": (access("a", ROW * 100), (), Constant(0, INT32))}
    tree = [LoopNode(loop("i", 4, 4), (StatementNode("S0"),))]
    assert run_bounds(scop([array("a", (1000,), "out")], tree, body)) == RunBounds(0, 5)
    single = {"S0": (access("r"), (), Constant(9, INT32))}
    assert run_bounds(scop([array("r", (), "out")], [StatementNode("S0")], single)) == RunBounds(
        1, 0
    )


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_a_condition_with_a_modulus_holds_where_its_remainder_is_none(engine: Engine) -> None:
    guard = ConditionNode((Congruence(COLUMN * 2 - 7, 3),), (StatementNode("S0"),))
    body = {"S0": (access("a", COLUMN), (), IndexValue(COLUMN + 1, INT32))}
    program = scop([array("a", (9,), "out")], [LoopNode(loop("j", 0, 9), (guard,))], body)
    found = run_golden(program, {"a": np.zeros(9, np.int32)}, engine=engine)
    # 2 j - 7 is -3, 3 and 9: C's remainder of a negative number counts, too.
    assert found.arrays["a"].tolist() == [0, 0, 3, 0, 0, 6, 0, 0, 9]


@pytest.mark.parametrize(("value", "is_taken"), [(0, True), (255, True), (-1, False), (256, False)])
def test_a_scalar_has_the_values_of_its_type(value: int, is_taken: bool) -> None:
    body = {"S0": (access("r"), (), Cast(ScalarParameter("n", UINT8), INT32))}
    scalars = [ScalarArgument("n", UINT8, HERE)]
    program = scop([array("r", (), "out")], [StatementNode("S0")], body, scalars)
    if is_taken:
        assert int(run_golden(program, {"n": value}).arrays["r"]) == value
    else:
        with pytest.raises(RtlgenError, match="out of the range"):
            run_golden(program, {"n": value})


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_an_event_is_told_with_the_number_of_times_and_the_first_instance(
    engine: Engine,
) -> None:
    program = parse_text(
        "void f(int a[4], int b[4]) { for (int i = 0; i < 4; i++) b[i] = a[i] / (i - 2);"
        " for (int i = 0; i < 4; i++) b[i] += 5 / a[i]; }"
    ).scop
    a = np.array([3, 0, 1, 0], np.int32)
    result = run_golden(program, {"a": a, "b": np.zeros(4, np.int32)}, engine=engine)
    assert result.arrays["b"].tolist() == [-1 + 1, 0 - 1, -1 + 5, 0 - 1]
    texts = [event.diagnostic(program).render().splitlines()[2] for event in result.events]
    assert texts == ["  = once, first in S0(2)", "  = 2 times, first in S1(1)"]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize(
    ("subscript", "failing"),
    [("[i][3]", None), ("[i][4]", "S0(0)"), ("[i + 1][3]", "S0(2)"), ("[i - 1][3]", "S0(0)")],
)
def test_the_first_element_behind_an_array_is_outside(
    engine: Engine, subscript: str, failing: str | None
) -> None:
    program = parse_text(
        f"void f(int a[3][4], int b[3]) {{ for (int i = 0; i < 3; i++) b[i] = a{subscript}; }}"
    ).scop
    inputs = {"a": np.arange(12, dtype=np.int32).reshape(3, 4), "b": np.zeros(3, np.int32)}
    if failing is None:
        assert run_golden(program, inputs, engine=engine).arrays["b"].tolist() == [3, 7, 11]
        return
    with pytest.raises(golden.SubscriptError) as caught:
        run_golden(program, inputs, engine=engine)
    assert caught.value.exit_code == 1
    assert caught.value.diagnostic.labels[0].text == f"read by {failing}"
    assert (
        caught.value.diagnostic.help == "correct the bounds of the loops, or the shape of the array"
    )


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_a_subscript_that_is_looked_up_has_to_stay_inside(engine: Engine) -> None:
    program = parse_text(
        "void f(const int at[2], int b[2])"
        " { const int t[2] = {7, 9}; for (int i = 0; i < 2; i++) b[i] = t[at[i]]; }"
    ).scop
    b = np.zeros(2, np.int32)
    inside = run_golden(program, {"at": np.array([1, 0], np.int32), "b": b}, engine=engine)
    assert inside.arrays["b"].tolist() == [9, 7]
    with pytest.raises(golden.SubscriptError) as caught:
        run_golden(program, {"at": np.array([0, 2], np.int32), "b": b}, engine=engine)
    assert caught.value.diagnostic.help == "keep the value of the subscript inside the array"


COMPARED = {
    "lt": int.__lt__,
    "le": int.__le__,
    "gt": int.__gt__,
    "ge": int.__ge__,
    "eq": int.__eq__,
    "ne": int.__ne__,
}
COMPUTED = {
    "add": int.__add__,
    "sub": int.__sub__,
    "mul": int.__mul__,
    "and": int.__and__,
    "or": int.__or__,
    "xor": int.__xor__,
}


def divided(a: int, b: int) -> tuple[int, int]:
    """Return quotient, towards zero, and remainder; by 0, -1 and the dividend."""
    if b == 0:
        return -1, a
    quotient = abs(a) // abs(b)
    quotient = quotient if (a < 0) == (b < 0) else -quotient
    return quotient, a - quotient * b


def expected(op: str, a: int, b: int, type_: IntType) -> int:
    if op in COMPARED:
        return int(COMPARED[op](a, b))
    if op in COMPUTED:
        return type_.wrap(COMPUTED[op](a, b))
    if op in ("shl", "shr"):
        count = b % type_.width_bits
        return type_.wrap(a << count if op == "shl" else a >> count)
    return type_.wrap(divided(a, b)[op == "rem"])


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("type_", [IntType(8, True), UINT8, IntType(64, True), IntType(64, False)])
def test_operators_agree_with_arithmetic_on_all_pairs_of_corner_values(
    engine: Engine, type_: IntType
) -> None:
    low, high = type_.minimum, type_.maximum
    corners = (low, low + 1, high, high - 1, type_.width_bits)
    values = sorted({*corners, *(v for v in (-1, 0, 1, 2, 7) if v >= low)})
    count = len(values)
    operations = [*COMPARED, *COMPUTED, "shl", "shr", "div", "rem"]
    body = {
        f"S{n}": (
            access(f"r{n}", "i", "j"),
            (access("x", "i"), access("x", "j")),
            Binary(
                op,  # type: ignore[arg-type]
                Read(0, type_),
                Read(1, type_),
                INT32 if op in COMPARED else type_,
            ),
        )
        for n, op in enumerate(operations)
    }
    inner = LoopNode(loop("j", 0, count), tuple(map(StatementNode, body)))
    results = [
        array(f"r{n}", (count, count), "out", INT32 if op in COMPARED else type_)
        for n, op in enumerate(operations)
    ]
    program = scop(
        [array("x", (count,), "in", type_), *results],
        [LoopNode(loop("i", 0, count), (inner,))],
        body,
    )
    x = np.array(values, dtype=element_dtype(type_))
    result = run_golden(program, {"x": x}, engine=engine)
    for n, op in enumerate(operations):
        pairs = [[expected(op, a, b, type_) for b in values] for a in values]
        assert result.arrays[f"r{n}"].tolist() == pairs, op
    counts = {(event.kind, event.statement): event.count for event in result.events}
    shifts = count * sum(not 0 <= b < type_.width_bits for b in values)
    assert counts == {
        ("shift count", "S12"): shifts,
        ("shift count", "S13"): shifts,
        ("division by zero", "S14"): count,
        ("division by zero", "S15"): count,
        **({("division overflow", s): 1 for s in ("S14", "S15")} if type_.signed else {}),
    }
