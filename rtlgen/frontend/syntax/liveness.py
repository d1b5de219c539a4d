"""Which variables hold values that somebody may use: behind a loop, or a region.

    int s, last, A[4];      s and A come in: what stands before the region gives them values
    s = 0; A[1] = 5;
    #pragma scop
    for (...) { s += A[i]; last = i; A[i] = s; }
    #pragma endscop
    printf("%d", last);     last goes out, and so does A: the host reads them after the run
    show(A);

Control is structured but for forward jumps: one walk from the end to the beginning tells, and a
second one of what a loop repeats. Names are taken as they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from rtlgen.frontend.syntax.assigned import assigned, below, handed_over, mentioned

Names = frozenset[str]
_NONE: Names = frozenset()


@dataclass(slots=True)
class Liveness:
    """Walks statements from the last one to the first."""

    _behind: dict[int, tuple[c_ast.Node, Names]] = field(default_factory=dict)
    """Each loop that was met, by its identity, which stays its own; what is used behind it."""
    _left: Names = _NONE
    _continued: Names = _NONE
    _all: Names = _NONE
    _labels: dict[str, Names] = field(default_factory=dict)

    def before(self, items: Sequence[c_ast.Node | None], after: Names = _NONE) -> Names:
        """Return what statements in one scope, or what is behind them, may use of what was before.

        Parameters
        ----------
        after: what is used behind them.
        """
        # A `goto` to a label that was not met may lead to any of them.
        self._all = self._all or mentioned(*items)
        live = after
        for item in reversed(items):
            live = self._visit(item, live)
        # What they declare hides another variable.
        hidden = frozenset(x.name for x in items if isinstance(x, c_ast.Decl) and x.name)
        return (live - hidden) | (after & hidden)

    def is_used_behind(self, name: str, loop: c_ast.Node) -> bool:
        """Return whether something may use what a loop leaves in a variable, if it was met."""
        found = self._behind.get(id(loop))
        return found is None or name in found[1]

    def _visit(self, node: c_ast.Node | None, after: Names) -> Names:
        match node:
            case None:
                return after
            case c_ast.ID(name=name):
                return after | {name}
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                return self._visit(value, after - {name})
            case c_ast.Decl(name=name):
                return self._parts(node, after - {name})
            case c_ast.Compound(block_items=items):
                return self.before(items or (), after)
            case c_ast.If(cond=first) | c_ast.TernaryOp(cond=first):
                ways = (self._visit(arm, after) for arm in (node.iftrue, node.iffalse))
                return self._visit(first, _NONE.union(*ways))
            case c_ast.BinaryOp(op="&&" | "||", left=first, right=second):
                return self._visit(first, after | self._visit(second, after))
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                return self._loop(node, after)
            case c_ast.Switch():
                outer, self._left = self._left, after
                # Any case of it may be where it begins.
                inside = self._visit(node.stmt, after) | mentioned(node.stmt)
                self._left = outer
                return self._visit(node.cond, after | inside)
            case c_ast.Break():
                return self._left
            case c_ast.Continue():
                return self._continued
            case c_ast.Return():
                return self._visit(node.expr, _NONE)
            case c_ast.Label(name=name, stmt=labelled):
                live = self._visit(labelled, after)
                self._labels[name] = live | self._labels.get(name, _NONE)
                return live
            case c_ast.Goto(name=name):
                return self._labels.get(name, self._all)
            case c_ast.FuncCall(args=arguments):
                # The name of the function is no variable.
                return self._visit(arguments, after)
        return self._parts(node, after)

    def _parts(self, node: c_ast.Node, after: Names) -> Names:
        live = after
        for _, child in reversed(node.children()):
            live = self._visit(child, live)
        return live

    def _loop(self, node: c_ast.For | c_ast.While | c_ast.DoWhile, after: Names) -> Names:
        jumps = (self._visit(x, _NONE) for x in below(node) if isinstance(x, c_ast.Goto))
        before = self._behind.get(id(node), (node, _NONE))[1]
        self._behind[id(node)] = node, after.union(before, *jumps)
        outer = self._left, self._continued
        self._left, live = after, after
        for _ in range(2):
            # Where the body ends, and what is used from there on.
            if isinstance(node, c_ast.DoWhile):
                self._continued = self._visit(node.cond, live | after)
                live = self._visit(node.stmt, self._continued)
            else:
                self._continued = self._visit(getattr(node, "next", None), live)
                live = self._visit(node.cond, self._visit(node.stmt, self._continued) | after)
        self._left, self._continued = outer
        init = getattr(node, "init", None)
        return self.before(init.decls if isinstance(init, c_ast.DeclList) else [init], live)


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
        if changed & mentioned(item.init):
            changed.add(item.name)
    used, set_inside = Liveness().before(inside), _set_by(inside)
    behind = Liveness().before(list(after))
    return RegionValues(
        frozenset(changed),
        frozenset(changed & used),
        frozenset(set_inside & behind),
    )


def _set_by(nodes: Iterable[c_ast.Node]) -> set[str]:
    """Return what statements may set, themselves or in a function that they call."""
    found = list(nodes)
    named = {name for node in found for name, _ in assigned(node)}
    return named | {name for node in found for name in handed_over(node)}
