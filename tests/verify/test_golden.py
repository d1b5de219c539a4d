"""The golden model runs a Scop as C runs the program, in both of its engines."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    ArithmeticOp,
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    ScalarParameter,
    Select,
    Unary,
)
from rtlgen.ir.scop import ConditionNode, LoopNode, ScalarArgument, Scop, StatementNode
from rtlgen.ir.types import INT32, IntType
from rtlgen.system.tools import MissingToolError
from rtlgen.verify import golden_compiled
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import (
    Engine,
    GoldenResult,
    SubscriptError,
    run_golden,
)
from rtlgen.verify.golden_emit import emit
from rtlgen.verify.golden_ranges import run_bounds
from rtlgen.verify.golden_state import memory_image, scalar_values
from rtlgen.verify.values import Elements
from tests.oracles.scops import HERE, access, affine, array, loop, random_scops, scop

ENGINES: tuple[Engine, Engine] = ("interpreter", "compiled")
both_engines = pytest.mark.parametrize("engine", ENGINES)
INT8, UINT8, UINT32 = IntType(8, True), IntType(8, False), IntType(32, False)


def outcome(program: Scop, seed: int, engine: Engine) -> GoldenResult | str:
    try:
        return run_golden(program, random_inputs(program, seed), engine=engine)
    except SubscriptError as error:
        return error.diagnostic.render()


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=random_scops(), seed=st.integers(0, 3))
def test_both_engines_agree_on_random_programs(program: Scop, seed: int) -> None:
    slow, fast = (outcome(program, seed, engine) for engine in ENGINES)
    if isinstance(slow, str) or isinstance(fast, str):
        event("out of bounds")
        assert slow == fast
        return
    event("events" if slow.events else "no events")
    assert compare_memories(slow.arrays, fast.arrays).exact
    assert (slow.returned, slow.counts, slow.events) == (fast.returned, fast.counts, fast.events)


@pytest.mark.long
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=random_scops(), seed=st.integers(0, 3))
def test_no_run_exceeds_its_bounds(program: Scop, seed: int) -> None:
    result = outcome(program, seed, "interpreter")
    if not isinstance(result, str):
        assert sum(result.counts.values()) <= run_bounds(program).instances


def one_cell(
    expr: Expr, element: IntType, values: dict[str, int], types: dict[str, IntType]
) -> Scop:
    """Return a program that stores one expression of its scalars."""
    scalars = [ScalarArgument(name, types[name], HERE) for name in values]
    body = {"S0": (access("r"), (), expr)}
    return scop([array("r", (), "out", element)], [StatementNode("S0")], body, scalars)


def evaluate(engine: Engine, op: str, a: int, b: int, type_: IntType) -> tuple[int, set[str]]:
    left, right = ScalarParameter("a", type_), ScalarParameter("b", type_)
    result_type = type_ if op in get_args(ArithmeticOp) else INT32
    expr = Binary(op, left, right, result_type)  # type: ignore[arg-type]
    program = one_cell(expr, result_type, {"a": a, "b": b}, {"a": type_, "b": type_})
    result = run_golden(program, {"a": a, "b": b}, engine=engine)
    return int(result.arrays["r"]), {e.kind for e in result.events}


LOW, HIGH = -(2**31), 2**31 - 1


@both_engines
@pytest.mark.parametrize(
    ("op", "a", "b", "type_", "expected", "events"),
    [
        ("add", HIGH, 1, INT32, LOW, set()),
        ("sub", 0, 1, UINT32, 2**32 - 1, set()),
        ("mul", LOW, -1, INT32, LOW, set()),
        ("div", -7, 2, INT32, -3, set()),
        ("rem", -7, 2, INT32, -1, set()),
        ("div", 7, -2, INT32, -3, set()),
        ("rem", 7, -2, INT32, 1, set()),
        ("div", LOW, -1, INT32, LOW, {"division overflow"}),
        ("rem", LOW, -1, INT32, 0, {"division overflow"}),
        ("div", 5, 0, INT32, -1, {"division by zero"}),
        ("rem", 5, 0, INT32, 5, {"division by zero"}),
        ("div", 5, 0, UINT8, 255, {"division by zero"}),
        ("rem", 200, 0, UINT8, 200, {"division by zero"}),
        ("div", 2**32 - 1, 2**32 - 1, UINT32, 1, set()),
        ("shr", -8, 1, INT32, -4, set()),
        ("shr", 2**32 - 8, 1, UINT32, 2**31 - 4, set()),
        ("shl", 1, 31, INT32, LOW, set()),
        ("shl", 1, 33, INT32, 2, {"shift count"}),
        ("shr", -1, -1, INT32, -1, {"shift count"}),
        ("shr", 64, -31, INT32, 32, {"shift count"}),
        ("lt", -1, 1, INT32, 1, set()),
        ("lt", 2**32 - 1, 1, UINT32, 0, set()),
        ("xor", -1, 1, INT8, -2, set()),
    ],
)
def test_operators_wrap_as_c_does(
    engine: Engine, op: str, a: int, b: int, type_: IntType, expected: int, events: set[str]
) -> None:
    assert evaluate(engine, op, a, b, type_) == (expected, events)


@both_engines
@pytest.mark.parametrize(
    ("expr", "element", "expected"),
    [
        (Unary("neg", Constant(LOW, INT32), INT32), INT32, LOW),
        (Unary("not", Constant(5, UINT8), UINT8), UINT8, 250),
        (Unary("lnot", Constant(0, UINT8), INT32), INT32, 1),
        (Cast(Constant(200, UINT8), INT8), INT8, -56),
        (Cast(Constant(-1, INT8), UINT32), UINT32, 2**32 - 1),
        (IndexValue(Affine((), 300), INT8), INT8, 44),
        (Constant(300, INT32), INT8, 44),
    ],
)
def test_conversions_wrap_to_the_type(
    engine: Engine, expr: Expr, element: IntType, expected: int
) -> None:
    result = run_golden(one_cell(expr, element, {}, {}), {}, engine=engine)
    assert int(result.arrays["r"]) == expected


def trace_program(head_start: Affine | int, stop: Affine | int, step: int, scale: int) -> Scop:
    """Return `n = 0; for (i ...) { t[n] = i; n++ }` without the subscript by n: a sum of weights.

    The iterations are folded as r = 10 * r + (i + 9), so that order and values both count.
    """
    fold = Binary(
        "add",
        Binary(
            "mul", Read(0, IntType(64, True)), Constant(10, IntType(64, True)), IntType(64, True)
        ),
        IndexValue(Affine.variable("i") + 9, IntType(64, True)),
        IntType(64, True),
    )
    body = {"S0": (access("r"), (access("r"),), fold)}
    head = loop("i", head_start, stop, step, scale)
    tree = [LoopNode(head, (StatementNode("S0"),))]
    return scop([array("r", (), "inout", IntType(64, True))], tree, body)


@both_engines
@pytest.mark.parametrize(
    ("start", "stop", "step", "scale", "iterations"),
    [
        (0, 4, 1, 1, [0, 1, 2, 3]),
        (0, 7, 3, 1, [0, 3, 6]),
        (5, 0, -2, 1, [5, 3, 1]),
        (3, 3, 1, 1, []),
        (0, 7, 1, 3, [0, 1, 2]),
        (4, -1, -1, 2, [4, 3, 2, 1, 0]),
        (-3, 0, 2, 1, [-3, -1]),
    ],
)
def test_loops_run_as_c_runs_them(
    engine: Engine, start: int, stop: int, step: int, scale: int, iterations: list[int]
) -> None:
    expected = 0
    for i in iterations:
        expected = expected * 10 + i + 9
    program = trace_program(start, stop, step, scale)
    result = run_golden(program, {"r": 0}, engine=engine)
    assert int(result.arrays["r"]) == expected
    assert result.counts == {"S0": len(iterations)}


FURTHEST = (1 << 31) - 1


@both_engines
@pytest.mark.parametrize(
    ("start", "stop", "step", "conditions", "iterations"),
    [
        (0, FURTHEST, 1, ((-1, 3),), [0, 1, 2, 3]),
        (0, FURTHEST, 3, ((-2, 9), (-1, 1 << 20)), [0, 3]),
        (5, -FURTHEST, -2, ((1, 1),), [5, 3, 1, -1]),
        (-2, FURTHEST, 1, ((1, 0), (-1, 2)), [0, 1, 2]),
        (0, FURTHEST, 1, ((-1, -1),), []),
    ],
)
def test_a_loop_ends_where_all_in_it_stands_under_a_condition_that_stays_false(
    engine: Engine,
    start: int,
    stop: int,
    step: int,
    conditions: tuple[tuple[int, int], ...],
    iterations: list[int],
) -> None:
    """Two thousand million iterations that do nothing are not run."""
    program = trace_program(start, stop, step, 1)
    (node,) = program.tree
    assert isinstance(node, LoopNode)
    body = node.body
    for coefficient, constant in reversed(conditions):
        body = (ConditionNode((Affine.variable("i") * coefficient + constant,), body),)
    guarded = replace(program, tree=(replace(node, body=body),))
    result = run_golden(guarded, {"r": 0}, engine=engine)
    expected = 0
    for i in iterations:
        expected = expected * 10 + i + 9
    assert int(result.arrays["r"]) == expected
    assert result.counts == {"S0": len(iterations)}


@both_engines
def test_a_loop_goes_on_for_what_stands_beside_a_condition(engine: Engine) -> None:
    program = first_three("inout")
    (node,) = program.tree
    assert isinstance(node, LoopNode) and not node.ends
    result = run_golden(program, {"t": np.array(7, np.int32)}, engine=engine)
    assert result.counts == {"S0": 3, "S1": 5}


def first_three(role_of_t: str) -> Scop:
    """Return `for i<5 { if (i >= 2) t = i; A[i] = t; }`."""
    arrays = [array("A", (5,), "out"), array("t", (), role_of_t)]  # type: ignore[arg-type]
    bodies = {
        "S0": (access("t"), (), IndexValue(Affine.variable("i"), INT32)),
        "S1": (access("A", "i"), (access("t"),), Read(0, INT32)),
    }
    guarded = ConditionNode((Affine.variable("i") - 2,), (StatementNode("S0"),))
    tree = [LoopNode(loop("i", 0, 5), (guarded, StatementNode("S1")))]
    return scop(arrays, tree, bodies, returned="t")  # type: ignore[arg-type]


@both_engines
@pytest.mark.parametrize("value", [-(1 << 63), -1, (1 << 63) - 1])
def test_a_scalar_of_64_bits_is_taken_whole(value: int, engine: Engine) -> None:
    program = parse_text("void f(long p, long a[2]) { for (int i = 0; i < 2; i++) a[i] = p; }").scop
    after = run_golden(program, {"p": value, "a": np.zeros(2, np.int64)}, engine=engine)
    assert np.asarray(after.arrays["a"]).tolist() == [value, value]


@both_engines
def test_a_local_read_before_its_first_write_is_zero_and_noted(engine: Engine) -> None:
    result = run_golden(first_three("local"), {}, engine=engine)
    assert result.arrays["A"].tolist() == [0, 0, 2, 3, 4]
    assert list(result.arrays) == ["A"]
    assert result.returned == 4
    assert result.counts == {"S0": 3, "S1": 5}
    (found,) = result.events
    assert (found.kind, found.statement, found.count, found.first) == (
        "uninitialised read",
        "S1",
        2,
        (0,),
    )


@both_engines
def test_an_element_that_a_guard_keeps_is_not_read(engine: Engine) -> None:
    """It was noted as read where the guard does not hold, and as written from then on."""
    program = parse_text(
        """void f(const int x[4], int y[4])
        {
          int t[4];
          for (int i = 0; i < 4; i++)
            if (x[i] > 0)
              t[i] = x[i];
          for (int i = 0; i < 4; i++)
            if (x[i] > -5)
              y[i] = t[i];
        }"""
    ).scop
    y = np.full(4, 9, np.int32)
    for data, expected, count in (
        ([1, 2, 3, 4], [1, 2, 3, 4], 0),
        ([7, -5, -1, 8], [7, 9, 0, 8], 1),
    ):
        after = run_golden(program, {"x": np.array(data, np.int32), "y": y}, engine=engine)
        assert after.arrays["y"].tolist() == expected
        assert sum(event.count for event in after.events) == count
        assert {event.kind for event in after.events} <= {"uninitialised read"}


def test_an_event_becomes_a_warning_with_its_first_instance() -> None:
    program = first_three("local")
    (found,) = run_golden(program, {}).events
    assert found.diagnostic(program).render() == (
        "warning[W0604]: a local variable is read before it is written\n"
        " --> test.c:1:1\n"
        "  = 2 times, first in S1(0)\n"
        "   = note: C leaves its value open; the golden model reads 0, "
        "the circuit may read anything"
    )


@both_engines
def test_only_the_taken_arm_of_a_select_is_read(engine: Engine) -> None:
    last = Binary("lt", IndexValue(Affine.variable("i"), INT32), Constant(3, INT32), INT32)
    body = {
        "S0": (
            access("A", "i"),
            (access("A", Affine.variable("i") + 1),),
            Select(last, Read(0, INT32), Constant(-1, INT32), INT32),
        )
    }
    program = scop([array("A", (4,))], [LoopNode(loop("i", 0, 4), (StatementNode("S0"),))], body)
    given_a = np.array([1, 2, 3, 4], dtype=np.int32)
    result = run_golden(program, {"A": given_a}, engine=engine)
    assert result.arrays["A"].tolist() == [2, 3, 4, -1]
    assert given_a.tolist() == [1, 2, 3, 4]


@both_engines
@pytest.mark.parametrize(
    ("write", "read", "message", "place"),
    [
        (0, 1, "A[4][2] is outside A[4][3]", "read by S0(3,2)"),
        (1, 0, "A[4][2] is outside A[4][3]", "written by S0(3,2)"),
        (0, -1, "A[-1][2] is outside A[4][3]", "read by S0(0,2)"),
    ],
)
def test_leaving_an_array_names_the_instance(
    engine: Engine, write: int, read: int, message: str, place: str
) -> None:
    row = Affine.variable("i")
    body = {"S0": (access("A", row + write, "j"), (access("A", row + read, "j"),), Read(0, INT32))}
    inner = LoopNode(loop("j", 2, 3), (StatementNode("S0"),))
    program = scop([array("A", (4, 3))], [LoopNode(loop("i", 0, 4), (inner,))], body)
    with pytest.raises(SubscriptError) as caught:
        run_golden(program, random_inputs(program, 0), engine=engine)
    assert caught.value.diagnostic.message == message
    assert caught.value.diagnostic.labels[0].text == place


@both_engines
@pytest.mark.parametrize(
    ("subscript", "message"),
    [("x[i]", "t[9][1] is outside t[4][3]"), ("x[i] - 10", "t[-1][1] is outside t[4][3]")],
)
def test_a_looked_up_element_outside_of_its_array_is_named(
    engine: Engine, subscript: str, message: str
) -> None:
    program = parse_text(
        f"""void f(const int t[4][3], const int x[5], int y[5]) {{
          for (int i = 0; i < 5; i++) if (x[i] > 8) y[i] = t[{subscript}][i - 2];
        }}"""
    ).scop
    table = np.arange(12, dtype=np.int32).reshape(4, 3)
    x = np.array([1, 2, 3, 9, 4], np.int32)
    inputs = {"t": table, "x": x, "y": np.zeros(5, np.int32)}
    with pytest.raises(SubscriptError) as caught:
        run_golden(program, inputs, engine=engine)
    assert caught.value.diagnostic.message == message
    assert caught.value.diagnostic.labels[0].text == "read by S0(3)"
    x[3] = 0
    untouched = run_golden(program, inputs, engine=engine)
    assert not untouched.arrays["y"].any()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"n": 1}, "array A is missing from the inputs"),
        (
            {"A": np.zeros(3, np.int32), "n": 1},
            "array A is int32 of shape (3,), not int32 of shape (4,)",
        ),
        (
            {"A": np.zeros(4, np.int64), "n": 1},
            "array A is int64 of shape (4,), not int32 of shape (4,)",
        ),
        ({"A": 3, "n": 1}, "array A is int64 of shape (), not int32 of shape (4,)"),
        ({"A": np.zeros(4, np.int32)}, "scalar n is missing from the inputs"),
        ({"A": np.zeros(4, np.int32), "n": 256}, "scalar n is 256, out of the range of uint8"),
        (
            {"A": np.zeros(4, np.int32), "n": np.zeros(2, np.uint8)},
            "scalar n is uint8 of shape (2,), not one integer",
        ),
        ({"A": np.zeros(4, np.int32), "n": 1, "m": 2}, "f has no array or scalar m"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    inputs: dict[str, Elements | int],
    message: str,
) -> None:
    expr = Binary("add", Read(0, INT32), Cast(ScalarParameter("n", UINT8), INT32), INT32)
    body = {"S0": (access("A", 0), (access("A", 1),), expr)}
    scalars = [ScalarArgument("n", UINT8, HERE)]
    program = scop([array("A", (4,))], [StatementNode("S0")], body, scalars)
    with pytest.raises(RtlgenError) as caught:
        run_golden(program, inputs)
    assert caught.value.diagnostic.message == message


def test_an_array_that_is_only_written_may_be_left_out() -> None:
    program = first_three("local")
    filled = np.full(5, 9, np.int32)
    assert run_golden(program, {"A": filled}).arrays["A"].tolist() == [0, 0, 2, 3, 4]


def counting_program(trips: int) -> Scop:
    one = Binary("add", Read(0, INT32), Constant(1, INT32), INT32)
    body = {"S0": (access("r"), (access("r"),), one)}
    tree = [LoopNode(loop("i", 0, trips), (StatementNode("S0"),))]
    return scop([array("r", ())], tree, body)


def test_a_long_run_is_compiled_by_itself() -> None:
    result = run_golden(counting_program(10**7), {"r": 0})
    assert int(result.arrays["r"]) == 10**7
    assert result.counts == {"S0": 10**7}


def test_a_run_that_is_repeated_is_as_the_first_one() -> None:
    text = """
        short f(char x[3], double y, int n, long long z[2]) {
          short t[4]; static int calls; calls++;
          for (int i = 0; i < 3; i++) { t[i + 1] = x[i] * n; x[i] += t[i]; z[i & 1] -= calls; }
          return t[(x[0] * n) & 7] + (short)y;
        }"""
    program = parse_text(text).scop
    given = random_inputs(program, 3)
    memory, scalars = memory_image(program, given), scalar_values(program, given)
    before = {name: image.copy() for name, image in memory.items()}
    library = golden_compiled.compile_scop(program)
    repeated = golden_compiled.RepeatedProgram(program, memory, scalars, library)
    endings = set()
    for n in (2, 7, -1, 0, 7):
        # What n makes of the first element decides whether a subscript leaves the array.
        changed = {**scalars, "n": n}
        fresh = {name: image.copy() for name, image in before.items()}
        outcomes = []
        for run in (
            golden_compiled.CompiledProgram(program, fresh, changed, library).run,
            partial(repeated.run, changed),
        ):
            try:
                run()
                outcomes.append("ends")
            except SubscriptError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        endings.add(outcomes[0])
        for name, image in fresh.items():
            np.testing.assert_array_equal(repeated.memory[name], image)
            np.testing.assert_array_equal(memory[name], before[name])
    assert len(endings) > 1


def test_without_a_compiler_a_run_is_interpreted_unless_it_must_not_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    golden_compiled._compiled.cache_clear()
    program = counting_program(20_000)
    assert int(run_golden(program, {"r": 0}).arrays["r"]) == 20_000
    with pytest.raises(MissingToolError):
        run_golden(program, {"r": 0}, engine="compiled")


def test_iterators_beyond_64_bits_are_left_to_the_interpreter() -> None:
    huge = 1 << 70
    body = {"S0": (access("r"), (), IndexValue(Affine.variable("i"), INT32))}
    tree = [LoopNode(loop("i", huge, affine(huge + 3)), (StatementNode("S0"),))]
    program = scop([array("r", (), "out")], tree, body)
    assert int(run_golden(program, {}).arrays["r"]) == 2
    with pytest.raises(ValueError, match="64 bits"):
        run_golden(program, {}, engine="compiled")


def test_a_wrong_engine_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: the compiled engine subtracts where it should add."""
    program = counting_program(3)
    good = run_golden(program, {"r": 5}, engine="interpreter")
    emitted = emit(program)
    assert " + UINT64_C(0x1)" in emitted
    broken = emitted.replace(" + UINT64_C(0x1)", " - UINT64_C(0x1)")
    monkeypatch.setattr(golden_compiled, "emit", lambda _: broken)
    bad = run_golden(program, {"r": 5}, engine="compiled")
    assert not compare_memories(good.arrays, bad.arrays).exact


SANITIZED = ("-O1", "-shared", "-fPIC", "-w", "-fsanitize=undefined")


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=random_scops(), seed=st.integers(0, 3))
def test_the_emitted_c_leaves_nothing_undefined(
    program: Scop, seed: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(golden_compiled, "_OPTIONS", SANITIZED)
    golden_compiled._compiled.cache_clear()
    outcome(program, seed, "compiled")
    assert capfd.readouterr().err == ""


def test_the_sanitizer_would_speak_up(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Sabotage: a signed addition that overflows."""
    program = counting_program(1)
    overflow = "a0[0] = (uint32_t)(INT32_MAX + (int32_t)counts[0] + 1);\n  return 0;"
    broken = emit(program).replace("return 0;", overflow)
    monkeypatch.setattr(golden_compiled, "emit", lambda _: broken)
    monkeypatch.setattr(golden_compiled, "_OPTIONS", SANITIZED)
    run_golden(program, {"r": 0}, engine="compiled")
    assert "runtime error: signed integer overflow" in capfd.readouterr().err
