"""The judge of schedules says yes to those that keep every pair in order, and to no other."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from rtlgen.analysis import Analysis
from rtlgen.ir.schedule import FlatDim, NestLoop, ScalarDim, Schedule
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.poly.legality import find_violation, require_legal
from rtlgen.transforms.permute import permute
from tests.poly.enumeration import Point, memory_pairs
from tests.poly.sources import SMALL, analysed


def fused(loops: dict[str, tuple[NestLoop, ...]], shifts: dict[str, int]) -> Schedule:
    return Schedule(
        {
            name: (FlatDim(own, shifts[name]), ScalarDim(place))
            for place, (name, own) in enumerate(loops.items())
        }
    )


def random_schedule(analysis: Analysis, draw: random.Random) -> Schedule:
    """Return a fused schedule with shuffled loops and shifts around those of running in turn."""
    loops, shifts, reach = {}, {}, 0
    for statement in analysis.scop.statements:
        own = list(analysis.scop.schedule.loops(statement.name))
        if draw.random() < 0.3:
            draw.shuffle(own)
        loops[statement.name] = tuple(own)
        shifts[statement.name] = max(0, reach - draw.choice([0, 0, 1, 3, reach]))
        reach += FlatDim(tuple(own)).count
    return fused(loops, shifts)


def test_it_agrees_with_all_pairs_on_random_schedules() -> None:
    draw = random.Random(5)
    verdicts: Counter[bool] = Counter()
    for text in SMALL.values():
        analysis = analysed(text)
        for _ in range(12):
            verdicts[judged_right(analysis, random_schedule(analysis, draw))] += 1
    assert verdicts[True] >= 10 and verdicts[False] >= 10, verdicts


def judged_right(analysis: Analysis, schedule: Schedule) -> bool:
    """Compare the judge with plain enumeration, and return whether the schedule is legal."""
    scop = analysis.scop

    def time(statement: str, point: Point) -> Point:
        values = dict(zip(scop.statement(statement).iterators, point, strict=True))
        return tuple(dim.evaluate(values) for dim in schedule.time(statement))

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
    return False


def test_program_order_is_legal_for_every_program() -> None:
    for text in SMALL.values():
        analysis = analysed(text)
        assert find_violation(analysis.sets, analysis.dependences, analysis.scop.schedule) is None


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
