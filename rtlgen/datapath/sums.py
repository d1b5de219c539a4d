"""Sums and products in another order: common factors, and the operands that come last used last.

Like terms of a sum, and factors that several of its terms share.

    3 * a[i] - a[i] + b          is   2 * a[i] + b
    x * a[0] * b[0] + x * a[1]   is   x * (a[0] * b[0] + a[1])

Both hold modulo a power of two, as C's additions and products with wrap-around do. Loops that are
unrolled leave such sums: what did not depend on the loop's variable is the same in every lane.

Reorder sums and products so that the operands that are there last are used last.

Rewrite
-------
    y[i] + a[i] + b[i]        ->   y[i] + (a[i] + b[i])       y[i] comes from the iteration before
    ((a + b) + c) + d         ->   (a + b) + (c + d)
    x * a + x * b - a + 2 * a ->   x * (a + b) + a            where that takes no longer

C's addition, subtraction and multiplication with wrap-around are exact modulo a power of two, where
they are associative and commutative, so the value of the whole stays the same bit for bit. What
changes is the depth, and for a recurrence the number of cycles from the last value to the next.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from rtlgen.datapath.graph import typical_latency_cycles
from rtlgen.ir.expr import (
    Binary,
    Constant,
    Expr,
    IndexValue,
    Read,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import Statement
from rtlgen.ir.types import IntType
from rtlgen.target import Target


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


LATE = 1 << 20
"""Arrival of a value that the statement itself has just computed. One from `d` iterations before
arrives so much earlier, which orders the values of a recurrence among themselves."""


def reassociated(
    expr: Expr, late: Mapping[int, int], read_latency: Callable[[int], int], target: Target
) -> Expr:
    """Return an expression of the same value with its sums and products in order of arrival.

    Parameters
    ----------
    late: reads on a recurrence, with the number of iterations that their values are old, at least.
    read_latency: cycles of each read.
    """
    return _Reassociation(late, read_latency, target).rewrite(expr)


class _Reassociation:
    def __init__(
        self, late: Mapping[int, int], read_latency: Callable[[int], int], target: Target
    ) -> None:
        self._late = late
        self._read_latency = read_latency
        self._target = target

    def rewrite(self, expr: Expr) -> Expr:
        match expr:
            case Binary("add" | "sub", type=type_):
                return self._sum(expr, type_)
            case Binary("mul", type=type_):
                return self._product(expr, type_)
            case _:
                return with_children(expr, tuple(map(self.rewrite, children(expr))))

    def _sum(self, expr: Expr, type_: IntType) -> Expr:
        """Add up the terms of a sum, like ones and those that share a factor together."""
        terms = self._terms(expr, type_, False)
        return self._fewer(terms, self._added(terms, type_), type_)

    def _fewer(self, signed: Sequence[tuple[bool, Expr]], plain: Expr, type_: IntType) -> Expr:
        """Return a sum with fewer products, or `plain`, which it is, where those take longer."""
        best, limit = plain, self._arrival(plain)
        terms = [term_of(expr, type_, negative) for negative, expr in signed]
        fewer = like_terms_added(terms, type_)
        if len(fewer) < len(terms):
            found = self._added([self._signed(term, type_) for term in fewer], type_)
            if self._arrival(found) <= limit:
                best, terms = found, fewer
        shared = sharing_a_factor(terms, self._is_late)
        if not shared:
            return best
        factors = common_factors(shared)
        inner = [self._signed(term.without(factors), type_) for term in shared]
        total = self._fewer(inner, self._added(inner, type_), type_)
        others = [self._signed(term, type_) for term in terms if term not in shared]
        joined = [(False, self._multiplied([*factors, total], type_)), *others]
        found = self._added(joined, type_)
        return self._fewer(joined, found, type_) if self._arrival(found) <= limit else best

    def _signed(self, term: Term, type_: IntType) -> tuple[bool, Expr]:
        """Return whether a term is subtracted, and what is added or subtracted."""
        negative, value = term.coefficient < 0, abs(term.coefficient)
        if value > type_.maximum:
            negative, value = False, term.coefficient
        if value == 1 and term.factors:
            return negative, self._multiplied(term.factors, type_)
        return negative, self._multiplied([*term.factors, Constant(value, type_)], type_)

    def _is_late(self, expr: Expr) -> bool:
        return any(isinstance(node, Read) and node.index in self._late for node in walk(expr))

    def _added(self, terms: Iterable[tuple[bool, Expr]], type_: IntType) -> Expr:
        """Add up terms, which carry their signs.

        A value on a recurrence comes last, where it is the only one and the sum is there no later:
        as many cycles as it goes through are those of the recurrence.
        """
        terms = list(terms)
        found = self._in_order(terms, type_)
        recurrent = [k for k, (_, term) in enumerate(terms) if self._is_recurrent(term)]
        if len(recurrent) != 1 or len(terms) < 3:
            return found
        (only,) = recurrent
        rest = self._in_order(terms[:only] + terms[only + 1 :], type_)
        last = self._in_order([(False, rest), terms[only]], type_)
        return last if self._arrival(last) <= self._arrival(found) else found

    def _is_recurrent(self, expr: Expr) -> bool:
        return isinstance(expr, Read) and expr.index in self._late

    def _in_order(self, terms: Iterable[tuple[bool, Expr]], type_: IntType) -> Expr:
        """Add up terms two by two, those that are there first."""
        order = count()
        heap = [(self._arrival(term), next(order), negative, term) for negative, term in terms]
        if not heap:
            return Constant(0, type_)
        heapq.heapify(heap)
        while len(heap) > 1:
            _, _, negative, left = heapq.heappop(heap)
            _, _, other_negative, right = heapq.heappop(heap)
            if negative == other_negative:
                total = Binary("add", left, right, type_)
            elif negative:
                total, negative = Binary("sub", right, left, type_), False
            else:
                total = Binary("sub", left, right, type_)
            heapq.heappush(heap, (self._arrival(total), next(order), negative, total))
        _, _, negative, result = heap[0]
        return Unary("neg", result, type_) if negative else result

    def _terms(self, expr: Expr, type_: IntType, negative: bool) -> list[tuple[bool, Expr]]:
        match expr:
            case Binary("add", left, right, found) if found == type_:
                both = self._terms(left, type_, negative)
                return both + self._terms(right, type_, negative)
            case Binary("sub", left, right, found) if found == type_:
                both = self._terms(left, type_, negative)
                return both + self._terms(right, type_, not negative)
            case _:
                return [(negative, self.rewrite(expr))]

    def _product(self, expr: Expr, type_: IntType) -> Expr:
        return self._multiplied(self._factors(expr, type_), type_)

    def _multiplied(self, factors: Iterable[Expr], type_: IntType) -> Expr:
        """Multiply factors two by two, those that are there first."""
        order = count()
        heap = [(self._arrival(factor), next(order), factor) for factor in factors]
        heapq.heapify(heap)
        while len(heap) > 1:
            _, _, left = heapq.heappop(heap)
            _, _, right = heapq.heappop(heap)
            product = Binary("mul", left, right, type_)
            heapq.heappush(heap, (self._arrival(product), next(order), product))
        return heap[0][2]

    def _factors(self, expr: Expr, type_: IntType) -> list[Expr]:
        match expr:
            case Binary("mul", left, right, found) if found == type_:
                return self._factors(left, type_) + self._factors(right, type_)
            case _:
                return [self.rewrite(expr)]

    def _arrival(self, expr: Expr) -> int:
        """Estimate the cycle in which a value is there; a recurrence comes after all others."""
        latest = max((self._arrival(child) for child in children(expr)), default=0)
        if isinstance(expr, Read):
            if expr.index in self._late:
                return max(latest, LATE - min(self._late[expr.index], LATE // 2))
            return latest + self._read_latency(expr.index)
        if isinstance(expr, Binary | Select):
            latest += self._latency(expr)
        return latest

    def _latency(self, expr: Binary | Select) -> int:
        op = expr.op if isinstance(expr, Binary) else "select"
        width = expr.type.width_bits
        if isinstance(expr, Binary) and op in ("div", "rem") and isinstance(expr.right, Constant):
            return typical_latency_cycles(op, width, self._target)
        return self._target.latency_cycles(op, width, width, width)
