"""Units of the fused loop: statements that can be placed alone, and cycles that must move together.

Loop distribution (Allen and Kennedy, TOPLAS 1987) splits a program into the strongly connected
components of its dependence graph. A component of one statement is a perfect nest of its own. The
statements of a larger one feed each other across the iterations of loops that they share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.ir.scop import Scop
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.strong_components import strong_components


@dataclass(frozen=True, slots=True)
class Unit:
    """Statements of one strongly connected component, in program order."""

    statements: tuple[str, ...]

    def ordered(self, scop: Scop) -> Unit:
        """Return the same statements in the order of another program."""
        mine = frozenset(self.statements)
        return Unit(tuple(s.name for s in scop.statements if s.name in mine))


def dependence_units(scop: Scop, dependences: Sequence[Dependence]) -> tuple[Unit, ...]:
    """Return the components so that every dependence points forward, near program order."""
    names = [statement.name for statement in scop.statements]
    components = strong_components(names, [(d.source, d.sink) for d in dependences])
    return tuple(map(Unit, components))
