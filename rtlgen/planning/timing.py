"""When the values of a program exist: its datapaths, and what is known of its recurrences."""

from __future__ import annotations

from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis
from rtlgen.scheduling.dataflow_limit import floor_cycles
from rtlgen.scheduling.datapath import FAR, build_datapath
from rtlgen.scheduling.lags import Timing, recurrent_reads
from rtlgen.target import Target
from rtlgen.transforms.candidates import Placement, box_placement, closed_placement, placement
from rtlgen.transforms.instance_ranks import Instances
from rtlgen.transforms.precedence import Related
from rtlgen.transforms.ragged import beside_ragged, is_listable, ragged_loops, ragged_statements


def timing_of(analysis: Analysis, target: Target) -> Timing:
    """Return the datapaths and dependences of an analysed program, for one target."""
    scop = analysis.scop
    datapaths = {}
    ragged = ragged_statements(analysis.sets, analysis.units, analysis.ranking)
    if analysis.skewed is not None:
        ragged |= analysis.skewed.in_order
    ragged |= {pause.statement for pause in analysis.pauses}
    is_listed = is_listable(analysis.sets, analysis.ranking)
    if is_listed:
        ragged |= beside_ragged(analysis.sets, analysis.dependences, ragged)
    related = Related(scop, ragged, is_listed)
    for statement in scop.statements:
        box = scop.schedule.box(statement.name)
        unit = next(unit for unit in analysis.units if statement.name in unit.statements)
        written = _as_written(analysis, related, statement.name)
        apart = analysis.skewed is not None and statement.name in analysis.skewed.apart
        late = recurrent_reads(
            unit, analysis.flows, related, statement.name, written, FAR if apart else 1
        )
        datapaths[statement.name] = build_datapath(scop, statement, box, target, late)
    return Timing(
        analysis.sets,
        analysis.units,
        datapaths,
        analysis.dependences,
        analysis.flows,
        related,
        Instances(analysis.sets),
    )


def least_cycles(timing: Timing, target: Target, options: CompileOptions) -> int:
    """Return the cycles that a program takes at least, in whatever order and memories."""
    latency = options.index_latency_cycles
    if latency is None:
        latency = target.index_latency_cycles(options.index_style)
    return floor_cycles(timing) + latency


def _as_written(analysis: Analysis, related: Related, statement: str) -> Placement:
    """Return the iterations of a statement in the order of the program."""
    iterators = analysis.scop.statement(statement).iterators
    loops = analysis.scop.schedule.loops(statement)
    if statement in related.ragged:
        exact = ragged_loops(analysis.sets.domains[statement], iterators, loops)
        if related.is_listed:
            placed = placement(exact, iterators)
        else:
            placed = closed_placement(analysis.sets.domains[statement], exact, iterators)
        return placed or box_placement(loops, iterators)
    return box_placement(loops, iterators)
