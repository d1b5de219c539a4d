"""Which local variables carry values into a `#pragma scop` region, and which out of it.

int s, last, A[4];      s and A come in: what stands before the region gives them values
s = 0; A[1] = 5;
#pragma scop
for (...) { s += A[i]; last = i; A[i] = s; }
#pragma endscop
printf("%d", last);     last goes out, and so does A: the host reads them after the run
show(A);
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.writers import assigned, below, handed_over


@dataclass(frozen=True, slots=True)
class RegionValues:
    """The C names of variables that are declared before the region.

    Members
    -------
    changed: statements before the region may have set them, so that a declaration's value is not
        the one at the start of the region.
    taken: changed, and the region may use what they held at its start.
    handed_on: the region may set them, and what stands behind it may use that.
    """

    changed: frozenset[str]
    taken: frozenset[str]
    handed_on: frozenset[str]


def region_values(
    before: Iterable[c_ast.Node], items: Iterable[c_ast.Node], after: Iterable[c_ast.Node]
) -> RegionValues:
    """Return what the parts of a function, cut at the pragmas, have in common."""
    first, inside = list(before), list(items)
    changed = _set_by(first)
    for item in first:
        if not isinstance(item, c_ast.Decl) or isinstance(item.type, c_ast.PtrDecl):
            continue
        # What was computed from it before the region is not what it would be in the region.
        if changed.intersection(_mentioned(item.init)):
            changed.add(item.name)
    used, set_inside = _Uses(), _set_by(inside)
    used.sequence(inside)
    behind = _Uses()
    behind.sequence(list(after))
    return RegionValues(
        frozenset(changed),
        frozenset(changed & used.exposed),
        frozenset(set_inside & behind.exposed),
    )


class _Uses:
    """Walks statements in order.

    Members
    -------
    exposed: variables that may be used with the values from before the first statement.
    """

    def __init__(self) -> None:
        self.exposed: set[str] = set()
        self._surely_set: set[str] = set()

    def sequence(self, nodes: Iterable[c_ast.Node]) -> None:
        """Walk what is carried out one after the other."""
        for node in nodes:
            self._visit(node)

    def _visit(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.ID(name=name):
                if name not in self._surely_set:
                    self.exposed.add(name)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                self._visit(value)
                self._surely_set.add(name)
            case c_ast.Decl(name=name):
                self.sequence(child for _, child in node.children())
                self._surely_set.add(name)
            case c_ast.Compound(block_items=items):
                self._block(items or (), ())
            case c_ast.For(init=init, cond=condition, next=step, stmt=body):
                first = init.decls if isinstance(init, c_ast.DeclList) else [init]
                self._block([*first, condition], [body, step])
            case c_ast.If(cond=condition, iftrue=first, iffalse=second):
                self._visit(condition)
                ways = [self._maybe([first]), self._maybe([second])]
                self._surely_set |= ways[0] & ways[1]
            case c_ast.Switch() | c_ast.While() | c_ast.DoWhile() | c_ast.TernaryOp():
                self._maybe([child for _, child in node.children()])
            case c_ast.BinaryOp(op="&&" | "||", left=left, right=right):
                self._visit(left)
                self._maybe([right])
            case c_ast.FuncCall(args=arguments):
                # The name of the function is no variable.
                self.sequence([] if arguments is None else [arguments])
            case _:
                self.sequence(child for _, child in node.children())

    def _block(
        self, nodes: Iterable[c_ast.Node | None], repeated: Iterable[c_ast.Node | None]
    ) -> None:
        """Walk a block, and what of it need not be carried out."""
        outside = self._surely_set.copy()
        inside = [node for node in nodes if node is not None]
        self.sequence(inside)
        self._maybe(repeated)
        # What the block declares hides another variable, in the block only.
        hidden = {node.name for node in inside if isinstance(node, c_ast.Decl)}
        self._surely_set -= hidden - outside

    def _maybe(self, nodes: Iterable[c_ast.Node | None]) -> set[str]:
        """Walk what need not be carried out; return what is set where it is."""
        before = self._surely_set.copy()
        self.sequence(node for node in nodes if node is not None)
        after, self._surely_set = self._surely_set, before
        return after


def _set_by(nodes: Iterable[c_ast.Node]) -> set[str]:
    """Return what statements may set, themselves or in a function that they call."""
    found = list(nodes)
    named = {name for node in found for name, _ in assigned(node)}
    return named | {name for node in found for name in handed_over(node)}


def _mentioned(root: c_ast.Node | None) -> frozenset[str]:
    if root is None:
        return frozenset()
    return frozenset(node.name for node in below(root) if isinstance(node, c_ast.ID))
