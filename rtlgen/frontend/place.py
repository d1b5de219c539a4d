"""What is around a statement."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rtlgen.frontend.cases import Conjunction
from rtlgen.frontend.guards import Guard
from rtlgen.frontend.ranges import Ranges
from rtlgen.ir.affine import Constraint
from rtlgen.ir.scop import Loop
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Place:
    """Loops (outermost first), conditions, their ranges, and the condition on data, if any.

    Members
    -------
    condition: the innermost `if` inside of the innermost loop, affine or not.
    iterations: of all loops around, at most.
    """

    loops: tuple[Loop, ...] = ()
    conditions: tuple[Constraint, ...] = ()
    ranges: Ranges = field(default_factory=Ranges)
    guard: Guard | None = None
    condition: Span | None = None
    iterations: int = 1

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
