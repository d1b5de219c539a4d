"""Conditions of `if`s: the affine part becomes a domain, the rest a guard.

    if (i > 0 && a[i - 1] > 3)       where i - 1 >= 0, guarded by a[i - 1] > 3

A domain costs nothing and keeps what the guard reads inside of its array, as `&&` does in C. A
guard is evaluated for every point of the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.remainders import remainder_cases
from rtlgen.frontend.values import Value, literal
from rtlgen.frontend.writers import calls
from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.scop import Access
from rtlgen.ir.types import INT32, IntType, common_type

Conjunction: TypeAlias = tuple[Constraint, ...]
"""What holds all at once where the condition holds. `()` always holds."""

Cases: TypeAlias = tuple[Conjunction, ...]
"""Conjunctions of which at most one holds at a time. `()` never holds."""

MAX_CASES = 8

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


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
        reader = self._reader(given)
        ranges = reader.arithmetic.ranges
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self._affine_cases(node.expr, not negated, given)
        if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
            return self._affine_connective(node, negated, given)
        if calls(node):
            return None
        right: c_ast.Node | None = None
        left, op = node, "==" if negated else "!="
        if isinstance(node, c_ast.BinaryOp) and node.op in _NEGATED:
            left, right, op = node.left, node.right, _NEGATED[node.op] if negated else node.op
            difference = _difference(node, reader)
        else:
            difference = reader.value(node).affine
        if difference is not None:
            return _possible(_comparison(op, difference), ranges)
        if not self._strides or op not in ("==", "!="):
            return None
        values = reader.value(left), literal(0, INT32, reader.value(left).span)
        if right is not None:
            values = values[0], reader.value(right)
        for value, other in (values, values[::-1]):
            if other.constant is not None:
                cases = remainder_cases(value, op, other.constant, ranges)
                return None if cases is None else _possible(cases, ranges)
        return None

    def _affine_connective(
        self, node: c_ast.BinaryOp, negated: bool, given: Conjunction
    ) -> Cases | None:
        ranges = self._reader(given).arithmetic.ranges
        left = self._affine_cases(node.left, negated, given)
        right = self._affine_cases(node.right, negated, given)
        if left is None or right is None:
            return None
        if (node.op == "&&") != negated:
            return _both(left, right, ranges)
        otherwise = self._affine_cases(node.left, not negated, given)
        return None if otherwise is None else (*left, *_both(otherwise, right, ranges))


def _both(left: Cases, right: Cases, ranges: Ranges) -> Cases:
    return _possible(tuple((*a, *b) for a in left for b in right), ranges)


def _possible(cases: Cases, ranges: Ranges) -> Cases:
    """Leave out cases that cannot hold, and conditions that hold anyway."""
    kept = []
    for case in cases:
        inside = ranges.under(case)
        if any(inside.maximum(c) < 0 for c in case if isinstance(c, Affine)):
            continue
        needed = [c for c in case if isinstance(c, Congruence) or ranges.minimum(c) < 0]
        kept.append(tuple(dict.fromkeys(needed)))
    return tuple(kept)


def _difference(node: c_ast.BinaryOp, reader: ExpressionReader) -> Affine | None:
    """Return left - right, both in the type in which C compares them."""
    left, right = reader.value(node.left), reader.value(node.right)
    type_ = common_type(left.type, right.type)
    sides = [_converted(reader, side, type_) for side in (left, right)]
    return None if sides[0] is None or sides[1] is None else sides[0] - sides[1]


def _converted(reader: ExpressionReader, value: Value, type_: IntType) -> Affine | None:
    return reader.arithmetic.convert(value, type_).affine


def _comparison(op: str, difference: Affine) -> Cases:
    """Return where `difference op 0` holds."""
    below, above = -difference - 1, difference - 1
    match op:
        case "<":
            return ((below,),)
        case "<=":
            return ((-difference,),)
        case ">":
            return ((above,),)
        case ">=":
            return ((difference,),)
        case "==":
            return ((difference, -difference),)
        case _:
            return ((below,), (above,))
