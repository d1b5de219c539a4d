"""The parts of a Scop: names, places, roles, loops, conditions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rtlgen.frontend import ParsedProgram, parse_file, parse_text
from rtlgen.frontend.errors import DuplicateName, FrontendError, SubscriptCount
from rtlgen.ir.expr import Cast, Constant, IndexValue, Read, walk
from rtlgen.ir.scop import ConditionNode, LoopNode, Scop, walk_tree
from rtlgen.ir.types import INT32, IntType
from rtlgen.source import Span


def scop_of(text: str, defines: Mapping[str, str] | None = None) -> Scop:
    return parse_text(text, "k.c", defines=defines).scop


def marked(text: str) -> tuple[str, list[Span]]:
    """Return `text` without its <...> marks, and the places that they enclose."""
    lines, spans = [], []
    for number, line in enumerate(text.splitlines(), 1):
        while "<<" in line:
            start = line.index("<<")
            line = line.replace("<<", "", 1)
            end = line.index(">>")
            line = line.replace(">>", "", 1)
            spans.append(Span("k.c", number, start + 1, end - start))
        lines.append(line)
    return "\n".join(lines), spans


# Places.


def test_accesses_have_exact_places_behind_macros_and_tabs() -> None:
    text, spans = marked("""\
#define N 8
#define SUM(x, y) ((x) + (y))
void f(int a[N][N], int b[N]) {
\tfor (int i = 0; i < N; i++)
\t\t<<a[N - 1][i]>> = SUM(<<b[i]>>, N) * N - /* note */ <<b[ N-1 ]>>;
}
""")
    statement = scop_of(text).statements[0]
    assert [statement.write.span, *(read.span for read in statement.reads)] == spans
    assert statement.span == spans[0]


def test_an_access_inside_a_macro_has_the_place_of_the_call() -> None:
    text, spans = marked("""\
#define AT(m, r) m[(r) * 2]
void f(int a[16]) {
  for (int i = 0; i < 8; i++) <<AT(a, i)>> = 1;
}
""")
    assert [scop_of(text).statements[0].write.span] == spans


def test_an_access_over_several_lines_ends_with_its_first_line() -> None:
    text, spans = marked("""\
void f(int a[8][8]) {
  <<a[1]>>
    [2] = 3;
}
""")
    assert [scop_of(text).statements[0].write.span] == spans


def test_lines_after_continuations_and_comments_keep_their_numbers() -> None:
    text, spans = marked("""\
#define LONG 1 + \\
   2
