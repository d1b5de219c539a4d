"""The report on loop nests: class, trip counts, flattening, cycles; here and in other tools.

What is known of each loop before it is judged: trip counts, and when its statements issue.

Classes of loop nests, as UG1399 defines them.

- perfect: code only in the innermost loop, nothing between the loop headers, constant bounds;
- semi-perfect: the same, but the bound of the outermost loop is variable;
- imperfect: an inner loop has variable bounds, or there is code outside of the innermost loop.

What an HLS tool that follows UG1399 makes of a nest: which loops it flattens, and the cycles.

It flattens perfect and semi-perfect nests, and pipelines the innermost loop. Entering and leaving
an inner loop that is not flattened costs one cycle each, and its pipeline is filled and drained in
between. The estimate gives it the operator latencies of this design, and its initiation intervals
in the loops as written: skewing them is this design's own.

Reference: Vitis High-Level Synthesis User Guide (UG1399) 2023.2, nested loops.

The hard cases of nested loops that AOCL names: what its tool does with them, and this design.

- accumulation: an inner loop adds to an array element that only outer loops move (`accum_swg`);
- out of order: the trip count of an inner loop depends on an outer one;
- divergent: an outer iteration enters one of several inner loops, by a condition;
- serial region: behind an inner loop, work on a variable that the loop needs when it comes again.

Reference: Intel FPGA SDK for OpenCL Best Practices Guide (AOCL), 2.8.4, nested loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from rtlgen.ir.cycles import body_cycles, region_cycles
from rtlgen.ir.plan import ForwardOp, KernelPlan, Stream, regions_of
from rtlgen.ir.scop import (
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    Statement,
    StatementNode,
    statements_under,
    walk_tree,
)
from rtlgen.poly.dependences import Dependence
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


NestClass: TypeAlias = Literal["perfect", "semi-perfect", "imperfect"]


def classify(nest: LoopNode) -> tuple[NestClass, str]:
    """Return the class of a nest and the reason for it."""
    node = nest
    while True:
        name = loop_name(node.loop)
        if node is not nest and not has_constant_bounds(node.loop):
            return "imperfect", f"the bounds of loop {name} are not constant"
        body = loop_body(node)
        inner = outermost_loops(body)
        if not inner:
            break
        if len(inner) > 1:
            return "imperfect", f"loop {name} holds {len(inner)} loops"
        if len(body) > 1:
            return "imperfect", f"loop {name} holds code outside of loop {loop_name(inner[0].loop)}"
        if inner[0].loop.under is not None:
            return "imperfect", f"loop {loop_name(inner[0].loop)} depends on a condition"
        node = inner[0]
    if not has_constant_bounds(nest.loop):
        return "semi-perfect", f"the bounds of the outermost loop {loop_name(nest.loop)} vary"
    return "perfect", "code only in the innermost loop, and all bounds are constant"


def loop_name(loop: Loop) -> str:
    """Return the label of a loop, or else its iterator."""
    return loop.label or loop.iterator


def has_constant_bounds(loop: Loop) -> bool:
    """Return whether a loop has the same iterations whatever is around it."""
    return (
        loop.start.is_constant
        and loop.stop.is_constant
        and all(limit.variables <= {loop.iterator} for limit in loop.limits)
    )


def loop_body(node: LoopNode) -> tuple[Node, ...]:
    """Return what a loop repeats, without the condition that its own header has made."""
    body, limits = node.body, node.loop.limits
    if limits and isinstance(body[0], ConditionNode) and body[0].conditions == limits:
        return body[0].body
    return body


def outermost_loops(nodes: tuple[Node, ...]) -> list[LoopNode]:
    """Return the outermost loops among `nodes`, whatever condition they stand under."""
    found: list[LoopNode] = []
    for node in nodes:
        if isinstance(node, LoopNode):
            found.append(node)
        elif not isinstance(node, StatementNode):
            found += outermost_loops(node.body)
    return found


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
    return _ug1399_nest(nest, facts, is_inner=False)


def _ug1399_nest(node: LoopNode, facts: LoopFacts, *, is_inner: bool) -> Ug1399Nest:
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
        found = _ug1399_nest(inner, facts, is_inner=True)
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


@dataclass(frozen=True, slots=True)
class HardCase:
    """One case.

    Members
    -------
    name: of the class. lines: of the C text, the one to look at first.
    there: what AOCL's tool does. here: what this design does.
    """

    name: str
    lines: tuple[int, ...]
    there: str
    here: str

    def to_json(self) -> dict[str, Any]:
        """Return the case as a JSON-serialisable object."""
        return asdict(self) | {"lines": list(self.lines)}


def hard_cases(
    nest: LoopNode, facts: LoopFacts, dependences: Sequence[Dependence]
) -> list[HardCase]:
    """Return the hard cases in an outermost loop, in the order of the classes above."""
    found: list[HardCase] = []
    for judge in (_accumulations, _out_of_order, _divergent):
        found += judge(nest, facts)
    found += _serial(nest, facts, dependences)
    return found


def _inner_loops(nest: LoopNode) -> Iterator[tuple[LoopNode, LoopNode]]:
    """Yield every loop that stands in another one, behind the loop around it."""
    for node in walk_tree((nest,)):
        if isinstance(node, LoopNode):
            for inner in outermost_loops(node.body):
                yield node, inner


def _direct(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the statements among `nodes` that are in no further loop."""
    for node in nodes:
        if isinstance(node, StatementNode):
            yield node.statement
        elif isinstance(node, ConditionNode):
            yield from _direct(node.body)


