"""Conditions of `if`s: the affine part becomes a domain, the rest a guard.

    if (i > 0 && a[i - 1] > 3)       where i - 1 >= 0, guarded by a[i - 1] > 3

A domain costs nothing and keeps what the guard reads inside of its array, as `&&` does in C. A
guard is evaluated for every point of the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.cases import MAX_CASES, Cases, Conjunction, both, cases_of, either
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.writers import calls
from rtlgen.ir.scop import Access


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a condition that depends on data, or on the iterators in no affine way.

    Members
    -------
    given: where it is evaluated, besides what is around the `if`.
    """

    node: c_ast.Node
    negated: bool
    given: Conjunction


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way in which a condition holds: every affine condition, and every leaf, in order."""

    conditions: Conjunction = ()
    leaves: tuple[Leaf, ...] = ()


class ConditionReader:
    """Takes the condition of an `if` apart.

    Parameters
    ----------
    reader: returns an expression reader for the place of the `if` where conditions hold, too.
    is_inside: whether accesses, made inside given ranges, surely stay in their arrays.
    strides: take comparisons of remainders as affine conditions, too.
    """

    def __init__(
        self,
        reader: Callable[[Conjunction], ExpressionReader],
        is_inside: Callable[[Sequence[Access], Ranges], bool],
        strides: bool = True,
    ) -> None:
        self._reader = reader
        self._strides = strides
        self._is_inside = is_inside

    def alternatives(self, node: c_ast.Node, negated: bool = False) -> tuple[Alternative, ...]:
        """Return the ways, of which at most one holds at a time, in which `node` holds.

        A disjunction is cut into cases that exclude one another: `i != j` into `i < j` and `i > j`.
        """
        return self._alternatives(node, negated, ())

    def _alternatives(
        self, node: c_ast.Node, negated: bool, given: Conjunction
    ) -> tuple[Alternative, ...]:
        cases = self._affine_cases(node, negated, given)
        if cases is not None and len(cases) <= MAX_CASES:
            return tuple(Alternative(case) for case in cases)
        whole = (Alternative((), (Leaf(node, negated, given),)),)
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self._alternatives(node.expr, not negated, given)
        if not (isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||")):
            return whole
        if (node.op == "&&") != negated:
            left = self._alternatives(node.left, negated, given)
            parts = self._product(left, node.right, negated, given)
        elif self._is_safe(node, given):
            return whole
        else:
            left = self._alternatives(node.left, negated, given)
            otherwise = self._alternatives(node.left, not negated, given)
            parts = (*left, *self._product(otherwise, node.right, negated, given))
        return parts if len(parts) <= MAX_CASES else whole

    def _product(
        self,
        left: tuple[Alternative, ...],
        right: c_ast.Node,
        negated: bool,
        given: Conjunction,
    ) -> tuple[Alternative, ...]:
        return tuple(
            Alternative((*a.conditions, *b.conditions), (*a.leaves, *b.leaves))
            for a in left
            for b in self._alternatives(right, negated, (*given, *a.conditions))
        )

    def _is_safe(self, node: c_ast.Node, given: Conjunction) -> bool:
        """Return whether all of `node` may be evaluated, whatever its parts are."""
        if calls(node):
            return False
        reader = self._reader(given)
        reader.value(node)
        return self._is_inside(reader.reads, reader.arithmetic.ranges)

    def _affine_cases(self, node: c_ast.Node, negated: bool, given: Conjunction) -> Cases | None:
        """Return the cases in which `node` holds, or None if it is not affine."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self._affine_cases(node.expr, not negated, given)
        if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
            return self._affine_connective(node, negated, given)
        if calls(node):
            return None
        reader = self._reader(given)
        value = reader.value(node).expr
        return cases_of(value, negated, reader.arithmetic.ranges, self._strides)

    def _affine_connective(
        self, node: c_ast.BinaryOp, negated: bool, given: Conjunction
    ) -> Cases | None:
        ranges = self._reader(given).arithmetic.ranges
        left = self._affine_cases(node.left, negated, given)
        right = self._affine_cases(node.right, negated, given)
        if left is None or right is None:
            return None
        if (node.op == "&&") != negated:
            return both(left, right, ranges)
        return either(left, self._affine_cases(node.left, not negated, given), right, ranges)
