"""Loops whose iterator takes a few values in another way than by equal steps, written out.

for (n = 16; n > 1; n >>= 1) S          S four times, with n = 16, 8, 4, 2
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from pycparser import c_ast

from rtlgen.frontend.analysis.values import literal
from rtlgen.frontend.evolution.moves import Moves
from rtlgen.frontend.reading.declarations import Declarations, counting_type
from rtlgen.frontend.reading.symbols import NamedConstant, Variable
from rtlgen.frontend.reading.writes import written
from rtlgen.frontend.scop.place import Place, StatementReader
from rtlgen.frontend.syntax.assigned import assigned
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.scop import Node
from rtlgen.ir.types import IntType
from rtlgen.source import Span

MAX_VALUES = 32
"""Values for each of which the body of a loop may be written out."""

MAX_COPIES = 256
"""Copies of a body in several such loops, one inside of the other."""


class Body(StatementReader, Protocol):
    """What the reader of such loops needs of the reader of everything else."""

    def is_used_after(self, variable: Variable) -> bool:
        """Return whether a variable that counts a loop is used outside of it, too."""

    def warn_left_out(self, code: str, message: str, span: Span) -> None:
        """Warn that something is left out."""


@dataclass(frozen=True, slots=True)
class _Stepped:
    """What a header steps, and how.

    Members
    -------
    stored: the variable that is declared before the loop.
    """

    name: str
    type: IntType
    span: Span
    start: c_ast.Node
    next: c_ast.Node
    stored: Variable | None


class ValueLoopReader:
    """Reads loops of which all values of the iterator are known numbers.

    Members
    -------
    too_many: the last loop of which there would be too many copies, inside of others.
    """

    def __init__(
        self, body: Body, declarations: Declarations, locator: Locator, moves: Moves
    ) -> None:
        self._body = body
        self._declarations = declarations
        self._locator = locator
        self._moves = moves
        self._copies = 1
        self.too_many: c_ast.For | None = None

    def read(self, node: c_ast.For, place: Place) -> tuple[Node, ...] | None:
        """Return the bodies of a loop, one for each value; None if it is no such loop."""
        stepped = self._stepped(node)
        found = None if stepped is None else self._values(node, stepped, place)
        copies = self._copies
        if stepped is None or found is None:
            return None
        if copies * len(found) > MAX_COPIES:
            self.too_many = node
            return None
        if len(found) == 1:
            self._body.warn_left_out("W0101", "this loop is never entered", stepped.span)
        nodes: list[Node] = []
        self._copies = copies * len(found)
        for value in found[:-1]:
            with self._fixed(stepped, value):
                nodes += self._body.nested(node.stmt, place)
        self._copies = copies
        variable = stepped.stored
        if variable is not None and self._body.is_used_after(variable):
            reader = self._body.reader(place)
            value_behind = literal(found[-1], variable.element, stepped.span)
            text = f"{variable.name} = {found[-1]}"
            assignment = written(variable, stepped.span, value_behind, reader, text)
            nodes.append(self._body.assign(node, assignment, place, reader))
        return tuple(nodes)

    def _stepped(self, node: c_ast.For) -> _Stepped | None:
        name: str = ""
        start: c_ast.Node | None = None
        stored: Variable | None = None
        match node.init:
            case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=start) as declared]):
                type_ = self._declarations.iterator_type(declared)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start):
                stored = self._declarations.scopes.stored(name)
                if stored is None or stored.shape != () or stored.storage != "local":
                    return None
                type_ = counting_type(stored.element, self._locator.start(node))
        match node.next:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=stepped), rvalue=following):
                pass
            case c_ast.Assignment(op=op, lvalue=c_ast.ID(name=stepped) as old, rvalue=by):
                following = c_ast.BinaryOp(op.removesuffix("="), old, by, node.next.coord)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--" as op, expr=c_ast.ID() as old):
                stepped, one = old.name, c_ast.Constant("int", "1", node.next.coord)
                following = c_ast.BinaryOp(op[-1], old, one, node.next.coord)
            case _:
                return None
        if start is None or stepped != name or node.cond is None:
            return None
        if any(target == name for target, _ in assigned(node.stmt)):
            return None
        return _Stepped(name, type_, self._locator.start(node), start, following, stored)

    def _values(self, node: c_ast.For, stepped: _Stepped, place: Place) -> list[int] | None:
        """Return the values of the iterator, the one behind the loop included."""
        value = self._constant(stepped.start, stepped, place)
        reaching = self._body.reaching
        before = reaching.state
        # What the body changes is not known when the header is evaluated again.
        self._moves.of(node.stmt)
        values: list[int] = []
        while value is not None and value not in values and len(values) <= MAX_VALUES:
            values.append(value)
            with self._fixed(stepped, value):
                goes_on = self._body.reader(place).value(node.cond).constant
                value = self._constant(stepped.next, stepped, place) if goes_on else None
            if not goes_on:
                reaching.restore(before)
                return values if goes_on == 0 else None
        reaching.restore(before)
        return None

    def _constant(self, node: c_ast.Node, stepped: _Stepped, place: Place) -> int | None:
        reader = self._body.reader(place)
        return reader.arithmetic.convert(reader.value(node), stepped.type).constant

    @contextmanager
    def _fixed(self, stepped: _Stepped, value: int) -> Iterator[None]:
        """Let the iterator be a number."""
        scopes = self._declarations.scopes
        with scopes.block():
            constant = NamedConstant(stepped.name, value, stepped.type, stepped.span)
            scopes.declare(stepped.name, constant)
            yield
