"""Pragmas that ask for lanes, pipelined loops and banks, and what is said of the others."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import (
    ParsedProgram,
    PartitionPragma,
    PipelinePragma,
    UnrollPragma,
    parse_text,
)
from rtlgen.ir.bank_map import Cut
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions, PartitionWish

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


SUM = """void f(int a[64], int b[64]) {
  for (int i = 0; i < 64; i++) {
#pragma HLS UNROLL factor=4
    a[0] += b[i];
  }
}
"""


UNBUILT = """void f(int a[64]) {
  for (int i = 0; i < 64; i++)
    a[i] = i;
  for (int i = 0; i < 64; i++) {
#pragma HLS UNROLL factor=4
    int t = 1;
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
    for program, line in ((parsed(text), 3), (parsed("", text), 9)):
        (pragma,) = program.pragmas
        assert isinstance(pragma, UnrollPragma)
        assert (pragma.loop.line, pragma.lanes) == (line, lanes)


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("#pragma HLS PIPELINE", None),
        ("#pragma HLS pipeline II = 2 rewind", 2),
        ("#pragma HLS PIPELINE style=flp II=1", 1),
    ],
)
def test_a_loop_or_a_function_is_to_be_pipelined(text: str, interval: int | None) -> None:
    in_function = parse_text("void f(int a[4]) {\n" + text + "\n a[1] += a[0];\n}\n", "p.c")
    for program, line in ((parsed("", text), 9), (in_function, None)):
        (pragma,) = program.pragmas
        assert isinstance(pragma, PipelinePragma)
        assert (pragma.loop and pragma.loop.line, pragma.function) == (line, "f")
        assert pragma.interval_cycles == interval


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("variable=c cyclic factor=4 dim=2", ("c", "cyclic", 2, 4)),
        ("dim=1 type=block factor=2 variable=a", ("a", "block", 1, 2)),
        ("variable=b complete", ("b", "complete", 1, None)),
        ("variable=c dim=0", ("c", "complete", 0, None)),
    ],
)
def test_an_array_is_to_be_in_banks(text: str, wish: tuple[object, ...]) -> None:
    (pragma,) = parsed(f"#pragma HLS ARRAY_PARTITION {text}").pragmas
    assert isinstance(pragma, PartitionPragma)
    assert (pragma.array, pragma.kind, pragma.dim, pragma.count) == wish


def statements(program: ParsedProgram, **options: object) -> int:
    compilation = compile_program(program, CompileOptions(**options))  # type: ignore[arg-type]
    return len(compilation.stages["unroll"].statements)


def test_a_loop_runs_in_the_lanes_that_its_pragma_asks_for() -> None:
    plain = statements(parsed())
    asking = parsed("#pragma HLS UNROLL factor=4", "#pragma HLS UNROLL factor=2")
    assert asking.warnings == parsed().warnings
    assert statements(asking) == (plain - 1) * 4 + 2
    assert statements(asking, unroll={"i": 1}) == plain + 1


PRODUCT = """void f(int a[8][8], int b[8][8], int c[8][8]) {
  %s
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      %s
      for (int k = 0; k < 8; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
}
"""


def product(in_function: str = "", in_loop: str = "") -> ParsedProgram:
    return parse_text(PRODUCT % (in_function, in_loop), "program.c")


def test_the_loops_below_a_pipelined_one_are_unrolled() -> None:
    asking = compile_program(product("", "#pragma HLS PIPELINE II=1"), CompileOptions())
    (stream,) = asking.plan.streams
    assert (stream.instances, stream.ii) == (64, 1)
    assert not asking.warnings


def test_an_array_is_in_the_banks_that_its_pragma_asks_for() -> None:
    text = "#pragma HLS ARRAY_PARTITION variable=a cyclic factor=4 dim=2"
    plan = compile_program(product(text), CompileOptions()).plan
    assert plan.memory("a").cuts == (Cut(1, "cyclic", 4),)
    asked = CompileOptions(partitions={"a": (PartitionWish("block", 1, 2),)})
    compilation = compile_program(product(text), asked)
    assert compilation.plan.memory("a").cuts == (Cut(0, "block", 2),)
    (warning,) = compilation.warnings
    assert "--partition a=block:1:2 is followed instead" in warning.labels[0].text


IN_TURNS = """int f(int a[8]) {
  int s = 1;
  for (int i = 0; i < 8; i++) {
    #pragma HLS PIPELINE II=%d
    s = s / 3 + a[i];
  }
  return s;
}
"""


