"""Classes of loop nests, as UG1399 defines them.

- perfect: code only in the innermost loop, nothing between the loop headers, constant bounds;
- semi-perfect: the same, but the bound of the outermost loop is variable;
- imperfect: an inner loop has variable bounds, or there is code outside of the innermost loop.

Reference: Vitis High-Level Synthesis User Guide (UG1399) 2023.2, nested loops.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, StatementNode

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
