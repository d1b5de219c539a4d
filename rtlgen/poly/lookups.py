"""Subscripts that depend on data: proven to stay inside of their arrays, from what feeds them.

    x = a[i] & 15;
    y = t[x];             x is 0 .. 15 wherever it comes from: t needs 16 elements

The proof gives each lookup the part of the array that it may touch, which its dependences are
made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rtlgen.errors import Label
from rtlgen.ir.conditions import facts_of
from rtlgen.ir.expr import Expr, Read, Select, children
from rtlgen.ir.quasi_affine import quasi_affine, quasi_affine_text
from rtlgen.ir.quotients import simplified_parts
from rtlgen.ir.scop import Access, Scop, Statement, Window
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.value_ranges import Facts, NoValueYet, Range, ValueRanges
from rtlgen.poly.dependences import dataflow
from rtlgen.poly.describe import access_text
from rtlgen.poly.errors import LookupOutOfRange
from rtlgen.poly.value_flow import ValueFlow, canonical


def bounded_lookups(sets: ScopSets) -> Scop:
    """Return the normalised program of `sets` with the windows of its lookups as small as proven.

    Raises
    ------
    LookupOutOfRange: a subscript may leave its array, as far as can be proven.
    TooComplex
    """
    scop = sets.scop
    if not any(access.is_lookup for s in scop.statements for access in s.reads):
        return scop
    values = ValueFlow(sets, dataflow(sets))
    statements = tuple(_bounded(sets, statement, values) for statement in scop.statements)
    return replace(scop, statements=statements)


def _bounded(sets: ScopSets, statement: Statement, values: ValueFlow) -> Statement:
    scop = sets.scop
    ranges, box = values.ranges(statement), values.box(statement)
    found: dict[int, list[tuple[Window, ...]]] = {}
    expr, merged = canonical(statement)
    # A subscript and the condition around it may compute the same remainder in two ways.
    for read, facts in _reads(simplified_parts(expr, box), ()):
        if read.at:
            access = statement.reads[read.index]
            known = [quasi_affine(part, box) for part in read.at]
            at = tuple(
                _inside(sets, statement, form, _range(ranges, part, facts), extent)
                for form, part, extent in zip(known, read.at, _extents(scop, access), strict=True)
            )
            _require_inside(scop, access, at)
            windows = (Window(*limits, form) for limits, form in zip(at, known, strict=True))
            found.setdefault(read.index, []).append(tuple(windows))
    reads = tuple(
        _windowed(access, found[merged[number]]) if merged.get(number) in found else access
        for number, access in enumerate(statement.reads)
    )
    return replace(statement, reads=reads)


def _range(ranges: ValueRanges, expr: Expr, facts: Facts) -> Range:
    try:
        return ranges.range(expr, facts)
    except NoValueYet:
        # It comes from nothing but itself: C gives it no value.
        return expr.type.minimum, expr.type.maximum


def _extents(scop: Scop, access: Access) -> list[int]:
    """Return the extents of the dimensions in which an access is a lookup."""
    pairs = zip(access.subscripts, scop.array(access.array).shape, strict=True)
    return [extent for subscript, extent in pairs if isinstance(subscript, Window)]


def _inside(
    sets: ScopSets, statement: Statement, form: Expr | None, limits: Range, extent: int
) -> Range:
    """Return limits of a subscript, cut off where no instance is, as far as iterators tell.

    Parameters
    ----------
    form: the subscript as a quasi-affine function of the iterators, if it is one.
    limits: by interval arithmetic, for which the parts of a form are independent.
    """
    low, high = limits
    if form is None or (low >= 0 and high < extent):
        return limits
    text = quasi_affine_text(form, statement.iterators)
    below, above = (f"{text} < 0", f"{text} >= {extent}")
    return (
        max(low, 0) if sets.instances_where(statement, below).is_empty() else low,
        min(high, extent - 1) if sets.instances_where(statement, above).is_empty() else high,
    )


def _reads(expr: Expr, facts: Facts) -> Iterator[tuple[Read, Facts]]:
    """Yield every read, with what is known where the program makes it."""
    if isinstance(expr, Select):
        yield from _reads(expr.condition, facts)
        yield from _reads(expr.if_true, (*facts, *facts_of(expr.condition, True)))
        yield from _reads(expr.if_false, (*facts, *facts_of(expr.condition, False)))
        return
    for part in children(expr):
        yield from _reads(part, facts)
    if isinstance(expr, Read):
        yield expr, facts


def _windowed(access: Access, found: list[tuple[Window, ...]]) -> Access:
    columns = iter(zip(*found, strict=True))
    return replace(
        access,
        subscripts=tuple(
            _hull(next(columns)) if isinstance(subscript, Window) else subscript
            for subscript in access.subscripts
        ),
    )


def _hull(windows: tuple[Window, ...]) -> Window:
    low, high = min(w.low for w in windows), max(w.high for w in windows)
    return Window(low, high, windows[0].known)


def _require_inside(scop: Scop, access: Access, at: tuple[Range, ...]) -> None:
    array = scop.array(access.array)
    given = iter(at)
    for number, subscript in enumerate(access.subscripts):
        if not isinstance(subscript, Window):
            continue
        (low, high), extent = next(given), array.shape[number]
        if low >= 0 and high < extent:
            continue
        which = "the subscript" if len(array.shape) == 1 else f"subscript {number + 1}"
        size = "".join(f"[{extent}]" for extent in array.shape)
        raise LookupOutOfRange(
            f"`{access_text(scop, access)}` may lie outside of {access.array}{size}",
            labels=(
                Label(access.span, f"{which} is {_shown(low, high)}, as far as can be proven"),
                Label(array.span, f"0 to {extent - 1} is inside"),
            ),
            notes=("an element outside of its array has no value in C",),
            help=_remedy(extent),
        )


def _shown(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _remedy(extent: int) -> str:
    if extent & (extent - 1) == 0:
        return f"keep it inside with `& {extent - 1}`, or read it under a condition that does"
    return f"read it where a condition keeps it inside: `x >= 0 && x < {extent} ? ... : ...`"
