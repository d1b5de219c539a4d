"""What is known of a scalar at a place in the program, by the assignments that may reach it.

int odd = i % 2;               what follows from the iterators may stand wherever `odd` is read
int ok = j >= 0 && j < N;      a question about data is asked again where it tells where
if (ok) s += a[j];             something lies:  if (j >= 0 && j < N)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Protocol, TypeAlias

from rtlgen.frontend.analysis.cases import settled
from rtlgen.frontend.analysis.ranges import Guard, Ranges, with_own_reads
from rtlgen.frontend.analysis.turn import Turn
from rtlgen.frontend.analysis.values import Obstacle, ObstacleKind, Value, exact, literal, opaque
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    FloatOperation,
    IndexValue,
    Read,
    ScalarParameter,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.quasi_affine import quasi_affine
from rtlgen.ir.quotients import simplified
from rtlgen.ir.scop import Access
from rtlgen.ir.types import IntType, integral
from rtlgen.ir.value_ranges import Fact, Range, ValueRanges, facts_of, is_truth
from rtlgen.source import Span

Definitions: TypeAlias = "tuple[Definition, ...]"
"""Everything that may reach. `()`: the variable has no value yet."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a scalar was set to, or a condition that held.

    Members
    -------
    expr: its `Read`s count in `reads`.
    asked_of: the scalars in it, with the assignments that had reached them then: as long as the
        same ones of the same time reach them, it still has that value. Not compared: each of these
        has an origin as well, and so on. What is kept of two that differ is asked for by its time.
    is_repeatable: no array in it may change; else what it tells of these scalars still holds.
    """

    expr: Expr
    reads: tuple[Access, ...]
    asked_of: tuple[tuple[Variable, Definitions], ...] = field(compare=False)
    is_repeatable: bool = True

    @property
    def guard(self) -> Guard:
        """The condition that it is."""
        return Guard(self.expr, self.reads)


@dataclass(frozen=True, slots=True)
class Definition:
    """One assignment that may reach.

    Members
    -------
    value: a function of the iterators of the loops around the use; None when it is none, or belongs
        to an earlier iteration.
    is_dear: it is computed once, where it is assigned, since that takes hardware.
    origin: the value where it is computed from data.
    turn: the value where it goes round; `value` says the same.
    obstacle: why the value is not affine, where it follows from the iterators in another way.
    serial: another one for each time that the variable may have been assigned; 0: outside.
    """

    span: Span
    value: Affine | Expr | None
    is_dear: bool = False
    origin: Origin | None = None
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
        value: Affine | Expr | None,
        *,
        is_dear: bool = False,
        origin: Origin | None = None,
        turn: Turn | None = None,
        obstacle: Obstacle | None = None,
    ) -> None:
        """Note an assignment of a scalar."""
        found = Definition(span, value, is_dear, origin, turn, obstacle, next(self._serials))
        self._state[variable.name] = (found,)
        self._untouched.discard(variable.name)

    def define_known(
        self, variable: Variable, span: Span, value: Affine | Turn | Expr, ranges: Ranges
    ) -> None:
        """Note that a scalar is a function of the iterators inside of `ranges`."""
        if isinstance(value, Turn):
            found = value.affine(ranges) or value.expr(integral(variable.element), ranges)
            self.define(variable, span, found, turn=value)
        else:
            self.define(variable, span, value)

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


def known_value(definitions: Definitions) -> tuple[Affine | Expr | None, bool]:
    """Return the function of iterators that every definition which may reach gives.

    Returns
    -------
    tuple: the function, if there is one, and whether it is dear.
    """
    values = {(definition.value, definition.is_dear) for definition in definitions}
    return values.pop() if len(values) == 1 else (None, False)


def value_after(states: Iterable[State], variable: Variable) -> Expr | None:
    """Return what a scalar is as an expression of iterators, if it is the same in all states."""
    found: set[Expr | None] = set()
    for state in states:
        definitions = state.get(variable.name, (Definition(variable.span, None),))
        value, is_dear = known_value(definitions)
        if isinstance(value, Affine):
            value = exact(value, integral(variable.element), variable.span).expr
        found.add(None if is_dear else value)
    return found.pop() if len(found) == 1 else None


def known_turn(definitions: Definitions) -> Turn | None:
    """Return the value that goes round, if only one definition may reach and gives one."""
    return definitions[0].turn if len(definitions) == 1 else None


MAX_NODES = 96
"""Largest expression that is computed again at each of its uses."""

_CHEAP = frozenset((*COMPARISONS, "and", "or", "add", "sub"))


def known_by_iterators(expr: Expr, ranges: Ranges) -> Expr | None:
    """Return an expression if it is cheap, and known for every iteration."""
    nodes = list(islice(walk(expr), MAX_NODES + 1))
    # A value may be known whatever is read for it, but a read belongs to its statement.
    if len(nodes) > MAX_NODES or any(isinstance(node, Read) for node in nodes):
        return None
    return expr if _is_known(expr, ranges) else None


def dear_by_iterators(
    expr: Expr,
    reads: Sequence[Access],
    variables: Variables,
    definitions: Callable[[Variable], Definitions],
) -> Expr | None:
    """Return an integer that iterators decide, whatever it takes to compute it.

    What it reads may be scalars that they decide.
    """

    def without_reads(expr: Expr) -> Expr | None:
        if isinstance(expr, ScalarParameter | FloatOperation):
            return None
        if isinstance(expr, Read):
            variable = variables.stored_as(reads[expr.index].array)
            value, is_dear = (None, False) if variable.shape else known_value(definitions(variable))
            return value if is_dear and not isinstance(value, Affine) else None
        parts: list[Expr] = []
        for part in children(expr):
            found = without_reads(part)
            if found is None:
                return None
            parts.append(found)
        return with_children(expr, tuple(parts))

    found = without_reads(expr) if isinstance(expr.type, IntType) else None
    is_short = found is not None and len(list(islice(walk(found), MAX_NODES + 1))) <= MAX_NODES
    return found if is_short else None


def _is_known(expr: Expr, ranges: Ranges) -> bool:
    if isinstance(expr, Constant):
        return True
    if quasi_affine(expr, ranges.boxes()) is not None:
        return True
    match expr:
        case Binary(op, left, right) if op in _CHEAP:
            return _is_known(left, ranges) and _is_known(right, ranges)
        case Unary("lnot", operand) | Cast(operand):
            return _is_known(operand, ranges)
        case Select(condition, if_true, if_false):
            return all(_is_known(part, ranges) for part in (condition, if_true, if_false))
    return False


def known_value_at(expr: Expr, ranges: Ranges, span: Span) -> Value:
    """Return the value of a scalar that holds a known expression, where it is used."""
    expr = settled(expr, ranges)
    if isinstance(expr, Constant):
        return literal(expr.value, expr.type, span)
    reason = "a choice by iterators"
    known = quasi_affine(expr, ranges.boxes())
    if known is not None:
        found = simplified(known, ranges.boxes())
        if isinstance(found, IndexValue):
            return exact(found.affine, integral(expr.type), span)
        reason = "a quotient or remainder of iterators"
    return opaque(expr, Obstacle(ObstacleKind.NONLINEAR, reason, span), span)


class Variables(Protocol):
    """What is known of all variables."""

    def stored_as(self, name: str) -> Variable:
        """Return the variable with a unique name."""

    def never_changes(self, variable: Variable) -> bool:
        """Return whether no statement can write an array."""


def origin_of(
    expr: Expr,
    reads: Sequence[Access],
    variables: Variables,
    definitions: Callable[[Variable], Definitions],
) -> Origin | None:
    """Return a value as something that may be asked for again, unless that takes too long."""
    if not isinstance(expr.type, IntType):
        return None
    if not is_truth(expr) and len(list(islice(walk(expr), MAX_NODES + 1))) > MAX_NODES:
        return None
    read_from = [variables.stored_as(read.array) for read in reads]
    asked_of = tuple((v, definitions(v)) for v in read_from if v.shape == ())
    is_repeatable = all(v.shape == () or variables.never_changes(v) for v in read_from)
    return Origin(expr, tuple(reads), asked_of, is_repeatable)


def question(
    reaching: Definitions,
    about: frozenset[str],
    definitions: Callable[[Variable], Definitions],
) -> Guard | None:
    """Return the question to ask in place of reading a scalar.

    Parameters
    ----------
    reaching: the assignments of the scalar.
    about: the variables that the question has to concern.
    definitions: returns the assignments of a scalar that reach here.
    """
    origin = set_to(reaching, definitions)
    if origin is None or not origin.is_repeatable or not is_truth(origin.expr):
        return None
    return origin.guard if any(read.array in about for read in origin.reads) else None


def set_to(reaching: Definitions, definitions: Callable[[Variable], Definitions]) -> Origin | None:
    """Return what a scalar was set to, if the scalars in that are the same."""
    origins = {definition.origin for definition in reaching}
    origin = origins.pop() if len(origins) == 1 else None
    return origin if origin is not None and _is_up_to_date(origin, definitions) else None


def _is_up_to_date(origin: Origin, definitions: Callable[[Variable], Definitions]) -> bool:
    return all(_is_same(definitions(variable), then) for variable, then in origin.asked_of)


MAX_ORIGINS = 32
"""Scalars that are written out in one expression."""


def written_out(
    expr: Expr, reads: Sequence[Access], origin_of_read: Callable[[Access], Origin | None]
) -> tuple[Expr, tuple[Access, ...]]:
    """Return an expression with what scalars were set to in their place, where it is still that.

    Parameters
    ----------
    origin_of_read: returns what the scalar was set to that is read.
    """
    own: list[Access] = []
    left = MAX_ORIGINS

    def out(expr: Expr, reads: Sequence[Access]) -> Expr:
        nonlocal left
        if isinstance(expr, Read):
            access = reads[expr.index]
            origin = origin_of_read(access) if left else None
            if origin is not None and origin.is_repeatable:
                left -= 1
                return out(origin.expr, origin.reads)
            parts = tuple(out(part, reads) for part in children(expr))
            own.append(access)
            return Read(len(own) - 1, expr.type, parts)
        return with_children(expr, tuple(out(part, reads) for part in children(expr)))

    return out(expr, reads), tuple(own)


def _is_same(now: Definitions, then: Definitions) -> bool:
    return now is then or (
        now == then and all(a.serial == b.serial for a, b in zip(now, then, strict=True))
    )


def assumptions(condition: Origin) -> Iterator[Origin]:
    """Yield the parts of a condition that holds, each of which may be outdated by itself."""
    for fact in facts_of(condition.expr, True):
        part = _part(condition.guard, fact)
        names = {read.array for read in part.reads}
        asked_of = tuple(each for each in condition.asked_of if each[0].name in names)
        is_of_scalars = len(asked_of) == len(names)
        is_repeatable = condition.is_repeatable or is_of_scalars
        yield Origin(part.expr, part.reads, asked_of, is_repeatable)


def limits_told(
    condition: Origin, origin_of_read: Callable[[Access], Origin | None], variables: Variables
) -> Iterator[tuple[str, Range]]:
    """Yield arrays that never change, and limits that a condition gives elements of them."""
    expr, reads = written_out(condition.expr, condition.reads, origin_of_read)
    facts, ranges = facts_of(expr, True), ValueRanges({})
    for node in walk(expr):
        if not isinstance(node, Read) or not isinstance(node.type, IntType):
            continue
        variable = variables.stored_as(reads[node.index].array)
        if variable.shape and variables.never_changes(variable):
            low, high = ranges.range(node, facts)
            if node.type.minimum <= low <= high <= node.type.maximum:
                yield variable.name, (low, high)


def still_so(
    conditions: Iterable[Origin], definitions: Callable[[Variable], Definitions]
) -> Iterator[Guard]:
    """Yield the conditions of which nothing has changed since."""
    for condition in conditions:
        if condition.is_repeatable and _is_up_to_date(condition, definitions):
            yield condition.guard


def told_by(
    guard: Guard,
    about: Set[str],
    variables: Variables,
    definitions: Callable[[Variable], Definitions],
) -> Iterator[Guard]:
    """Yield conditions on scalars that hold where a guard does, which the guard does not show.

    condition = i < 16 && a[i] > b[j];        where `condition` holds, i < 16

    Parameters
    ----------
    about: names of scalars, one of which each of them concerns.
    """
    pending, seen = [(guard, True)], set[str]()
    while pending:
        known, holds = pending.pop()
        for fact in facts_of(known.expr, holds):
            # Of `x != 0` it is known, too, that `x` is not 0; but `x` is no answer to be joined.
            if known is not guard and (is_truth(fact.expr) or not fact.holds):
                shown = _part(known, fact)
                names = {read.array for read in shown.reads}
                if names & about and all(not variables.stored_as(n).shape for n in names):
                    yield shown
            if not isinstance(fact.expr, Read):
                continue
            name = known.reads[fact.expr.index].array
            variable = variables.stored_as(name)
            origin = set_to(definitions(variable), definitions) if variable.shape == () else None
            if origin is not None and is_truth(origin.expr) and name not in seen:
                seen.add(name)
                pending.append((origin.guard, fact.holds))


def _part(guard: Guard, fact: Fact) -> Guard:
    """Return one of the facts of a guard as a guard of its own."""
    part = Guard(*with_own_reads(fact.expr, guard.reads))
    return part if fact.holds else part.negated()
