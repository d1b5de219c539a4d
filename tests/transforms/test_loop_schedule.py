"""Programs in the loops of a scheduler, tiled and skewed: the same instances, in a legal order."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.options import CompileOptions, LoopOptions, Scheduler
from rtlgen.planning.analysis import Analysis
from rtlgen.poly.correspondence import correspondence, moved_dependences
from rtlgen.poly.dependences import memory_dependences
from rtlgen.poly.edges import marked, schedule_edges
from rtlgen.poly.errors import IllegalSchedule, NothingToTile, RewriteUnsound
from rtlgen.poly.legality import require_legal
from rtlgen.poly.schedule_tree import Band, Leaf, Node, Part, Row, Sequence, bands_of, loop_rows
from rtlgen.transforms.loop_schedule import (
    Scheduled,
    inner_wavefront,
    schedule_loops,
    tile,
    wavefront,
)
from rtlgen.transforms.reschedule import reschedule
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.poly.enumeration import Instance, instances
from tests.poly.sources import SMALL, analysed, pairs_of
from tests.poly.stencils import STENCILS, stencil

OPTIONS = {
    "pluto": LoopOptions("pluto"),
    "max": LoopOptions("pluto", fusion="max"),
    "no": LoopOptions("pluto", fusion="no"),
    "isl": LoopOptions("isl"),
    "feautrier": LoopOptions("feautrier"),
    "wavefront": LoopOptions("pluto", wavefront=True),
    "inner wavefront": LoopOptions("pluto", inner_wavefront=True),
    "strips": LoopOptions("pluto", tile=(3,)),
    "tiles": LoopOptions("pluto", tile=(3, 2)),
    "tiled wavefronts": LoopOptions("pluto", tile=(2, 3), wavefront=True),
    "tiled isl": LoopOptions("isl", tile=(2, 2)),
}


def brought(analysis: Analysis, options: LoopOptions) -> Scheduled:
    found = schedule_loops(analysis.sets, analysis.dependences, analysis.flows, options)
    assert found is not None
    return found


def assert_same_result(before: Scop, after: Scop) -> None:
    """Run both versions of a program on the same data."""
    inputs = random_inputs(before, 3)
    first = run_golden(before, inputs, engine="interpreter")
    second = run_golden(after, inputs, engine="interpreter")
    comparison = compare_memories(first.arrays, second.arrays)
    assert comparison.mismatches == 0, comparison.text()
    assert first.returned == second.returned


@pytest.mark.sample(
    without=(
        "fdtd_2d-inner wavefront",
        "fdtd_2d-tiled wavefronts",
        "fdtd_2d-wavefront",
        "fdtd_2d-strips",
        "fdtd_2d-max",
    ),
    every=3,
)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", [*STENCILS, *SMALL])
def test_a_program_in_other_loops_computes_the_same(name: str, options: LoopOptions) -> None:
    analysis = analysed(SMALL.get(name) or stencil(name, 6, 3))
    try:
        found = brought(analysis, options)
    except NothingToTile:
        assert options.tile
        return
    for scop in found.stages.values():
        assert_same_result(analysis.program.scop, scop)


@pytest.mark.parametrize("name", [*STENCILS, *SMALL])
def test_the_dependences_are_those_of_the_new_order(name: str) -> None:
    analysis = analysed(SMALL.get(name) or stencil(name, 5, 2))
    found = brought(analysis, LoopOptions("pluto"))
    moved = {(d.source, d.sink, d.source_read, d.sink_read): d for d in found.dependences}
    computed = memory_dependences(found.sets)
    assert len(moved) == len(found.dependences) == len(computed)
    for d in computed:
        same = moved[d.source, d.sink, d.source_read, d.sink_read]
        assert pairs_of(d.relation) == pairs_of(same.relation)
        assert (d.source_access, d.sink_access) == (same.source_access, same.sink_access)


def order(scop: Scop) -> list[tuple[str, tuple[int, ...]]]:
    """Return the instances in the order of the program, by their C iterators."""
    return [(i.statement, c_iterators(scop, i)) for i in instances(scop)]


def c_iterators(scop: Scop, instance: Instance) -> tuple[int, ...]:
    statement = scop.statement(instance.statement)
    values = dict(zip(statement.iterators, instance.point, strict=True))
    return tuple(form.evaluate(values) for form in statement.origin)


def test_tiles_run_one_after_another() -> None:
    analysis = analysed(stencil("transposed", 7))
    tiled = brought(analysis, LoopOptions("pluto", tile=(3, 2)))
    found = [(i + j, i) for _, (i, j) in order(tiled.sets.scop)]
    tiles = [(s // 3, i // 2) for s, i in found]
    assert tiles == sorted(tiles)
    assert len(set(tiles)) > 4


def test_wavefronts_run_one_after_another_and_are_parallel_inside() -> None:
    analysis = analysed(stencil("transposed", 7))
    found = brought(analysis, LoopOptions("pluto", tile=(3, 2), wavefront=True))
    scop = found.sets.scop
    fronts = [(i + j) // 3 + i // 2 for _, (i, j) in order(scop)]
    assert fronts == sorted(fronts)
    tile_of = {p: (c[0] + c[1]) // 3 for p, c in every_point(scop).items()}
    front_of = {p: (c[0] + c[1]) // 3 + c[0] // 2 for p, c in every_point(scop).items()}
    for d in found.dependences:
        for p, q in pairs_of(d.relation):
            assert front_of[p] < front_of[q] or tile_of[p] == tile_of[q]


def every_point(scop: Scop) -> dict[tuple[int, ...], tuple[int, ...]]:
    return {i.point: c_iterators(scop, i) for i in instances(scop)}


def test_a_tiled_program_is_written_as_the_literature_writes_it() -> None:
    analysis = analysed(stencil("transposed", 16))
    statement = brought(
        analysis, LoopOptions("pluto", tile=(8, 8), wavefront=True)
    ).sets.scop.statements[0]
    assert str(statement.write) == "a[t3][-t3 + t4]"
    assert list(map(str, statement.reads)) == ["a[-t3 + t4][t3]", "a[t3][-t3 + t4 - 1]"]


def test_rows_that_skip_times_keep_the_missing_iterator() -> None:
    analysis = analysed(
        "void f(int a[9], int b[9]) {\n"
        "  for (int i = 0; i < 9; i++) a[i] = i;\n"
        "  for (int j = 0; j < 9; j++) b[j] = a[j] * 3; }"
    )
    i, j = Affine.variable("i"), Affine.variable("j")
    tree = Band(
        (Row.of({"S0": i * 2, "S1": j * 2 + 1}),), False, Sequence((Leaf("S0"), Leaf("S1")))
    )
    scop = reschedule(analysis.sets, tree)
    assert [name for name, _ in order(scop)] == ["S0", "S1"] * 9
    assert [s.iterators for s in scop.statements] == [("t1", "t2"), ("t1", "t2")]
    correspondence(analysis.sets, ScopSets(scop, analysis.sets))
    assert_same_result(analysis.program.scop, scop)


def test_new_iterators_keep_clear_of_the_names_of_the_program() -> None:
    analysis = analysed(
        "void f(int t1[4], int tt2[4]) { for (int i = 0; i < 4; i++) t1[i] = tt2[i]; }"
    )
    scop = brought(analysis, LoopOptions("pluto")).sets.scop
    assert scop.statements[0].iterators == ("ttt1",)


def test_negative_times_are_counted_from_zero() -> None:
    analysis = analysed(
        "void f(int a[5][5]) {\n"
        "  for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) a[i][j] = i; }"
    )
    i, j = Affine.variable("i"), Affine.variable("j")
    tree = Band((Row.of({"S0": i - j}), Row.of({"S0": -j})), False, Leaf("S0"))
    scop = reschedule(analysis.sets, tree)
    assert order(scop)[0] == ("S0", (0, 4))
    assert_same_result(analysis.program.scop, scop)


def test_an_illegal_row_is_refused_with_both_instances() -> None:
    analysis = analysed(stencil("transposed", 6))
    turned = Band(
        (Row.of({"S0": Affine.variable("j")}), Row.of({"S0": Affine.variable("i")})),
        False,
        Leaf("S0"),
    )
    after = ScopSets(reschedule(analysis.sets, turned), analysis.sets)
    moved = moved_dependences(analysis.dependences, after, correspondence(analysis.sets, after))
    with pytest.raises(IllegalSchedule) as caught:
        require_legal(after, moved, after.scop.schedule, "interchanging loops")
    assert "S0(" in caught.value.diagnostic.render(analysis.program.sources)


def spoilt(scop: Scop, kind: str) -> Scop:
    first, *others = scop.statements
    match kind:
        case "lost":
            broken = replace(first, conditions=(*first.conditions, Affine.variable("t1") - 3))
        case "doubled":
            broken = replace(first, origin=(first.origin[0], Affine()))
        case "moved read":
            access = first.reads[0]
            shifted = replace(access, subscripts=(access.subscripts[0], Affine()))
            broken = replace(first, reads=(shifted, *first.reads[1:]))
        case _:
            raise ValueError(kind)
    return replace(scop, statements=(broken, *others))


@pytest.mark.parametrize("kind", ["lost", "doubled", "moved read"])
def test_a_spoilt_change_of_iterators_is_noticed(kind: str) -> None:
    analysis = analysed(stencil("transposed", 6))
    scop = brought(analysis, LoopOptions("pluto")).sets.scop
    with pytest.raises(RewriteUnsound):
        correspondence(analysis.sets, ScopSets(spoilt(scop, kind), analysis.sets))


def test_tiling_needs_a_band_that_is_deep_enough() -> None:
    analysis = analysed(stencil("jacobi_1d", 6, 3))
    with pytest.raises(NothingToTile, match="no 3 loops"):
        brought(analysis, LoopOptions("pluto", tile=(2, 2, 2)))


SHORTEST_PATHS = """
void shortest_paths(int p[8][8]) {
  for (int k = 0; k < 8; k++)
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        p[i][j] = p[i][k] + p[k][j];
}
"""


def test_the_dependence_that_forbids_tiles_is_named_with_two_of_them() -> None:
    analysis = analysed(SHORTEST_PATHS)
    with pytest.raises(NothingToTile, match="no 3 loops") as refusal:
        brought(analysis, LoopOptions("pluto", tile=(4, 4, 4)))
    told = refusal.value.diagnostic
    assert [label.span.line for label in told.labels] == [6, 6]
    found = [re.search(r"by S0\((\d),(\d),(\d)\) in tile", label.text) for label in told.labels]
    late, early = (tuple(int(n) // 4 for n in match.groups()) for match in found if match)
    # The one that C runs first is in the later tile.
    assert late < early
    assert str(early) in told.notes[-1].partition(" before ")[0]
    assert str(late) in told.notes[-1].partition(" before ")[2]


def tree_of(name: str) -> tuple[Scop, Node]:
    analysis = analysed(stencil(name, 8, 3))
    tree = brought(analysis, LoopOptions("pluto")).tree
    return analysis.scop, tree


def test_tile_loops_stand_around_the_loops_of_the_band() -> None:
    tiled = tile(*tree_of("jacobi_1d"), (4, 8))
    assert [row.text("S0") for row in loop_rows(tiled, "S0")] == [
        "floord(t, 4)",
        "floord(i + 2*t, 8)",
        "t",
        "i + 2*t",
    ]


def test_a_wavefront_is_the_sum_of_the_loops_of_its_band() -> None:
    analysis = analysed(stencil("jacobi_1d", 8, 6))
    skewed = brought(analysis, LoopOptions("pluto", tile=(4, 8), wavefront=True)).final
    outer = next(bands_of(skewed))
    assert [row.text("S1") for row in outer.rows] == [
        "floord(t, 4) + floord(j + 2*t + 1, 8)",
        "floord(j + 2*t + 1, 8)",
    ]
    assert [row.mark for row in outer.rows] == ["sequential", "parallel"]


def test_an_inner_wavefront_leaves_the_outer_loops_alone() -> None:
    analysis = analysed(stencil("seidel_2d", 7, 3))
    plain = next(bands_of(brought(analysis, LoopOptions("pluto")).final))
    skewed = next(bands_of(brought(analysis, LoopOptions("pluto", inner_wavefront=True)).final))
    first, second, third = (row.text("S0") for row in plain.rows)
    assert [row.text("S0") for row in skewed.rows] == [first, f"{second} + {third}", third]
    assert [row.mark for row in plain.rows] == ["pipeline"] * 3
    assert [row.mark for row in skewed.rows] == ["pipeline", "pipeline", "parallel"]


def test_tiles_of_a_parallel_loop_may_depend_on_each_other() -> None:
    # Each row needs the row before it at a distance: j is parallel, but not its tiles.
    analysis = analysed(
        "void f(int a[6][9]) {"
        "  for (int i = 1; i < 6; i++) for (int j = 1; j < 9; j++) a[i][j] = a[i - 1][j - 1]; }"
    )
    i, j = Affine.variable("i"), Affine.variable("j")
    tree = Band((Row.of({"S0": i}), Row.of({"S0": j})), True, Leaf("S0"))
    edges = schedule_edges(analysis.sets, analysis.flows)
    own = marked(analysis.sets, edges, tree)
    assert [row.mark for row in next(bands_of(own)).rows] == ["pipeline", "parallel"]
    tiled = marked(analysis.sets, edges, tile(analysis.scop, own, (2, 2)))
    assert [row.mark for row in next(bands_of(tiled)).rows] == ["pipeline", "pipeline"]


def test_a_band_with_a_parallel_loop_is_not_skewed() -> None:
    _, tree = tree_of("blur")
    assert wavefront(tree) == tree
    assert inner_wavefront(tree) == tree


@pytest.mark.parametrize("size", [0, -1])
def test_a_tile_has_an_iteration(size: int) -> None:
    with pytest.raises(ValueError, match="tile of"):
        Part({}, size)


def test_without_a_scheduler_a_program_keeps_its_loops() -> None:
    analysis = analysed(stencil("blur", 6))
    assert (
        schedule_loops(analysis.sets, analysis.dependences, analysis.flows, LoopOptions()) is None
    )


def test_tiles_imply_pluto() -> None:
    assert LoopOptions(tile=(4,)).chosen == LoopOptions(wavefront=True).chosen == "pluto"
    assert LoopOptions("isl", tile=(4,)).chosen == "isl"
    assert LoopOptions().chosen is None


def test_every_pass_of_a_compilation_can_be_looked_at() -> None:
    options = CompileOptions(scheduler="pluto", tile=(4, 4), wavefront=True)
    compiled = compile_program(parse_text(stencil("transposed", 8), "program.c"), options)
    loops = {name: len(scop.statements[0].loops) for name, scop in compiled.stages.items()}
    assert loops["normalise"] == loops["reschedule"] == 2
    assert loops["tile"] == loops["wavefront"] == loops["flatten"] == 4


def test_an_unsuitable_tile_is_refused_for_the_user() -> None:
    options = CompileOptions(tile=(4, 4, 4))
    with pytest.raises(RtlgenError) as caught:
        compile_program(parse_text(stencil("transposed", 8), "program.c"), options)
    assert caught.value.code == "E0212"


@pytest.mark.parametrize("scheduler", ["pluto", "isl", "feautrier"])
def test_loops_of_one_iteration_are_loops_of_a_schedule_too(scheduler: Scheduler) -> None:
    text = """void f(int a[2][2][2]) {
      for (int i = 0; i < 1; i++) for (int j = 0; j < 2; j++) for (int k = 1; k < 2; k++)
        a[i][j][k] = a[i][j][k] + 1; }"""
    options = CompileOptions(scheduler=scheduler)
    assert compile_program(parse_text(text, "p.c"), options).replayed
