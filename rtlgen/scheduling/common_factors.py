"""Like terms of a sum, and factors that several of its terms share.

    3 * a[i] - a[i] + b          is   2 * a[i] + b
    x * a[0] * b[0] + x * a[1]   is   x * (a[0] * b[0] + a[1])

Both hold modulo a power of two, as C's additions and products with wrap-around do. Loops that are
unrolled leave such sums: what did not depend on the loop's variable is the same in every lane.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.expr import (
    Binary,
    Constant,
    Expr,
    IndexValue,
    Read,
    Unary,
    children,
    with_children,
)
from rtlgen.ir.scop import Statement
from rtlgen.ir.types import IntType


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient` times the product of `factors`, none of which is a constant."""

    coefficient: int
    factors: tuple[Expr, ...]

    @property
    def kind(self) -> frozenset[tuple[Expr, int]]:
        """What is equal just for like terms."""
        return frozenset(Counter(self.factors).items())

    def without(self, factors: Iterable[Expr]) -> Term:
        """Return the term divided by some of its factors."""
        return replace(self, factors=tuple((Counter(self.factors) - Counter(factors)).elements()))


def equal_reads(statement: Statement) -> dict[int, int]:
    """Return for each read of a statement the first one that has its value."""
    return {
        k: next(n for n, other in enumerate(statement.reads) if n == k or other.serves(read))
        for k, read in enumerate(statement.reads)
    }


def with_reads(expr: Expr, numbers: Mapping[int, int]) -> Expr:
    """Return an expression with other reads in place of its own ones."""
    found = with_children(expr, tuple(with_reads(child, numbers) for child in children(expr)))
    return replace(found, index=numbers[found.index]) if isinstance(found, Read) else found


def term_of(expr: Expr, type_: IntType, negative: bool = False) -> Term:
    """Return an expression of a type as a product of what is none of that type."""
    sign = -1 if negative else 1
    match expr:
        case Constant(value):
            return Term(sign * value, ())
        case IndexValue(affine) if affine.is_constant:
            return Term(sign * affine.constant, ())
        case Unary("neg", operand, found) if found == type_:
            return term_of(operand, type_, not negative)
        case Binary("mul", left, right, found) if found == type_:
            one, other = term_of(left, type_, negative), term_of(right, type_)
            return Term(one.coefficient * other.coefficient, (*one.factors, *other.factors))
        case _:
            return Term(sign, (expr,))


def like_terms_added(terms: Iterable[Term], type_: IntType) -> list[Term]:
    """Return terms none of which are like; coefficients are the nearest to 0 of their values."""
    found: dict[frozenset[tuple[Expr, int]], Term] = {}
    for term in terms:
        known = found.get(term.kind)
        total = term.coefficient + (0 if known is None else known.coefficient)
        found[term.kind] = replace(known or term, coefficient=total)
    modulus = 1 << type_.width_bits
    nearest = (
        replace(t, coefficient=(t.coefficient + modulus // 2) % modulus - modulus // 2)
        for t in found.values()
    )
    return [term for term in nearest if term.coefficient]


def sharing_a_factor(terms: Sequence[Term], is_late: Callable[[Expr], bool]) -> list[Term]:
    """Return the products that have the factor which most of them have, if several do.

    Parameters
    ----------
    is_late: whether a value is one that the others are not to wait for; its terms stay as they are.
    """
    products = [t for t in terms if len(t.factors) > 1 and not any(map(is_late, t.factors))]
    counts = Counter(factor for term in products for factor in dict.fromkeys(term.factors))
    factor, count = max(counts.items(), key=lambda found: found[1], default=(None, 0))
    return [term for term in products if factor in term.factors] if count > 1 else []


def common_factors(terms: Sequence[Term]) -> tuple[Expr, ...]:
    """Return the factors that all of some terms have."""
    common = Counter(terms[0].factors)
    for term in terms[1:]:
        common &= Counter(term.factors)
    return tuple(common.elements())
