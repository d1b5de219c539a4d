"""What statements make of a scalar, found by carrying them out for given values of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat

from pycparser import c_ast

from rtlgen.frontend.errors import FrontendError
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.symbols import Scopes, Variable
from rtlgen.frontend.turn import Effect
from rtlgen.frontend.writers import concerns, declared, mentions
from rtlgen.frontend.writes import read_assignment

MAX_STEPS = 4096
"""Statements carried out for one value."""


class Effects:
    """Carries statements out for given values of one scalar.

    Parameters
    ----------
    reader: returns a reader of expressions for which the scalar has a value, without a trace.
    trips: returns how often a loop runs, if that is a constant; the names given to it mean
        something else there.
    """

    def __init__(
        self,
        scopes: Scopes,
        locator: Locator,
        reader: Callable[[int], ExpressionReader],
        trips: Callable[[c_ast.For, frozenset[str]], int | None],
    ) -> None:
        self._scopes = scopes
        self._locator = locator
        self._reader = reader
        self._trips = trips

    def of(self, node: c_ast.Node, name: str, variable: Variable) -> Effect:
        """Return what `node` makes of the scalar that it calls `name`."""

        def effect(value: int) -> int | None:
            try:
                return _Run(self, name, variable, declared(node)).after(node, value)
            except FrontendError:
                # It is refused when it is read in its turn.
                return None

        return effect

    def condition(self, node: c_ast.Node, value: int) -> int | None:
        """Return the value of a condition, if it is known."""
        return self._reader(value).value(node).constant

    def assigned(self, node: c_ast.Node, variable: Variable, value: int) -> int | None:
        """Return what an assignment of the scalar gives it, if it is known."""
        reader = self._reader(value)
        assignment = read_assignment(node, reader, self._scopes, self._locator)
        return assignment.value.constant if assignment.variable == variable else None

    def trips(self, node: c_ast.For, inner: frozenset[str]) -> int | None:
        """Return how often a loop runs, if that is a constant."""
        return self._trips(node, inner)


@dataclass(slots=True)
class _Run:
    """One run of a statement, with what is declared in it."""

    effects: Effects
    name: str
    variable: Variable
    inner: frozenset[str]
    steps: int = 0

    def after(self, node: c_ast.Node | None, value: int) -> int | None:
        """Return the value of the scalar behind `node`, if it is known."""
        if node is None or not concerns(node, self.name):
            return value
        self.steps += 1
        if self.steps > MAX_STEPS:
            return None
        match node:
            case c_ast.Compound():
                return self._all(node.block_items or (), value)
            case c_ast.Label():
                return self.after(node.stmt, value)
            case c_ast.If() if not self._is_other(node.cond):
                condition = self.effects.condition(node.cond, value)
                if condition is None:
                    return None
                return self.after(node.iftrue if condition else node.iffalse, value)
            case c_ast.For():
                header = (part for part in (node.init, node.cond, node.next) if part is not None)
                if any(concerns(part, self.name) for part in header):
                    return None
                trips = self.effects.trips(node, self.inner)
                return None if trips is None else self._all(repeat(node.stmt, trips), value)
            case c_ast.UnaryOp() | c_ast.Assignment() if not self._is_other(node):
                return self.effects.assigned(node, self.variable, value)
        return None

    def _is_other(self, node: c_ast.Node) -> bool:
        """Return whether a name in `node` does not mean what it means around all of it."""
        return mentions(node, self.inner)

    def _all(self, nodes: Iterable[c_ast.Node], value: int) -> int | None:
        found: int | None = value
        for node in nodes:
            if found is None:
                break
            found = self.after(node, found)
        return found
