"""A subscript that leaves its array is refused, with the iteration in the program's own terms."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.options import CompileOptions
from rtlgen.poly.accesses import require_in_bounds
from rtlgen.poly.errors import OutOfBounds
from rtlgen.source import SourceFile
from rtlgen.transforms.normalise import normalise
from tests.end_to_end.judge import Compiled, assert_plan_exact
from tests.oracles.scops import random_scops
from tests.poly.enumeration import element, instances
from tests.poly.sources import SMALL, analysed

LEAVING = {
    "up": ("for (int i = 0; i < 8; i++) a[i + 1] = i;", "a[8]", "S0(7)"),
    "down": ("for (int i = 7; i > 0; i -= 3) a[i - 2] = i;", "a[-1]", "S0(1)"),
    "stride": ("for (int i = 1; i < 9; i += 3) a[2 * i] = i;", "a[8]", "S0(4)"),
    "triangle": (
        "for (int i = 0; i < 5; i++) for (int j = 0; j <= i; j++) a[i + j] = i;",
        "a[8]",
        "S0(4,4)",
    ),
    "guarded": ("for (int i = 0; i < 20; i++) if (i < 9) a[i] = i;", "a[8]", "S0(8)"),
    "public kernel": ("for (int i = 0; i < 8; i++) b[i] = a[i - 1] + a[i];", "a[-1]", "S0(0)"),
    "read": ("for (int i = 0; i < 8; i++) a[i] = a[i - 1];", "a[-1]", "S0(0)"),
}


@pytest.mark.parametrize(("body", "touched", "instance"), LEAVING.values(), ids=LEAVING)
def test_the_element_and_the_iteration_are_named(body: str, touched: str, instance: str) -> None:
    with pytest.raises(OutOfBounds) as caught:
        analysed(f"void f(int a[8], int b[8]) {{ {body} }}")
    text = caught.value.diagnostic.render()
    assert f"{touched} is outside of a[8]" in text
    assert re.search(rf"(written|read) by {re.escape(instance)}\n", text)


def test_the_whole_message() -> None:
    text = "void f(int a[4]) {\n  for (int i = 3; i >= 0; i--)\n    a[i + 1] = i;\n}\n"
    with pytest.raises(OutOfBounds) as caught:
        analysed(text)
    sources = {"program.c": SourceFile("program.c", text)}
    assert caught.value.diagnostic.render(sources) == (
        "error[E0201]: a[4] is outside of a[4]\n"
        " --> program.c:3:5\n"
        "  |\n"
        "3 |     a[i + 1] = i;\n"
        "  |     ^^^^^^^^ written by S0(3)\n"
        "1 | void f(int a[4]) {\n"
        "  |            ^ declared here\n"
        "   = note: first in the iteration i = 3\n"
        "   = help: correct the loop bounds, the subscript, or the size of the array"
    )


def test_programs_that_stay_inside_pass() -> None:
    for text in SMALL.values():
        analysed(text)


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(random_scops())
def test_the_verdict_is_that_of_enumeration(scop: Scop) -> None:
    inside = True
    for instance in instances(scop):
        statement = scop.statement(instance.statement)
        for access in (statement.write, *statement.reads):
            _, place = element(scop, instance, access)
            shape = scop.array(access.array).shape
            inside &= all(0 <= x < extent for x, extent in zip(place, shape, strict=True))
    for program in (scop, normalise(scop)):
        if inside:
            require_in_bounds(ScopSets(program))
        else:
            with pytest.raises(OutOfBounds):
                require_in_bounds(ScopSets(program))


NEVER_OUTSIDE = {
    "a size for which the guard always holds": "if (i < 2) a[i] = i >= 2 ? b[i - 2] : 0;",
    "a choice that an if has decided": "if (i < 2) a[i] = i > 1 ? b[i - 2] : 5;",
    "a choice in a choice": "a[i] = i > 1 ? (i > 0 ? b[i - 2] : b[i - 9]) : 1;",
    "both sides": "a[i] = i >= 2 && i < 6 ? b[i - 2] + b[i + 2] : 0;",
    "either side": "a[i] = i < 2 || b[i - 2] > 0;",
    "not a comparison": "a[i] = i ? b[i - 1] : 0;",
    "a remainder": "a[i] = i % 8 ? b[i - 1] : 0;",
    "a negation": "a[i] = !(i > 1) ? 0 : b[i - 2];",
    "data beside it": "a[i] = x > 0 && i > 1 && b[i - 2] > 3;",
    "never, under data": "if (i < 2) a[i] = x > 0 ? (i > 1 ? b[i - 2] : 3) : 4;",
}
OUTSIDE = {
    "one iteration": ("a[i] = i > 0 ? b[i - 2] : 0;", "b[-1]", 1),
    "the other arm": ("a[i] = i < 2 ? 0 : b[i + 1];", "b[8]", 7),
    "behind &&": ("a[i] = i > 0 && b[i - 2] > 3;", "b[-1]", 1),
    "behind ||": ("a[i] = i < 1 || b[i - 2] > 3;", "b[-1]", 1),
    "in a subscript": ("a[i] = i > 0 ? b[b[i - 2] & 7] : 0;", "b[-1]", 1),
    "always, under data": ("if (i < 2) a[i] = x > 0 ? (i > 0 ? b[i - 2] : 3) : 4;", "b[-1]", 1),
}


def choosing(body: str) -> str:
    head = "void f(int a[8], const int b[8], int x)"
    return f"{head} {{ for (int i = 0; i < 8; i++) {{ {body} }} }}"


@pytest.mark.parametrize("body", NEVER_OUTSIDE.values(), ids=NEVER_OUTSIDE)
def test_a_read_that_is_not_made_is_not_judged(body: str) -> None:
    program = parse_text(choosing(body))
    compilation = compile_program(program, CompileOptions())
    assert_plan_exact(Compiled(program.scop, compilation))


@pytest.mark.parametrize(("body", "element", "i"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_read_that_a_choice_makes_is_judged(body: str, element: str, i: int) -> None:
    with pytest.raises(OutOfBounds, match=re.escape(f"{element} is outside of b[8]")) as caught:
        analysed(choosing(body))
    assert caught.value.diagnostic.labels[0].text == f"read by S0({i})"
