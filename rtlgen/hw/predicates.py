"""Predicates on loop counters, reduced to as few cheap literals as the box allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rtlgen.ir.plan import Condition, IndexForm, Predicate


@dataclass(frozen=True, slots=True)
class LevelIs:
    """The counter of `level` equals `value`."""

    level: int
    value: int


@dataclass(frozen=True, slots=True)
class LevelAtMost:
    """The counter of `level` is at most `value`."""

    level: int
    value: int


@dataclass(frozen=True, slots=True)
class FormNonNegative:
    """A form of several counters is at least 0: the sign bit of a register that follows it."""

    form: IndexForm


@dataclass(frozen=True, slots=True)
class FormIsZero:
    """A form of several counters is 0."""

    form: IndexForm


Atom: TypeAlias = LevelIs | LevelAtMost | FormNonNegative | FormIsZero


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom, or its negation."""

    atom: Atom
    holds: bool

    def negated(self) -> Literal:
        return Literal(self.atom, not self.holds)

    @property
    def sort_key(self) -> tuple[str, tuple[object, ...], bool]:
        atom = self.atom
        if isinstance(atom, LevelIs | LevelAtMost):
            return type(atom).__name__, (atom.level, atom.value), self.holds
        return type(atom).__name__, (*atom.form.coefficients, atom.form.constant), self.holds


Conjunction: TypeAlias = tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """A predicate in its simplified form: a disjunction of conjunctions of literals."""

    alternatives: tuple[Conjunction, ...]

    @property
    def is_true(self) -> bool:
        return () in self.alternatives

    @property
    def is_false(self) -> bool:
        return not self.alternatives


TRUE = Guard(((),))


def simplify(predicate: Predicate, extents: tuple[int, ...]) -> Guard:
    """Return a guard that equals `predicate` at every point of the box of `extents`."""
    alternatives: list[Conjunction] = []
    for conditions in predicate.alternatives:
        conjunction = _conjunction(conditions, extents)
        if conjunction == ():
            return TRUE
        if conjunction is not None and conjunction not in alternatives:
            alternatives.append(conjunction)
    singles = {parts[0] for parts in alternatives if len(parts) == 1}
    if any(literal.negated() in singles for literal in singles):
        return TRUE
    return Guard(tuple(alternatives))


def _conjunction(conditions: tuple[Condition, ...], extents: tuple[int, ...]) -> Conjunction | None:
    """Return the literals that must hold, or None where they cannot hold together."""
    literals: set[Literal] = set()
    for condition in conditions:
        literal = _literal(condition, extents)
        if literal is False:
            return None
        if literal is not True:
            literals.add(literal)
    if any(literal.negated() in literals for literal in literals):
        return None
    return tuple(sorted(literals, key=lambda literal: literal.sort_key))


def _literal(condition: Condition, extents: tuple[int, ...]) -> Literal | bool:
    form = condition.form
    low, high = form.range(extents)
    if condition.equal and low == high:
        return low == 0
    if (low > 0 or high < 0) if condition.equal else high < 0:
        return False
    if not condition.equal and low >= 0:
        return True
    moving = [n for n, c in enumerate(form.coefficients) if c and extents[n] > 1]
    if len(moving) > 1:
        kind = FormIsZero if condition.equal else FormNonNegative
        return Literal(kind(form), True)
    level = moving[0]
    coefficient = form.coefficients[level]
    if condition.equal:
        value, rest = divmod(-form.constant, coefficient)
        return _level_is(level, value, extents[level]) if rest == 0 else False
    if coefficient > 0:
        # x >= ceil(-constant / coefficient) is the negation of x <= that - 1.
        bound = -(form.constant // coefficient) - 1
        return _level_at_most(level, bound, extents[level]).negated()
    return _level_at_most(level, form.constant // -coefficient, extents[level])


def _level_is(level: int, value: int, extent: int) -> Literal:
    # Of two values, "is the last" is there as a register.
    if extent == 2 and value == 0:
        return Literal(LevelIs(level, 1), False)
    return Literal(LevelIs(level, value), True)


def _level_at_most(level: int, value: int, extent: int) -> Literal:
    if value == extent - 2:
        return Literal(LevelIs(level, extent - 1), False)
    if value == 0:
        return _level_is(level, 0, extent)
    return Literal(LevelAtMost(level, value), True)
