"""Classes of loop nests, as UG1399 defines them.

- perfect: code only in the innermost loop, nothing between the loop headers, constant bounds;
- semi-perfect: the same, but the bound of the outermost loop is variable;
- imperfect: an inner loop has variable bounds, or there is code outside of the innermost loop.

Reference: Vitis High-Level Synthesis User Guide (UG1399) 2023.2, nested loops.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from rtlgen.ir.scop import Loop, LoopNode, Node, Scop, StatementNode, walk_tree

NestClass: TypeAlias = Literal["perfect", "semi-perfect", "imperfect"]


def nest_report(scop: Scop) -> list[dict[str, Any]]:
    """Return one JSON-serialisable entry for every outermost loop, in program order.

    An entry has the class, the reason for it, the loops with their bounds, and the statements.
    """
    return [
        {
            "class": classify(node)[0],
            "reason": classify(node)[1],
            "loops": _loops(node, 0),
            "statements": [
                inner.statement for inner in walk_tree((node,)) if isinstance(inner, StatementNode)
            ],
            "line": node.loop.span.line,
        }
        for node in _outermost(scop.tree)
    ]


def classify(nest: LoopNode) -> tuple[NestClass, str]:
    """Return the class of a nest and the reason for it."""
    node = nest
    while True:
        if node is not nest and not _has_constant_bounds(node.loop):
            return "imperfect", f"the bounds of loop {node.loop.iterator} are not constant"
        inner = [child for child in node.body if isinstance(child, LoopNode)]
        if not inner:
            break
        if len(node.body) > 1:
            name = node.loop.iterator
            if len(inner) > 1:
                return "imperfect", f"loop {name} holds {len(inner)} loops"
            return "imperfect", f"loop {name} holds code outside of loop {inner[0].loop.iterator}"
        node = inner[0]
    if not _has_constant_bounds(nest.loop):
        return "semi-perfect", f"the bounds of the outermost loop {nest.loop.iterator} vary"
    return "perfect", "code only in the innermost loop, and all bounds are constant"


def _has_constant_bounds(loop: Loop) -> bool:
    return loop.start.is_constant and loop.stop.is_constant


def _outermost(nodes: tuple[Node, ...]) -> list[LoopNode]:
    found: list[LoopNode] = []
    for node in nodes:
        if isinstance(node, LoopNode):
            found.append(node)
        elif not isinstance(node, StatementNode):
            found += _outermost(node.body)
    return found


def _loops(nest: LoopNode, depth: int) -> list[dict[str, Any]]:
    loop = nest.loop
    own = {
        "name": loop.iterator,
        "label": loop.label,
        "depth": depth,
        "start": str(loop.start),
        "stop": str(loop.stop),
        "step": loop.step,
        "line": loop.span.line,
    }
    inner = [entry for child in _outermost(nest.body) for entry in _loops(child, depth + 1)]
    return [own, *inner]
