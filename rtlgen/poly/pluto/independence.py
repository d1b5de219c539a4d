"""Rows that a new hyperplane must be linearly independent of: the orthogonal sub-space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm

from rtlgen.poly.pluto.unknowns import Vector


def rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the number of linearly independent rows."""
    return len(_orthogonalised(rows))


def orthogonal(rows: Sequence[Vector], dims: int) -> tuple[Vector, ...]:
    """Return independent integer rows that span what is orthogonal to `rows`.

    They are rows of I - H^T (H H^T)^-1 H, scaled to coprime integers: c is independent of H where
    one of them is not orthogonal to c.
    """
    basis = _orthogonalised(rows)
    found: list[Vector] = []
    for k in range(dims):
        unit = [Fraction(int(k == column)) for column in range(dims)]
        for vector in basis:
            unit = _minus(unit, vector, _dot(unit, vector) / _dot(vector, vector))
        scaled = _integers(unit)
        if any(scaled) and rank([*found, scaled]) > len(found):
            found.append(scaled)
    return tuple(found)


def directions(rows: Sequence[Vector], dims: int) -> Iterator[tuple[tuple[Vector, int], ...]]:
    """Yield conjunctions (row, least value of row . c) that force c to be independent of `rows`.

    The first is PLUTO's own: no component in the orthogonal sub-space is negative, and their sum is
    at least 1. The others, one component positive or negative, together cover every c.
    """
    spanning = orthogonal(rows, dims)
    total = tuple(sum(column) for column in zip(*spanning, strict=True))
    yield (*((row, 0) for row in spanning), (total, 1))
    for row in spanning:
        yield ((row, 1),)
        yield ((tuple(-x for x in row), 1),)


def _orthogonalised(rows: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    basis: list[list[Fraction]] = []
    for row in rows:
        rest = [Fraction(x) for x in row]
        for vector in basis:
            rest = _minus(rest, vector, _dot(rest, vector) / _dot(vector, vector))
        if any(rest):
            basis.append(rest)
    return basis


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _minus(a: Sequence[Fraction], b: Sequence[Fraction], factor: Fraction) -> list[Fraction]:
    return [x - factor * y for x, y in zip(a, b, strict=True)]


def _integers(row: Sequence[Fraction]) -> Vector:
    scale = lcm(*(x.denominator for x in row))
    scaled = [int(x * scale) for x in row]
    divisor = gcd(*scaled) or 1
    return tuple(x // divisor for x in scaled)
