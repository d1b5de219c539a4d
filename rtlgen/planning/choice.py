"""Which form of a program is built: the one with the fewest cycles, some of its loops in lanes.

Moves change the program, its loops and the banks of its arrays. Then values get cycles to settle
in, multipliers are shared, and words that are soon read again stay beside their arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain

from rtlgen.frontend import ParsedProgram
from rtlgen.ir.block_rams import block_ram_bits, block_rams
from rtlgen.ir.effort import TooComplex, improving
from rtlgen.ir.operation_costs import blocks_of
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.tolerance import PORT_TOLERANCE
from rtlgen.memories.banks import derived_cuts
from rtlgen.memories.bounds import recurrences
from rtlgen.memories.ports import NoVersions, with_versions
from rtlgen.nests.candidates import Ranking
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, analyse, expanded, in_banks
from rtlgen.planning.moves import (
    IN_ANY_ORDER,
    MOVES,
    Banks,
    Expansion,
    Form,
    Move,
    Pauses,
    improved,
)
from rtlgen.planning.one_form import (
    in_rows,
    multipliers_of,
    plan_form,
    plan_in_loops,
    plan_of,
    ram_cost,
    takes_too_many,
    with_few_ports,
    with_own_parts,
    with_settled,
    with_shared_multipliers,
)
from rtlgen.planning.planned import Expanded, Planned, cycles_of, lowered, timing_of
from rtlgen.poly.errors import NoLegalSchedule
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.scheduling.decide import Decision, decide_regions, lanes_together, shortest_regions
from rtlgen.scheduling.space import Space
from rtlgen.transforms.lanes import LaneWishes
from rtlgen.transforms.normalise import strided_statements
from rtlgen.transforms.units import Unit


def choose_plan(
    written: Analysis, options: CompileOptions, moves: Sequence[Move] = MOVES
) -> Planned:
    """Plan a program in the form and the loops with the fewest cycles, as far as it is free."""
    planned = with_own_parts(_choose_form(written, options, moves), options)
    if options.fuse != "mf3" or not takes_too_many(planned, options):
        return planned
    apart = planned
    with improving("regions that share multipliers"):
        found = _in_sharing_regions(planned, options)
        if found is None:
            return planned
        found = with_shared_multipliers(with_settled(found, options), options)
        apart = with_own_parts(found, options)
    return min(planned, apart, key=multipliers_of)


def _in_sharing_regions(fused: Planned, options: CompileOptions) -> Planned | None:
    """Plan a program in regions that run one after another and share their multipliers.

    None: all of its statements have to be in one.

    Parameters
    ----------
    fused: the program in one region, which takes more multipliers than it may.
    """
    analysis = fused.analysis
    blocks = Counter[str]()
    for stream in fused.plan.streams:
        for op in stream.operations:
            blocks[stream.statement] += blocks_of(op, stream.operations)

    def fits(units: Sequence[Unit]) -> bool:
        taken = sum(blocks[name] for unit in units for name in unit.statements)
        return options.max_dsp is not None and taken <= options.max_dsp

    def apart(space: Space) -> Decision:
        why = f"all statements at once take {multipliers_of(fused)} multiplier blocks"
        return decide_regions(space, shortest_regions(space, lanes_together(space), fits), why)

    timing = timing_of(analysis, fused.target)
    space = Space(timing, analysis.scop, analysis.in_order, pauses=analysis.pauses).as_written()
    if len(lanes_together(space)) == 1:
        return None
    if options.write_ports != "one":
        with suppress(NoVersions):
            return plan_of(analysis, options, space.retimed(with_versions(timing)), apart)
    return plan_of(analysis, options, space, apart)


def _choose_form(written: Analysis, options: CompileOptions, moves: Sequence[Move]) -> Planned:
    """Plan a program in the form with the fewest cycles that moves find."""
    freely = replace(options, shifts={})
    start, allowed = _start(written, freely, moves)
    form, tried = improved(start, allowed, freely)
    best = form.built
    if options.shifts:
        best = with_few_ports(plan_form(best.analysis, options), options)
    best = with_shared_multipliers(with_settled(best, options), options)
    tried = (*tried, *best.tried)
    # The other modes are baselines: they build what the program says.
    if options.fuse == "mf3":
        if form.made_by(Banks.name) is None:
            best = _with_less_ram(best, options)
        best = _in_settled_rows(best, options)
    return replace(best, expanded=_expansion(form, best.plan), tried=tried)


def _in_settled_rows(planned: Planned, options: CompileOptions) -> Planned:
    """Return the same plan in rows, whose words settle as others do where they are chosen from."""
    rows = in_rows(planned, options)
    if rows.plan is planned.plan:
        return rows
    settled = with_settled(rows, options)
    if settled is rows:
        return rows
    later = in_rows(settled, options)
    if ram_cost(later) > ram_cost(rows):
        return rows
    # What settles in a stage of its own can end the run a cycle later.
    return later if cycles_of(later) * PORT_TOLERANCE <= cycles_of(planned) else planned


def _with_less_ram(planned: Planned, options: CompileOptions) -> Planned:
    """Return the same plan with arrays in banks, where that saves copies or versions of them."""
    given = [array.name for array in planned.analysis.scop.arrays if array.cuts]
    blocks = (memory for memory in planned.plan.memories if memory.kind == "block")
    shared = {each.name for each in blocks if each.read_ports > 1 or each.write_ports > 1}
    derived = derived_cuts(planned.analysis.scop, given)
    cuts = {
        name: cut
        for name, cut in derived.items()
        if name in shared and not replace(planned.analysis.scop.array(name), cuts=cut).is_register
    }
    if not cuts:
        return planned
    analysis = in_banks(planned.analysis, cuts)
    space = planned.space.retimed(replace(planned.space.timing, sets=analysis.sets))
    # A bank is in fewer versions than an array may be.
    with suppress(NoVersions):
        plan = lowered(space.timing, planned.decision, planned.target, options)
        # A bank is a block at least, however small it is.
        before, after = (
            (block_rams(each, planned.target), block_ram_bits(each))
            for each in (planned.plan, plan)
        )
        if after < before:
            return replace(planned, analysis=analysis, space=space, plan=plan)
    return planned


def _start(
    written: Analysis, options: CompileOptions, moves: Sequence[Move]
) -> tuple[Form, Sequence[Move]]:
    """Return what the options say is to be built, and which moves they leave to the search."""
    wider = None
    # The other modes are baselines: they build what the program says.
    if options.fuse != "mf3":
        moves = ()
    elif options.expand == "always":
        wider = next(expanded(written), None)
    if options.expand != "auto":
        moves = [move for move in moves if move.name != Expansion.name]
    if options.loops.chosen is not None:
        # Loops that were asked for stay.
        moves = [move for move in moves if move.name in (Expansion.name, Pauses.name, Banks.name)]
    start = written if wider is None else wider

    def plan() -> Planned:
        return plan_in_loops(start, options)

    return Form(start, options, plan), moves


def _expansion(form: Form, built: KernelPlan) -> Expanded | None:
    """Return the plans between which the search chose to expand temporaries, if it did.

    Parameters
    ----------
    built: what has become of the form at last. What other moves saved is not an expansion's.
    """
    found = form.made_by(Expansion.name)
    if found is None:
        return None
    after = built if found is form else found.planned.plan
    origin = found.origin
    before = origin.planned.plan if origin.is_planned else None
    return Expanded(before, origin.at_least, after)


class NotFaster(Exception):
    """A program takes too many cycles in any order of its instances; why, in a sentence or more."""


def plan_on_chip(
    program: ParsedProgram, options: CompileOptions, lanes: LaneWishes, below: float | None = None
) -> Planned:
    """Plan a program whose arrays are all on chip, in some lanes.

    Parameters
    ----------
    below: cycles than which it is to take fewer; None: any number will do.

    Raises
    ------
    NotFaster: bounds say that it takes as many. RtlgenError
    """
    try:
        return _ranked(program, options, lanes, "free", below)
    except NoClosedForm:
        return _ranked(program, options, lanes, "listed", below)


def _ranked(
    program: ParsedProgram,
    options: CompileOptions,
    lanes: LaneWishes,
    ranking: Ranking,
    below: float | None,
) -> Planned:
    """Plan a program whose arrays are all on chip; see `Analysis.ranking`.

    Raises
    ------
    NoClosedForm: another ranking is needed. NotFaster, RtlgenError
    """

    analysis = replace(analyse(program, lanes), ranking=ranking)
    if below is not None:
        _require_faster(analysis, options, below)
    try:
        return choose_plan(analysis, options)
    except NoLegalSchedule:
        if not strided_statements(analysis.unrolled):
            raise
        # In a cycle, a statement may have to keep step with others that run more often.
        analysis = analyse(program, lanes, in_step=True)
        return choose_plan(replace(analysis, ranking=ranking), options)


def _require_faster(written: Analysis, options: CompileOptions, below: float) -> None:
    """Require that no bound keeps a program, or what its temporaries make of it, from a limit.

    Raises
    ------
    NotFaster, PlanUnsound
    """
    forms = chain((written,), expanded(written))
    found = []
    with suppress(TooComplex, NoClosedForm):
        for form in forms:
            found.append(Form(form, options, partial(plan_form, form, options)).at_least)
            if found[-1] < below:
                return
        along = recurrences(written.scop, written.units, written.flows)
        why = (" ".join(sentence.split()) for sentence in along)
        raise NotFaster("; ".join((*why, IN_ANY_ORDER.format(min(found)))))
