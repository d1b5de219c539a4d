"""A call that changes something is made before the expression in which it stands, or refused."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HELPERS = """
int g;
static int tick(void) { static int n; n += 3; return n; }
static int next(int *s) { return *s = *s * 5 + 1; }
static signed char narrow(int x, signed char *c) { return *c += x; }
static int twice(int x) { return x *= 2; }
static int take(int *a, int i) { int v = a[i]; a[i] = 0; return v; }
static int bump(int x) { g += x; return g; }
static int first(const int *a) { return a[0]; }
"""
HEAD = "int f(int a[8], int b[8], signed char c[8], int x)"

MADE_FIRST = {
    "in a sum": "for (int i = 0; i < 8; i++) b[i] = next(&x) >> 3;",
    "in a step": "for (int i = 0; i < 8; i++) b[i] += next(&x) & 15;",
    "in a question": "for (int i = 0; i < 8; i++) if ((next(&x) & 3) == 1) b[i] = x;",
    "in a question behind another one": (
        "for (int i = 0; i < 8; i++) if (a[i] > 0) b[i] = 1; else if (next(&x) % 3 == 1) b[i] = x;"
    ),
    "in what is returned": "return next(&x) * 3 + b[1];",
    "in a value": "for (int i = 0; i < 8; i++) { short v = next(&x) / 3; b[i] = v; }",
    "in the first of two questions": "if (next(&x) > 0 && b[1] > 0) b[0] = x;",
    "in an argument": "for (int i = 0; i < 8; i++) b[i] = twice(next(&x) + 1) ^ 3;",
    "of an element that is stored to": (
        "for (int i = 0; i < 8; i++) a[i] = (next(&a[i]) & 255) + twice(i);"
    ),
    "beside another array": "for (int i = 0; i < 8; i++) b[i] = take(a, i) + b[i] * x;",
    "of a narrow type": "for (int i = 0; i < 8; i++) b[i] = narrow(a[i], &c[i]) * 300;",
    "in what is stored to": "a[next(&x) & 7] = 1;",
    "in one arm": "b[0] = a[1] > 0 ? next(&x) + 1 : 2;",
    "in the second of two questions": "if (b[1] > 0 && next(&x) > 0) b[0] = 1;",
    "of what the file sees": "for (int i = 0; i < 8; i++) x = x * 3 + bump(a[i]);",
}

REFUSED = {
    "beside what is handed over": "b[0] = take(a, 1) + a[2];",
    "beside the variable": "b[0] = next(&x) + x;",
    "beside what the file sees": "b[0] = bump(1) + g;",
    "beside another call": "b[0] = next(&x) - next(&x);",
    "beside a call that reads it": "b[0] = take(a, 0) + first(a);",
    "beside a call that keeps something": "b[0] = next(&x) + tick();",
    "beside another change": "int k = 0; b[0] = next(&x) + k++ * k;",
    "in one arm beside the variable": "b[x & 1] = a[1] > 0 ? next(&x) + 1 : 2;",
    "in one arm beside another call": "b[0] = next(&x) + (a[1] > 0 ? tick() : 2);",
    "in the header of a loop": "for (int i = next(&x) & 3; i < 8; i++) b[i] = 1;",
    "beside a pointer": "int *p = b[0] ? a : a + 1; b[1] = take(a, 1) + p[0];",
}


@needs_gcc
@pytest.mark.parametrize("name", MADE_FIRST)
def test_a_call_is_made_first(name: str) -> None:
    end = "" if "return" in MADE_FIRST[name] else "return x;"
    assert_as_gcc(f"{HELPERS} {HEAD} {{ {MADE_FIRST[name]} {end} }}")


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_something_beside_it_sees_is_refused(name: str) -> None:
    with pytest.raises(FrontendError):
        parse_text(f"{HELPERS} {HEAD} {{ {REFUSED[name]} return x; }}")


def test_a_call_that_may_stay_stays() -> None:
    """What is accepted as it stands is read as it stands."""
    text = "static int next(void) { static int n; n += 3; return n; } void f(int a[8]) { %s }"
    program = parse_text(text % "for (int i = 0; i < 8; i++) a[i] = next() >> 1;")
    assert "next_value" not in program.lowered
