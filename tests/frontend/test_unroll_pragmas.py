"""Pragmas that ask for lanes: the loop that they are about, and what is said of the others."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import ParsedProgram, parse_text
from rtlgen.options import CompileOptions

PROGRAM = """#define TIMES 4
void f(int a[64], int b[64], int c[8][8]) {
  for (int i = 0; i < 64; i++) {
    int t = b[i] * (b[i] + 1);
    %s
    a[i] += t;
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < i; j++) {
      %s
      c[i][j] = 1;
    }
}
"""


def parsed(first: str = "", second: str = "") -> ParsedProgram:
    return parse_text(PROGRAM % (first, second), "program.c")


@pytest.mark.parametrize(
    ("text", "lanes"),
    [
        ("#pragma HLS UNROLL factor=4", 4),
        ("#pragma HLS unroll factor = 2 skip_exit_check", 2),
        ("#pragma HLS UNROLL", None),
    ],
)
def test_a_pragma_is_about_the_loop_around_it(text: str, lanes: int | None) -> None:
    (pragma,) = parsed(text).unrolls
    assert (pragma.loop.line, pragma.lanes) == (3, lanes)
    (pragma,) = parsed("", text).unrolls
    assert (pragma.loop.line, pragma.lanes) == (9, lanes)


def statements(program: ParsedProgram, **options: object) -> int:
    compilation = compile_program(program, CompileOptions(**options))  # type: ignore[arg-type]
    return len(compilation.stages["unroll"].statements)


def test_a_loop_runs_in_the_lanes_that_its_pragma_asks_for() -> None:
    plain = statements(parsed())
    asking = parsed("#pragma HLS UNROLL factor=4", "#pragma HLS UNROLL factor=2")
    assert asking.warnings == parsed().warnings
    assert statements(asking) == (plain - 1) * 4 + 2
    assert statements(asking, unroll={"i": 1}) == plain + 1


@pytest.mark.parametrize(
    ("program", "options", "why"),
    [
        (parsed("", "#pragma HLS UNROLL"), {}, "the loop j has no constant number of iterations"),
        (parsed("#pragma HLS UNROLL factor=4"), {"memory": {"a": "fixed:8"}}, "off chip"),
        (parse_text(PROGRAM % ("", "") + "#pragma HLS UNROLL factor=2\n", "p.c"), {}, "copies"),
        (parsed("#pragma HLS UNROLL factor=TIMES"), {}, "copies of the loop's body"),
    ],
)
def test_a_pragma_that_is_not_followed_is_named_with_the_reason(
    program: ParsedProgram, options: dict[str, object], why: str
) -> None:
    compilation = compile_program(program, CompileOptions(**options))  # type: ignore[arg-type]
    (warning,) = [w for w in compilation.warnings if w.code == "W0113"]
    assert why in warning.labels[0].text
