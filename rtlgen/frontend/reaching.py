"""Which assignments may have given a scalar the value that it has at a place in the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias

from rtlgen.frontend.guards import Guard
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.symbols import Variable
from rtlgen.frontend.turn import Turn
from rtlgen.frontend.values import Obstacle, exact
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Expr
from rtlgen.source import Span

Definitions: TypeAlias = "tuple[Definition, ...]"
"""Everything that may reach. `()`: the variable has no value yet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A condition on data that was asked when a scalar was set to what it was.

    Members
    -------
    asked_of: the scalars in it, with the assignments that had reached them then: as long as the
        same ones of the same time reach them, it would still be answered in the same way.
    is_repeatable: no array in it may change; else what it tells of these scalars still holds.
    """

    guard: Guard
    asked_of: tuple[tuple[Variable, Definitions], ...]
    is_repeatable: bool = True


@dataclass(frozen=True, slots=True)
class Definition:
    """One assignment that may reach.

    Members
    -------
    affine: the value as a function of the iterators of the loops around the use; None when it is
        none, or belongs to an earlier iteration.
    known: the value where the iterators give it in another way.
    answer: the value where it is that of a condition on data.
    turn: the value where it goes round; `known` or `affine` says the same.
    obstacle: why the value is not affine, where it follows from the iterators in another way.
    serial: another one for each time that the variable may have been assigned; 0: outside.
    """

    span: Span
    affine: Affine | None
    known: Expr | None = None
    answer: Answer | None = None
    turn: Turn | None = None
    obstacle: Obstacle | None = None
    serial: int = field(default=0, compare=False)


State: TypeAlias = Mapping[str, Definitions]
"""What reaches, by the name of the variable; one that is missing has its value from outside."""


class Reaching:
    """The definitions that reach the place which is being read.

    Only structured control exists, so the analysis is a walk: branches start from one state and
    are merged; a loop starts from what is around it and what its own body leaves behind.
    """

    def __init__(self) -> None:
        self._state: dict[str, Definitions] = {}
        # Whatever path is taken, a statement under a guard is carried out in each of them.
        self._untouched: set[str] = set()
        self._serials = count(1)

    @property
    def state(self) -> State:
        """What reaches here."""
        return dict(self._state)

    def restore(self, state: State) -> None:
        """Go on from `state`."""
        self._state = dict(state)

    def declare(self, variable: Variable) -> None:
        """Note that a variable begins to exist, without a value."""
        self._state[variable.name] = ()
        self._untouched.add(variable.name)

    def define(
        self,
        variable: Variable,
        span: Span,
        affine: Affine | None,
        known: Expr | None = None,
        answer: Answer | None = None,
        obstacle: Obstacle | None = None,
    ) -> None:
        """Note an assignment of a scalar."""
        serial = next(self._serials)
        found = Definition(span, affine, known, answer, obstacle=obstacle, serial=serial)
        self._state[variable.name] = (found,)
        self._untouched.discard(variable.name)

    def define_known(
        self, variable: Variable, span: Span, value: Affine | Turn | Expr, ranges: Ranges
    ) -> None:
        """Note that a scalar is a function of the iterators inside of `ranges`."""
        if isinstance(value, Affine):
            self.define(variable, span, value)
            return
        if not isinstance(value, Turn):
            self.define(variable, span, None, value)
            return
        affine = value.affine(ranges)
        known = None if affine is not None else value.expr(variable.element, ranges)
        found = Definition(span, affine, known, None, value, serial=next(self._serials))
        self._state[variable.name] = (found,)
        self._untouched.discard(variable.name)

    @property
    def turns(self) -> dict[str, Turn]:
        """The scalars that are known to go round, by their names."""
        found = ((name, known_turn(definitions)) for name, definitions in self._state.items())
        return {name: turn for name, turn in found if turn is not None}

    def may_define(self, variable: Variable, span: Span) -> None:
        """Note an assignment that may or may not come in between, and of an unknown value."""
        here = Definition(span, None, serial=next(self._serials))
        self._state[variable.name] = self._union(self.of(variable), (here,))
        self._untouched.discard(variable.name)

    def of(self, variable: Variable) -> Definitions:
        """Return what may have given `variable` its value."""
        return self._state.get(variable.name, (Definition(variable.span, None),))

    def has_no_value(self, variable: Variable) -> bool:
        """Return whether no statement has stored a value, so that there is none to be kept."""
        return variable.name in self._untouched

    def merge(self, states: Iterable[State], variables: Iterable[Variable]) -> None:
        """Go on from wherever any of `states` holds.

        Parameters
        ----------
        variables: those that the states speak of.
        """
        paths = list(states)
        merged: dict[str, Definitions] = {}
        for variable in variables:
            if any(variable.name in path for path in paths):
                outside = (Definition(variable.span, None),)
                merged[variable.name] = self._union(
                    *(path.get(variable.name, outside) for path in paths)
                )
        self._state = merged

    def _union(self, *parts: Definitions) -> Definitions:
        """Return what comes from any of several places.

        What was assigned at one place of the text, but not at one time, is of a time of its own.
        """
        found: dict[Definition, Definition] = {}
        for definition in (definition for part in parts for definition in part):
            known = found.setdefault(definition, definition)
            if known.serial != definition.serial:
                found[definition] = replace(definition, serial=next(self._serials))
        return tuple(found.values())


def known_value(definitions: Definitions) -> Affine | None:
    """Return the affine function that every definition which may reach gives."""
    values = {definition.affine for definition in definitions}
    return values.pop() if len(values) == 1 else None


def value_after(states: Iterable[State], variable: Variable) -> Expr | None:
    """Return what a scalar is as an expression of iterators, if it is the same in all states."""
    found: set[Expr | None] = set()
    for state in states:
        definitions = state.get(variable.name, (Definition(variable.span, None),))
        affine = known_value(definitions)
        if affine is not None:
            found.add(exact(affine, variable.element, variable.span).expr)
        else:
            found.add(known_expression(definitions))
    return found.pop() if len(found) == 1 else None


def known_turn(definitions: Definitions) -> Turn | None:
    """Return the value that goes round, if only one definition may reach and gives one."""
    return definitions[0].turn if len(definitions) == 1 else None


def known_expression(definitions: Definitions) -> Expr | None:
    """Return the expression of iterators that every definition which may reach gives."""
    values = {definition.known for definition in definitions}
    return values.pop() if len(values) == 1 else None
