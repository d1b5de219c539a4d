"""Scalars that the bodies of loops move: what they are inside of the loops, and behind them.

k += 3        if (++x == 5) { x = 0; y++; }        for (...) k++;
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.turn import Observation
from rtlgen.frontend.errors import IteratorOverflow
from rtlgen.frontend.evolution.carries import observed
from rtlgen.frontend.evolution.effects import Effects
from rtlgen.frontend.evolution.induction import State, by_constant
from rtlgen.frontend.evolution.loop_moves import Known, LoopMoves, fitting
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.loops import CountedLoop
from rtlgen.frontend.reading.reaching import (
    Definitions,
    Reaching,
    known_turn,
    known_value,
)
from rtlgen.frontend.reading.symbols import ActiveIterator, Variable
from rtlgen.frontend.syntax.assigned import assigned, mentions, written_places
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import IntType
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Moved:
    """A scalar that a statement may assign.

    Members
    -------
    names: what the text calls it. span: of an assignment.
    before: what is known of it before the statement.
    """

    variable: Variable
    names: frozenset[str]
    span: Span
    before: Known | None


@dataclass(frozen=True, slots=True)
class InLoop:
    """What is known of a scalar at the start of every iteration of a loop, and behind the loop."""

    variable: Variable
    span: Span
    inside: Known
    behind: Known | None


class Moves:
    """Finds what loops make of scalars.

    Parameters
    ----------
    reaching: the assignments that reach the place which is being read.
    """

    def __init__(self, declarations: Declarations, locator: Locator, reaching: Reaching) -> None:
        self._declarations = declarations
        self._scopes = declarations.scopes
        self._locator = locator
        self._reaching = reaching

    def of(self, node: c_ast.Node) -> list[Moved]:
        """Return the scalars that the body `node` of a loop may assign.

        From here on, an earlier run of it may have assigned them.
        """
        found = self._assigned(node)
        for scalar in found:
            for name, assignment in assigned(node):
                if name in scalar.names:
                    span = self._locator.span(assignment)
                    self._reaching.may_define(scalar.variable, span)
        return found

    def _assigned(self, node: c_ast.Node) -> list[Moved]:
        """Return the scalars around a statement that it may assign, each with all its names."""
        names: dict[str, set[str]] = {}
        spans: dict[str, Span] = {}
        variables: dict[str, Variable] = {}
        for name, assignment in assigned(node):
            variable = self._scopes.stored(name)
            if variable is not None and variable.shape == ():
                variables[variable.name] = variable
                names.setdefault(variable.name, set()).add(name)
                spans.setdefault(variable.name, self._locator.span(assignment))
        return [
            Moved(v, frozenset(names[key]), spans[key], _known(self._reaching.of(v)))
            for key, v in variables.items()
        ]

    def in_loop(
        self, moved: Sequence[Moved], node: c_ast.Node, loop: Loop, ranges: Ranges, iterator: str
    ) -> tuple[InLoop, ...]:
        """Return what the iterations of a loop make of the scalars that its body `node` moves.

        Parameters
        ----------
        ranges: inside of the loop. iterator: what the text calls its iterator.
        """
        counter = self._scopes.lookup(iterator)
        assert isinstance(counter, ActiveIterator), "the loop is open"
        moves = LoopMoves(loop, ranges, iterator, counter.type)
        pending = [
            s for s in moved if s.before is not None and isinstance(s.variable.element, IntType)
        ]
        effects = {s.variable.name: self._effects(node, s, ranges) for s in pending}
        found: list[InLoop] = []
        # What is known of one may tell what another one does.
        first = {s.variable.name: s.before for s in moved if isinstance(s.before, Affine)}
        while (one := _next_known(pending, moves, effects, first)) is not None:
            found.append(one)
            pending = [s for s in pending if s.variable != one.variable]
        return tuple(found)

    def observed(
        self,
        moved: Sequence[Moved],
        known: Iterable[Variable],
        node: c_ast.Node,
        loop: Loop,
        ranges: Ranges,
        iterator: str,
    ) -> dict[int, Observation]:
        """Return what scalars are where the body of a loop reads them, by the names that it reads.

        It is asked only where something is written at a place that one of them tells.

        Parameters
        ----------
        known: those of the scalars whose law is known at the start of the iterations.
        """
        found = set(known)
        unknown = (scalar.names for scalar in moved if scalar.variable not in found)
        names = frozenset[str]().union(*unknown)
        if not any(mentions(place, names) for place in written_places(node)):
            return {}
        counter = self._scopes.lookup(iterator)
        assert isinstance(counter, ActiveIterator), "the loop is open"
        before = {s.variable.name: s.before for s in moved if isinstance(s.before, Affine)}
        effects = Effects(node, names, ranges, self._reaching.of, self._declarations, self._locator)
        return observed(node, effects, loop, iterator, counter.type, before)

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
            variable = scalar.variable
            after = self._effects(node, scalar, ranges).after({}, [variable])
            move = by_constant(after.get(variable.name), variable)
            if move is not None and move % step == 0:
                gone = Affine.variable(iterator) - start
                found.append((variable, scalar.before + gone * (move // step)))
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
                fitting(variable, value, inside),
                fitting(variable, after, inside),
            ):
                raise IteratorOverflow(
                    f"`{variable.name}` wraps before the loop ends",
                    labels=(Label(counted.loop.span, f"moves a {variable.element}"),),
                    help="use a wider type",
                )

    def _effects(self, node: c_ast.Node, scalar: Moved, ranges: Ranges) -> Effects:
        return Effects(
            node, scalar.names, ranges, self._reaching.of, self._declarations, self._locator
        )


def _next_known(
    pending: Sequence[Moved], moves: LoopMoves, effects: Mapping[str, Effects], first: State
) -> InLoop | None:
    """Return what is known of one scalar more.

    Parameters
    ----------
    first: what scalars are before the loop.
    """
    for find in (moves.find, moves.counted):
        for scalar in pending:
            if scalar.before is not None:
                values = find(scalar.variable, scalar.before, effects[scalar.variable.name])
                if values is not None:
                    return InLoop(scalar.variable, scalar.span, *values)
    for scalar in pending:
        variable = scalar.variable
        values = moves.in_turn(variable, {**moves.known, **first}, effects[variable.name])
        if values is not None:
            return InLoop(variable, scalar.span, *values)
    return None


def _next(iterator: str, step: Affine) -> Affine:
    return Affine.variable(iterator) + step


def _known(definitions: Definitions) -> Known | None:
    value, is_dear = known_value(definitions)
    return known_turn(definitions) or (None if is_dear else value)
