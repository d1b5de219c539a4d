"""Scalars that a loop moves in every iteration: what they are inside of it, and behind it.

k += 3        if (++c == 5) c = 0;        for (...) k++;
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.declarations import Declarations
from rtlgen.frontend.effects import Effects
from rtlgen.frontend.errors import IteratorOverflow
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.induction import Inductions, distance, moved_behind, moved_inside
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.loops import CountedLoop
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.reaching import (
    Definition,
    Definitions,
    Reaching,
    known_expression,
    known_turn,
    known_value,
)
from rtlgen.frontend.symbols import Variable
from rtlgen.frontend.turn import Effect, Turn, after_statement, inside_loop, turn_of
from rtlgen.frontend.unnoticed import Unnoticed
from rtlgen.frontend.writers import assigned
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Cast, Expr
from rtlgen.ir.quasi_affine import is_quasi_affine
from rtlgen.ir.scop import Loop
from rtlgen.ir.value_ranges import value_range
from rtlgen.source import Span

Known: TypeAlias = Affine | Turn | Expr
"""What a scalar is, as a function of the iterators."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A scalar that a statement may assign.

    Members
    -------
    name: what the text calls it. span: of an assignment.
    before: what is known of it before the statement.
    """

    variable: Variable
    name: str
    span: Span
    before: Known | None


@dataclass(frozen=True, slots=True)
class InLoop:
    """What is known of a scalar at the start of every iteration of a loop, and behind the loop."""

    variable: Variable
    span: Span
    inside: Known | None
    behind: Known | None


class Moves:
    """Finds what statements make of scalars.

    Parameters
    ----------
    reaching: the assignments that reach the place which is being read.
    """

    def __init__(self, declarations: Declarations, locator: Locator, reaching: Reaching) -> None:
        self._declarations = declarations
        self._scopes = declarations.scopes
        self._locator = locator
        self._reaching = reaching
        self._inductions = Inductions(self._scopes, locator, self._peek)

    def _peek(self, ranges: Ranges) -> ExpressionReader:
        return self._declarations.reader(ranges, Unnoticed(self._reaching.of))

    def of(self, node: c_ast.Node) -> list[Moved]:
        """Return the scalars that the body `node` of a loop may assign.

        From here on, an earlier run of it may have assigned them.
        """
        reaching = self._reaching
        found = []
        for name, assignments in _assignments(node).items():
            variable = self._scopes.stored(name)
            if variable is not None and variable.shape == ():
                found.append(
                    Moved(
                        variable,
                        name,
                        self._locator.span(assignments[0]),
                        _known(reaching.of(variable)),
                    )
                )
                for assignment in assignments:
                    reaching.may_define(variable, self._locator.span(assignment))
        return found

    def in_loop(
        self, moved: Sequence[Moved], node: c_ast.Node, loop: Loop, ranges: Ranges
    ) -> tuple[InLoop, ...]:
        """Return what the iterations of a loop make of the scalars that its body `node` moves.

        Parameters
        ----------
        ranges: inside of the loop.
        """
        return tuple(
            InLoop(scalar.variable, scalar.span, *self._in_loop(scalar, node, loop, ranges))
            for scalar in moved
        )

    def in_header(
        self,
        moved: Sequence[Moved],
        node: c_ast.Node,
        iterator: str,
        start: Affine,
        step: int,
        ranges: Ranges,
    ) -> list[tuple[Variable, Affine]]:
        """Return the scalars that are affine when the condition of a loop is evaluated.

        for (i = 0, j = 7; i < j; i++, j--)        j is 7 - i

        Parameters
        ----------
        moved: those that the condition is about. node: the body. start, step: of the iterator.
        """
        found = []
        for scalar in moved:
            if not isinstance(scalar.before, Affine):
                continue
            move = self._inductions.move(node, scalar.name, ranges)
            if move is not None and move % step == 0:
                gone = Affine.variable(iterator) - start
                found.append((scalar.variable, scalar.before + gone * (move // step)))
        return found

    def require_held(
        self, ahead: Sequence[tuple[Variable, Affine]], counted: CountedLoop, ranges: Ranges
    ) -> None:
        """Refuse a loop whose condition may be one of a scalar that has wrapped.

        Raises
        ------
        IteratorOverflow
        """
        inside = ranges.inside(counted.body)
        step = Affine((), counted.loop.step)
        for variable, value in ahead:
            after = value.substitute({counted.loop.iterator: _next(counted.loop.iterator, step)})
            if not counted.is_empty and None in (
                _fitting(variable, value, inside),
                _fitting(variable, after, inside),
            ):
                raise IteratorOverflow(
                    f"`{variable.name}` wraps before the loop ends",
                    labels=(Label(counted.loop.span, f"moves a {variable.element}"),),
                    help="use a wider type",
                )

    def _in_loop(
        self, moved: Moved, node: c_ast.Node, loop: Loop, ranges: Ranges
    ) -> tuple[Known | None, Known | None]:
        before, variable = moved.before, moved.variable
        if before is None:
            return None, None
        if not isinstance(before, Turn):
            move = self._inductions.move(node, moved.name, ranges)
            if move is not None:
                inside = _fitting(variable, moved_inside(before, loop, move), ranges)
                behind = _fitting(variable, moved_behind(before, loop, move, ranges), ranges)
                if inside is not None:
                    return inside, behind
        if isinstance(before, Affine | Turn):
            return self._turned(moved, before, node, loop, ranges)
        return None, None

    def _turned(
        self,
        moved: Moved,
        before: Affine | Turn,
        node: c_ast.Node,
        loop: Loop,
        ranges: Ranges,
    ) -> tuple[Affine | Turn | None, Affine | Turn | None]:
        """Return what a scalar that goes round is inside of the innermost loop, and behind it."""
        effect = self._effect(node, moved.name, moved.variable, ranges)
        found = turn_of(before, effect, ranges)
        if found is None:
            return None, None
        turn, move = found
        if isinstance(turn, Affine) or move == 0:
            return turn, turn
        whole = distance(loop, move * turn.scale, ranges)
        after = None if whole is None else turn.moved(whole, turn.values)
        return inside_loop(turn, move, loop), after

    def turned(self, node: c_ast.Node, ranges: Ranges) -> list[tuple[Variable, Span, Turn]]:
        """Return the scalars that go round, and still do after a statement that changes them."""
        reaching = self._reaching
        found = []
        for name, assignments in _assignments(node).items() if reaching.has_turns else ():
            variable = self._scopes.stored(name)
            turn = known_turn(reaching.of(variable)) if variable is not None else None
            if variable is None or turn is None:
                continue
            left = after_statement(turn, self._effect(node, name, variable, ranges))
            if left is not None:
                found.append((variable, self._locator.span(assignments[0]), left))
        return found

    def _effect(self, node: c_ast.Node, name: str, variable: Variable, ranges: Ranges) -> Effect:
        def reader(value: int) -> ExpressionReader:
            def definitions(other: Variable) -> Definitions:
                if other.name == variable.name:
                    return (Definition(variable.span, Affine((), value)),)
                return self._reaching.of(other)

            return self._declarations.reader(ranges, Unnoticed(definitions))

        def trips(loop: c_ast.For, inner: frozenset[str]) -> int | None:
            found = self._inductions.trips(loop, inner, ranges)
            return None if found is None else found[0]

        effects = Effects(self._scopes, self._locator, reader, trips)
        return effects.of(node, name, variable)


def _next(iterator: str, step: Affine) -> Affine:
    return Affine.variable(iterator) + step


def _known(definitions: Definitions) -> Known | None:
    return known_turn(definitions) or known_value(definitions) or known_expression(definitions)


def _fitting(
    variable: Variable, value: Affine | Expr | None, ranges: Ranges
) -> Affine | Expr | None:
    """Return the value of a scalar that was moved, if its type holds it."""
    type_ = variable.element
    if isinstance(value, Affine):
        low, high = ranges.minimum(value), ranges.maximum(value)
    elif value is not None and is_quasi_affine(value, ranges.boxes()):
        low, high = value_range(value, ranges.boxes())
        value = Cast(value, type_)
    else:
        return None
    return value if type_.minimum <= low and high <= type_.maximum else None


def _assignments(node: c_ast.Node) -> dict[str, list[c_ast.Node]]:
    """Return what is assigned below `node`, by name."""
    found: dict[str, list[c_ast.Node]] = {}
    for name, assignment in assigned(node):
        found.setdefault(name, []).append(assignment)
    return found
