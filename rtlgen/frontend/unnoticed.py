"""Expressions that are read without a trace: constants, and values that are only looked at."""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import CallUnsupported
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.reaching import Definition, Definitions
from rtlgen.frontend.symbols import Variable
from rtlgen.frontend.values import Value
from rtlgen.ir.scop import Access
from rtlgen.source import Span


class Unnoticed:
    """The surroundings of expressions that are read without a trace, and call nothing.

    Parameters
    ----------
    definitions: returns the assignments of a scalar that may reach.
    """

    def __init__(self, definitions: Callable[[Variable], Definitions]) -> None:
        self._definitions = definitions

    def note_use(self, variable: Variable, span: Span) -> None:
        """Take no notice."""

    def definitions(self, variable: Variable) -> Definitions:
        """Return the assignments of a scalar that may reach."""
        return self._definitions(variable)

    def note_access(self, variable: Variable, access: Access, ranges: Ranges) -> None:
        """Take no notice."""

    def call(self, node: c_ast.FuncCall, reader: ExpressionReader) -> Value:
        """Refuse it."""
        raise CallUnsupported(
            "a constant expression calls a function", labels=(Label(reader.span(node)),)
        )


def from_outside(variable: Variable) -> Definitions:
    """Return the value that nothing is known of."""
    return (Definition(variable.span, None),)
