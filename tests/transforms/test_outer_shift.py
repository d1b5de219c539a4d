"""The exact shift is the one that MF3's binary search finds, on every dependence.

Outer loop shifting gives one perfect nest with the smallest shifts, or says why it cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

import rtlgen
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.schedule import FlatDim, ScalarDim, Schedule
from rtlgen.ir.sets import ScopSets
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, analyse
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.errors import OuterShiftRefused
from rtlgen.poly.legality import find_violation
from rtlgen.transforms.outer_shift import (
    exact_shift,
    ols_applicability,
    outer_loop_shift,
)
from tests.poly.sources import EXAMPLE_NAMES, EXAMPLES, SMALL, analysed, example, pairs_of


def binary_search_shift(
    sets: ScopSets, dependence: Dependence, source: FlatDim, sink: FlatDim, together: bool
) -> int:
    """Return the same number as `exact_shift`, by MF3's binary search over legality."""

    def legal(shift: int) -> bool:
        before = sets.time_map(sets.scop.statement(dependence.source), [source.rank])
        after = sets.time_map(sets.scop.statement(dependence.sink), [sink.rank + shift])
        wrong = before.lex_gt_map(after) if together else before.lex_ge_map(after)
        disjoint: bool = dependence.relation.intersect(wrong).is_empty()
        return disjoint

    # Every rank lies in 0 .. count - 1, so these bounds are illegal and legal for certain.
    low, high = -sink.count - 1, source.count + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if legal(middle) else (middle, high)
    return high


@pytest.mark.parametrize("name", [*EXAMPLE_NAMES, *SMALL])
def test_both_methods_agree(name: str) -> None:
    analysis = analysed(SMALL[name]) if name in SMALL else example(name)
    flats = {
        s.name: FlatDim(analysis.scop.schedule.loops(s.name)) for s in analysis.scop.statements
    }
    assert analysis.dependences
    for d in analysis.dependences:
        for together in (False, True):
            arguments = (analysis.sets, d, flats[d.source], flats[d.sink], together)
            assert exact_shift(*arguments) == binary_search_shift(*arguments)


@pytest.mark.parametrize("name", SMALL)
def test_the_exact_shift_is_the_largest_gap_of_any_pair(name: str) -> None:
    analysis = analysed(SMALL[name])
    scop = analysis.scop
    for d in analysis.dependences:
        source, sink = (FlatDim(scop.schedule.loops(n)) for n in (d.source, d.sink))
        a, b = scop.statement(d.source).iterators, scop.statement(d.sink).iterators
        gaps = [
            source.rank.evaluate(dict(zip(a, p, strict=True)))
            - sink.rank.evaluate(dict(zip(b, q, strict=True)))
            for p, q in pairs_of(d.relation)
        ]
        assert exact_shift(analysis.sets, d, source, sink, True) == max(gaps)
        assert exact_shift(analysis.sets, d, source, sink, False) == max(gaps) + 1


def test_the_shift_of_mms_d_is_26() -> None:
    analysis = example("mms_d")
    flats = [FlatDim(analysis.scop.schedule.loops(name)) for name in ("S0", "S1")]
    (d,) = (d for d in analysis.dependences if (d.source, d.sink, d.kind) == ("S0", "S1", "flow"))
    assert exact_shift(analysis.sets, d, flats[0], flats[1], True) == 26


SQUARE = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++)"
ROW = "for (int i = 0; i < 8; i++)"

DOCUMENT = f"{SQUARE} x[i] += a[i][j];\n{SQUARE} y[i] += b[i][j] + x[i];"
NESTED = """for (int r = 0; r < 8; r++) {
  for (int p = 0; p < 8; p++) x[p] = a[r][p] * 3;
  for (int p = 0; p < 8; p++) { a[r][p] = x[7 - p] + y[p]; y[p] += a[r][p]; }
}"""


def program(body: str) -> str:
    return f"void k(int a[8][8], int b[8][8], int x[8], int y[8])\n{{\n{body}\n}}\n"


def analysis_of(body: str) -> Analysis:
    return analyse(parse_text(program(body)))


def shifted(analysis: Analysis) -> dict[str, FlatDim]:
    verdict = ols_applicability(analysis.scop, analysis.sets, analysis.dependences)
    return outer_loop_shift(analysis.sets, analysis.dependences, verdict)


def is_legal(analysis: Analysis, flats: Mapping[str, FlatDim]) -> bool:
    places = {statement.name: n for n, statement in enumerate(analysis.scop.statements)}
    schedule = Schedule({name: (flat, ScalarDim(places[name])) for name, flat in flats.items()})
    return find_violation(analysis.sets, analysis.dependences, schedule) is None