@pytest.mark.parametrize(("asked", "is_told"), [(1, True), (3, True), (4, False), (5, True)])
def test_an_interval_that_is_another_one_is_told(asked: int, is_told: bool) -> None:
    compilation = compile_program(parse_text(IN_TURNS % asked, "p.c"), CompileOptions())
    (stream,) = (s for s in compilation.plan.streams if s.instances == 8)
    assert stream.ii == 4
    told = [w.labels[0].text for w in compilation.warnings if w.code == "W0113"]
    assert [text.startswith("an iteration begins every 4 cycles: ") for text in told] == (
        [True] if is_told else []
    )


def test_a_sum_in_lanes_has_more_terms_where_its_arrays_are_off_chip() -> None:
    found = compile_program(parse_text(SUM, "p.c"), CompileOptions(memory={"": "axi"}))
    assert not [w for w in found.warnings if w.code == "W0113"]
    assert "lanes of S0 wait for each other: the lanes of i are terms of one sum" in found.limits


@pytest.mark.sample(
    without=(
        "program0-options0-a run may begin every",
        "program11-options11-off chip",
        "program12-options12-the lanes of tiles are those of another loop",
    )
)
@pytest.mark.parametrize(
    ("program", "options", "why"),
    [
        (product("#pragma HLS PIPELINE II=9"), {}, "a run may begin every"),
        (product("", "#pragma HLS PIPELINE II=4"), {}, "an iteration begins in every cycle"),
        (product("", "#pragma HLS PIPELINE off"), {}, "loops are pipelined where"),
        (product("", "#pragma HLS PIPELINE"), {"pipeline": ("k",)}, "--pipeline k is followed"),
        (product("", "#pragma HLS UNROLL factor=2"), {"unroll": {"j": 4}}, "--unroll j is foll"),
        (product("#pragma HLS ARRAY_PARTITION variable=q"), {}, "there is no array q"),
        (
            product("#pragma HLS ARRAY_PARTITION variable=a block factor=9"),
            {},
            "dimension 1 has 8 values, too few for 9 parts",
        ),
        (product("#pragma HLS ARRAY_PARTITION variable=a cyclic"), {}, "it says no factor"),
        (product("#pragma HLS ARRAY_PARTITION dim=1"), {}, "it names no array"),
        (parse_text(PRODUCT.replace("8", "9") % ("#pragma HLS PIPELINE", ""), "p.c"), {}, "lanes"),
        (parsed("", "#pragma HLS UNROLL"), {}, "the loop j has no constant number of iterations"),
        (product("#pragma HLS PIPELINE"), {"memory": {"": "axi"}}, "off chip"),
        (
            product("", "#pragma HLS UNROLL factor=2"),
            {"memory": {"": "axi"}, "unroll": {"j": 4}},
            "the lanes of tiles are those of another loop",
        ),
        (parse_text(UNBUILT, "p.c"), {"memory": {"": "axi"}}, "no loop of it is built"),
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


LINES = """
void lines(const unsigned char in[12][16], int out[12][16]) {
  unsigned char line[2][16];
  unsigned char win[3][3];
#pragma HLS ARRAY_PARTITION variable=line complete dim=1
#pragma HLS ARRAY_PARTITION variable=win complete dim=0
  for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) win[i][j] = 0;
  for (int i = 0; i < 2; i++) for (int j = 0; j < 16; j++) line[i][j] = 0;
  for (int y = 0; y < 12; y++)
    for (int x = 0; x < 16; x++) {
#pragma HLS PIPELINE II=1
      unsigned char px = in[y][x];
      for (int i = 0; i < 3; i++) { win[i][0] = win[i][1]; win[i][1] = win[i][2]; }
      win[0][2] = line[0][x];
      win[1][2] = line[1][x];
      win[2][2] = px;
      line[0][x] = line[1][x];
      line[1][x] = px;
      int sum = 0;
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) sum += win[i][j] * (i - j + 1);
      if (y >= 2 && x >= 2) out[y - 1][x - 1] = sum;
    }
}
"""
"""A window of nine registers, which one loop clears: its statement is in all of their banks."""


@pytest.mark.long
def test_a_pragma_that_cannot_be_followed_drops_no_other_one() -> None:
    compilation = compile_program(parse_text(LINES, "p.c"), CompileOptions())
    (warning,) = [w for w in compilation.warnings if w.code == "W0113"]
    assert "variable=win" in warning.message
    assert "is in several banks of win" in warning.labels[0].text
    assert predicted_cycles(compilation.plan) <= 213
