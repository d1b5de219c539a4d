"""Statements that run where a form is a multiple of a number: loops that step over the rest.

Rewrite
-------
    for i<64 for j<64 if ((i + j) % 2 == 0) S(i, j)   ->   for i<64 for x: S(i, 2*x - i)
                                                           where 2*x - i >= 0, 2*x < 64 + i

An iterator that a congruence determines modulo m, for given outer iterators, counts those values
alone: it becomes m*x + offset, the offset affine in the outer iterators. Then there is no iteration
in which the statement does not run.

Statements that depend on each other in a cycle keep their loops in common, so they run in every
iteration and store the old value where the congruence does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.expr import Binary, Constant, IndexValue, Read, Scatter, Select
from rtlgen.ir.scop import Loop, Scop, Statement
from rtlgen.ir.types import IntType

NEVER = Affine((), -1)
"""A condition that does not hold."""

_WIDE = IntType(64, True)


def is_strided(statement: Statement) -> bool:
    """Return whether a congruence restricts the statement."""
    return any(isinstance(condition, Congruence) for condition in statement.conditions)


def strided_statements(scop: Scop) -> frozenset[str]:
    """Return the statements that run in every so many iterations of a loop."""
    return frozenset(s.name for s in scop.statements if is_strided(s))


def compacted(statement: Statement) -> tuple[Statement, Mapping[str, Affine]]:
    """Return a normalised statement without congruences.

    Its iterators keep their names; the second result gives the value that each had before.
    """
    before = {name: Affine.variable(name) for name in statement.iterators}
    todo = [c for c in statement.conditions if isinstance(c, Congruence)]
    plain = tuple(c for c in statement.conditions if not isinstance(c, Congruence))
    statement = replace(statement, conditions=plain)

    def reindex(name: str, value: Affine, modulus: int) -> None:
        nonlocal statement, todo, before
        change = {name: value}
        statement = _reindexed(statement, name, value, modulus)
        before = {n: v.substitute(change) for n, v in before.items()}
        todo = [c.substitute(change) for c in todo]

    for name in statement.iterators:
        start = next(loop.start for loop in statement.loops if loop.iterator == name)
        if start != Affine():
            reindex(name, Affine.variable(name) + start, 1)
    while todo:
        congruence = todo.pop().reduced()
        rest, own = _split(congruence, statement.iterators)
        if own is None:
            if rest.constant:
                return replace(statement, conditions=(*statement.conditions, NEVER)), before
            continue
        name, coefficient = own
        common = gcd(coefficient, congruence.modulus)
        if any(c % common for c in (rest.constant, *(c for _, c in rest.terms))):
            # The outer iterators must first make the rest divisible.
            todo += [congruence, Congruence(rest, common)]
            continue
        modulus = congruence.modulus // common
        value = _solution(name, coefficient // common, rest, common, modulus)
        if modulus > 1:
            reindex(name, value, modulus)
            statement = replace(statement, conditions=(*statement.conditions, value))
    return statement, before


def _split(
    congruence: Congruence, iterators: Sequence[str]
) -> tuple[Affine, tuple[str, int] | None]:
    """Return a congruence's innermost iterator with its coefficient, and all the rest."""
    form = congruence.form
    for name in reversed(iterators):
        coefficient = form.coefficient(name)
        if coefficient:
            return form - Affine.variable(name) * coefficient, (name, coefficient)
    return form, None


def _solution(name: str, coefficient: int, rest: Affine, common: int, modulus: int) -> Affine:
    """Return modulus * name + offset, all the values that solve the congruence.

    The offset's coefficients are not positive and its constant is below the modulus: so where
    the solution is not negative, neither is the new iterator.
    """
    inverse = pow(coefficient, -1, modulus) if modulus > 1 else 0
    terms = {n: -((c // common * inverse) % modulus) for n, c in rest.terms}
    constant = (-rest.constant // common * inverse) % modulus
    return Affine.of({**terms, name: modulus}, constant)


def _reindexed(statement: Statement, name: str, value: Affine, modulus: int) -> Statement:
    """Return the statement with an iterator that stood for itself standing for `value`."""
    change = {name: value}

    def loop(old: Loop) -> Loop:
        if old.iterator != name:
            start, stop = old.start.substitute(change), old.stop.substitute(change)
            return replace(old, start=start, stop=stop)
        offset = value - Affine.variable(name) * modulus
        stop, scale = old.stop - offset * old.scale, old.scale * modulus
        if stop.is_constant:
            stop, scale = Affine((), max(0, -(-stop.constant // scale))), 1
        return replace(old, start=Affine(), stop=stop, scale=scale)

    return statement.rewritten(change, tuple(map(loop, statement.loops)))


def guarded(statement: Statement) -> Statement:
    """Return a statement that runs without its congruences, and keeps the old value instead."""
    expr, type_ = statement.expr, statement.expr.type
    # In the other iterations the program makes no read, and what one names may be no element.
    reads = tuple(replace(read, is_conditional=True) for read in statement.reads)
    old = Read(len(reads), type_)
    if not isinstance(expr, Scatter):
        reads = (*reads, statement.write)
    zero = Constant(0, _WIDE)
    for congruence in statement.conditions:
        if isinstance(congruence, Congruence):
            form, modulus = congruence.form, Constant(congruence.modulus, _WIDE)
            # A remainder is 0 for the same dividends in C as in mathematics.
            remainder = Binary("rem", IndexValue(form, _WIDE), modulus, _WIDE)
            holds = Binary("eq", remainder, zero, IntType(32, True))
            if isinstance(expr, Scatter):
                never = Constant(0, expr.condition.type)
                expr = replace(expr, condition=Select(holds, expr.condition, never, never.type))
            else:
                expr = Select(holds, expr, old, type_)
    plain = tuple(c for c in statement.conditions if not isinstance(c, Congruence))
    return replace(statement, conditions=plain, reads=reads, expr=expr)