def test_the_example_of_the_document_is_shifted_by_one_row() -> None:
    # x[0] is complete at the end of row 0, so the second nest is one iteration of i behind.
    flats = shifted(analysis_of(DOCUMENT))
    assert [flat.shift for flat in flats.values()] == [0, 8]


def test_a_statement_under_a_condition_stands_behind_the_loop_before_it() -> None:
    analysis = analysis_of(
        f"{ROW} {{ for (int j = 0; j < 8; j++) x[j] += i; if (i > 2) y[i] = x[i]; }}"
    )
    flats = shifted(analysis)
    assert flats["S1"].loops[1].at == 7
    assert is_legal(analysis, flats)


@pytest.mark.parametrize(
    ("name", "rows"), [("mms", (0, 1)), ("gemver", (0, 7, 8, 15)), ("mvt", (0, 0))]
)
def test_shifts_are_whole_iterations_of_the_outermost_loop(
    name: str, rows: tuple[int, ...]
) -> None:
    flats = shifted(example(name)).values()
    inner = next(iter(flats)).count // 8
    assert tuple(flat.shift / inner for flat in flats) == rows


@pytest.mark.parametrize("name", ["mms", "gemver"])
def test_one_row_less_breaks_a_dependence(name: str) -> None:
    analysis = example(name)
    flats = shifted(analysis)
    assert is_legal(analysis, flats)
    for statement, flat in flats.items():
        if flat.shift:
            earlier = replace(flat, shift=flat.shift - flat.count // 8)
            assert not is_legal(analysis, {**flats, statement: earlier})


def test_a_shallow_nest_runs_in_the_first_iteration_of_the_loops_it_lacks() -> None:
    flats = shifted(analysis_of(f"{SQUARE} x[i] += a[j][i];\n{ROW} x[i] += y[i];"))
    assert [str(loop) for loop in flats["S1"].loops] == ["i<8", "pad@0<8"]
    assert flats["S1"].shift == 8


def test_statements_beside_an_inner_loop_keep_their_side_of_it() -> None:
    body = "{ x[i] = 0; for (int j = 0; j < 6; j++) x[i] += a[i][j]; x[i] *= 3; }"
    flats = shifted(analysis_of(f"{ROW} {body}"))
    assert [str(flat.loops[1]) for flat in flats.values()] == ["pad@0<6", "j<6", "pad@5<6"]


def test_triangles_run_over_their_bounding_boxes() -> None:
    lower = "for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++)"
    analysis = analysis_of(f"{lower} a[i][j] += 1;\n{lower} b[i][j] += a[i][i - j];")
    flats = shifted(analysis)
    assert [flat.count for flat in flats.values()] == [64, 64]
    assert flats["S1"].shift == 8
    assert is_legal(analysis, flats)


def test_nests_inside_a_loop_get_their_room_in_every_iteration_of_it() -> None:
    analysis = analysis_of(NESTED)
    flats = shifted(analysis)
    assert [(flat.loops[1].at, flat.loops[1].extent) for flat in flats.values()] == [
        (0, 15), (-7, 15), (-7, 15),
    ]  # fmt: skip
    assert is_legal(analysis, flats)


@pytest.mark.parametrize(
    ("body", "message", "line"),
    [
        (f"{ROW} x[i] += 1;\ny[0] = x[7];\n{ROW} x[i] += y[i];", "adjacent", 4),
        (f"{ROW} x[i] = i;\n{ROW} {{ y[i] = 0; for (int j = 0; j < 8; j++) y[i] += x[j]; }}",
         "perfect", 4),
        (f"{ROW} x[i] = i;\n{ROW.replace('8', '7')} y[i] += x[i];", "of equal trip counts", 4),
    ],
)  # fmt: skip
def test_a_broken_restriction_is_named_with_its_line(body: str, message: str, line: int) -> None:
    with pytest.raises(OuterShiftRefused, match=f"needs nests that are {message}") as caught:
        compile_program(parse_text(program(body)), CompileOptions(fuse="ols"))
    assert caught.value.diagnostic.labels[0].span.line == line


@pytest.mark.sample("gesummv")
@pytest.mark.simulation
@pytest.mark.parametrize("name", ["mms", "gemver", "gesummv"])
def test_a_shifted_example_is_exact(name: str) -> None:
    outcome = rtlgen.compile(EXAMPLES / name / f"{name}.c", fuse="ols").verify(seed=6)
    assert outcome.failures == ()


@pytest.mark.simulation
def test_shifted_nests_inside_a_loop_are_exact() -> None:
    options = CompileOptions(fuse="ols")
    design = rtlgen.Design(compile_program(parse_text(program(NESTED)), options), options)
    assert design.report()["perfect"]
    assert design.verify(seed=6).failures == ()
