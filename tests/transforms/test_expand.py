"""Expansion of temporaries: what is expanded, that no value changes, and what it saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rtlgen
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import counted_effort
from rtlgen.ir.sets import ScopSets
from rtlgen.options import CompileOptions, ExpandMode
from rtlgen.planning.analysis import analyse, expanded
from rtlgen.poly.dependences import dataflow, same_values
from rtlgen.transforms.normalise import normalise
from rtlgen.transforms.storage import expand

# The second nest reads rows of what the first one leaves: t keeps them in lockstep.
SHARED = """
void f(int a[8][8], int b[8][8], int c[8]) {
  int t;
  for (int i = 0; i < 8; i++) {
    t = 0;
    for (int j = 0; j < 8; j++) t += a[i][j] * a[j][i];
    c[i] = t / 3;
  }
  for (int i = 0; i < 8; i++) {
    t = 1;
    for (int j = 0; j < 8; j++) t *= a[i][j];
    b[i][0] = t;
  }
}
"""


def shapes(text: str) -> dict[str, tuple[int, ...]]:
    """Return the local arrays of a program after expansion."""
    analysis = analyse(parse_text(text, "program.c"))
    wider = next(expanded(analysis), None)
    scop = analysis.scop if wider is None else wider.scop
    return {array.name: array.shape for array in scop.arrays if array.storage == "local"}


def test_a_scalar_gets_an_element_for_each_iteration_and_a_name_for_each_loop() -> None:
    assert shapes(SHARED) == {"t_0": (8,), "t_1": (8,)}


NAMED = """void f(const int x[8], int t_0, int y[8]) {
  int t, t_2[8];
  for (int t_1 = 0; t_1 < 8; t_1++) { t = x[t_1] * t_0; y[t_1] = t + t; }
  for (int i = 0; i < 8; i++) { t_2[i] = x[i]; t = x[7 - i]; y[i] += t * t; }
  for (int i = 0; i < 8; i++) { t = y[7 - i]; y[i] ^= t * t; }
}"""


def test_a_new_name_is_none_of_the_program() -> None:
    """None of a scalar, of an iterator, or of what only statements without an effect use."""
    plan = compile_program(parse_text(NAMED, "f.c"), CompileOptions(expand="always")).plan
    assert {memory.name for memory in plan.memories} == {"x", "y", "t_0_", "t_1_", "t_2_"}


def test_a_value_that_outlives_an_iteration_keeps_its_memory() -> None:
    text = "int f(int a[8]) { int s = 0; for (int i = 0; i < 8; i++) s += a[i]; return s; }"
    assert shapes(text) == {"s": ()}


def test_a_value_that_the_next_iteration_reads_keeps_its_memory_where_each_steps_over_others() -> (
    None
):
    text = """void f(const int a[4], int b[8]) { int word = 0, place = 0;
      for (int i = 0; i < 8; i++) {
        int t;
        if (i % 2) t = word & 15;
        else { word = a[place]; place++; t = word >> 4; }
        b[i] = t;
      } }"""
    assert shapes(text) == {"word": (), "t": (8,)}


def test_only_loops_that_carry_no_value_expand_an_array() -> None:
    text = """void f(int a[4][6]) { int row[6];
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 6; j++) row[j] = a[i][5 - j];
        for (int j = 0; j < 6; j++) a[i][j] = row[j] + 1;
      } }"""
    assert shapes(text) == {"row": (4, 6)}


def test_a_loop_that_the_element_tells_expands_nothing() -> None:
    text = """void f(int a[4][6], int b[4][6]) { int t[4][6], row[6];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) { t[i][j] = a[i][5 - j]; b[i][j] = t[i][j] * t[i][j]; }
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) { row[5 - j] = a[i][j]; b[i][j] += row[5 - j] / 3; } }"""
    assert shapes(text) == {"t": (4, 6), "row": (4, 6)}


def in_elements(text: str, most: int) -> dict[str, tuple[int, ...]]:
    """Return the local arrays after an expansion to at most so many `int`s each."""
    analysis = analyse(parse_text(text, "program.c"))
    written = expand(analysis.written, analysis.sets, analysis.flows, 32 * most).scop
    after = ScopSets(normalise(written), analysis.sets)
    assert same_values(analysis.flows, dataflow(after))
    return {array.name: array.shape for array in written.arrays if array.storage == "local"}


def test_iterations_of_outer_loops_take_turns_where_there_are_too_many_elements() -> None:
    text = """void f(int a[6][5], int b[6][5]) { int s, row[3];
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++) {
          s = 0;
          for (int k = 0; k < 3; k++) { row[k] = a[i][j] * k; s += row[k]; }
          b[i][j] = s;
        } }"""
    assert in_elements(text, 90) == {"s": (6, 5), "row": (6, 5, 3)}
    assert in_elements(text, 89) == {"s": (6, 5), "row": (5, 3)}
    assert in_elements(text, 15) == {"s": (5,), "row": (5, 3)}
    assert in_elements(text, 5) == {"s": (5,), "row": (3,)}
    assert in_elements(text, 4) == {"s": (), "row": (3,)}


@pytest.mark.long
@pytest.mark.simulation
def test_sums_of_an_image_need_not_wait_for_each_other_where_iterations_take_turns() -> None:
    """The sum of one pixel is begun while that of the one before is still on its way."""
    text = """void f(const unsigned char in[131][131], unsigned char out[130][130]) {
      for (int y = 0; y < 130; y++)
        for (int x = 0; x < 130; x++) {
          int s = 0;
          for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) { int p = in[y + i][x + j]; s += p * (i + 2 * j + 1); }
          int m = s < 0 ? -s : s;
          out[y][x] = m > 255 ? 255 : m;
        } }"""
    design = rtlgen.compile(source=text)
    sums = design.compilation.analysis.scop.array("s")
    assert sums.shape == (130,), "there are more pixels than elements that a sum may have"
    pixels = 130 * 130
    assert 4 * pixels <= predicted_cycles(design.plan) <= 4 * pixels + 20
    result = design.verify()
    assert not result.failures and result.cycles == predicted_cycles(design.plan)


def test_writes_that_nobody_reads_are_not_expanded() -> None:
    text = """void f(int a[8]) { int t[8];
      for (int i = 0; i < 8; i++) t[i] = a[i];
      for (int i = 0; i < 4; i++) { for (int j = 0; j < 2; j++) t[j] = j; a[i] = t[2]; } }"""
    assert shapes(text) == {"t": (8,)}


def test_loops_that_do_not_begin_at_zero_or_run_down_are_indexed_from_their_smallest_value() -> (
    None
):
    text = """void f(int a[9], int b[9]) { int t;
      for (int i = 7; i >= 3; i--) { t = a[i]; b[i] = t * t + t; } }"""
    assert shapes(text) == {"t": (5,)}
    compilation = compile_program(parse_text(text, "p.c"), CompileOptions(expand="always"))
    assert compilation.replayed


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_an_expansion_is_used_where_it_saves_cycles(mode: ExpandMode) -> None:
    program = parse_text(SHARED, "program.c")
    narrow = compile_program(program, CompileOptions(expand="never"))
    wide = compile_program(program, CompileOptions(expand=mode))
    assert wide.analysis.expansions and not narrow.analysis.expansions
    assert predicted_cycles(wide.plan) < predicted_cycles(narrow.plan)


def test_an_expansion_that_saves_nothing_is_not_made() -> None:
    text = """void f(int a[8], int b[8]) { int t;
      for (int i = 0; i < 8; i++) { t = a[i] + 1; b[i] = t; } }"""
    assert not compile_program(parse_text(text, "p.c"), CompileOptions()).analysis.expansions


def test_the_judge_notices_when_a_value_changes() -> None:
    program = parse_text(SHARED, "program.c")
    analysis = analyse(program)
    wide = expand(program.scop, analysis.sets, analysis.flows).scop
    sets = ScopSets(normalise(program.scop))
    before = dataflow(sets)
    right = dataflow(ScopSets(normalise(wide), sets))
    assert same_values(before, right)
    # Read the element of the iteration before: a program with other values.
    first = next(s for s in wide.statements if s.reads and s.reads[0].array == "t_0")
    access = first.reads[0]
    (subscript,) = access.subscripts
    assert isinstance(subscript, Affine)
    moved = replace(access, subscripts=(subscript - 1,))
    spoilt = replace(first, reads=(moved, *first.reads[1:]))
    statements = tuple(spoilt if s is first else s for s in wide.statements)
    wrong = replace(wide, statements=statements)
    assert not same_values(before, dataflow(ScopSets(normalise(wrong), sets)))


def test_statements_that_never_run_are_no_hindrance() -> None:
    text = """void f(int a[8], int b[6]) { int g[6];
      for (int z = 0; z < 6; z++) g[z] = z;
      for (int i = 0; i < 6; i += 2) {
        if (2 * i == 5) a[2] = g[5 - i];
        else { g[2] = g[1] < a[i] ? b[i] : 7; a[i] = g[2]; }
      } }"""
    compiled = compile_program(parse_text(text), CompileOptions(expand="always"))
    assert compiled.replayed
    assert "S1" not in [s.name for s in compiled.stages["expand"].statements]


def test_steps_grow_with_the_temporaries_not_with_their_square() -> None:
    def steps(count: int) -> int:
        body = "".join(f"t{n} = t{n - 1} * 3 + a[i];" for n in range(1, count))
        names = ", ".join(f"t{n}" for n in range(count))
        text = (
            f"void f(const int a[8], int b[8]) {{ int {names};"
            f" for (int i = 0; i < 8; i++) {{ t0 = a[i]; {body} b[i] = t{count - 1}; }} }}"
        )
        analysis = analyse(parse_text(text, "program.c"))
        with counted_effort() as tally:
            assert next(expanded(analysis), None) is not None
        return tally.steps

    assert steps(40) < 3 * steps(20)


def test_strided_statements_that_run_in_all_iterations_have_elements_in_all_of_them() -> None:
    # In a cycle with what runs in every iteration, `++y` of the even ones runs in all of them, and
    # leaves y as it is in the odd ones: in elements of these.
    text = """int f(int a[256]) { int x = 1, y = 1; for (int i = 0; i < 10; i++) {
      if (i % 2 == 0) { if (++y == 6) { y = 0; { int t = y; y = x; x = t; } } } else y++;
      a[x + 16] = a[y + 16] * 3 + y;
      if ((y & 4) == 1) { x = x == 3 ? 1 : x + 1; } else y++; } return y; }"""
    compilation = compile_program(parse_text(text, "program.c"), CompileOptions(expand="always"))
    analysis = compilation.analysis
    assert analysis.kept and analysis.expansions
    assert compilation.replayed
    for statement in analysis.scop.statements:
        for access in (statement.write, *statement.reads):
            touched = analysis.sets.access_map(statement, access).range()
            shape = analysis.scop.array(access.array).shape
            for dim, extent in enumerate(shape):
                assert touched.dim_min_val(dim).to_python() >= 0
                assert touched.dim_max_val(dim).to_python() < extent
