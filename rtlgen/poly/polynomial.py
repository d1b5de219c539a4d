"""Polynomials with rational coefficients, over affine conditions, and sums of them in closed form.

Polynomials with rational coefficients, and sums of them over ranges of integers.

Reference: sums of powers as polynomials (Faulhaber, 1631); counting integer points by summing loop
by loop: Pugh, "Counting solutions to Presburger formulas", PLDI 1994.

Piecewise polynomials over affine conditions, and sums of them over loops, in closed form.

A sum over a loop whose bounds are the largest and the smallest of several affine forms has one
polynomial for each combination of bounds that bind.

Reference: Pugh, "Counting solutions to Presburger formulas: how and why", PLDI 1994.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, gcd

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import COUNTING_OPERATIONS, TooComplex, is_out_of_operations, keep_going
from rtlgen.ir.sets import operations

Monomial = tuple[tuple[str, int], ...]
"""Variables with their exponents, sorted by name, exponents positive."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of monomials; no coefficient is 0."""

    terms: Mapping[Monomial, Fraction]

    @staticmethod
    def constant(value: int | Fraction) -> Polynomial:
        return Polynomial({(): Fraction(value)} if value else {})

    @staticmethod
    def of(form: Affine) -> Polynomial:
        """Return an affine form as a polynomial."""
        terms: dict[Monomial, Fraction] = {((n, 1),): Fraction(c) for n, c in form.terms}
        if form.constant:
            terms[()] = Fraction(form.constant)
        return Polynomial(terms)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(name for monomial in self.terms for name, _ in monomial)

    def __add__(self, other: Polynomial) -> Polynomial:
        sums = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = sums.get(monomial, Fraction(0)) + coefficient
            if total:
                sums[monomial] = total
            else:
                del sums[monomial]
        return Polynomial(sums)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -c for monomial, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        product = Polynomial({})
        for a, x in self.terms.items():
            product = product + Polynomial({_times(a, b): x * y for b, y in other.terms.items()})
        return product

    def power(self, exponent: int) -> Polynomial:
        result = Polynomial.constant(1)
        for _ in range(exponent):
            result = result * self
        return result

    def substitute(self, replacements: Mapping[str, Affine]) -> Polynomial:
        """Return the polynomial with each variable of `replacements` replaced."""
        result = Polynomial({})
        for monomial, coefficient in self.terms.items():
            kept = tuple(x for x in monomial if x[0] not in replacements)
            part = Polynomial({kept: coefficient})
            for name, exponent in monomial:
                if name in replacements:
                    part = part * Polynomial.of(replacements[name]).power(exponent)
            result = result + part
        return result

    def by_powers(self, name: str) -> dict[int, Polynomial]:
        """Return the coefficient of every power of one variable: a polynomial in the others."""
        found: dict[int, Polynomial] = {}
        for monomial, coefficient in self.terms.items():
            exponent = dict(monomial).get(name, 0)
            rest = tuple(x for x in monomial if x[0] != name)
            found[exponent] = found.get(exponent, Polynomial({})) + Polynomial({rest: coefficient})
        return found

    def evaluate(self, values: Mapping[str, int]) -> Fraction:
        """Return the value with every variable taken from `values`."""
        total = Fraction(0)
        for monomial, coefficient in self.terms.items():
            for name, exponent in monomial:
                coefficient *= values[name] ** exponent
            total += coefficient
        return total


def _times(a: Monomial, b: Monomial) -> Monomial:
    exponents = dict(a)
    for name, exponent in b:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted(exponents.items()))


@cache
def _power_sums(exponent: int) -> tuple[Fraction, ...]:
    """Return the coefficients, by power of x, of the sum of t ** exponent over 0 <= t < x."""
    # x ** (p + 1) telescopes into (p + 1 over k) sums of t ** k, k up to p.
    found = [Fraction(0)] * (exponent + 2)
    found[exponent + 1] = Fraction(1)
    for k in range(exponent):
        for power, coefficient in enumerate(_power_sums(k)):
            found[power] -= comb(exponent + 1, k) * coefficient
    return tuple(c / (exponent + 1) for c in found)


def sum_over(summand: Polynomial, name: str, first: Affine, last: Affine) -> Polynomial:
    """Return the sum of a polynomial over first <= name <= last, for last >= first - 1."""
    total = Polynomial({})
    ends = Polynomial.of(last + 1), Polynomial.of(first)
    for exponent, coefficient in summand.by_powers(name).items():
        for power, factor in enumerate(_power_sums(exponent)):
            if factor:
                below, before = (end.power(power) for end in ends)
                total = total + coefficient * (below - before) * Polynomial.constant(factor)
    return total


MAX_PIECES = 64
"""Pieces of one function."""


class NoClosedForm(Exception):
    """Bounds are quotients, or too many of them bind in turns."""


@contextmanager
def in_closed_form(context: isl.Context) -> Iterator[None]:
    """Give isl what counting may take; what takes more has no closed form.

    Raises
    ------
    NoClosedForm
    """
    try:
        with operations(context, COUNTING_OPERATIONS):
            yield
    except isl.Error as error:
        if not is_out_of_operations(error):
            raise
        raise NoClosedForm from error
    except TooComplex as error:
        raise NoClosedForm from error


