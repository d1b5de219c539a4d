"""Join lanes that update one element, one after another, to a single statement.

Rewrite
-------
    s += a[k] * b[k];
    s += a[k + 1] * b[k + 1];      ->   s = s + a[k] * b[k] + a[k + 1] * b[k + 1];

Each lane's value takes the place of the next one's read of the element, so the result is the
program's, whatever the operators are. What can be reordered, sums and products, is then added up as
a balanced tree by `scheduling.reassociate`. A lane that does not run in some iterations adds the
neutral element there, and makes its reads elsewhere only.

What else a lane reads of the array is what it was before all lanes, so that must be no element that
they update.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    Select,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import has_instances
from rtlgen.ir.types import INT32, INT64

_NEUTRAL = {"add": 0, "sub": 0, "or": 0, "xor": 0, "mul": 1}


@dataclass(frozen=True, slots=True)
class Lane:
    """Lane `number` of a loop: what its iterator stands for; what is >= 0 where it runs."""

    number: int
    value: Affine
    guard: Affine | None


def lane_sum(lanes: Sequence[Statement], guards: Sequence[Affine | None]) -> Statement | None:
    """Return one statement that does what lanes do one after another, or None.

    Parameters
    ----------
    lanes: copies of one statement. guards: where each of them runs.
    """
    first = lanes[0]
    if len(lanes) < 2 or first.is_scatter or any(lane.write != first.write for lane in lanes):
        return None
    own = _own_read(first)
    if own is None or any(_own_read(lane) != own for lane in lanes):
        return None
    reads: list[Access] = list(first.reads)
    expr = first.expr
    for lane, guard in zip(lanes[1:], guards[1:], strict=True):
        value = lane.expr if guard is None else _where(lane.expr, own, guard)
        if value is None:
            return None
        numbers = dict[int, int]()
        for k, read in enumerate(lane.reads):
            if k != own:
                access = read if guard is None else replace(read, where=(*read.where, guard))
                if _may_be_updated(lane, access):
                    return None
                # What several lanes read is one value.
                known = (n for n, other in enumerate(reads) if n != own and other.serves(access))
                numbers[k] = next(known, len(reads))
                if numbers[k] == len(reads):
                    reads.append(access)
        expr = _inserted(value, own, expr, numbers)
    return replace(first, reads=tuple(reads), expr=expr)


def _may_be_updated(lane: Statement, read: Access) -> bool:
    """Tell whether a read may be one of the element that the statement writes."""
    if read.array != lane.write.array:
        return False
    if read.is_lookup:
        return True
    differences = [a - b for a, b in zip(read.affine, lane.write.affine, strict=True)]
    met = (*read.where, *(form for d in differences for form in (d, -d)))
    return has_instances(replace(lane, conditions=(*lane.conditions, *met)))


def _own_read(statement: Statement) -> int | None:
    """Return the one read of the element that is written."""
    found = [
        k
        for k, read in enumerate(statement.reads)
        if read.array == statement.write.array and read.subscripts == statement.write.subscripts
    ]
    if len(found) != 1:
        return None
    uses = [node for node in walk(statement.expr) if isinstance(node, Read)]
    # Once: a value that is used twice would be computed twice, by every lane.
    return found[0] if sum(node.index == found[0] for node in uses) == 1 else None


def _inserted(expr: Expr, own: int, value: Expr, numbers: dict[int, int]) -> Expr:
    """Return an expression with `value` in place of its read of the element."""
    if isinstance(expr, Read) and expr.index == own:
        return value
    parts = tuple(_inserted(child, own, value, numbers) for child in children(expr))
    found = with_children(expr, parts)
    return replace(found, index=numbers[found.index]) if isinstance(found, Read) else found


def _where(expr: Expr, own: int, guard: Affine) -> Expr | None:
    """Return an expression that is the read of the element itself where `guard` is negative."""
    match expr:
        case Read(index) if index == own:
            return expr
        case Cast(operand):
            inner = _where(operand, own, guard)
            return None if inner is None else replace(expr, operand=inner)
        case Binary(op, left, right) if op in _NEUTRAL:
            in_left = _uses(left, own)
            if op == "sub" and not in_left:
                return None
            kept = _where(left if in_left else right, own, guard)
            if kept is None:
                return None
            holds = Binary("ge", IndexValue(guard, INT64), Constant(0, INT64), INT32)
            added = right if in_left else left
            neutral = Constant(_NEUTRAL[op], added.type)
            other = Select(holds, added, neutral, added.type)
            return replace(expr, left=kept if in_left else other, right=other if in_left else kept)
        case _:
            return None


def _uses(expr: Expr, own: int) -> bool:
    return any(isinstance(node, Read) and node.index == own for node in walk(expr))
