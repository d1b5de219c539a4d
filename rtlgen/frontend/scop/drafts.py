"""The statements found so far, until it is known which are needed and what they are called.

S0, S1, ... in the order of the text, or their labels. Some stand for no assignment of the text:
those that give local arrays their initial values.

Rewrite
-------
    int t[4] = {5, 6, x};        for (k = 0; k < 2; k++) t[k] = t_initial[k];
                                 t[2] = x;
                                 t[3] = 0;
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import DuplicateName
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.frontend.scop.cases import Place
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Constant, Expr, Read
from rtlgen.ir.scop import Access, ConditionNode, Loop, LoopNode, Node, Statement, StatementNode
from rtlgen.source import Span


class StatementNames:
    """Gives each statement of the text its name, once.

    A statement that is repeated, for each case of a condition, gets S3, S3_1, S3_2, ...
    """

    def __init__(self) -> None:
        self._copies: dict[int, list[str]] = {}
        self._taken: dict[str, Span] = {}

    def give(self, node: c_ast.Node, label: str | None, span: Span) -> str:
        """Return the name of the next copy of the statement that `node` is.

        Raises
        ------
        DuplicateName: a label is the name of another statement.
        """
        copies = self._copies.setdefault(id(node), [])
        first = label or f"S{len(self._copies) - 1}"
        name = f"{copies[0]}_{len(copies)}" if copies else first
        if name in self._taken:
            raise DuplicateName(
                f"two statements are called {name}",
                labels=(Label(span), Label(self._taken[name], "the other one")),
                help="rename the label",
            )
        copies.append(name)
        self._taken[name] = span
        return name


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


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring elements of an array that are set in one way.

    Members
    -------
    fixed: the leading subscripts.
    first, count: of the subscript behind them; the whole of what lies below is set.
    """

    fixed: tuple[int, ...]
    first: int
    count: int


def parts(shape: Sequence[int], computed: Collection[int]) -> Iterator[Part]:
    """Yield what sets an array, in the order in which it is stored.

    Parameters
    ----------
    computed: the numbers of elements that are no constants: each is a part of its own.
    """
    yield from _parts(tuple(shape), frozenset(computed), (), 0)


def _parts(
    shape: tuple[int, ...], computed: frozenset[int], fixed: tuple[int, ...], base: int
) -> Iterator[Part]:
    size = prod(shape[1:])

    def holds_computed(index: int) -> bool:
        start = base + index * size
        return any(start <= number < start + size for number in computed)

    for is_mixed, group in groupby(range(shape[0]), holds_computed):
        indices = list(group)
        if not is_mixed:
            yield Part(fixed, indices[0], len(indices))
            continue
        for index in indices:
            if len(shape) == 1:
                yield Part(fixed, index, 1)
            else:
                yield from _parts(shape[1:], computed, (*fixed, index), base + index * size)


def number_of(shape: Sequence[int], position: Sequence[int]) -> int:
    """Return the number of the first element that a position names."""
    return sum(index * prod(shape[k + 1 :]) for k, index in enumerate(position))


class Filler:
    """Sets the constant elements of one array.

    Parameters
    ----------
    node: the declaration of the array.
    """

    def __init__(
        self, node: c_ast.Decl, variable: Variable, declarations: Declarations, drafts: Drafts
    ) -> None:
        self._node = node
        self._variable = variable
        self._declarations = declarations
        self._drafts = drafts
        self._table = ""

    def constants(self, part: Part, place: Place) -> tuple[Node, ...]:
        """Append the statement that sets a part to constants; return the loops around it."""
        variable = self._variable
        shape, values = variable.shape, self._declarations.initial[variable.name].constants
        depth = len(part.fixed)
        bounds = [(part.first, part.count), *((0, extent) for extent in shape[depth + 1 :])]
        is_one = part.count == 1 < shape[depth]
        loops, position = [], [Affine((), index) for index in part.fixed]
        for level, (first, count) in enumerate(bounds):
            if level or not is_one:
                name = self._declarations.scopes.claim(f"{variable.name}_index")
                end = Affine((), first + count)
                loops.append(Loop(name, Affine((), first), end, 1, variable.span))
                position.append(Affine.variable(name))
            else:
                position.append(Affine((), first))
        start = number_of(shape, (*part.fixed, part.first))
        mine = values[start : start + part.count * prod(shape[depth + 1 :])]
        expr: Expr = Constant(mine[0], variable.element)
        reads: tuple[Access, ...] = ()
        if len(set(mine)) > 1:
            self._table = self._table or self._declarations.table(variable, values)
            expr = Read(0, variable.element)
            reads = (Access(self._table, tuple(position), variable.span),)
        statement = Statement(
            name="",
            loops=(*place.loops, *loops),
            conditions=place.conditions,
            write=Access(variable.name, tuple(position), variable.span),
            reads=reads,
            expr=expr,
            span=variable.span,
            text=_text(variable, part),
        )
        result: Node = self._drafts.add(self._node, None, statement, is_substituted=True)
        for loop in reversed(loops):
            result = LoopNode(loop, (result,))
        return (result,)


def _text(variable: Variable, part: Part) -> str:
    fixed = "".join(f"[{index}]" for index in part.fixed)
    extent = variable.shape[len(part.fixed)]
    if part.count == 1 < extent:
        fixed += f"[{part.first}]"
    elif part.count < extent:
        fixed += f"[{part.first}..{part.first + part.count - 1}]"
    return f"{variable.name}{fixed} = {{...}}"
