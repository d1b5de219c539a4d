"""A plan of a program whose arrays are all on chip, and what it was made from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import KernelPlan
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis
from rtlgen.scheduling.beside import Beside
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.kept_values import Rows, without_rows
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.lower import PlanOptions, lower
from rtlgen.scheduling.ports import assign_read_ports
from rtlgen.scheduling.row_memories import fold_rows
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.stream_builder import Figures
from rtlgen.scheduling.versions import NoVersions, VersionMap, assign_versions
from rtlgen.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class Expanded:
    """The plans between which it was chosen to expand temporaries, neither skewed nor paused.

    Members
    -------
    before: that without an expansion, made when it is asked for where a bound has decided.
    """

    before: Callable[[], KernelPlan]
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
