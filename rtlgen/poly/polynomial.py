"""Polynomials with rational coefficients, and sums of them over ranges of integers.

Reference: sums of powers as polynomials (Faulhaber, 1631); counting integer points by summing loop
by loop: Pugh, "Counting solutions to Presburger formulas", PLDI 1994.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

from rtlgen.ir.affine import Affine

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
