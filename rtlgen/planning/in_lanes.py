"""Plan a program whose arrays are all on chip, some of its loops in lanes."""

from __future__ import annotations

from dataclasses import replace

from rtlgen.frontend import ParsedProgram
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import analyse
from rtlgen.planning.choice import choose_plan
from rtlgen.planning.planned import Planned
from rtlgen.poly.errors import NoLegalSchedule
from rtlgen.poly.piecewise import NoClosedForm
from rtlgen.transforms.lane_wishes import LaneWishes
from rtlgen.transforms.ragged import Ranking
from rtlgen.transforms.strides import strided_statements


def plan_on_chip(program: ParsedProgram, options: CompileOptions, lanes: LaneWishes) -> Planned:
    """Plan a program whose arrays are all on chip, in some lanes."""
    try:
        return _ranked(program, options, lanes, "free")
    except NoClosedForm:
        return _ranked(program, options, lanes, "listed")


def _ranked(
    program: ParsedProgram, options: CompileOptions, lanes: LaneWishes, ranking: Ranking
) -> Planned:
    """Plan a program whose arrays are all on chip; see `Analysis.ranking`.

    Raises
    ------
    NoClosedForm: another ranking is needed. RtlgenError
    """

    def planned_with(kept: frozenset[str]) -> Planned:
        return choose_plan(replace(analyse(program, kept, lanes), ranking=ranking), options)

    try:
        return planned_with(frozenset())
    except NoLegalSchedule:
        strided = strided_statements(analyse(program, wishes=lanes).unrolled)
        if not strided:
            raise
        # In a cycle, a statement may have to keep step with others that run more often.
        return planned_with(strided)
