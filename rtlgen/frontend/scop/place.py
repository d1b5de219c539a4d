"""Where a statement and its expressions stand, and what their readers need of each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from pycparser import c_ast

from rtlgen.frontend.analysis.cases import Conjunction
from rtlgen.frontend.analysis.guards import Guard
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.reaching import Origin, Reaching
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.frontend.reading.writes import Assignment
from rtlgen.ir.affine import Constraint
from rtlgen.ir.scop import Loop, Node
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Place:
    """Loops (outermost first), conditions, their ranges, and the condition on data, if any.

    Members
    -------
    condition: the innermost `if` inside of the innermost loop, affine or not.
    iterations: of all loops around, at most.
    told: what assertions before say.
    """

    loops: tuple[Loop, ...] = ()
    conditions: tuple[Constraint, ...] = ()
    ranges: Ranges = field(default_factory=Ranges)
    guard: Guard | None = None
    condition: Span | None = None
    iterations: int = 1
    told: tuple[Origin, ...] = ()

    def under(self, conditions: Conjunction) -> Place:
        """Return the place inside an affine `if`."""
        return replace(
            self,
            conditions=(*self.conditions, *conditions),
            ranges=self.ranges.under(conditions),
        )

    def guarded(self, guard: Guard, is_negated: bool) -> Place:
        """Return the place where `guard` holds too, or does not hold."""
        inner = guard.negated() if is_negated else guard
        return replace(self, guard=self.guard.then(inner) if self.guard else inner)


class StatementReader(Protocol):
    """Reads expressions where a statement stands, and appends statements."""

    reaching: Reaching

    def reader(self, place: Place, before: list[Node] | None = None) -> ExpressionReader:
        """Return a reader of the expressions of one statement."""

    def control_reader(self, place: Place) -> ExpressionReader:
        """Return a reader of when a loop runs, or where an element is."""

    def note_used_after(self, variable: Variable) -> None:
        """Note that a variable may be used outside of the loops that it counts."""

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
