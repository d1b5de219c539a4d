"""Which declared variables count loops, and which of those are used outside of these loops, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pycparser import c_ast


@dataclass(frozen=True, slots=True)
class Counters:
    """Variables that some `for` header sets, by the ids of their declarations.

    Members
    -------
    confined: they have no use but in those loops, so that their initial values are dead.
    used_after: something else depends on their values.
    """

    confined: frozenset[int] = frozenset()
    used_after: frozenset[int] = frozenset()

    def __or__(self, other: Counters) -> Counters:
        return Counters(self.confined | other.confined, self.used_after | other.used_after)


def loop_counters(body: c_ast.Node) -> Counters:
    """Return the variables declared in `body` that count loops.

    Names are resolved as C does, so that a variable of the same name in another block is not
    taken for the counter.
    """
    search = _Search()
    search.visit(body, ({},))
    return Counters(
        frozenset(search.counting - search.used), frozenset(search.counting & search.used)
    )


@dataclass(slots=True)
class _Search:
    counting: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)
    _around: list[int] = field(default_factory=list)

    def visit(self, node: c_ast.Node, scopes: Sequence[dict[str, c_ast.Decl]]) -> None:
        """Note what counts loops below `node`, and what is mentioned outside of such loops."""
        match node:
            case c_ast.Compound():
                scopes = (*scopes, {})
            case c_ast.Decl():
                if node.init is not None:
                    self.visit(node.init, scopes)
                if node.name is not None:
                    scopes[-1][node.name] = node
                return
            case c_ast.ID(name=name):
                declared = _declaration(name, scopes)
                if declared is not None and id(declared) not in self._around:
                    self.used.add(id(declared))
                return
            case c_ast.For():
                self._loop(node, (*scopes, {}))
                return
        for _, child in node.children():
            self.visit(child, scopes)

    def _loop(self, node: c_ast.For, scopes: Sequence[dict[str, c_ast.Decl]]) -> None:
        counter = None
        match node.init:
            case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=start):
                counter = _declaration(name, scopes)
                self.visit(start, scopes)
            case None:
                # It goes on from the value that was there before.
                counter = _declaration(_stepped(node.next), scopes)
                self.used |= set() if counter is None else {id(counter)}
            case _:
                self.visit(node.init, scopes)
        if counter is not None:
            self.counting.add(id(counter))
            self._around.append(id(counter))
        for part in (node.cond, node.next, node.stmt):
            if part is not None:
                self.visit(part, scopes)
        if counter is not None:
            self._around.pop()


def _stepped(node: c_ast.Node | None) -> str:
    match node:
        case c_ast.UnaryOp(expr=c_ast.ID(name=str(name))):
            return name
        case c_ast.Assignment(lvalue=c_ast.ID(name=str(name))):
            return name
    return ""


def _declaration(name: str, scopes: Sequence[dict[str, c_ast.Decl]]) -> c_ast.Decl | None:
    return next((scope[name] for scope in reversed(scopes) if name in scope), None)
