"""Calls: the function's text takes the place of the call."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import (
    CallArguments,
    CallUnsupported,
    FrontendError,
    Recursion,
    SideEffect,
    TooDeep,
    UnboundedLoop,
)
from rtlgen.ir.scop import Scop
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


def scop_of(text: str) -> Scop:
    return parse_text(text).scop


def test_a_function_that_only_computes_becomes_an_expression() -> None:
    scop = scop_of("""
        static inline int clamp(int x, int lo, int hi) {
          if (x < lo) x = lo;
          if (x > hi) return hi;
          return x;
        }
        void f(int a[8]) {
          for (int i = 0; i < 8; i++) a[i] = clamp(a[i], -9, clamp(i, 2, 5)) + clamp(i, 0, 1);
        }""")
    assert [str(s.write) for s in scop.statements] == ["a[i]"]


def test_a_function_with_loops_becomes_its_statements() -> None:
    scop = scop_of("""
        int dot(int n, int x[8], int y[8]) {
          int s = 0;
          for (int i = 0; i < n; i++) s += x[i] * y[i];
          return s;
        }
        void f(int a[4][8], int b[8], int c[4]) {
          for (int i = 0; i < 4; i++) c[i] = dot(8, a[i], b) - dot(i, b, a[3]);
        }""")
    assert [str(s.write) for s in scop.statements] == ["s", "s", "s_1", "s_1", "c[i]"]
    assert [str(read) for read in scop.statements[1].reads] == ["s", "a[i][i_1]", "b[i_1]"]
    assert str(scop.statements[3].loops[1].stop) == "i"


def test_the_function_that_no_other_one_calls_is_the_kernel() -> None:
    assert scop_of("int g(int x) { return x; }\nvoid f(int a[2]) { a[0] = g(1); }").name == "f"


def test_a_callee_sees_the_globals_and_not_the_callers_names() -> None:
    scop = scop_of("""
        int x;
        void set(void) { x = 3; }
        void f(int a[4]) { int x = a[0]; set(); a[1] = x; }""")
    assert [str(s.write) for s in scop.statements] == ["x_1", "x", "a[1]"]
    assert scop.array("x").storage == "global"


def test_a_refusal_in_a_function_tells_of_the_calls() -> None:
    with pytest.raises(UnboundedLoop) as caught:
        scop_of("""
            void g(int a[4]) { while (a[0] > 1) a[0] = a[a[0] & 3]; }
            void h(int a[4]) { g(a); }
            void f(int a[4]) { h(a); }""")
    assert [label.text for label in caught.value.diagnostic.labels[1:]] == [
        "`g` is called here",
        "`h` is called here",
    ]


def test_what_is_refused_at_each_call_is_told_once() -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(
            """static void fill(int *p, int n, int x) {
              while (n-- > 0) *p++ = x;
              x = p[0] % (float)n;
            }
            void f(const int a[8], int b[8], int c[8]) {
              fill(b, a[0], 1);
              fill(c, a[1], 2);
              fill(b, a[2], 3);
            }"""
        )
    said = caught.value.diagnostics
    places = [d.labels[0].span.line for d in said]
    assert places == [2, 3]
    for diagnostic in said:
        assert [label.text for label in diagnostic.labels].count("`fill` is called here") == 1
        assert diagnostic.labels[-1].span.line == 6
        assert (diagnostic.help or "").count("#pragma rtlgen bound") <= 1


def test_recursion_is_refused_with_the_cycle() -> None:
    with pytest.raises(Recursion) as caught:
        scop_of("""
            int even(int n);
            int odd(int n) { return n == 0 ? 0 : even(n - 1); }
            int even(int n) { return n == 0 ? 1 : odd(n - 1); }
            void f(int a[4]) { a[0] = even(4); }""")
    assert caught.value.diagnostic.notes == ("the calls go round: even -> odd -> even",)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (CallUnsupported, "void f(int a[4]) { a[0] = g(1); }"),
        (CallUnsupported, "int g(int); void f(int a[4]) { a[0] = g(1); }"),
        (CallUnsupported, "void g(void) {} void f(int a[4]) { a[0] = g(); }"),
        (CallArguments, "int g(int x) { return x; } void f(int a[4]) { a[0] = g(); }"),
        (CallArguments, "int g(short x[4]) { return x[0]; } void f(int a[4]) { a[0] = g(a); }"),
        (
            CallArguments,
            "int g(int x[2][2]) { return x[1][0]; } void f(int a[2][3]) { a[0][0] = g(a); }",
        ),
        (
            SideEffect,
            "int g(int a[4]) { a[1] = 2; return 3; } void f(int a[4]) { a[0] = a[1] + g(a); }",
        ),
    ],
)
def test_calls_that_cannot_be_replaced_are_refused(error: type[Exception], text: str) -> None:
    with pytest.raises(error):
        scop_of(text)


@needs_gcc
@pytest.mark.parametrize("seed", [1, 5])
def test_calls_compute_what_gcc_computes(seed: int) -> None:
    assert_as_gcc(
        """
        int total;
        unsigned char table[16];
        static inline int min(int a, int b) { return a < b ? a : b; }
        static inline int max(int a, int b) { if (a > b) return a; else return b; }
        static signed char narrow(int x) { unsigned char y = x; y += 3; return y; }
        static int level(int x) {
          int r;
          if (x > 50) { r = 3; if (x > 80) { r++; return r; } } else if (x > 20) r = 2; else r = 1;
          r *= 2;
          return r - 1;
        }
        static int sum(const int *p, int n) {
          int s = 0;
          for (int i = 0; i < n; i++) s += p[i];
          return s;
        }
        static void minmax(const int x[8], int *lo, int *hi) {
          *lo = x[0]; *hi = *x;
          for (int i = 1; i < 8; i++) { *lo = min(*lo, *(x + i)); if (x[i] > *hi) *hi = x[i]; }
        }
        static int take(void) { total++; return total * 2; }
        static void scale(int row[8], short k) {
          k *= 2;
          for (int i = 0; i < 8; i++) { int t = row[i] * k; row[i] = t - abs(t >> 3); }
        }
        int f(int a[4][8], int b[8], signed char c[8], short k) {
          int lo, hi;
          for (int i = 0; i < 4; i++) {
            if (a[i][0] > 0) scale(a[i], k); else scale(&a[i][0], i);
            minmax(a[i], &lo, &hi);
            b[i] = max(min(lo, 100), level(c[i])) + narrow(hi) + (i ? sum(a[i] + 1, 7) : 4);
            c[i] = take();
            total += sum(&b[2], 6) - level(level(b[i]));
            table[i] = total;
          }
          return max(lo, hi) - sum(b, 8);
        }""",
        seed=seed,
    )


DOUBLING = "static int g0(int x) { return x + 1; }" + "".join(
    f"static int g{k}(int x) {{ return g{k - 1}(x) + g{k - 1}(x); }}" for k in range(1, 11)
)


@needs_gcc
def test_calls_that_are_too_large_for_one_expression_become_statements_in_their_order() -> None:
    # One call more than an expression holds, and a call whose argument is such a call.
    assert_as_gcc(DOUBLING + "void f(int a[8]) { a[0] = g9(a[1]) - g9(g9(a[2])); }")
    assert_as_gcc(DOUBLING + "void f(int a[8]) { a[0] = g10(a[1]); }")


@pytest.mark.long
def test_calls_that_multiply_without_end_are_refused() -> None:
    text = DOUBLING + "void f(int a[8]) { a[0] = g10(g10(a[1])) + g10(g10(g10(a[2]))); }"
    with pytest.raises(TooDeep) as refusal:
        parse_text(text)
    assert "calls become more than 20000 operations" in str(refusal.value)


def test_what_a_returned_call_needs_runs_behind_the_parameters_it_uses() -> None:
    scop = scop_of("""
        int sum(int x[4]) { int s = 0; for (int i = 0; i < 4; i++) s += x[i]; return s; }
        int outer(int k, int x[4]) { int t = 0; t += k; return t + sum(x); }
        void f(int a[4]) { a[0] = 1 + outer(a[1], a); }""")
    assert [str(s.write) for s in scop.statements] == ["k", "t", "t", "s", "s", "a[0]"]


@needs_gcc
@pytest.mark.parametrize("state", ["left", "i % 2 ? left : right"])
def test_calls_in_both_branches_happen_where_they_stand(state: str) -> None:
    """They change what they are given, so that they are no values to choose from."""
    assert_as_gcc(f"""static int step(int state[4], int x, const int t[4]) {{ int sum = 0;
        for (int k = 3; k > 0; k--) {{ state[k] = state[k - 1]; sum += state[k] * t[k]; }}
        state[0] = x; return sum; }}
      void f(const int x[12], const int low[4], const int high[4], int y[12]) {{
        int left[4] = {{0}}, right[4] = {{0}};
        for (int i = 0; i < 12; i++) y[i] = step({state}, x[i], x[i] > 0 ? high : low);
        y[0] += left[1] + right[2]; }}""")
