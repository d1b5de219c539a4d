"""What the readers of calls, branches and loops all need of the reader of everything else."""

from __future__ import annotations

from typing import Protocol

from pycparser import c_ast

from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.place import Place
from rtlgen.frontend.reaching import Reaching
from rtlgen.frontend.writes import Assignment
from rtlgen.ir.scop import Node


class StatementReader(Protocol):
    """Reads expressions where a statement stands, and appends statements."""

    reaching: Reaching

    def reader(self, place: Place, before: list[Node] | None = None) -> ExpressionReader:
        """Return a reader of the expressions of one statement."""

    def assign(
        self,
        node: c_ast.Node,
        assignment: Assignment,
        place: Place,
        reader: ExpressionReader,
        label: str | None = None,
    ) -> Node:
        """Append a statement."""

    def nested(self, node: c_ast.Node, place: Place) -> tuple[Node, ...]:
        """Read the body of a loop or `if`."""
