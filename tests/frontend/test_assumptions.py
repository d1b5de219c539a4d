"""Assertions inside of a program bound what data chooses, and the golden model checks them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.planning.analysis import analyse
from rtlgen.verify.data import KINDS, Recipe
from rtlgen.verify.golden import Engine, run_golden
from rtlgen.verify.golden_state import SubscriptError
from tests.frontend.lowering.c_check import assert_as_c
from tests.lookup_warnings import lookup_warnings

COUNT = """#include <assert.h>
void f(const int x[4], int h[64]) {
  for (int i = 0; i < 4; i++) {
    assert(x[i] >= 0 && x[i] < 16);
    h[x[i]]++;
  }
}
"""


def windows(text: str) -> set[tuple[int, int]]:
    """Return where the computed elements of a program lie, as far as it is proven."""
    statements = analyse(parse_text(text)).scop.statements
    reads = [read for statement in statements for read in statement.reads]
    return {(w.low, w.high) for read in reads for w in read.windows}


def test_an_assertion_bounds_where_a_program_writes() -> None:
    assert windows(COUNT) == {(0, 15)}


@pytest.mark.parametrize(
    ("asserted", "used"),
    [
        ("x[i] < 16", "x[i] & 0x7fffffff"),
        ("x[i] < 16 && x[i] >= 0", "x[i] - 1 + 1"),
        ("(unsigned)x[i] < 16u", "x[i]"),
        ("!(x[i] < 0 || x[i] > 15)", "x[i]"),
    ],
)
def test_whatever_form_it_has(asserted: str, used: str) -> None:
    text = COUNT.replace("x[i] >= 0 && x[i] < 16", asserted).replace("h[x[i]]", f"h[{used}]")
    assert bool(lookup_warnings(text)) == ("0x7" in used)
    assert "0x7" in used or windows(text) == {(0, 15)}


@pytest.mark.parametrize(
    "copied",
    [
        "assert(x[i] >= 0 && x[i] < 16); int k = x[i]; h[k]++;",
        "int k = x[i]; assert(x[i] >= 0 && x[i] < 16); int m = k; h[m]++;",
        "int k = x[i], m = k; assert(k >= 0 && k < 16); h[m]++;",
        "int k = x[i], m = k; assert(m >= 0 && m < 16); h[k]++;",
        "assert(x[i] >= 1 && x[i] < 17); int k = x[i] - 1; h[k]++;",
        "assert(x[i] < 16); unsigned k = x[i]; assert(x[i] >= 0); h[k]++;",
    ],
)
def test_what_holds_of_a_value_holds_of_its_copies(copied: str) -> None:
    text = COUNT.replace("assert(x[i] >= 0 && x[i] < 16);", copied).replace("h[x[i]]++;", "")
    assert windows(text) == {(0, 15)}
    if "x[i];" in copied:
        # What it was a copy of is another element by now.
        assert lookup_warnings(
            text.replace("const int x", "int x").replace("= x[i]", "= x[i]++", 1)
        )


def test_what_holds_at_the_end_holds_of_the_result() -> None:
    text = """#include <assert.h>
int f(int n, const int a[16]) {
  assert(n >= 0 && n < 16);
  int k = n;
  return a[k];
}"""
    assert windows(text) == {(0, 15)}


HELPED = """#include <assert.h>
%s
void f(const int x[4], const int t[16], int y[4]) {
  for (int i = 0; i < 4; i++) y[i] = %s;
}
"""


@pytest.mark.parametrize(
    ("helper", "call"),
    [
        # One expression; an `if` in it; a local; statements; another function below it.
        (
            "static int g(const int *p, int k) { assert(k >= 0 && k < 16); return p[k]; }",
            "g(t, x[i])",
        ),
        (
            "static int g(const int *p, int k) {"
            " if (k == 99) return 7; assert(k >= 0 && k < 16); return p[k]; }",
            "g(t, x[i])",
        ),
        (
            "static int g(const int *p, int k) {"
            " int m = k; assert(k >= 0 && m < 16); return p[m]; }",
            "g(t, x[i])",
        ),
        (
            "static int g(const int *p, int k) { int s = 0; for (int j = 0; j < 3; j++) s += p[j];"
            " assert(k >= 0 && k < 16); return s + p[k]; }",
            "g(t, x[i])",
        ),
        (
            "static int h(const int *p, int k) { return p[k]; }"
            "static int g(const int *p, int k) { assert(k >= 0 && k < 16); return h(p, k) + 1; }",
            "g(t, x[i])",
        ),
    ],
)
def test_an_assertion_in_a_function_that_is_called_bounds_what_it_reads(
    helper: str, call: str
) -> None:
    text = HELPED % (helper, call)
    assert windows(text) <= {(0, 15)} and windows(text)
    # Random data keep to it, so that gcc can be asked.
    assert_as_c(text)
    assert lookup_warnings(text.replace("assert(", "(void)("))
    assert lookup_warnings(text.replace(call, f"{call} + t[x[i]]"))


@pytest.mark.parametrize(
    "between",
    ["k += 60;", "k = x[3];", "if (x[i] > 3) k++;", "for (int j = 0; j < 9; j++) k += j;"],
)
def test_what_has_changed_since_is_not_believed(between: str) -> None:
    text = f"""#include <assert.h>