def _accumulations(nest: LoopNode, facts: LoopFacts) -> Iterator[HardCase]:
    for _, inner in _inner_loops(nest):
        for name in _direct(inner.body):
            statement, issue = facts.scop.statement(name), facts.issues.get(name)
            if issue is not None and _accumulates(statement, inner.loop.iterator):
                yield HardCase(
                    "accumulation",
                    (statement.span.line, inner.loop.span.line),
                    f"each addition to {statement.write} waits until the one before is stored",
                    _accumulated(statement, issue),
                )


def _accumulates(statement: Statement, innermost: str) -> bool:
    """Return whether the statement changes an element that outer loops alone choose."""
    write = statement.write
    if statement.is_scatter:
        # Data chooses it.
        return False
    used = {name for subscript in write.affine for name in subscript.variables}
    same = any(
        read.array == write.array and read.subscripts == write.subscripts
        for read in statement.reads
    )
    return same and bool(used) and innermost not in used


def _accumulated(statement: Statement, issue: Issue) -> str:
    stream = issue.stream
    order = [level.name for level in stream.levels if level.name is not None]
    parts = [f"{statement.name} issues {_every(stream.ii)}"]
    if order != list(statement.iterators):
        parts.append(f"with its loops in the order {', '.join(order)}")
    if any(isinstance(op, ForwardOp) for op in stream.operations):
        parts.append("the sum is forwarded from addition to addition")
    return ", ".join(parts)


def _every(ii: int) -> str:
    return "every cycle" if ii == 1 else f"every {ii} cycles"


def _out_of_order(nest: LoopNode, facts: LoopFacts) -> Iterator[HardCase]:
    for outer, inner in _inner_loops(nest):
        trips = facts.trips_of(inner)
        if has_constant_bounds(inner.loop) or trips.is_constant:
            continue
        name, around = loop_name(inner.loop), loop_name(outer.loop)
        yield HardCase(
            "out of order",
            (inner.loop.span.line, outer.loop.span.line),
            f"loop {name} has {trips.least} to {trips.most} iterations, so those of loop {around} "
            "would finish out of order: they run one after another",
            f"all {trips.total:,} iterations of loop {name} follow each other: "
            f"{_taken(inner, facts)}",
        )


def _divergent(nest: LoopNode, facts: LoopFacts) -> Iterator[HardCase]:
    for node in walk_tree((nest,)):
        if not isinstance(node, LoopNode):
            continue
        conditional = [x for x in outermost_loops(node.body) if x.loop.under is not None]
        if not conditional:
            continue
        names = ", ".join(f"{loop_name(x.loop)} (line {x.loop.span.line})" for x in conditional)
        yield HardCase(
            "divergent",
            (node.loop.span.line, *(x.loop.span.line for x in conditional)),
            f"an iteration of loop {loop_name(node.loop)} enters {names} by a condition, so its "
            "iterations run one after another",
            f"the statements of the inner loops issue side by side: {_taken(node, facts)}",
        )


def _serial(
    nest: LoopNode, facts: LoopFacts, dependences: Sequence[Dependence]
) -> Iterator[HardCase]:
    flows = {(d.source, d.sink, d.array) for d in dependences if d.kind == "flow"}
    for node in walk_tree((nest,)):
        if not isinstance(node, LoopNode):
            continue
        for inner in outermost_loops(node.body):
            for late in _behind(node.body, inner):
                array = _carried(facts, inner, late, flows)
                if array is not None:
                    statement = facts.scop.statement(late)
                    yield HardCase(
                        "serial region",
                        (statement.span.line, inner.loop.span.line),
                        f"line {statement.span.line} works on {array} behind loop "
                        f"{loop_name(inner.loop)}, so the iterations of loop "
                        f"{loop_name(node.loop)} run one after another",
                        f"{late} issues between the iterations of loop {loop_name(inner.loop)}: "
                        f"{_taken(node, facts)}",
                    )


