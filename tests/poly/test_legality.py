"""The judge of schedules says yes to those that keep every pair in order, and to no other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, Dim, FlatDim, LoopDim, NestLoop, Place, ScalarDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.nests.candidates import ragged_loops
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis
from rtlgen.poly import legality
from rtlgen.poly.errors import IllegalSchedule, IllegalShift
from rtlgen.poly.instances import PairKey, Pairs, dependent_pairs
from rtlgen.poly.legality import Judge, find_violation, require_legal
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.transforms.fuse import permute
from tests.poly.enumeration import Point, memory_pairs
from tests.poly.sources import SMALL, analysed

TRIANGLE = """void f(int a[9], int b[9]) {
  for (int i = 0; i < 9; i++) for (int j = 0; j <= i; j++) a[j] += b[i];
}
"""


def fused(loops: dict[str, tuple[NestLoop, ...]], shifts: dict[str, int]) -> Schedule:
    return Schedule(
        {
            name: (FlatDim(own, shifts[name]), ScalarDim(place))
            for place, (name, own) in enumerate(loops.items())
        }
    )


def random_schedule(analysis: Analysis, draw: random.Random) -> Schedule:
    """Return a fused schedule with shuffled loops and shifts around those of running in turn.

    Nests that are no boxes may have ragged loops, whose ranks are listed; a loop that all the
    statements share may stand outside; and statements need not tell in which order they are.
    """
    is_ragged, is_outside, is_ordered = (draw.random() < chance for chance in (0.6, 0.3, 0.7))
    outside = LoopDim(shared_pad(draw))
    dims: dict[str, tuple[Dim, ...]] = {}
    reach = 0
    for place, statement in enumerate(analysis.scop.statements):
        own = list(analysis.scop.schedule.loops(statement.name))
        if draw.random() < 0.3:
            draw.shuffle(own)
        if is_ragged:
            own = list(
                ragged_loops(analysis.sets.domains[statement.name], statement.iterators, own)
            )
        count = len(iterations(own))
        flat = FlatDim(
            tuple(own),
            max(0, reach - draw.choice([0, 0, 1, 3, reach])),
            None if all(loop.is_box for loop in own) else count,
        )
        vector: tuple[Dim, ...] = (outside, flat) if is_outside and own else (flat,)
        # A place of 0 may be left out: shorter vectors are padded with it.
        is_told = is_ordered and (place or draw.random() < 0.5)
        dims[statement.name] = (*vector, ScalarDim(place)) if is_told else vector
        reach += count
    if len({isinstance(own[0], LoopDim) for own in dims.values()}) > 1:
        dims = {n: own[1:] if isinstance(own[0], LoopDim) else own for n, own in dims.items()}
    return Schedule(dims)


def shared_pad(draw: random.Random) -> NestLoop:
    """Return a loop in whose iteration max(i, n) an instance runs."""
    places = (Affine.variable("i"), Affine((), draw.randrange(4)))
    return NestLoop(None, 9, pad="p", pinned=places)


def iterations(loops: list[NestLoop]) -> list[dict[str, int]]:
    """Return the iterations of a nest in their order."""
    found: list[dict[str, int]] = [{}]
    for loop in loops:
        assert loop.iterator is not None
        found = [
            {**outer, loop.iterator: value}
            for outer in found
            for value in range(
                max([loop.at, *(rounded_up(bound, outer) for bound in loop.lowers)]),
                min([loop.at + loop.extent, *(rounded_down(b, outer) + 1 for b in loop.uppers)]),
            )
        ]
    return found


def rounded_up(bound: Bound, outer: dict[str, int]) -> int:
    return -(-bound.form.evaluate(outer) // bound.divisor)


def rounded_down(bound: Bound, outer: dict[str, int]) -> int:
    return bound.form.evaluate(outer) // bound.divisor


def test_it_agrees_with_all_pairs_on_random_schedules() -> None:
    draw = random.Random(5)
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for text in SMALL.values():
        analysis = analysed(text)
        for _ in range(24):
            schedule = random_schedule(analysis, draw)
            verdicts[has_listed_ranks(schedule), judged_right(analysis, schedule)] += 1
    assert len(verdicts) == 4 and min(verdicts.values()) >= 8, verdicts


def lower(monkeypatch: pytest.MonkeyPatch, many: int, most: int) -> None:
    monkeypatch.setattr(legality, "MANY_INSTANCES", many)
    monkeypatch.setattr(legality, "MAX_INSTANCES", most)


def test_it_agrees_with_all_pairs_in_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, 0, 0)
    draw = random.Random(6)
    verdicts: Counter[bool] = Counter()
    for text in SMALL.values():
        analysis = analysed(text)
        for _ in range(24):
            schedule = random_schedule(analysis, draw)
            if has_listed_ranks(schedule):
                verdicts[judged_right(analysis, schedule, is_listed=False)] += 1
    assert len(verdicts) == 2 and min(verdicts.values()) >= 8, verdicts


@pytest.mark.parametrize("is_listed", [True, False], ids=["listed", "closed"])
@pytest.mark.parametrize(
    ("first", "second", "is_legal"),
    [
        ((0,), (1,), True),
        ((0,), (0,), False),
        ((1,), (0,), False),
        ((0, -1), (0,), True),
        ((0, 0), (0,), False),
        ((0,), (0, 1), True),
        ((0,), (0, 0), False),
        ((0, 1), (0, 2), True),
        ((0, 2), (0, 1), False),
    ],
)
def test_what_a_time_leaves_out_is_0(
    monkeypatch: pytest.MonkeyPatch,
    first: tuple[int, ...],
    second: tuple[int, ...],
    is_legal: bool,
    is_listed: bool,
) -> None:
    if not is_listed:
        lower(monkeypatch, 0, 0)
    analysis = analysed(
        "void f(int a[4][4], int b[4][4]) { for (int i = 0; i < 4; i++)"
        " for (int j = 0; j <= i; j++) { a[i][j] = i; b[i][j] = a[i][j]; } }"
    )
    dims: dict[str, tuple[Dim, ...]] = {}
    for name, (shift, *places) in (("S0", first), ("S1", second)):
        own = analysis.scop.schedule.loops(name)
        iterators = analysis.scop.statement(name).iterators
        loops = ragged_loops(analysis.sets.domains[name], iterators, own)
        dims[name] = (FlatDim(tuple(loops), shift, 10), *map(ScalarDim, places))
    assert judged_right(analysis, Schedule(dims), is_listed=is_listed) == is_legal


@pytest.mark.parametrize(
    ("many", "most", "is_plain", "has_form", "judged"),
    [
        (45, 45, True, True, ["listed"]),
        (44, 45, True, True, ["closed"]),
        (44, 45, True, False, ["closed", "listed"]),
        (44, 44, True, False, ["closed"]),
        (44, 45, False, True, ["listed"]),
        (44, 44, False, True, ["closed"]),
        (44, 44, False, False, ["closed"]),
    ],
)
def test_programs_of_many_instances_are_judged_in_closed_form(
    monkeypatch: pytest.MonkeyPatch,
    many: int,
    most: int,
    is_plain: bool,
    has_form: bool,
    judged: list[str],
) -> None:
    analysis = analysed(TRIANGLE)
    (own,) = (analysis.scop.schedule.loops(s.name) for s in analysis.scop.statements)
    loops = ragged_loops(analysis.sets.domains["S0"], ("i", "j"), own)
    schedule = Schedule({"S0": (FlatDim(tuple(loops), 0, 45),)})
    asked = []

    def closed(*_: object) -> None:
        asked.append("closed")
        if not has_form:
            raise NoClosedForm

    lower(monkeypatch, many, most)
    monkeypatch.setattr(legality, "_is_plain", lambda _: is_plain)
    monkeypatch.setattr(legality, "_find_closed_violation", closed)
    monkeypatch.setattr(legality, "_find_listed_violation", lambda *_: asked.append("listed"))
    with pytest.raises(NoClosedForm) if judged == ["closed"] and not has_form else nullcontext():
        find_violation(analysis.sets, analysis.dependences, schedule)
    assert asked == judged


def test_loops_are_plain_that_just_have_bounds() -> None:
    bound, half = Bound(Affine.variable("i")), Bound(Affine.variable("i"), 2)
    plain = NestLoop("j", 4, uppers=(bound,), lowers=(bound,))

    def is_plain(*loops: NestLoop) -> bool:
        iterations = None if all(loop.is_box for loop in loops) else 9
        return legality._is_plain(Schedule({"S0": (FlatDim(loops, 0, iterations),)}))

    assert is_plain(NestLoop("i", 4)) and is_plain(plain)
    # Loops that are no part of a rank.
    assert legality._is_plain(Schedule({"S0": (LoopDim(replace(plain, at_least=1)),)}))
    assert not is_plain(plain, replace(plain, at_least=1))
    assert not is_plain(replace(plain, uppers=(half,)), plain)
    assert not is_plain(replace(plain, lowers=(bound, half)))
    assert not is_plain(replace(plain, iterator=None))


def test_isl_is_stopped_before_the_next_dependence_in_closed_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysis = analysed(TRIANGLE)
    (own,) = (analysis.scop.schedule.loops(s.name) for s in analysis.scop.statements)
    loops = ragged_loops(analysis.sets.domains["S0"], ("i", "j"), own)
    schedule = Schedule({"S0": (FlatDim(tuple(loops), 0, 45),)})
    looked_at: list[object] = []
    monkeypatch.setattr(legality, "keep_going", looked_at.append)
    lower(monkeypatch, 0, 0)
    assert find_violation(analysis.sets, analysis.dependences, schedule) is None
    assert len(looked_at) == len(analysis.dependences) > 1


def judged_right(analysis: Analysis, schedule: Schedule, *, is_listed: bool = True) -> bool:
    """Compare the judge with plain enumeration, and return whether the schedule is legal.

    Parameters
    ----------
    is_listed: ranks that are no affine function are listed, and the first broken pair is told.
    """
    scop = analysis.scop
    length = max(map(len, schedule.dims.values()))
    ranks = {
        flat: {
            tuple(sorted(values.items())): n for n, values in enumerate(iterations([*flat.loops]))
        }
        for dims in schedule.dims.values()
        for flat in dims
        if isinstance(flat, FlatDim)
    }

    def time(statement: str, point: Point) -> Point:
        values = dict(zip(scop.statement(statement).iterators, point, strict=True))

        def part(dim: Dim) -> int:
            if isinstance(dim, FlatDim):
                return ranks[dim][tuple(sorted(values.items()))] + dim.shift
            return value_of(dim.place if isinstance(dim, LoopDim) else (dim.time,), values)

        own = tuple(map(part, schedule.dims[statement]))
        return own + (0,) * (length - len(own))

    broken = {
        (source, sink, p, q)
        for (source, sink, *_), related in memory_pairs(scop).items()
        for p, q in related
        if not time(source, p) < time(sink, q)
    }
    violation = find_violation(analysis.sets, analysis.dependences, schedule)
    if violation is None:
        assert not broken
        return True
    d = violation.dependence
    assert (d.source, d.sink, violation.source_instance, violation.sink_instance) in broken
    assert violation.source_time == time(d.source, violation.source_instance)
    assert violation.sink_time == time(d.sink, violation.sink_instance)
    if is_listed and has_listed_ranks(schedule):
        related = dependent_pairs(scop)[d.source, d.sink, d.source_read, d.sink_read]
        pairs = zip(related.sources.tolist(), related.sinks.tolist(), strict=True)
        first = next((p, q) for p, q in pairs if not time(d.source, p) < time(d.sink, q))
        assert (violation.source_instance, violation.sink_instance) == tuple(map(tuple, first))
    return False


def has_listed_ranks(schedule: Schedule) -> bool:
    """Tell whether a nest has ranks that are no affine function."""
    flat = [dim for dims in schedule.dims.values() for dim in dims if isinstance(dim, FlatDim)]
    return not all(dim.is_affine for dim in flat)


def value_of(place: Place, values: dict[str, int]) -> int:
    return max(form.evaluate(values) for form in place)


def test_program_order_is_legal_for_every_program() -> None:
    for text in SMALL.values():
        analysis = analysed(text)
        assert find_violation(analysis.sets, analysis.dependences, analysis.scop.schedule) is None
        require_legal(analysis.sets, analysis.dependences, analysis.scop.schedule, "nothing")


def test_an_interchange_that_breaks_a_dependence_is_refused_with_both_instances() -> None:
    analysis = analysed(
        "void f(int a[5][5]) {\n"
        "  for (int i = 1; i < 5; i++)\n"
        "    for (int j = 0; j < 4; j++)\n"
        "      a[i][j] = a[i - 1][j + 1];\n"
        "}\n"
    )
    changed = permute(analysis.scop, "S0", ["j", "i"])
    with pytest.raises(IllegalSchedule) as caught:
        require_legal(analysis.sets, analysis.dependences, changed.schedule, "interchanging loops")
    sources = analysis.program.sources
    assert caught.value.diagnostic.render(sources) == (
        "error[E0202]: interchanging loops breaks a flow dependence\n"
        " --> program.c:4:17\n"
        "  |\n"
        "4 |       a[i][j] = a[i - 1][j + 1];\n"
        "  |                 ^^^^^^^^^^^^^^^ read by S0(2,0), which would run first\n"
        "4 |       a[i][j] = a[i - 1][j + 1];\n"
        "  |       ^^^^^^^ written by S0(1,1)\n"
        "   = help: this order of loops or statements is not possible; choose another"
    )


CHAIN = """void f(int a[6], int b[6]) {
  for (int i = 0; i < 6; i++) b[i] = a[i];
  for (int i = 0; i < 6; i++) a[i] = 5;
}
"""


def test_a_read_that_comes_after_the_write_it_must_not_see_is_told() -> None:
    analysis = analysed(CHAIN)
    dims = analysis.scop.schedule.dims
    turned: dict[str, tuple[Dim, ...]] = {
        "S0": (ScalarDim(1), *dims["S0"][1:]),
        "S1": (ScalarDim(0), *dims["S1"][1:]),
    }
    with pytest.raises(IllegalSchedule) as caught:
        require_legal(analysis.sets, analysis.dependences, Schedule(turned), "a turn")
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == "a turn breaks an anti dependence"
    assert [label.text for label in diagnostic.labels] == [
        "written by S1(0), which would run first",
        "read by S0(0)",
    ]


def test_a_fused_schedule_that_is_broken_names_its_shift_and_the_cycles() -> None:
    analysis = analysed(CHAIN.replace("a[i] = 5", "a[i] = b[5 - i]"))
    loops = {s.name: analysis.scop.schedule.loops(s.name) for s in analysis.scop.statements}
    with pytest.raises(IllegalShift) as caught:
        require_legal(
            analysis.sets, analysis.dependences, fused(loops, {"S0": 0, "S1": 4}), "fusing"
        )
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == "shift of S1 by 4 breaks a flow dependence"
    assert [label.text for label in diagnostic.labels] == ["read at n=4 by S1(0)"]
    assert diagnostic.notes == ("written at program.c:2:31 by S0(5), at n=5",)
    assert diagnostic.help == "leave the shift to the compiler"


def test_isl_that_finds_no_end_is_stopped_before_the_next_dependence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysis = analysed(CHAIN)
    looked_at: list[object] = []
    monkeypatch.setattr("rtlgen.poly.legality.keep_going", looked_at.append)
    assert find_violation(analysis.sets, analysis.dependences, analysis.scop.schedule) is None
    assert len(looked_at) == len(analysis.dependences) > 0


def test_pairs_are_listed_once_for_all_schedules_of_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (
        "void f(int a[9][9], int b[9]) { for (int i = 1; i < 9; i++) for (int j = 0; j < i; j++)"
        " { a[i][j] += a[i - 1][j]; b[i] += a[i][j] * b[j]; } }"
    )
    compilation = compile_program(parse_text(text), CompileOptions())
    analysis = compilation.analysis
    judge = Judge(analysis.sets, tuple(analysis.dependences))
    listed: list[Scop] = []

    def noting(scop: Scop) -> Mapping[PairKey, Pairs]:
        listed.append(scop)
        return dependent_pairs(scop)

    monkeypatch.setattr(legality, "dependent_pairs", noting)
    flat, built = (compilation.stages[stage].schedule for stage in ("flatten", "fuse"))
    assert judge.violation(flat) is None and judge.violation(built) is None
    assert len(listed) == 1
    # All in the time of the first statement: the second one reads what is written just then.
    alike = Schedule(dict.fromkeys(built.dims, built.dims["S0"]))
    assert judge.violation(alike) is not None
    assert len(listed) == 1
