"""Files as they are found: with asserts, K&R definitions, odd parameters, literals of `double`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.frontend import ParsedProgram, parse_file, parse_text
from rtlgen.frontend.errors import (
    BadDefinition,
    CallUnsupported,
    CSyntaxError,
    FrontendError,
    InitialiserUnsupported,
)
from rtlgen.frontend.text.pragmas import wish
from rtlgen.frontend.text.tokens import scalar_parameter_names
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


def codes(program: ParsedProgram) -> list[str]:
    return [warning.code for warning in program.warnings]


@needs_gcc
def test_asserts_and_prints_change_nothing() -> None:
    program = assert_as_gcc(
        """
        #include <assert.h>
        #include <stdio.h>
        static int up(int x) { assert(x == x); fflush(stdout); return x + 1; }
        int f(int a[8], int b[8]) {
          int k = 0, s = 0;
          for (int i = 0; i < 8; i++) {
            assert(i < 8 && "inside");
            if (a[i] == 1 << 30) printf("%d\\n", a[i]);
            else if (a[i] == 3) { puts("never"); fprintf(stderr, "%d", s); }
            b[k++] = up(a[i]);
            (void)printf("%s", "");
          last: if (a[i] == 5) perror("never");
            s += b[i];
          }
          return s;
        }""",
    )
    assert set(codes(program)) == {"W0111"}
    assert [w.message.split("`")[1] for w in program.warnings] == [
        "assert", "fflush", "printf", "puts", "fprintf", "perror",
    ]  # fmt: skip


def test_a_function_of_the_users_that_prints_is_called() -> None:
    program = parse_text(
        "int told; void printf(int x) { told = x; } void f(int a[4]) { printf(a[1]); }"
    )
    assert codes(program) == [] and "told" in {a.name for a in program.scop.arrays}


@needs_gcc
def test_whole_literals_of_floating_types_are_the_integers_that_c_makes_of_them() -> None:
    program = assert_as_gcc(
        """
        static const short t[2][2] = {1.0, 2e2, {-3.f}};
        static int same(int x) { return x; }
        long f(int a[8], unsigned char b[8]) {
          int m = 0.0, n = -(1e3), o = +0x1p4;
          long big = 3e9;
          for (int i = 0; i < 8; i++) {
            a[i] = b[i] > 7 ? 1.0 : -2.0f;
            b[i] = (int)5.0 + (int)(double)6 + same(7.0);
            m = (float)9.0;
          }
          return big + m + n + o + t[0][1] + t[1][0];
        }""",
    )
    assert codes(program) == []


@needs_gcc
@pytest.mark.parametrize(
    "value", ["0.5", "1.5f", "1.0 + 2.75", "a[0] * 1.0", "c ? 1.0 : a[0]", "a[0] / 4 * 0.3"]
)
def test_what_is_calculated_in_floating_point_is_converted_back(value: str) -> None:
    program = assert_as_gcc(f"void f(int a[8], int c) {{ a[1] = {value}; a[2] = c; }}")
    assert codes(program) == []


@needs_gcc
def test_definitions_in_the_old_style_are_read() -> None:
    assert_as_gcc(
        """
        int add(x, y) short x; { return x + y; }
        int f(a, n, b, c)
          int a[8], n;
          unsigned char b[4][2];
        {
          int s = n;
          for (int i = 0; i < 8; i++) s += add(a[i], b[i / 2][i % 2]) + c;
          return s;
        }"""
    )


def test_d_fixes_a_parameter_of_the_old_style() -> None:
    text = """int f(a, n, m) int a[8]; int n, m; {
      int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }"""
    assert scalar_parameter_names(text) == {"f": frozenset(("n", "m"))}
    assert parse_text(text, defines={"n": "8"}).scop.statements[1].loops[0].stop.constant == 8


@needs_gcc
def test_braces_may_be_left_out_as_c_allows() -> None:
    assert_as_gcc(
        """
        int f(int a[2][4]) {
          static const int t[3][2] = {1, 2, {3}, 5};
          int b[2][4] = {0}, c[2][2] = {1, 2, 3}, d[2][2][2] = {{{1}, 2, 3}, 4}, x = {5};
          int e[] = {1, 2, 3}, g[][2] = {1, 2, {3}, 4}, h[2][2][2] = {{0}};
          for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
              a[i][j] += b[i][j] + c[i][j] * d[i][j][1] + t[i + 1][j] + e[i + j] + g[2][j]
                + d[i][j][0] + h[i][j][1] + x;
          return sizeof(g) / sizeof(int);
        }"""
    )


@needs_gcc
def test_strings_fill_arrays_of_characters() -> None:
    program = assert_as_gcc(
        """
        static const char digits[16] = "0123456789abcdef";
        static const unsigned char odd[8] = "\\n\\x41\\'\\101\\0";
        void f(const unsigned char a[8], char hex[16]) {
          for (int i = 0; i < 8; i++) {
            hex[2 * i] = digits[a[i] >> 4];
            hex[2 * i + 1] = digits[a[i] & 15] + odd[i];
          }
        }"""
    )
    assert codes(program) == []
    for wrong in ('char t[2] = "abc"', 'int t[4] = "abc"', 'char t[2][2] = "abc"'):
        with pytest.raises(InitialiserUnsupported):
            parse_text(f"void f(char a[4], int i) {{ {wrong}; a[0] = *t; }}")


@needs_gcc
def test_what_debugging_macros_leave_behind_does_nothing() -> None:
    program = assert_as_gcc(
        """
        #include <stdio.h>
        #define DBG(...) ((void)0)
        #define LOG(fmt, ...) fprintf(stderr, fmt, ##__VA_ARGS__)
        extern int printf(const char *restrict, ...) __attribute__((format(printf, 1, 2)));
        int f(const int a[8]) {
          int s = 0;
          for (int i = 0; i < 8; i++) {
            DBG("%d", i);
            __builtin_prefetch(&a[i]);
            if (a[i] == 7) LOG("x %d", a[i]);
            (void)a[i];
            s += a[i];
          }
          return s;
        }"""
    )
    assert set(codes(program)) == {"W0111"}


def test_a_parameter_of_any_type_is_refused_only_where_it_is_used() -> None:
    odd = (
        "char **v, long double d, struct s *p, void (*g)(int), void *q, FILE *out, int w[n], int n"
    )
    program = parse_text(f"#include <stdio.h>\nvoid f(int a[8], {odd}) {{ a[0] = 1; }}")
    assert codes(program) == ["W0102"] * 8
    for use in ("v[0][0]", "d", "p->x", "q != 0", "w[1]"):
        with pytest.raises(FrontendError):
            parse_text(f"#include <stdio.h>\nvoid f(int a[8], {odd}) {{ a[0] = {use}; }}")


def test_a_macro_with_parameters_is_defined_on_the_command_line() -> None:
    text = "int f(int a[8]) { int s = SCALAR_VAL(0.0); return s + TWICE(a[1]); }"
    program = parse_text(text, defines={"SCALAR_VAL(x)": "x", "TWICE(x)": "(2 * (x))"})
    assert codes(program) == []
    unknown = parse_text("void f(int a[2]) { a[0] = 1; }", defines={"F(x)": "x"})
    assert codes(unknown) == ["W0105"]
    for name in ("F(x", "F(x-y)", "F(x,,y)", "1(x)", "F(x)y"):
        with pytest.raises(BadDefinition):
            parse_text("void f(int a[2]) { a[0] = 1; }", defines={name: "x"})


def test_a_line_that_is_continued_keeps_its_places() -> None:
    sum_ = "#define SUM(a, b) ((a) + \\\n  (b))\n"
    text = f"{sum_}void f(int a[8]) {{\n  a[0] = SUM(1, \\\n     2) + \\\n    gone;\n}}"
    with pytest.raises(FrontendError) as refusal:
        parse_text(text)
    span = refusal.value.diagnostic.labels[0].span
    assert (span.line, span.column, span.length) == (6, 5, 4)


@pytest.mark.parametrize("torn", ["3\\\n4", "-\\\n-a[1]", "a[1] >\\\n> 2", "a\\\n[1] + ab\\\ncd"])
def test_a_token_that_is_torn_apart_is_refused(torn: str) -> None:
    with pytest.raises(CSyntaxError) as refusal:
        parse_text(f"void f(int a[8]) {{ a[0] = {torn}; }}")
    assert refusal.value.diagnostic.labels[0].span.line > 1


def test_a_line_may_be_broken_right_behind_a_word() -> None:
    # Where a backslash stands in a comment or a string, it continues nothing.
    text = "void f(int a[8]) { /* a\\\nb */ a[0] =\\\n a\\\n[1] +\\\na[2]; }"
    assert [str(r) for r in parse_text(text).scop.statements[0].reads] == ["a[1]", "a[2]"]


@needs_gcc
def test_hints_to_the_compiler_are_passed_over() -> None:
    program = assert_as_gcc(
        """
        #include <assert.h>
        #define likely(x) __builtin_expect(!!(x), 1)
        static_assert(sizeof(int) == 4, "int");
        long f(int a[8], int y[8]) {
          long s = 0;
          _Pragma("GCC ivdep")
          for (int i = 0; i < 8; i++) {
            static_assert(sizeof(a[0]) == 4, "int");
            if (likely(i > 2)) y[i] = a[i - 3];
            if (__builtin_expect(a[i] > 5, 0) && likely(i < 7))
              s += __builtin_expect(a[i], 1) << 20;
          }
          return s;
        }"""
    )
    # The condition on the iterator restricts the loop.
    assert program.scop.statements[1].conditions and codes(program) == []


def test_unused_static_functions_are_no_kernels() -> None:
    text = "static int g(int x) { return x; } void f(int a[2]) { a[0] = 1; } static void h(void) {}"
    assert parse_text(text).scop.name == "f"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("HLS PIPELINE II=1 rewind", "a loop that begins an iteration every few cycles"),
        ("HLS array_partition variable=a", "an array in several memories"),
        ("omp for collapse(2)", "iterations shared out among threads"),
        ("omp parallel private(parallel)", "several threads"),
        ("GCC ivdep", "no dependences to be taken for granted between iterations"),
        ("clang loop vectorize(enable)", "several iterations in one vector instruction"),
        ("unroll(4)", "copies of the loop's body that run at the same time"),
        ("acc loop", "iterations shared out among threads"),
        ("STDC FP_CONTRACT ON", "certain floating-point calculations"),
        ("nonsense here", "something that only another tool knows"),
        ("omp", "something that only another tool knows"),
        ("GCC diagnostic push", None),
        ("GCC push_options", None),
        ("once", None),
        ("", None),
    ],
)
def test_a_pragma_is_known_by_what_it_asks_for(text: str, wanted: str | None) -> None:
    assert wish(text) == wanted


def test_a_function_of_another_file_is_named_with_that_file(tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("int scaled(int);\nint unscaled(int x) { return x; }\n")
    (tmp_path / "scale.c").write_text("int\nscaled (int x)\n{\n  return 3 * x;\n}\n")
    kernel = tmp_path / "kernel.c"
    kernel.write_text("int scaled(int x);\nint f(int x) { return scaled(x) + 1; }\n")
    with pytest.raises(CallUnsupported) as refused:
        parse_file(kernel)
    (note,) = refused.value.diagnostic.notes
    assert note.startswith("scale.c defines it")
    kernel.write_text('#include "scale.c"\n' + kernel.read_text())
    assert parse_file(kernel, function="f").scop.name == "f"