def _behind(nodes: Sequence[Node], inner: LoopNode) -> list[str]:
    """Return the statements that follow `inner` in the body of the loop around it."""
    flat: list[LoopNode | StatementNode] = []
    stack = list(nodes)
    while stack:
        node = stack.pop(0)
        if isinstance(node, ConditionNode):
            stack = [*node.body, *stack]
        else:
            flat.append(node)
    behind = flat[flat.index(inner) + 1 :]
    return [node.statement for node in behind if isinstance(node, StatementNode)]


def _carried(
    facts: LoopFacts, inner: LoopNode, late: str, flows: set[tuple[str, str, str]]
) -> str | None:
    """Return the array through which `late` and the loop before it feed each other, if any."""
    array = facts.scop.statement(late).write.array
    for node in walk_tree((inner,)):
        if isinstance(node, StatementNode):
            name = node.statement
            writes = facts.scop.statement(name).write.array == array
            if writes and {(name, late, array), (late, name, array)} <= flows:
                return array
    return None


def _taken(node: LoopNode, facts: LoopFacts) -> str:
    return f"{span_cycles(facts.issued_in(node)):,} cycles in all"


def nest_report(
    scop: Scop,
    trips: Sequence[LoopTrips],
    plan: KernelPlan,
    dependences: Sequence[Dependence],
    own_iis: Mapping[str, int] | None = None,
) -> list[dict[str, Any]]:
    """Return one JSON-serialisable entry for every outermost loop, in program order.

    Parameters
    ----------
    scop: the program as written. trips: of every loop of it, in program order.
    own_iis: of statements that the plan has in skewed loops, the II in the loops as written.
    """
    facts = loop_facts(scop, trips, plan, own_iis)
    nests = outermost_loops(scop.tree)
    return [_nest(nest, nests, facts, dependences) for nest in nests]


def _nest(
    nest: LoopNode,
    nests: Sequence[LoopNode],
    facts: LoopFacts,
    dependences: Sequence[Dependence],
) -> dict[str, Any]:
    kind, reason = classify(nest)
    estimate = ug1399_estimate(nest, facts)
    return {
        "class": kind,
        "reason": reason,
        "loops": _loops(nest, (), facts),
        "statements": list(statements_under((nest,))),
        "line": nest.loop.span.line,
        "latency_cycles": span_cycles(facts.issued_in(nest)),
        "beside": [
            other.loop.span.line
            for other in nests
            if other is not nest and _overlap(facts.issued_in(nest), facts.issued_in(other))
        ],
        "ug1399": {
            "flattened": list(estimate.flattened),
            "lost_cycles": estimate.lost_cycles,
            "cycles": estimate.cycles,
        },
        "aocl": [case.to_json() for case in hard_cases(nest, facts, dependences)],
    }


def _overlap(left: Sequence[Issue], right: Sequence[Issue]) -> bool:
    """Return whether two nests issue in the same cycles, so that neither's span is its cost."""
    if not left or not right:
        return False
    first = [min(issue.first_cycle for issue in issues) for issues in (left, right)]
    last = [max(issue.last_issue_cycle for issue in issues) for issues in (left, right)]
    return first[0] <= last[1] and first[1] <= last[0]


def _loops(node: LoopNode, outer: tuple[str, ...], facts: LoopFacts) -> list[dict[str, Any]]:
    """Return the entries of a loop in the loops `outer`, and of the loops inside of it."""
    loop, trips = node.loop, facts.trips_of(node)
    path = (*outer, loop_name(loop))
    flattened = ["_".join(names) for names in _leaf_paths(node.body, path) if len(names) > 1]
    kind, reason = classify(node)
    issues = facts.issued_in(node)
    slowest = max(issues, key=lambda issue: issue.stream.ii, default=None)
    entry = {
        "name": loop.iterator,
        "label": loop.label,
        "depth": len(outer),
        "start": str(loop.start),
        "stop": str(loop.stop),
        "step": loop.step,
        "line": loop.span.line,
        "class": kind,
        "reason": reason,
        "trips": {
            "min": trips.least,
            "max": trips.most,
            "average": round(trips.average, 3),
            "total": trips.total,
            "at_most": loop.is_guarded,
        },
        "flattened": bool(flattened),
        "flattened_into": flattened,
        "ii": slowest.stream.ii if slowest else None,
        "ii_reason": slowest.stream.ii_reason if slowest else "never runs",
        "iteration_latency_cycles": max((i.stream.depth_cycles for i in issues), default=0),
        "latency_cycles": span_cycles(issues),
    }
    inner = [entry for child in outermost_loops(node.body) for entry in _loops(child, path, facts)]
    return [entry, *inner]


def _leaf_paths(nodes: tuple[Node, ...], path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the names of the loops around each innermost loop; each path becomes one loop."""
    inner = outermost_loops(nodes)
    if not inner:
        return [path]
    paths = [p for child in inner for p in _leaf_paths(child.body, (*path, loop_name(child.loop)))]
    return list(dict.fromkeys(paths))
