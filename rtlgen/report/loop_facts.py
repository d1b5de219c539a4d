"""What is known of each loop before it is judged: trip counts, and when its statements issue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rtlgen.ir.cycles import body_cycles, region_cycles
from rtlgen.ir.plan import KernelPlan, Stream, regions_of
from rtlgen.ir.scop import LoopNode, Scop, StatementNode, walk_tree
from rtlgen.poly.trips import LoopTrips


@dataclass(frozen=True, slots=True)
class Issue:
    """One statement as the circuit runs it; cycles are counted from the start of the kernel.

    Members
    -------
    last_issue_cycle: that of its last iteration. last_cycle: that of its last store.
    """

    stream: Stream
    first_cycle: int
    last_issue_cycle: int
    last_cycle: int


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """A program, the trip counts of its loops, and when its statements issue.

    Members
    -------
    own_iis: of statements in skewed loops or with pauses: the II in the loops as written.
    """

    scop: Scop
    trips: Mapping[int, LoopTrips]
    issues: Mapping[str, Issue]
    own_iis: Mapping[str, int]

    def ii_as_written(self, stream: Stream) -> int:
        """Return the II that a statement has in its own loops: skewing them is this design's."""
        return self.own_iis.get(stream.statement, stream.ii)

    def trips_of(self, node: LoopNode) -> LoopTrips:
        """Return the trip counts of a loop of the tree."""
        return self.trips[id(node)]

    def issued_in(self, node: LoopNode) -> list[Issue]:
        """Return the statements anywhere in a loop that ever run."""
        return [
            self.issues[inner.statement]
            for inner in walk_tree((node,))
            if isinstance(inner, StatementNode) and inner.statement in self.issues
        ]


def loop_facts(
    scop: Scop,
    trips: Sequence[LoopTrips],
    plan: KernelPlan,
    own_iis: Mapping[str, int] | None = None,
) -> LoopFacts:
    """Return the facts of a program.

    Parameters
    ----------
    trips: of every loop of the tree of `scop`, in program order.
    """
    loops = [node for node in walk_tree(scop.tree) if isinstance(node, LoopNode)]
    numbered = zip(loops, trips, strict=True)
    return LoopFacts(scop, {id(n): t for n, t in numbered}, dict(_issues(plan)), own_iis or {})


def _issues(plan: KernelPlan) -> Iterable[tuple[str, Issue]]:
    base = 0
    for part, cycles in zip(plan.body, body_cycles(plan), strict=True):
        # Workers are alike: one of them stands for all.
        region = regions_of(part)[0]
        # In tiles a stream issues over and over: its last cycle is that of the last tile.
        later = cycles - region_cycles(plan, region)
        for stream in region.streams:
            zero = base + plan.index_latency_cycles
            first, last = zero + stream.offset_cycles, zero + later + region.last_cycle(stream)
            issued = first + later + stream.ii * (region.issued(stream) - 1)
            yield stream.statement, Issue(stream, first, issued, last)
        base += cycles


def span_cycles(issues: Sequence[Issue]) -> int:
    """Return the cycles from the first issue to the end of the last store; 0 for no statement."""
    if not issues:
        return 0
    return max(i.last_cycle for i in issues) + 1 - min(i.first_cycle for i in issues)
