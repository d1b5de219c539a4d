"""Integer affine expressions over named variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Affine:
    """sum of coefficient * variable, plus a constant; no zero coefficients, variables sorted."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def __post_init__(self) -> None:
        names = [name for name, _ in self.terms]
        if names != sorted(set(names)) or any(c == 0 for _, c in self.terms):
            raise ValueError(f"affine terms are sorted, distinct and non-zero: {self.terms!r}")

    @staticmethod
    def of(terms: Mapping[str, int], constant: int = 0) -> Affine:
        """Return the expression with the non-zero ones of `terms`."""
        return Affine(tuple(sorted((n, c) for n, c in terms.items() if c)), constant)

    @staticmethod
    def variable(name: str) -> Affine:
        return Affine(((name, 1),))

    def coefficient(self, name: str) -> int:
        return dict(self.terms).get(name, 0)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        sums = dict(self.terms)
        for name, coefficient in other.terms:
            sums[name] = sums.get(name, 0) + coefficient
        return Affine.of(sums, self.constant + other.constant)

    def __mul__(self, factor: int) -> Affine:
        return Affine.of({n: c * factor for n, c in self.terms}, self.constant * factor)

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the value with every variable taken from `values`."""
        return self.constant + sum(c * values[name] for name, c in self.terms)

    def substitute(self, replacements: Mapping[str, Affine]) -> Affine:
        """Return the expression with each variable of `replacements` replaced."""
        result = Affine((), self.constant)
        for name, coefficient in self.terms:
            result = result + replacements.get(name, Affine.variable(name)) * coefficient
        return result

    def range(self, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """Return (minimum, maximum) with each variable anywhere in its inclusive range."""
        low = high = self.constant
        for name, c in self.terms:
            a, b = sorted((c * ranges[name][0], c * ranges[name][1]))
            low, high = low + a, high + b
        return low, high

    def __str__(self) -> str:
        text = ""
        for name, c in self.terms:
            factor = name if abs(c) == 1 else f"{abs(c)}*{name}"
            text += (
                f"{' - ' if c < 0 else ' + '}{factor}"
                if text
                else f"{'-' if c < 0 else ''}{factor}"
            )
        if self.constant or not text:
            c = self.constant
            text += (f" - {-c}" if c < 0 else f" + {c}") if text else str(c)
        return text


@dataclass(frozen=True, slots=True)
class Congruence:
    """The condition that `form` is a multiple of `modulus`."""

    form: Affine
    modulus: int

    def __post_init__(self) -> None:
        if self.modulus < 1:
            raise ValueError(f"a congruence modulo {self.modulus}")

    def substitute(self, replacements: Mapping[str, Affine]) -> Congruence:
        """Return the condition with each variable of `replacements` replaced."""
        return Congruence(self.form.substitute(replacements), self.modulus)

    def reduced(self) -> Congruence:
        """Return the same condition with every coefficient from 0 to below the modulus."""
        terms = {name: c % self.modulus for name, c in self.form.terms}
        return Congruence(Affine.of(terms, self.form.constant % self.modulus), self.modulus)

    def holds(self, values: Mapping[str, int]) -> bool:
        return self.form.evaluate(values) % self.modulus == 0

    def __str__(self) -> str:
        return f"({self.form}) mod {self.modulus} == 0"


Constraint: TypeAlias = Affine | Congruence
"""A condition on iterators: an affine expression that is at least 0, or a congruence."""


def constraint_holds(constraint: Constraint, values: Mapping[str, int]) -> bool:
    """Return whether a condition holds with every variable taken from `values`."""
    if isinstance(constraint, Congruence):
        return constraint.holds(values)
    return constraint.evaluate(values) >= 0


def affine_sum(parts: Iterable[Affine]) -> Affine:
    """Return the sum of `parts`."""
    total = Affine()
    for part in parts:
        total = total + part
    return total
