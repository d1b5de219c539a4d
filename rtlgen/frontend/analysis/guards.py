"""Conditions on data: evaluated beside a statement, they choose between its value and the old one.

if (a[i] > m) m = a[i];        m = a[i] > m ? a[i] : m;
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtlgen.ir.expr import (
    Binary,
    Constant,
    Expr,
    Read,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import Access
from rtlgen.ir.types import INT32

_ZERO = Constant(0, INT32)


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition with the reads that it makes, apart from any statement.

    Members
    -------
    expr: an int, 0 or 1; its `Read`s count in `reads`.
    """

    expr: Expr
    reads: tuple[Access, ...]

    def negated(self) -> Guard:
        """Return the guard that holds where this one does not."""
        return Guard(Unary("lnot", self.expr, INT32), self.reads)

    def then(self, inner: Guard) -> Guard:
        """Return the guard of an `if` inside of an `if`; `inner` counts only where this holds."""
        numbers = [len(self.reads) + k for k in range(len(inner.reads))]
        chosen = renumbered(inner.expr, numbers)
        return Guard(Select(self.expr, chosen, _ZERO, INT32), (*self.reads, *inner.reads))


def renumbered(expr: Expr, numbers: Sequence[int] | Mapping[int, int]) -> Expr:
    """Return `expr` with read k replaced by read `numbers[k]`."""
    operands = tuple(renumbered(part, numbers) for part in children(expr))
    if isinstance(expr, Read):
        return Read(numbers[expr.index], expr.type, operands)
    return with_children(expr, operands)


def with_own_reads(expr: Expr, reads: Sequence[Access]) -> tuple[Expr, tuple[Access, ...]]:
    """Return an expression whose reads count in `reads` with those that it makes itself."""
    made = dict.fromkeys(node.index for node in walk(expr) if isinstance(node, Read))
    places = {number: place for place, number in enumerate(made)}
    return renumbered(expr, places), tuple(reads[number] for number in made)


def is_total(expr: Expr) -> bool:
    """Return whether C defines the value of `expr` for all operands that it may meet."""
    for node in walk(expr):
        if isinstance(node, Binary) and node.op in ("div", "rem", "shl", "shr"):
            right = node.right
            if not isinstance(right, Constant) or (node.op in ("div", "rem") and right.value == -1):
                return False
    return True
