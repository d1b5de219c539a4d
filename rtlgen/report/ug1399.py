"""What an HLS tool that follows UG1399 makes of a nest: which loops it flattens, and the cycles.

It flattens perfect and semi-perfect nests, and pipelines the innermost loop. Entering and leaving
an inner loop that is not flattened costs one cycle each, and its pipeline is filled and drained in
between. The estimate gives it the operator latencies of this design, and its initiation intervals
in the loops as written: skewing them is this design's own.

Reference: Vitis High-Level Synthesis User Guide (UG1399) 2023.2, nested loops.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.ir.scop import LoopNode, Node, StatementNode
from rtlgen.report.loop_facts import LoopFacts
from rtlgen.report.nest_class import classify, loop_body, loop_name, outermost_loops

ENTER_AND_LEAVE_CYCLES = 2


@dataclass(frozen=True, slots=True)
class Ug1399Nest:
    """The estimate for one nest.

    Members
    -------
    cycles: of the whole nest. lost_cycles: of these, spent entering and leaving inner loops.
    flattened: names of the loops that result from flattening, in program order.
    """

    cycles: int
    lost_cycles: int
    flattened: tuple[str, ...]


def ug1399_estimate(nest: LoopNode, facts: LoopFacts) -> Ug1399Nest:
    """Return the estimate for an outermost loop."""
    return _nest(nest, facts, is_inner=False)


def _nest(node: LoopNode, facts: LoopFacts, *, is_inner: bool) -> Ug1399Nest:
    entries = facts.trips_of(node).entries
    lost = ENTER_AND_LEAVE_CYCLES * entries if is_inner else 0
    if classify(node)[0] != "imperfect":
        chain = _chain(node)
        name = "_".join(loop_name(part.loop) for part in chain)
        cycles = lost + _pipelined(chain, facts)
        return Ug1399Nest(cycles, lost, (name,) if len(chain) > 1 else ())
    flattened: list[str] = []
    cycles = lost + _between(loop_body(node), facts)
    for inner in outermost_loops(node.body):
        found = _nest(inner, facts, is_inner=True)
        cycles += found.cycles
        lost += found.lost_cycles
        flattened += found.flattened
    return Ug1399Nest(cycles, lost, tuple(flattened))


def _chain(node: LoopNode) -> list[LoopNode]:
    """Return the loops of a nest that is not imperfect, outermost first."""
    chain = [node]
    while inner := outermost_loops(chain[-1].body):
        chain += inner
    return chain


def _pipelined(chain: list[LoopNode], facts: LoopFacts) -> int:
    """Return the cycles of a pipelined loop: filled anew each time that it has an iteration."""
    streams = [issue.stream for issue in facts.issued_in(chain[0])]
    if not streams:
        return 0
    ii = max(map(facts.ii_as_written, streams))
    depth = max(stream.depth_cycles for stream in streams)
    total, entered = facts.trips_of(chain[-1]).total, facts.trips_of(chain[0]).entered
    return ii * (total - entered) + depth * entered


def _between(nodes: tuple[Node, ...], facts: LoopFacts) -> int:
    """Return the cycles of the statements beside the loops among `nodes`.

    Those with no loop between them run side by side.
    """
    cycles, group = 0, 0
    for node in nodes:
        if isinstance(node, StatementNode):
            issue = facts.issues.get(node.statement)
            if issue is not None:
                group = max(group, issue.stream.instances * issue.stream.depth_cycles)
        elif not isinstance(node, LoopNode) and not outermost_loops(node.body):
            group = max(group, _between(node.body, facts))
        else:
            cycles, group = cycles + group, 0
            if not isinstance(node, LoopNode):
                cycles += _between(node.body, facts)
    return cycles + group
