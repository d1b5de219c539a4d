"""The statements found so far, until it is known which are needed and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.frontend.errors import DuplicateName
from rtlgen.frontend.names import StatementNames
from rtlgen.ir.scop import ConditionNode, LoopNode, Node, Statement, StatementNode


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement under a name for the time being.

    Members
    -------
    node: where it was read from; copies of one statement share it.
    is_substituted: its value is known wherever it alone reaches.
    """

    node: c_ast.Node
    label: str | None
    statement: Statement
    is_substituted: bool


class Drafts:
    """Collects statements in program order."""

    def __init__(self) -> None:
        self._drafts: list[Draft] = []

    def add(
        self, node: c_ast.Node, label: str | None, statement: Statement, is_substituted: bool
    ) -> StatementNode:
        """Append a statement; its name is given at the end."""
        name = f"#{len(self._drafts)}"
        named = replace(statement, name=name)
        self._drafts.append(Draft(node, label, named, is_substituted))
        return StatementNode(name)

    def __len__(self) -> int:
        return len(self._drafts)

    def substitute(self, first: int, array: str) -> None:
        """Note that what the statements from number `first` on write to a scalar is known."""
        for place, draft in enumerate(self._drafts[first:], first):
            if draft.statement.write.array == array:
                self._drafts[place] = replace(draft, is_substituted=True)

    def written_by(self, nodes: Sequence[Node]) -> frozenset[str]:
        """Return the variables that the statements of a tree write."""
        by_name = {draft.statement.name: draft.statement for draft in self._drafts}
        return frozenset(by_name[name].write.array for name in _names(nodes))

    def finish(
        self,
        nodes: Sequence[Node],
        may_drop: Callable[[str], bool],
        report: Callable[[DuplicateName], None],
    ) -> tuple[tuple[Statement, ...], tuple[Node, ...]]:
        """Return the statements that are needed, named, and the tree of them.

        A scalar whose every use was replaced by its value needs no assignments.

        Parameters
        ----------
        may_drop: whether a variable is visible to nobody after the run.
        """
        by_name = {draft.statement.name: draft for draft in self._drafts}
        order = [by_name[name] for name in _names(nodes)]
        read = {
            access.array
            for draft in order
            for access in draft.statement.reads
            # What only keeps its own old value tells nobody.
            if not (draft.is_substituted and draft.statement.write.array == access.array)
        }
        kept = [
            draft
            for draft in order
            if not draft.is_substituted
            or draft.statement.write.array in read
            or not may_drop(draft.statement.write.array)
        ]
        names = StatementNames()
        final: dict[str, Statement] = {}
        for draft in kept:
            try:
                name = names.give(draft.node, draft.label, draft.statement.span)
            except DuplicateName as error:
                report(error)
                continue
            final[draft.statement.name] = replace(draft.statement, name=name)
        return tuple(final.values()), _renamed(nodes, {k: s.name for k, s in final.items()})


def _names(nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, StatementNode):
            yield node.statement
        else:
            yield from _names(node.body)


def _renamed(nodes: Sequence[Node], names: dict[str, str]) -> tuple[Node, ...]:
    """Return the tree with final names, without what has none and what is empty for that."""
    result: list[Node] = []
    for node in nodes:
        match node:
            case StatementNode(name):
                if name in names:
                    result.append(StatementNode(names[name]))
            case LoopNode() | ConditionNode():
                body = _renamed(node.body, names)
                if body:
                    result.append(replace(node, body=body))
    return tuple(result)
