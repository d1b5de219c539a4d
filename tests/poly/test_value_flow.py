"""Value ranges hold every value that execution computes, and no more than they need to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from rtlgen.ir.expr import Binary, Read
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.types import INT32, IntType
from rtlgen.ir.value_ranges import Range
from rtlgen.poly.dependences import dataflow
from rtlgen.poly.value_flow import (
    NARROWING_ROUNDS,
    PATIENCE_ROUNDS,
    ValueFlow,
    _elements,
    _widened,
    canonical,
)
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden_interpreter import Interpreter
from rtlgen.verify.golden_state import memory_image, scalar_values
from tests.poly.sources import analysed, points_of

WHOLE = (INT32.minimum, INT32.maximum)
RANGES: dict[str, tuple[str, list[Range]]] = {
    "iterators": (
        """int t[8]; for (int i = 0; i < 8; i++) t[i] = 2 * i - 3;
        for (int i = 0; i < 8; i++) b[i] = t[i] + 1;""",
        [(-3, 11), (-2, 12)],
    ),
    "two writers": (
        """int t[8]; for (int i = 0; i < 4; i++) t[i] = -i;
        for (int i = 4; i < 8; i++) t[i] = 3 * i; for (int i = 0; i < 8; i++) b[i] = t[i];""",
        [(-3, 0), (12, 21), (-3, 21)],
    ),
    "a counter up": (
        """int c = 0; for (int i = 0; i < 200; i++) { c = c < 100 ? c + (u[i & 7] & 1) : 0; }
        b[0] = c;""",
        [(0, 0), (0, 100), (0, 100)],
    ),
    "a counter down": (
        """int c = 5; for (int i = 0; i < 200; i++) { c = c > -100 ? c - (u[i & 7] & 1) : 5; }
        b[0] = c;""",
        [(5, 5), (-100, 5), (-100, 5)],
    ),
    "what a later statement writes": (
        "int s; for (int i = 0; i < 8; i++) { if (i > 0) b[i] = s; s = n[i] + 1; }",
        [(-127, 128), (-127, 128)],
    ),
    "a sum without end": (
        "int s = 0; for (int i = 0; i < 8; i++) { s += b[i] & 15; } b[0] = s;",
        [(0, 0), WHOLE, WHOLE],
    ),
    "what two iterators tell together": (
        "for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) b[i] = i - j;",
        [(0, 7)],
    ),
    "what comes from outside": (
        "for (int i = 0; i < 8; i++) b[i] = n[i] + u[i];",
        [(-128, 127 + 255)],
    ),
    "a table": (
        "for (int i = 0; i < 8; i++) b[i] = t4[b[i] & 3];",
        [(-7, 12)],
    ),
    "what is written before it is read": (
        """for (int i = 0; i < 8; i++) n[i] = i; for (int i = 0; i < 8; i++) b[i] = n[i];""",
        [(0, 7), (0, 7)],
    ),
    "what is written in part": (
        """for (int i = 0; i < 7; i++) n[i] = i; for (int i = 0; i < 8; i++) b[i] = n[i];""",
        [(0, 6), (-128, 127)],
    ),
    "a lookup in what the host gives": (
        """for (int i = 0; i < 8; i++) n[i] = i; for (int i = 0; i < 8; i++) b[i] = n[b[i] & 7];""",
        [(0, 7), (-128, 127)],
    ),
    "a lookup in a local array": (
        """int m[8]; for (int i = 0; i < 8; i++) m[i] = i - 2;
        for (int i = 0; i < 8; i++) b[i] = m[b[i] & 7];""",
        [(-2, 5), (-2, 5)],
    ),
}


def program(body: str) -> str:
    return (
        "static const int t4[4] = {3, -7, 12, 5};\n"
        f"void f(int b[8], signed char n[8], unsigned char u[8]) {{ {body} }}"
    )


def executed_ranges(scop: Scop, seed: int) -> dict[str, Range]:
    """Return the smallest and largest value that every statement computes in a run."""
    inputs = random_inputs(scop, seed)
    interpreter = Interpreter(scop, memory_image(scop, inputs), scalar_values(scop, inputs))
    found: dict[str, Range] = {}
    value = interpreter._value

    def watched(expr, statement):  # type: ignore[no-untyped-def]
        result = value(expr, statement)
        if expr is statement.expr:
            low, high = found.get(statement.name, (result, result))
            found[statement.name] = min(low, result), max(high, result)
        return result

    interpreter._value = watched  # type: ignore[method-assign]
    interpreter.run()
    return found


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_what_can_be_known(name: str) -> None:
    text, expected = RANGES[name]
    analysis = analysed(program(text))
    values = ValueFlow(analysis.sets, dataflow(analysis.sets))
    found = {s.name: values.ranges(s).range(canonical(s)[0]) for s in analysis.scop.statements}
    assert list(found.values()) == expected
    for seed in range(2):
        for statement, (low, high) in executed_ranges(analysis.program.scop, seed).items():
            assert found[statement][0] <= low and high <= found[statement][1]


def test_the_box_of_a_statement_is_that_of_its_instances() -> None:
    analysis = analysed(
        program("for (int i = 2; i < 5; i++) for (int j = i; j < 7; j++) b[j] = i;")
    )
    values = ValueFlow(analysis.sets, dataflow(analysis.sets))
    (statement,) = analysis.scop.statements
    columns = zip(*points_of(analysis.sets.domains[statement.name]), strict=True)
    expected = {n: (min(c), max(c)) for n, c in zip(statement.iterators, columns, strict=True)}
    assert dict(values.box(statement)) == expected
    assert [high - low for low, high in expected.values()] == [2, 4]


@pytest.mark.parametrize(
    ("known", "found", "wide"),
    [
        (None, (3, 5), (0, 7)),
        (None, (-3, 4), (-4, 7)),
        ((0, 5), (0, 9), (0, 15)),
        ((0, 5), (0, 5), (0, 5)),
        ((0, 5), (-1, 5), (-2, 5)),
        ((2, 5), (0, 5), (0, 5)),
        ((2, 5), (1, 5), (0, 5)),
        ((-9, -5), (-9, 0), (-9, 0)),
        ((-9, -5), (-9, -3), (-9, 0)),
        ((-9, 0), (-9, 1), (-9, 1)),
        ((-50, 50), (-100, 100), (-100, 90)),
    ],
)
def test_what_still_grows_grows_to_a_power_of_two(
    known: Range | None, found: Range, wide: Range
) -> None:
    assert _widened(known, found, (-100, 90)) == wide


@pytest.mark.parametrize(
    ("step", "value"),
    [("c < 1000000 ? c + 1 : c - 1", 8), ("c > -1000000 ? c - 1 : c + 1", -8)],
)
def test_what_has_grown_too_far_does_not_come_back_step_by_step(
    monkeypatch: pytest.MonkeyPatch, step: str, value: int
) -> None:
    analysis = analysed(program(f"int c = 0; for (int i = 0; i < 8; i++) c = {step}; b[0] = c;"))
    asked: Counter[str] = Counter()
    result = ValueFlow._result

    def counted(self: ValueFlow, statement: Statement) -> Range | None:
        asked[statement.name] += 1
        return result(self, statement)

    monkeypatch.setattr(ValueFlow, "_result", counted)
    values = ValueFlow(analysis.sets, dataflow(analysis.sets))
    last = analysis.scop.statements[-1]
    low, high = values.ranges(last).range(canonical(last)[0])
    assert WHOLE[0] < low <= value <= high < WHOLE[1]
    # A power of two at a time, up to the 31 that there are.
    assert max(asked.values()) <= PATIENCE_ROUNDS + 31 + NARROWING_ROUNDS


LOOPS: dict[str, Range] = {"i": (0, 7), "j": (0, 7)}


@pytest.mark.parametrize(
    ("subscript", "box", "expected"),
    [
        ("i", {"i": (2, 4)}, [2, 3, 4]),
        ("i", {"i": (5, 5)}, [5]),
        ("2 * i + 1", {"i": (1, 3)}, [3, 5, 7]),
        # Every other one, from both; every fourth one, as j stays.
        ("4 * i + 6 * j", {"i": (0, 1), "j": (0, 1)}, [0, 2, 4, 6, 8, 10]),
        ("4 * i + 6 * j", {"i": (0, 1), "j": (1, 1)}, [6, 10]),
        ("4 * i + 6 * j", {"i": (0, 0), "j": (0, 1)}, [0, 6]),
        # A box may be larger than the iterations, whose accesses are all inside.
        ("i - 3", {"i": (0, 5)}, [0, 1, 2]),
        ("i - 1", {"i": (0, 4)}, [0, 1, 2, 3]),
        ("3 * i - 4", {"i": (0, 3)}, [2, 5]),
        ("i - 2", {"i": (2, 4)}, [0, 1, 2]),
        ("i + 9", {"i": (0, 7)}, [9, 10, 11]),
        ("i + 2", {"i": (20, 25)}, list(range(12))),
        ("(b[i] & 3) + 5", {"i": (0, 7)}, [5, 6, 7, 8]),
        ("(b[i] & 3) + j", {"i": (0, 7), "j": (1, 2)}, list(range(11))),
    ],
)
def test_an_access_may_touch_no_more_of_a_table_than_its_box_tells(
    subscript: str, box: Mapping[str, Range], expected: list[int]
) -> None:
    numbers = ", ".join(map(str, range(12)))
    analysis = analysed(
        f"static const int t[12] = {{{numbers}}};\n"
        "void f(int b[8]) { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++)\n"
        f"  if ({subscript} >= 0 && {subscript} < 12) b[i] = t[{subscript}]; }}"
    )
    scop = analysis.program.scop
    (access,) = (read for s in scop.statements for read in s.reads if read.array == "t")
    touched = _elements(scop.array("t"), access, LOOPS | dict(box))
    assert touched.tolist() == expected


def test_equal_reads_are_one() -> None:
    analysis = analysed(
        program("for (int i = 1; i < 8; i++) b[i] = b[i] * b[i] + b[i - 1] + b[i];")
    )
    expr, numbers = canonical(analysis.scop.statements[0])
    assert dict(numbers) == {0: 0, 1: 0, 2: 2, 3: 0}
    assert isinstance(expr, Binary) and isinstance(expr.right, Read)
    assert (expr.right.index, expr.right.type) == (0, IntType(32, True))
