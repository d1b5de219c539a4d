"""Scalars that the bodies of loops move: what they are inside of the loops, and behind them.

k += 3        if (++x == 5) { x = 0; y++; }        for (...) k++;
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.turn import Observation, Turn
from rtlgen.frontend.errors import IteratorOverflow
from rtlgen.frontend.evolution.program import Evaluation, Place, by_constant
from rtlgen.frontend.evolution.solver import Known, Law, LoopSolver, fitting
from rtlgen.frontend.evolution.trace import Trace, Tracer
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.loops import CountedLoop
from rtlgen.frontend.reading.reaching import (
    Definitions,
    Reaching,
    known_turn,
    known_value,
)
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.frontend.syntax.assigned import assigned
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
    """What is known of scalars in a loop.

    Members
    -------
    laws: of those that have one at the start of every iteration, by their unique names.
    observed: what they are at places of the body.
    """

    laws: Mapping[str, Law]
    observed: Mapping[Place, Observation]


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

    def of(
        self, node: c_ast.Node, observed: Mapping[Place, Observation], ranges: Ranges
    ) -> list[Moved]:
        """Return the scalars that the body `node` of a loop may assign.

        From here on, an earlier run of it may have assigned them.

        Parameters
        ----------
        observed: what is known of places in the loops around. ranges: of these loops.
        """
        places: dict[str, list[Span]] = {}
        names: dict[str, set[str]] = {}
        variables: dict[str, Variable] = {}
        for name, assignment in assigned(node):
            variable = self._scopes.stored(name)
            if variable is not None and variable.shape == ():
                variables[variable.name] = variable
                names.setdefault(variable.name, set()).add(name)
                places.setdefault(variable.name, []).append(self._locator.span(assignment))
        found = []
        for key, v in variables.items():
            before, here = _known(self._reaching.of(v)), observed.get((id(node), key))
            if not isinstance(before, Affine | Turn) and here is not None:
                before = here.law or here.known(ranges) or before
            found.append(Moved(v, frozenset(names[key]), places[key][0], before))
            for span in places[key]:
                self._reaching.may_define(v, span)
        return found

    def in_loop(
        self, moved: Sequence[Moved], node: c_ast.Node, loops: Sequence[Loop], ranges: Ranges
    ) -> InLoop:
        """Return what the iterations of a loop make of the scalars that its body `node` moves.

        Parameters
        ----------
        loops: that loop, and those around it. ranges: inside of it.
        """
        scalars = {s.variable.name: s for s in moved if isinstance(s.variable.element, IntType)}
        before = {name: s.before for name, s in scalars.items() if s.before is not None}
        if not before:
            return InLoop({}, {})
        variables = {name: s.variable for name, s in scalars.items()}
        trace = self._trace(node, list(variables.values()), ranges)
        solver = LoopSolver(trace, loops, ranges, variables, before)
        laws = solver.solve()
        is_asked = any(n not in laws or isinstance(laws[n].inside, Turn) for n in before)
        return InLoop(laws, solver.observed() if is_asked else {})

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
        known = [(s.variable, s.before) for s in moved if isinstance(s.before, Affine)]
        if not known:
            return []
        trace = self._trace(node, [variable for variable, _ in known], ranges)
        evaluation = Evaluation(trace.types, ranges)
        evaluation.run(trace.block, {})
        found = []
        for variable, before in known:
            if variable.name not in trace.first:
                continue
            after = evaluation.value(trace.after[variable.name])
            move = by_constant(after, trace.first[variable.name])
            if move is not None and move % step == 0:
                gone = Affine.variable(iterator) - start
                found.append((variable, before + gone * (move // step)))
        return found

    def _trace(self, node: c_ast.Node, scalars: Sequence[Variable], ranges: Ranges) -> Trace:
        tracer = Tracer(node, ranges, self._reaching.of, self._declarations, self._locator)
        return tracer.trace(scalars)

    def require_held(
        self, ahead: Sequence[tuple[Variable, Affine]], counted: CountedLoop, ranges: Ranges
    ) -> None:
        """Refuse a loop whose condition may be one of a scalar that has wrapped.

        Raises
        ------
        IteratorOverflow
        """
        inside = counted.inside(ranges)
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


def _next(iterator: str, step: Affine) -> Affine:
    return Affine.variable(iterator) + step


def _known(definitions: Definitions) -> Known | None:
    value, is_dear = known_value(definitions)
    turn = known_turn(definitions)
    if isinstance(value, Affine) and (value.is_constant or turn is None or turn.is_affine):
        return value
    return turn or (None if is_dear else value)