void f(const int x[4], int h[64]) {{
  for (int i = 0; i < 4; i++) {{
    int k = x[i];
    assert(k >= 0 && k < 16);
    {between}
    h[k]++;
  }}
}}"""
    assert lookup_warnings(text)
    assert windows(text.replace(between, "h[3] = 1;")) == {(0, 15)}


def test_an_assertion_of_one_branch_says_nothing_of_the_others() -> None:
    assert lookup_warnings(COUNT.replace("assert", "if (i & 1) assert"))
    assert lookup_warnings(
        COUNT.replace("h[x[i]]++;", "} for (int i = 0; i < 4; i++) { h[x[i]]++;")
    )


def test_what_an_array_held_is_not_believed_once_it_is_written() -> None:
    text = COUNT.replace("const int x", "int x")
    assert windows(text) == {(0, 15)}
    assert lookup_warnings(text.replace("h[x[i]]++;", "x[i] *= 9; h[x[i]]++;"))


def test_a_bound_on_one_side_joins_what_counts_on() -> None:
    text = """#include <assert.h>
void f(const int x[40], int out[8]) {
  int n = 0;
  for (int i = 0; i < 40; i++)
    if (x[i] > 0) {
      assert(n < 8);
      out[n++] = x[i];
    }
}"""
    assert windows(text) == {(0, 7)}


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_the_golden_model_finds_what_breaks_an_assertion(engine: Engine) -> None:
    scop = parse_text(COUNT).scop
    inputs = {"x": np.array([3, 3, 15, 0], np.int32), "h": np.zeros(64, np.int32)}
    assert run_golden(scop, inputs, engine=engine).arrays["h"][3] == 2
    inputs["x"][2] = 16
    with pytest.raises(SubscriptError, match="not where an assertion"):
        run_golden(scop, inputs, engine=engine)
    inputs["x"][2] = 77
    with pytest.raises(SubscriptError, match=r"outside h\[64\], where an assertion") as caught:
        run_golden(scop, inputs, engine=engine)
    assert "--range" in (caught.value.diagnostic.help or "")


def test_an_assertion_that_cannot_be_read_says_nothing() -> None:
    for odd in ("h", "undeclared > 3", "1.5 < 2"):
        assert lookup_warnings(COUNT.replace("x[i] >= 0 && x[i] < 16", odd))
    with pytest.raises(RtlgenError):
        parse_text(COUNT.replace("x[i] >= 0 && x[i] < 16", "x[i]++ < 3"))


@pytest.mark.parametrize("way", ["", "int k = x[i]; assert(k >= 0 && k < 16);"])
def test_random_data_keeps_to_assertions_of_elements(way: str) -> None:
    text = COUNT.replace("assert(x[i] >= 0 && x[i] < 16);", way) if way else COUNT
    scop = parse_text(text.replace("h[x[i]]", "h[k]") if way else text).scop
    for kind in KINDS:
        drawn = Recipe(kind, 3).inputs(scop)["x"]
        assert isinstance(drawn, np.ndarray)
        assert drawn.min() >= 0 and drawn.max() <= 15
        run_golden(scop, {"x": drawn, "h": np.zeros(64, np.int32)})


def test_what_the_program_writes_has_no_limits_from_outside() -> None:
    scop = parse_text(
        COUNT.replace("const int x", "int x").replace("h[x[i]]++;", "x[i] = -1;")
    ).scop
    assert scop.array("x").told is None


REGION = """#include <assert.h>
void f(int m, double a[64], double b[64]) {
  %s
#pragma scop
  for (int i = 1; i < m; i++) a[i] = b[m - 1] + i;
#pragma endscop
}
"""


def test_an_assertion_in_front_of_a_region_holds_in_it() -> None:
    program = parse_text(REGION % "assert(m <= 64 && m >= 2);")
    analyse(program)
    assert "W0111" in {warning.code for warning in program.warnings}


@pytest.mark.parametrize(
    "before",
    [
        "assert(m <= 60 && m >= 2); m = m + 9;",
        "assert(m <= 60 && m >= 2); m++;",
        "int k = 5; assert(k <= 64 && k >= 2);",
    ],
)
def test_what_was_asserted_of_another_value_does_not(before: str) -> None:
    assert lookup_warnings(REGION % before)


def test_scalars_that_are_each_made_from_two_others_are_read_at_once() -> None:
    """What each was set to asks for two before it: as a tree that is 2^80 of them."""
    steps = "".join(f"int t{k} = t{k - 1} + (t{k - 2} ^ x[i]);" for k in range(2, 80))
    text = f"""void f(const int x[8], int y[8]) {{
      for (int i = 0; i < 8; i++) {{ int t0 = x[i]; int t1 = x[i] * 3; {steps} y[i] = t79; }}
    }}"""
    assert len(parse_text(text).scop.statements) == 81


STEPPED = """#include <assert.h>
void f(const int s[8], int st[8], const int x[8]) {
  int sp = x[0];
  for (int i = 0; i < 8; i++) {
    if (x[i] > 3) sp = x[i];
    %s
  }
}
"""


@pytest.mark.parametrize("stepped", ["st[sp++] = s[i];", "st[--sp] = s[i];", "st[sp--] += 1;"])
def test_what_is_advised_about_a_subscript_that_steps_is_enough(stepped: str) -> None:
    (warning, *_) = lookup_warnings(STEPPED % stepped)
    advice = warning.help
    assert advice is not None
    said = re.findall("`(.*?)`", advice)[1:]
    if len(said) > 1:
        # What to write in the place of the access comes first.
        stepped = stepped.replace(stepped[: stepped.index("]") + 1], said[0])
    assert not lookup_warnings(STEPPED % f"{said[-1]} {stepped}")
