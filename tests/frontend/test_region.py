"""What carries values into a `#pragma scop` region, and out of it, has a port."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Scop
from rtlgen.verify.golden import run_golden


def ports(scop: Scop) -> dict[str, str]:
    """Return the roles of what the host sees; `port` for scalars, `return` for the value."""
    found = {a.name: str(a.role) for a in scop.arrays if a.storage != "local"}
    found |= {scalar.name: "port" for scalar in scop.scalars}
    return found | ({} if scop.returned is None else {"return": "out"})


def region(inside: str, before: str = "", after: str = "") -> Scop:
    return parse_text(f"""
        void use(int *x);
        int f(int n, int a[4]) {{
          {before}
          #pragma scop
          {inside}
          #pragma endscop
          {after}
        }}""").scop


@pytest.mark.parametrize(
    ("before", "inside", "after", "expected"),
    [
        # An array that is set before: the host loads it.
        ("int A[4]; A[1] = 5;", "for (int i = 0; i < 4; i++) A[i] += i;", "if (A[1]) return 1;",
         {"A": "inout"}),
        ("int A[4]; use(A);", "for (int i = 0; i < 4; i++) a[i] = A[i];", "",
         {"a": "out", "A": "in"}),
        # One that is only used behind, with and without values of its own.
        ("int A[4];", "for (int i = 0; i < 4; i++) A[i] = a[i];", "use(A);",
         {"a": "in", "A": "out"}),
        ("int A[4] = {1, 2};", "for (int i = 0; i < 4; i++) A[i] += a[i];", "use(A);",
         {"a": "in", "A": "inout"}),
        # Scalars: a port where only the value comes in, a register where it is read behind, too.
        ("int s; s = 0;", "for (int i = 0; i < 4; i++) a[i] = s;", "", {"a": "out", "s": "port"}),
        ("int s; s = 0;", "for (int i = 0; i < 4; i++) s += a[i];", "return s;",
         {"a": "in", "s": "port", "return": "out"}),
        ("int s; s = 0;", "for (int i = 0; i < 4; i++) s += a[i];", "use(&s);",
         {"a": "in", "s": "inout"}),
        ("int s = 3;", "for (int i = 0; i < 4; i++) s += a[i];", "use(&s);",
         {"a": "in", "s": "inout"}),
        ("int s = 3, t; t = s;", "for (int i = 0; i < 4; i++) s += a[i] * t;", "return s;",
         {"a": "in", "t": "port", "return": "out"}),
        # What is computed from something that is set before the region is no longer the same.
        ("int m = 1; int k = m; m = 2;", "for (int i = 0; i < 4; i++) a[i] = k;", "",
         {"a": "out", "k": "port"}),
        ("int *p = a;", "for (int i = 0; i < 4; i++) p[i] = 2;", "", {"a": "out"}),
        # What the region sets first brings nothing in, and what is set behind takes nothing out.
        ("int i; for (i = 0; i < 4; i++) use(&a[i]);", "for (i = 0; i < 4; i++) a[i] += 1;",
         "for (i = 0; i < 4; i++) use(a);", {"a": "inout"}),
        ("int s; s = 7; use(&s);", "s = 2; for (int i = 0; i < 4; i++) a[i] = s;", "",
         {"a": "out"}),
        ("int s; s = 7;", "for (int i = 0; i < 4; i++) { s = a[i]; a[i] = s * s; }",
         "for (s = 0; s < 4; s++) use(a);", {"a": "inout"}),
        # A scalar parameter has the value that it has at the start of the region.
        ("n++;", "for (int i = 0; i < 4; i++) a[i] = n;", "", {"a": "out", "n": "port"}),
        ("static int s; s = 1;", "for (int i = 0; i < 4; i++) a[i] = s;", "",
         {"a": "out", "s": "in"}),
        # What the region never uses may be anything.
        ("double x = 1.5; x *= 2;", "for (int i = 0; i < 4; i++) a[i] = 1;", "use(a);",
         {"a": "out"}),
    ],
)  # fmt: skip
def test_values_that_come_in_and_go_out(
    before: str, inside: str, after: str, expected: dict[str, str]
) -> None:
    assert ports(region(inside, before, after)) == expected


@pytest.mark.parametrize(
    ("returned", "result"),
    [("s > 2 ? s : -s", True), ("a[7] > 0", False), ("*a", False), ("use(s)", False)],
)
def test_what_is_returned_behind_is_a_result_where_scalars_make_it(
    returned: str, result: bool
) -> None:
    """The host can look at arrays itself, outside of their bounds, too."""
    program = parse_text(f"""
        int use(int x);
        int f(int a[4]) {{ int s = 0;
        #pragma scop
          for (int i = 0; i < 4; i++) {{ a[i] += s; s += i; }}
        #pragma endscop
          return {returned}; }}""")
    assert (program.scop.returned is not None) == result
    assert [w.code for w in program.warnings] == ([] if result else ["W0103"])


def test_a_register_that_comes_in_keeps_counting() -> None:
    scop = region("for (int i = 0; i < 4; i++) s += a[i];", "int s; s = 0;", "use(&s);")
    after = run_golden(scop, {"a": np.array([1, 2, 3, 4], np.int32), "s": 10})
    assert int(after.arrays["s"]) == 20


def test_initial_values_of_what_goes_out_are_built_in() -> None:
    text = "for (int i = 0; i < 4; i++) A[i] += a[i];"
    scop = region(text, "int A[4] = {1, 2};", "use(A);")
    a = np.array([1, 2, 3, 4], np.int32)
    after = run_golden(scop, {"a": a, "A": np.full(4, 99, np.int32)})
    assert after.arrays["A"].tolist() == [2, 4, 3, 4]


def test_the_warning_names_them() -> None:
    program = parse_text("""
        int f(const int a[8]) { int s, last; s = 0;
        #pragma scop
          for (int i = 0; i < 8; i++) { s += a[i]; last = s; }
        #pragma endscop
          if (last) return 0; return s; }""")
    (warning,) = program.warnings
    assert warning.code == "W0103"
    assert warning.notes == (
        "the host gives `s` the value that it has at the start of the region",
        "the host reads `last`, `s` after the run",
    )


def test_a_bound_that_is_stated_marks_no_region() -> None:
    text = """static void halve(int *a, int n) {
    #pragma rtlgen bound 6
      while (n > 0) { a[n & 7] = 0; n /= 2; }
    }
    void f(int a[8]) { for (int i = 0; i < 8; i++) halve(a, i); }"""
    assert parse_text(text).scop.name == "f"


def test_a_function_that_is_handed_over_is_no_kernel() -> None:
    text = """int twice(int x) { return 2 * x; }
    static void each(int *a, int (*f)(int)) { for (int i = 0; i < 8; i++) a[i] = f(a[i]); }
    void f(int a[8]) { each(a, twice); }"""
    assert parse_text(text).scop.name == "f"
