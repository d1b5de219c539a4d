"""The hard cases of nested loops that AOCL names: what its tool does with them, and this design.

- accumulation: an inner loop adds to an array element that only outer loops move (`accum_swg`);
- out of order: the trip count of an inner loop depends on an outer one;
- divergent: an outer iteration enters one of several inner loops, by a condition;
- serial region: behind an inner loop, work on a variable that the loop needs when it comes again.

Reference: Intel FPGA SDK for OpenCL Best Practices Guide (AOCL), 2.8.4, nested loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rtlgen.ir.plan import ForwardOp
from rtlgen.ir.scop import ConditionNode, LoopNode, Node, Statement, StatementNode, walk_tree
from rtlgen.poly.dependences import Dependence
from rtlgen.report.loop_facts import Issue, LoopFacts, span_cycles
from rtlgen.report.nest_class import has_constant_bounds, loop_name, outermost_loops


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
