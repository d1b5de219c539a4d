"""Choose how a program runs whose arrays are all on chip: its lanes, its banks, its pragmas."""

from __future__ import annotations

from dataclasses import replace

from rtlgen.errors import Diagnostic
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.effort import TooComplex, more_effort
from rtlgen.ir.plan_error import BankContended
from rtlgen.memories.banks import partition, require_free
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import passes_of
from rtlgen.planning.choice import plan_on_chip
from rtlgen.planning.compilation import OnChip
from rtlgen.planning.directives import (
    Directives,
    directives,
    interval_warnings,
    to_blame,
    without_pragmas,
)
from rtlgen.planning.lane_choice import (
    asked_by_options,
    asked_by_pragmas,
    choose_lanes,
    lanes_without_gain,
)
from rtlgen.planning.lane_search import Budget, LaneChoice
from rtlgen.planning.planned import Planned
from rtlgen.scheduling.errors import BankUnknown
from rtlgen.target import get_target
from rtlgen.tiling.placement import ram_limit_bits
from rtlgen.transforms.lanes import LaneWishes


def on_chip(program: ParsedProgram, options: CompileOptions) -> OnChip:
    """Plan a program whose arrays are all on chip, with its pragmas where that can be.

    Raises
    ------
    TooFewMultipliers, BankContended, BankUnknown, TooComplex, NoLegalSchedule
    """
    asked = directives(program, options)
    try:
        return _as_asked(program, options, asked)
    except (TooComplex, BankContended, BankUnknown) as error:
        blamed = to_blame(error, asked.pragmas)
        if not blamed:
            raise
        fewer = without_pragmas(program, blamed, error.diagnostic.message)
    # Whatever this attempt has taken, there is as much for one with fewer pragmas.
    with more_effort():
        return on_chip(fewer, options)


def _as_asked(program: ParsedProgram, options: CompileOptions, asked: Directives) -> OnChip:
    """Plan a program whose arrays are all on chip, in the lanes and banks that are asked for."""
    options = replace(options, partitions=asked.partitions)
    program = replace(
        program,
        scop=partition(program.scop, asked.partitions),
        warnings=(*program.warnings, *asked.warnings),
    )
    planned, choice = _in_chosen_lanes(program, options, asked)
    _require_banks(planned, options)
    warning = _without_gain(program, options, asked, planned)
    others = interval_warnings(asked.pragmas, planned.analysis.unrolled, planned.plan)
    return OnChip(planned, (*others, *(() if warning is None else (warning,))), choice)


def _require_banks(planned: Planned, options: CompileOptions) -> None:
    """Raise BankContended where lanes meet in a bank of an array that is asked for in banks."""
    analysis, plan = planned.analysis, planned.plan
    if not options.partitions or not plan.is_replayable:
        return
    # The search may have used up all the time that there was, and found something by then.
    with more_effort():
        stages = dict(passes_of(analysis, planned.decision, options))
        placed = stages["flatten"].schedule
        scop, names = analysis.scop, options.partitions
        require_free(plan, scop, scop.schedule, placed, names, analysis.written)


def _without_gain(
    program: ParsedProgram, options: CompileOptions, asked: Directives, planned: Planned
) -> Diagnostic | None:
    """Return a warning where the lanes that options, or else pragmas, ask for save no cycles."""
    judged = asked_by_options(program.scop, options.unroll, options.pipeline)
    if judged:
        others = directives(program, replace(options, unroll={}, pipeline=())).lanes
    else:
        judged = asked_by_pragmas(asked.pragmas)
        others = LaneWishes()
    return lanes_without_gain(program, options, judged, asked.lanes, others, planned)


def _in_chosen_lanes(
    program: ParsedProgram, options: CompileOptions, asked: Directives
) -> tuple[Planned, LaneChoice[Planned] | None]:
    """Plan a program in lanes; also return what was found where these were to be chosen."""
    if options.max_dsp is None:
        return plan_on_chip(program, options, asked.lanes), None

    target = get_target(options.target)
    ram_bits = None if options.max_bram_kib is None else ram_limit_bits(options, target)
    budget = Budget(options.max_dsp, target, ram_bits)
    choice = choose_lanes(program, options, asked.lanes, budget)
    return choice.planned, choice
