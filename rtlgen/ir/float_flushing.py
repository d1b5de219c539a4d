"""Operations on floats that take subnormal numbers as zeros, and give zeros in their place.

Rewrite
-------
    x * y + z        flushed(flushed(flushed(x) * flushed(y)) + flushed(z))

Copies, and operations that look at signs alone, leave numbers as they are. Constants that C folds
are folded before.
"""

from __future__ import annotations

from dataclasses import replace

from rtlgen.ir.expr import SIGN_OPS, Expr, FloatOperation, children, walk, with_children
from rtlgen.ir.scop import Scop


def with_flushes(scop: Scop) -> Scop:
    """Return a program each of whose operations on floats flushes."""
    return replace(
        scop, statements=tuple(replace(s, expr=_flushing(s.expr)) for s in scop.statements)
    )


def is_flushing(scop: Scop) -> bool:
    """Return whether a program has operations that flush."""
    return any(
        isinstance(node, FloatOperation) and node.flushes
        for statement in scop.statements
        for node in walk(statement.expr)
    )


def _flushing(expr: Expr) -> Expr:
    found = with_children(expr, tuple(map(_flushing, children(expr))))
    if isinstance(found, FloatOperation) and found.op not in SIGN_OPS:
        return replace(found, flushes=True)
    return found
