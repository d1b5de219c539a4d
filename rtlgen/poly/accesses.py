"""Where statements make their accesses, and that these are inside of their arrays.

Where a statement makes its reads: in which instances the conditions around one may hold.

    b[i] = i >= 2 ? a[i - 2] : 0;          a[i - 2] is read where i >= 2, and nowhere else

Of a condition on data nothing is known: it may hold, and need not, in every instance.

Subscripts inside their arrays: proven by isl, or refuted with the iteration that leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.effort import keep_going, limited_effort
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    Read,
    Scatter,
    Select,
    Unary,
    children,
)
from rtlgen.ir.quasi_affine import quasi_affine, quasi_affine_text
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, sample_pair
from rtlgen.ir.types import INT32
from rtlgen.ir.value_ranges import is_truth
from rtlgen.poly.errors import OutOfBounds

_OPERATORS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=", "ne": "!="}
_ZERO = Constant(0, INT32)


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Instances in which something holds: `surely`, and those in which it `perhaps` does."""

    surely: isl.Set
    perhaps: isl.Set

    def __and__(self, other: Where) -> Where:
        return Where(self.surely.intersect(other.surely), self.perhaps.intersect(other.perhaps))

    def __or__(self, other: Where) -> Where:
        return Where(self.surely.union(other.surely), self.perhaps.union(other.perhaps))


class MadeReads:
    """Tells in which instances of a statement each of its reads is made.

    Parameters
    ----------
    sets: of the program, normalised or as parsed.
    """

    def __init__(self, sets: ScopSets, statement: Statement) -> None:
        self._sets, self._statement = sets, statement
        self._domain = sets.domains[statement.name]
        box = sets.bounding_box(statement)
        bounds = box or ((0, 0),) * len(statement.iterators)
        self._box = dict(zip(statement.iterators, bounds, strict=True))
        self._made: dict[int, Where] = {}
        self._visit(statement.expr, Where(self._domain, self._domain))

    def where(self, read: int) -> Where:
        """Return where a read of the statement is made, by its number."""
        nowhere = self._domain.subtract(self._domain)
        return self._made.get(read, Where(nowhere, nowhere))

    def _visit(self, expr: Expr, path: Where) -> None:
        if isinstance(expr, Select):
            chosen = self._holds(expr.condition)
            self._visit(expr.condition, path)
            self._visit(expr.if_true, path & chosen)
            self._visit(expr.if_false, path & self._not(chosen))
            return
        if isinstance(expr, Scatter):
            self._visit(expr.condition, path)
            chosen = path & self._holds(expr.condition)
            self._visit(expr.value, chosen)
            self._visit(expr.old, chosen)
            return
        if isinstance(expr, Read):
            known = self._made.get(expr.index)
            self._made[expr.index] = path if known is None else known | path
        for part in children(expr):
            self._visit(part, path)

    def _not(self, where: Where) -> Where:
        return Where(self._domain.subtract(where.perhaps), self._domain.subtract(where.surely))

    def _holds(self, condition: Expr) -> Where:
        """Return where a condition is not 0."""
        match condition:
            case Unary("lnot", operand):
                return self._not(self._holds(operand))
            case Binary("and", left, right) if is_truth(left) and is_truth(right):
                return self._holds(left) & self._holds(right)
            case Binary("or", left, right):
                return self._holds(left) | self._holds(right)
            case Select(chosen, if_true, if_false):
                holds = self._holds(chosen)
                first, second = self._holds(if_true), self._holds(if_false)
                return (holds & first) | (self._not(holds) & second)
            case Cast(operand) if is_truth(operand):
                return self._holds(operand)
            case Binary(op, left, right) if op in COMPARISONS:
                return self._compared(_OPERATORS[op], left, right)
            case _:
                return self._compared("!=", condition, _ZERO)

    def _compared(self, operator: str, left: Expr, right: Expr) -> Where:
        """Return where a comparison holds that iterators decide; anywhere perhaps, if data does."""
        sides = [quasi_affine(side, self._box) for side in (left, right)]
        nowhere = self._domain.subtract(self._domain)
        first, second = sides
        if first is None or second is None:
            return Where(nowhere, self._domain)
        names = self._statement.iterators
        texts = [quasi_affine_text(side, names) for side in (first, second)]
        holds = self._sets.instances_where(self._statement, f" {operator} ".join(texts))
        return Where(holds, holds)


def require_in_bounds(sets: ScopSets) -> None:
    """Raise for the first access, in program order, that some instance takes out of its array.

    A read that a choice between values makes is judged where it is made, as far as iterators decide
    that. An access under a condition on data may leave its array where the condition does not hold;
    it is refused when it always does. Subscripts that depend on data are judged in `poly.lookups`.

    Raises
    ------
    OutOfBounds: with the lexicographically first such instance and the element it would touch.
    """
    with limited_effort("its subscripts"):
        for statement in sets.scop.statements:
            for number, access in enumerate(statement.reads):
                _check(sets, statement, access, number)
            _check(sets, statement, statement.write, None)


def _check(sets: ScopSets, statement: Statement, access: Access, read: int | None) -> None:
    keep_going(sets.context)
    array = sets.scop.array(access.array)
    touched = sets.touched(statement, access)
    outside = touched.subtract_range(sets.element_set(array))
    if outside.is_empty():
        return
    if access.is_conditional and read is not None:
        made = MadeReads(sets, statement).where(read)
        touched = touched.intersect_domain(made.perhaps)
        outside = outside.intersect_domain(made.perhaps)
        surely = outside.intersect_domain(made.surely)
        if not surely.is_empty():
            outside = touched = surely
    if outside.is_empty() or (access.is_conditional and not touched.is_equal(outside)):
        return
    instance, element = sample_pair(outside)
    shown = "".join(f"[{index}]" for index in element)
    size = "".join(f"[{extent}]" for extent in array.shape)
    verb = "written" if read is None else "read"
    raise OutOfBounds(
        f"{access.array}{shown} is outside of {access.array}{size}",
        labels=(
            Label(access.span, f"{verb} by {statement.instance_text(instance)}"),
            Label(array.span, "declared here"),
        ),
        notes=_iteration(statement, instance),
        help="correct the loop bounds, the subscript, or the size of the array",
    )


def _iteration(statement: Statement, instance: tuple[int, ...]) -> tuple[str, ...]:
    """Return a note with the values of the iterators, if there are any."""
    values = zip(statement.iterators, instance, strict=True)
    text = ", ".join(f"{name} = {value}" for name, value in values)
    return (f"first in the iteration {text}",) if text else ()