@dataclass(frozen=True, slots=True)
class Piece:
    """A polynomial where all of some affine forms are 0 or more; elsewhere it adds nothing."""

    conditions: tuple[Affine, ...]
    value: Polynomial


@dataclass(frozen=True, slots=True)
class Range:
    """The integers from the largest of `lowers` to the smallest of `uppers`, under conditions."""

    lowers: tuple[Affine, ...] = ()
    uppers: tuple[Affine, ...] = ()
    conditions: tuple[Affine, ...] = ()


def ranges(
    lowers: Sequence[Affine], uppers: Sequence[Affine]
) -> Iterator[tuple[tuple[Affine, ...], Affine, Affine]]:
    """Yield (conditions, first, last) of a range, for each combination of bounds that bind."""
    for (low, first), (high, last) in product(extreme(lowers, 1), extreme(uppers, -1)):
        yield (*low, *high), first, last


def extreme(forms: Sequence[Affine], sign: int) -> Iterator[tuple[tuple[Affine, ...], Affine]]:
    """Yield each form with the conditions under which it is the largest, or for -1 the smallest.

    Of equal ones it is the last.
    """
    for n, form in enumerate(forms):
        apart = [
            (form - other) * sign - (1 if k > n else 0) for k, other in enumerate(forms) if k != n
        ]
        if not any(_never(condition) for condition in apart):
            yield tuple(condition for condition in apart if not condition.is_constant), form


def summed(
    inner: Sequence[Piece],
    name: str,
    values: Sequence[Range],
    around: isl.Set,
    names: Sequence[str],
) -> list[Piece]:
    """Return the sum of a function over the values of one variable.

    Parameters
    ----------
    values: the variable's ranges, as far as they are not in the conditions of pieces.
    around: where the sum is asked for, over `names`.

    Raises
    ------
    NoClosedForm
    """
    found: list[Piece] = []
    for piece in inner:
        kept, lowers, uppers = bounds_on(name, piece.conditions)
        for own in values:
            for inside, start, end in ranges((*own.lowers, *lowers), (*own.uppers, *uppers)):
                keep_going(around.get_ctx())
                # A sum over nothing, from behind its end, is 0 in closed form, too.
                where = (*kept, *own.conditions, *inside, end - start + 1)
                where = tuple(dict.fromkeys(c for c in where if not _always(c)))
                if any(map(_never, where)) or restricted(around, names, where).is_empty():
                    continue
                needed = tuple(
                    c for c in where if not restricted(around, names, [-c - 1]).is_empty()
                )
                found.append(Piece(needed, sum_over(piece.value, name, start, end)))
    return merged(found)


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces with those of the same conditions added up.

    Raises
    ------
    NoClosedForm: there are too many.
    """
    found: dict[frozenset[Affine], Piece] = {}
    for piece in pieces:
        conditions = tuple(c for c in piece.conditions if not _always(c))
        if any(map(_never, conditions)):
            continue
        key = frozenset(conditions)
        value = piece.value + found[key].value if key in found else piece.value
        found[key] = Piece(conditions, value)
    if len(found) > MAX_PIECES:
        raise NoClosedForm
    return [piece for piece in found.values() if piece.value.terms]


def restricted(points: isl.Set, names: Sequence[str], conditions: Iterable[Affine]) -> isl.Set:
    """Return the points where all the conditions are 0 or more."""
    local = isl.LocalSpace.from_space(points.get_space())
    for form in conditions:
        constraint = isl.Constraint.inequality_alloc(local).set_constant_val(form.constant)
        for name, coefficient in form.terms:
            constraint = constraint.set_coefficient_val(
                isl.dim_type.set, names.index(name), coefficient
            )
        points = points.add_constraint(constraint)
    return points


def bounds_on(
    name: str, conditions: Iterable[Affine]
) -> tuple[list[Affine], list[Affine], list[Affine]]:
    """Return the conditions that do not concern a variable, and its lower and upper bounds."""
    kept, lowers, uppers = [], [], []
    own = Affine.variable(name)
    for form in map(_tightened, conditions):
        match form.coefficient(name):
            case 0:
                kept.append(form)
            case 1:
                lowers.append(own - form)
            case -1:
                uppers.append(own + form)
            case _:
                raise NoClosedForm
    return kept, lowers, uppers


def _tightened(condition: Affine) -> Affine:
    """Return the same condition on integers without a common factor: 2 i - 1 >= 0 is i >= 1."""
    factor = gcd(*(c for _, c in condition.terms))
    if factor <= 1:
        return condition
    terms = tuple((name, c // factor) for name, c in condition.terms)
    return Affine(terms, condition.constant // factor)


def _always(condition: Affine) -> bool:
    return condition.is_constant and condition.constant >= 0


def _never(condition: Affine) -> bool:
    return condition.is_constant and condition.constant < 0
