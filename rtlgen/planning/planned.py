"""A plan of a program on chip, what it was made from, and when its values exist.

A plan of a program whose arrays are all on chip, and what it was made from.

When the values of a program exist: its datapaths, and what is known of its recurrences.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from rtlgen.datapath.build import FAR, build_datapath
from rtlgen.datapath.floor import floor_cycles
from rtlgen.datapath.lags import Timing, recurrent_reads
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import KernelPlan
from rtlgen.memories.ports import NoVersions, VersionMap, assign_read_ports, assign_versions
from rtlgen.memories.row_buffers import Beside, Rows, fold_rows, without_rows
from rtlgen.nests.candidates import (
    Instances,
    Placement,
    beside_ragged,
    box_placement,
    closed_placement,
    is_listable,
    placement,
    ragged_loops,
    ragged_statements,
)
from rtlgen.nests.precedence import Related
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.lower import PlanOptions, lower
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.stream_builder import Figures
from rtlgen.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class Expanded:
    """The plans between which it was chosen to expand temporaries, neither skewed nor paused.

    Members
    -------
    before: that without an expansion; None: a bound has decided before there was one.
    at_least: cycles that it takes in any order of its instances.
    """

    before: KernelPlan | None
    at_least: int
    after: KernelPlan


@dataclass(frozen=True, slots=True)
class Tried:
    """What was tried so that a program takes fewer cycles.

    Members
    -------
    move: the name of what changes the program.
    form: the best of what it proposed; empty: it proposed nothing.
    cycles: of the plan of that; None: there is none.
    why_not: why it was not taken; empty: it was.
    """

    move: str
    form: str
    cycles: int | None
    why_not: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as a member of a report."""
        return {
            "move": self.move,
            "form": self.form,
            "predicted_cycles": self.cycles,
            "taken": not self.why_not,
            "why_not": self.why_not,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A plan that nobody has proven yet, and what it was made from.

    Members
    -------
    expanded: what an expansion costs and saves, where one was chosen.
    tried: what the search has looked at, in the order in which it did.
    """

    analysis: Analysis
    space: Space
    decision: Decision
    plan: KernelPlan
    target: Target
    expanded: Expanded | None = None
    tried: tuple[Tried, ...] = ()


def beside_of(timing: Timing, decision: Decision) -> Beside:
    """Return what memories beside the arrays are made from."""
    return Beside(timing, decision.times, decision.regions)


def cycles_of(planned: Planned) -> int:
    """Return the cycles from start to done."""
    return predicted_cycles(planned.plan)


def lowered(
    timing: Timing,
    decision: Decision,
    target: Target,
    options: CompileOptions,
    rows: Rows | None = None,
) -> KernelPlan:
    """Return the plan of a decision.

    Parameters
    ----------
    rows: what is in memories beside the arrays; None: what has to be.

    Raises
    ------
    Unforwardable, NoVersions: it has none; see `scheduling.lower`.
    """
    times = decision.times
    rows, versions = _with_versions(timing, decision, rows)
    plan = lower(
        timing,
        decision.regions,
        times,
        rows,
        assign_read_ports(timing, times, rows.routing),
        versions,
        Figures(
            decision.shifts,
            decision.ii_reasons,
            decision.fused_iterations,
            decision.floor_iterations,
        ),
        target,
        PlanOptions(options.index_style, options.index_latency_cycles, options.checksum),
    )
    if rows.memories and not plan.is_replayable:
        raise NoVersions(rows.memories[0].array.name)
    return plan


def _with_versions(
    timing: Timing, decision: Decision, rows: Rows | None
) -> tuple[Rows, VersionMap]:
    """Return what is in rows and the versions of what is not; None: in rows where it needs to be.

    What is in rows needs no versions.
    """
    times = decision.times
    if rows is None:
        rows = without_rows(decision.routing)
        with suppress(NoVersions):
            return rows, assign_versions(timing, times, rows.routing)
        rows = fold_rows(beside_of(timing, decision), decision.routing)
    return rows, assign_versions(timing, times, rows.routing)


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
    related = Related(analysis.sets, ragged, is_listed)
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
