"""Where the expressions of one statement stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pycparser import c_ast

from rtlgen.frontend.calls import CallReader
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.extents import Extents
from rtlgen.frontend.place import Place
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.reaching import Definitions, Reaching
from rtlgen.frontend.symbols import Variable
from rtlgen.frontend.values import Value
from rtlgen.ir.scop import Access, Node
from rtlgen.source import Span


class Body(Protocol):
    """What expressions need of the reader of everything else."""

    reaching: Reaching

    def note_use(self, variable: Variable, span: Span) -> None:
        """Note that a variable is used as data."""


@dataclass(frozen=True, slots=True)
class Site:
    """What the expressions of a statement depend on.

    Members
    -------
    before: takes the statements that have to run before it; None if there can be none.
    """

    body: Body
    calls: CallReader
    extents: Extents
    place: Place
    before: list[Node] | None

    def note_use(self, variable: Variable, span: Span) -> None:
        """Note that the value of a variable is read."""
        self.body.note_use(variable, span)

    def definitions(self, variable: Variable) -> Definitions:
        """Return the assignments of a scalar that may reach here."""
        return self.body.reaching.of(variable)

    def note_access(self, variable: Variable, access: Access, ranges: Ranges) -> None:
        """Note which elements are touched."""
        self.extents.note(variable, access, ranges)

    def call(self, node: c_ast.FuncCall, reader: ExpressionReader) -> Value:
        """Return the value of a call."""
        return self.calls.value(node, reader, self.place, self.before)