/* a
   b */ void f(int a[8]) {
  int x = \\
    LONG;
  <<a[0]>> = x;
}
""")
    assert scop_of(text).statements[0].write.span == spans[0]


def test_a_place_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "body.h").write_text("#pragma once\n#define N 4\na[N] = 1;\n")
    main = tmp_path / "main.c"
    main.write_text('void f(int a[8]) {\n#include "body.h"\n#include "body.h"\n}\n')
    program = parse_file(main, include_dirs=[str(tmp_path / "inc")])
    (statement,) = program.scop.statements
    assert statement.span == Span(str(tmp_path / "inc" / "body.h"), 3, 1, 4)
    assert program.sources[statement.span.file].line(3) == "a[N] = 1;"


def test_the_text_of_a_statement_is_the_users() -> None:
    scop = scop_of("""
        #define GAIN 3
        void f(int a[8], int b[8]) {
          int s = a[7] * GAIN;
          a[0] += GAIN * (b[1]
                          - 1) ;
          b[ 2 ]--; --b[3];
          a[1] = -(s);
        }""")
    assert [statement.text for statement in scop.statements] == [
        "s = a[7] * GAIN",
        "a[0] += GAIN * (b[1] - 1)",
        "b[ 2 ]--",
        "--b[3]",
        "a[1] = -(s)",
    ]


# Names.


def test_labels_name_statements_and_loops() -> None:
    scop = scop_of("""
        void f(int a[8]) {
          a[0] = 1;
          outer: for (int i = 0; i < 8; i++) { init: a[i] = 2; a[i] += 1; }
        }""")
    assert [statement.name for statement in scop.statements] == ["S0", "init", "S2"]
    assert scop.statements[1].loops[0].label == "outer"


def test_a_label_may_not_take_a_number_that_another_statement_has() -> None:
    with pytest.raises(DuplicateName):
        scop_of("void f(int a[8]) { S1: a[0] = 1; a[1] = 2; }")


def test_nested_iterators_of_one_name_are_told_apart() -> None:
    scop = scop_of("""
        void f(int a[8], int b[8]) {
          for (int i = 0; i < 8; i++) { for (int i = 0; i < 4; i++) a[i] = 1; b[i] = 2; }
          for (int i = 0; i < 2; i++) a[i] = 3;
        }""")
    assert [statement.iterators for statement in scop.statements] == [("i", "i_1"), ("i",), ("i",)]
    assert [str(statement.write) for statement in scop.statements] == ["a[i_1]", "b[i]", "a[i]"]


def test_a_parameter_keeps_its_name_before_a_global_of_the_same_name() -> None:
    scop = scop_of("int a[4];\nvoid f(int a[8]) { a[7] = 1; }")
    assert [(array.name, array.shape) for array in scop.arrays] == [("a", (8,))]


# Arrays.


def test_roles_follow_from_use_and_storage() -> None:
    scop = scop_of("""
        int g_in, g_out[4];
        void f(const int p_in[4], int p_out[4], int p_both[4]) {
          int t[4];
          for (int i = 0; i < 4; i++) {
            t[i] = p_in[i] + g_in;
            p_out[i] = t[i];
            p_both[i] -= 1;
            g_out[i] = 0;
          }
        }""")
    assert {array.name: (array.role, array.storage) for array in scop.arrays} == {
        "g_in": ("in", "global"),
        "g_out": ("out", "global"),
        "p_in": ("in", "parameter"),
        "p_out": ("out", "parameter"),
        "p_both": ("inout", "parameter"),
        "t": ("local", "local"),
    }


def test_a_local_that_code_outside_of_the_region_uses_is_visible() -> None:
    program = parse_text("""
        int printf(const char *, ...);
        void f(int a[4]) {
          int t[4], u[4];
          t[0] = 3;
        #pragma scop
          for (int i = 1; i < 4; i++) { t[i] = t[i - 1] + a[i]; u[i] = t[i]; }
        #pragma endscop
          printf("%d", t[3]);
        }""")
    assert {array.name: array.role for array in program.scop.arrays} == {
        "a": "in",
        "t": "inout",
        "u": "local",
    }
    assert [warning.code for warning in program.warnings] == ["W0103"]


def test_declarations_that_are_not_used_may_be_of_any_type() -> None:
    scop = scop_of("""
        struct s { float x; } unused; double d; typedef struct s t; int *p; int tab[] = {1, 2};
        extern int puts(const char *);
        void f(int a[4]) { a[0] = 1; }""")
    assert [array.name for array in scop.arrays] == ["a"]


def test_compound_assignment_reads_its_target_first() -> None:
    (statement,) = scop_of("void f(int a[4], int b[4]) { a[0] += b[1] * b[1]; }").statements
    assert [str(read) for read in statement.reads] == ["a[0]", "b[1]", "b[1]"]


# Expressions.


def test_conversions_are_explicit() -> None:
    (statement,) = scop_of("void f(short a[4], char b[4]) { a[0] = a[1] + b[2]; }").statements
    casts = [node.type for node in walk(statement.expr) if isinstance(node, Cast)]
    assert casts == [INT32, INT32, IntType(16, True)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2 * i + 3", "2*i + 3"),
        ("(i << 2) - i", "3*i"),
        ("-(i - 8)", "-i + 8"),
        ("~i", "-i - 1"),
        ("(6 * i + 4) / 2", "3*i + 2"),
        ("(long)i * 2", "2*i"),
    ],
)
def test_affine_expressions_are_folded(expression: str, expected: str) -> None:
    text = f"void f(long a[8]) {{ for (int i = 0; i < 8; i++) a[i] = {expression}; }}"
    expr = scop_of(text).statements[0].expr
    assert isinstance(expr, IndexValue)
    assert str(expr.affine) == expected


@pytest.mark.parametrize("expression", ["i * i", "i / 2", "i % 4", "i & 1", "(char)(i * 100)"])
def test_what_is_not_affine_stays_a_tree(expression: str) -> None:
    text = f"void f(int a[8]) {{ for (int i = 0; i < 8; i++) a[i] = {expression}; }}"
    expr = scop_of(text).statements[0].expr
    assert not isinstance(expr, IndexValue | Constant)
    assert not any(isinstance(node, Read) for node in walk(expr))


def test_a_wrapping_index_value_is_not_folded() -> None:
    text = "void f(long a[8]) { for (unsigned i = 0; i < 8; i++) a[i] = i - 1; }"
    assert isinstance(scop_of(text).statements[0].expr, Cast)


# Control.


def test_loops_are_as_written() -> None:
    scop = scop_of("""
        void f(int a[64]) {
          for (int i = 3; i <= 9; i += 2)
            for (int j = 2 * i; j > i - 1; j -= 3) a[i + j] = 1;
        }""")
    outer, inner = scop.statements[0].loops
    assert (str(outer.start), str(outer.stop), outer.step) == ("3", "10", 2)
    assert (str(inner.start), str(inner.stop), inner.step) == ("2*i", "i - 1", -3)


def test_conditions_become_nodes_and_sure_ones_vanish() -> None:
    scop = scop_of("""
        void f(int a[8]) {
          for (int i = 0; i < 8; i++) {
            if (i >= 0 && i < 5) a[i] = 1;
            if (i < 8) a[i] = 2;
          }
        }""")
    conditions = [node for node in walk_tree(scop.tree) if isinstance(node, ConditionNode)]
    assert [[str(c) for c in node.conditions] for node in conditions] == [["-i + 4"]]
    assert [len(statement.conditions) for statement in scop.statements] == [1, 0]


def test_cases_of_a_condition_repeat_the_statement() -> None:
    scop = scop_of("""
        void f(int a[8], int b[8]) {
          for (int i = 0; i < 8; i++) { if (i == 3) a[i] = 1; else a[i] = 2; b[i] = 3; }
        }""")
    assert [statement.name for statement in scop.statements] == ["S0", "S1", "S1_1", "S2"]
    assert [[str(c) for c in s.conditions] for s in scop.statements] == [
        ["i - 3", "-i + 3"],
        ["-i + 2"],
        ["i - 4"],
        [],
    ]


def test_an_unsigned_difference_is_affine_where_a_loop_or_condition_keeps_it_positive() -> None:
    scop = scop_of("""
        void f(int a[8][8]) {
          for (unsigned i = 0; i < 8; i++)
            for (unsigned j = i; j < 8; j++) { a[i][j - i] = 1; if (i > 1) a[i - 2][j] = 2; }
        }""")
    assert [str(s.write) for s in scop.statements] == ["a[i][-i + j]", "a[i - 2][j]"]


def test_a_loop_without_statements_leaves_no_node() -> None:
    scop = scop_of("void f(int a[8]) { for (int i = 0; i < 8; i++) { ; } a[0] = 1; }")
    assert not any(isinstance(node, LoopNode) for node in walk_tree(scop.tree))


def test_a_dead_initial_value_of_a_counter_is_no_statement() -> None:
    scop = scop_of("""
        void f(int a[8]) {
          int i = 0, s = a[3];
          for (i = 0; i < 8; i++) a[i] = s;
          { int i = a[5]; a[0] = i; }
        }""")
    assert [str(statement.write) for statement in scop.statements] == ["s", "a[i]", "i_1", "a[0]"]


# Options and selection.

TWO = """
void f(int a[8]) { a[0] = 1; }
void g(int a[8]) {
#pragma scop
  a[1] = 2;
#pragma endscop
}
"""


def test_the_function_is_the_named_or_the_marked_one() -> None:
    assert parse_text(TWO).scop.name == "g"
    assert parse_text(TWO, function="f").scop.name == "f"


def test_definitions_are_macros_or_values_of_parameters() -> None:
    text = """
        #ifndef M
        #define M 2
        #endif
        void f(int n, int a[n][M], int k) { for (int i = 0; i < n; i++) a[i][M - 1] = n + k; }"""
    scop = scop_of(text, {"n": "0x10", "M": "3"})
    assert scop.array("a").shape == (16, 3)
    assert [scalar.name for scalar in scop.scalars] == ["k"]


def test_a_returned_variable_is_named_and_an_expression_gets_a_statement() -> None:
    assert scop_of("int f(int a[8]) { int s = a[0]; return s; }").returned == "s"
    scop = scop_of("int f(int a[8]) { return a[0] + 1; }")
    assert scop.returned == "return_value"
    assert scop.array("return_value").shape == ()


def test_all_errors_of_a_file_are_reported_in_order_of_the_text() -> None:
    with pytest.raises(FrontendError) as caught:
        scop_of(
            "void f(long double x[2], int a[8]) {\n  a[b] = 1;\n  a[0][1] = 2;\n  a[c] = x[0];\n}\n"
        )
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [
        "E0108",
        "E0107",
        "E0128",
        "E0107",
    ]


def test_sources_come_with_the_error() -> None:
    with pytest.raises(SubscriptCount) as caught:
        scop_of("void f(int a[8]) { a[1][0] = 1; }")
    assert "^^^^" in caught.value.diagnostic.render(caught.value.sources)


def test_a_program_parsed_twice_is_equal() -> None:
    def parsed() -> ParsedProgram:
        return parse_text(TWO)

    assert parsed() == parsed()
