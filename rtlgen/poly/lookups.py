"""Subscripts that depend on data: where they lie, from what feeds them.

    x = a[i] & 15;
    y = t[x];             x is 0 .. 15 wherever it comes from: t needs 16 elements
    z = t[b[i]];          0 .. 15, too, in every run that C gives a meaning

The proof gives each lookup the part of the array that it may touch, which its dependences are
made from. Where it ends outside of the array, it is what C implies that keeps the lookup inside:
the window is *unproven*, the golden model stops where it is left, and a store asks before it
stores. What feeds such a subscript from outside is kept to the array in random data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rtlgen.errors import Diagnostic, Label
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    ScalarParameter,
    Scatter,
    Select,
    children,
    walk,
)
from rtlgen.ir.quasi_affine import quasi_affine, quasi_affine_text
from rtlgen.ir.quotients import simplified_parts
from rtlgen.ir.scop import Access, Reach, Scop, Statement, Subscript, Window
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.types import IntType
from rtlgen.ir.value_ranges import Facts, NoValueYet, Range, ValueRanges, facts_of
from rtlgen.poly.dependences import dataflow, source_text, subscript_texts
from rtlgen.poly.errors import LookupOutOfRange
from rtlgen.poly.interval_run import TooManySteps, interval_run
from rtlgen.poly.value_flow import ValueFlow, canonical


def bounded_lookups(sets: ScopSets) -> Scop:
    """Return the normalised program of `sets` with the windows of its lookups as small as proven.

    Raises
    ------
    LookupOutOfRange: subscripts leave their arrays whatever the data are.
    TooComplex
    """
    scop = sets.scop
    if not any(access.is_lookup for s in scop.statements for access in s.reads):
        return scop
    values = ValueFlow(sets, dataflow(sets))
    run = _Run(scop, values)
    outside: list[LookupOutOfRange] = []
    statements = tuple(
        _bounded(sets, statement, values, run, outside) for statement in scop.statements
    )
    if outside:
        different = {(e.diagnostic.message, e.diagnostic.labels): e for e in outside}
        first, *others = sorted(different.values(), key=lambda e: _position(e.diagnostic))
        first.others = tuple(others)
        raise first
    return _with_told(replace(scop, statements=statements), values)


def _position(diagnostic: Diagnostic) -> tuple[str, int, int]:
    span = diagnostic.labels[0].span
    return span.file, span.line, span.column


def unproven_lookups(scop: Scop) -> tuple[Diagnostic, ...]:
    """Return a warning for each subscript of a program that only C keeps inside of its array."""
    found = (
        Diagnostic("W0205", message, labels, (_IMPLIED,), help, severity="warning")
        for statement in scop.statements
        for node in walk(statement.expr)
        if isinstance(node, Read)
        for access in (statement.reads[node.index],)
        for at in ([w.unproven or (0, 0) for w in access.windows],)
        for message, labels, help in _outside(scop, access, at, node.at)
    )
    # Of what is read and written at one place, and of all members there, it is said once.
    first: dict[Label, Diagnostic] = {}
    for warning in found:
        first.setdefault(warning.labels[0], warning)
    return tuple(sorted(first.values(), key=_position))


_IMPLIED = (
    "C gives an element outside no meaning: "
    "the golden model stops there, the circuit stores nothing"
)


class _Run:
    """What running the program on intervals tells, if somebody asks."""

    def __init__(self, scop: Scop, values: ValueFlow) -> None:
        self._scop = scop
        self._values = values
        self._found: dict[bool, Mapping[tuple[str, int], tuple[Range, ...]]] = {}

    def subscripts(
        self, statement: Statement, reads: Sequence[int], *, by_instances: bool
    ) -> tuple[Range, ...] | None:
        """Return where the computed subscripts of reads lie; None if it is not known."""
        if by_instances not in self._found:
            try:
                self._found[by_instances] = interval_run(
                    self._scop, self._values.results, by_instances=by_instances
                )
            except TooManySteps:
                self._found[by_instances] = {}
        known = self._found[by_instances]
        keys = ((statement.name, read) for read in reads)
        columns = zip(*(known[key] for key in keys if key in known), strict=True)
        return (
            tuple((min(low for low, _ in c), max(high for _, high in c)) for c in columns) or None
        )


def _bounded(
    sets: ScopSets,
    statement: Statement,
    values: ValueFlow,
    run: _Run,
    outside: list[LookupOutOfRange],
) -> Statement:
    """Return a statement with proven windows, and add what may lie outside of its array."""
    if not any(read.is_lookup for read in statement.reads):
        return statement
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
            shown = [(w.low, w.high) if w.is_proven else w.told for w in access.windows]
            at = tuple(
                limits if bounds is None else _meet(limits, bounds)
                for limits, bounds in zip(at, shown, strict=True)
            )
            equal = [n for n, first in merged.items() if first == read.index]
            for by_instances in (False, True):
                if not _is_inside(scop, access, at):
                    ran = run.subscripts(statement, equal, by_instances=by_instances)
                    if ran is not None:
                        at = tuple(map(_meet, at, ran))
            extents = _extents(scop, access)
            if any(high < 0 or low >= e for (low, high), e in zip(at, extents, strict=True)):
                outside += (
                    LookupOutOfRange(message, labels=labels, notes=(_NO_VALUE,), help=help)
                    for message, labels, help in _outside(scop, access, at, read.at)
                )
                return statement
            parts = zip(at, known, read.at, access.windows, extents, strict=True)
            windows = (
                _window(ranges, box, _clipped(window, limits, form, extent), part, facts)
                for limits, form, part, window, extent in parts
            )
            found.setdefault(read.index, []).append(tuple(windows))
    reads = tuple(
        _windowed(access, found[merged[number]]) if merged.get(number) in found else access
        for number, access in enumerate(statement.reads)
    )
    write = statement.write
    if statement.old_read is not None:
        write = replace(write, subscripts=reads[statement.old_read].subscripts)
    return replace(statement, write=write, reads=reads)


def with_windows(written: Scop, bounded: Scop) -> Scop:
    """Return a program with the windows that are proven for it.

    Parameters
    ----------
    bounded: the same program, normalised, as `bounded_lookups` has returned it, without statements
        that never run.
    """
    known = {statement.name: statement for statement in bounded.statements}
    statements = tuple(
        _as_in(statement, known[statement.name]) if statement.name in known else statement
        for statement in written.statements
    )
    return replace(written, statements=statements)


def with_told(written: Scop, bounded: Scop) -> Scop:
    """Return a program that tells what is a subscript of its arrays.

    Parameters
    ----------
    bounded: the same program as `bounded_lookups` has returned it.
    """
    found = {array.name: array.told for array in bounded.arrays}
    found |= {scalar.name: scalar.told for scalar in bounded.scalars}
    return _telling(written, found)


def _as_in(statement: Statement, bounded: Statement) -> Statement:
    pairs = zip(statement.reads, bounded.reads, strict=True)
    return replace(
        statement,
        write=_with_windows_of(statement.write, bounded.write),
        reads=tuple(_with_windows_of(read, other) for read, other in pairs),
    )


def _with_windows_of(access: Access, bounded: Access) -> Access:
    def window(own: Subscript, proven: Subscript) -> Subscript:
        if isinstance(own, Affine) or isinstance(proven, Affine):
            return own
        # Of iterators it has its own.
        return replace(proven, known=own.known, moving=None)

    pairs = zip(access.subscripts, bounded.subscripts, strict=True)
    return replace(access, subscripts=tuple(window(*pair) for pair in pairs))


def _with_told(scop: Scop, values: ValueFlow) -> Scop:
    """Return a program that tells what of it is handed as subscripts of its arrays.

    `k = x[i]; y[i] = t[k];` tells that x[i] is one of t.
    """
    found: dict[str, Range] = {}
    pending = [
        (statement, part, (window.low, window.high))
        for statement in scop.statements
        for node in walk(statement.expr)
        if isinstance(node, Read)
        for part, window in zip(node.at, statement.reads[node.index].windows, strict=True)
        if window.unproven is not None
    ]
    followed: set[tuple[str, int]] = set()
    while pending:
        statement, part, limits = pending.pop()
        for read, told in _kept(values.ranges(statement), part, limits):
            if isinstance(read, ScalarParameter):
                scalar = next(s for s in scop.scalars if s.name == read.name)
                known = found.get(read.name, scalar.told or scalar.limits or told)
                found[read.name] = _meet(known, told)
                continue
            if (statement.name, read.index) in followed:
                continue
            followed.add((statement.name, read.index))
            array = scop.array(statement.reads[read.index].array)
            if array.role in ("in", "inout"):
                found[array.name] = _meet(told, found.get(array.name, array.told or told))
            for source in map(scop.statement, values.sources(statement, read.index)):
                stored = source.expr.value if isinstance(source.expr, Scatter) else source.expr
                pending.append((source, stored, told))
    return _telling(scop, found)


def _telling(scop: Scop, found: Mapping[str, Range | None]) -> Scop:
    """Return a program whose arrays and parameters have the limits that are found for them."""
    arrays = tuple(replace(a, told=found.get(a.name, a.told)) for a in scop.arrays)
    scalars = tuple(replace(s, told=found.get(s.name, s.told)) for s in scop.scalars)
    return replace(scop, arrays=arrays, scalars=scalars) if found else scop


def _kept(
    ranges: ValueRanges, expr: Expr, limits: Range
) -> Iterator[tuple[Read | ScalarParameter, Range]]:
    """Yield what is handed in, and where it lies so that an expression lies in some limits."""
    (low, high), type_ = limits, expr.type
    if not isinstance(type_, IntType):
        return
    least, most = _range(ranges, expr, ())
    low, high = max(low, least), min(high, most)
    if low > high or (low, high) == (least, most):
        return
    match expr:
        case Read() | ScalarParameter():
            yield expr, (low, high)
        case Cast(operand):
            yield from _kept(ranges, operand, (low, high))
        case Select(_, if_true, if_false):
            for arm in (if_true, if_false):
                yield from _kept(ranges, arm, (low, high))
        case Binary("add", left, right):
            for side, other in ((left, right), (right, left)):
                (first, last) = _range(ranges, other, ())
                yield from _kept(ranges, side, (low - first, high - last))
        case Binary("sub", left, right):
            first, last = _range(ranges, right, ())
            yield from _kept(ranges, left, (low + last, high + first))
        case Binary("mul", operand, Constant(factor)) | Binary(
            "mul", Constant(factor), operand
        ) if factor > 0:
            yield from _kept(ranges, operand, (-(-low // factor), high // factor))
        case Binary("shr", left, Constant(places)):
            yield from _kept(ranges, left, (low << places, (high + 1 << places) - 1))


def _clipped(window: Window, limits: Range, form: Expr | None, extent: int) -> Window:
    """Return a window as it is proven, or else inside of its dimension."""
    low, high = max(limits[0], 0), min(limits[1], extent - 1)
    unproven = window.unproven if (low, high) == limits else limits
    return Window(low, high, form, is_proven=True, told=window.told, unproven=unproven)


def _meet(a: Range, b: Range) -> Range:
    """Return where two ranges overlap; the first one where they do not, which no run meets."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


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


def _window(
    ranges: ValueRanges, box: Mapping[str, Range], proven: Window, part: Expr, facts: Facts
) -> Window:
    """Return a proven window of a subscript with where that lies beside the iterators."""
    reach = None if proven.known is not None else _reach(ranges, box, part, facts)
    if reach is None:
        return proven
    limits, (first, last) = (proven.low, proven.high), reach.base.range(dict(box))
    low, high = max(reach.low, limits[0] - last), min(reach.high, limits[1] - first)
    return _narrowed(proven, Reach(reach.base, low, high)) if low <= high else proven


def _narrowed(window: Window, reach: Reach) -> Window:
    """Return a window that moves, if that is narrower: or as wide, at the ends of the array."""
    return replace(window, moving=reach) if reach.size <= window.reach.size else window


def _reach(ranges: ValueRanges, box: Mapping[str, Range], expr: Expr, facts: Facts) -> Reach | None:
    """Return a value as a sum of iterators and of what depends on data; None: it is none.

    i + 3 - x with x in 1 .. 4 lies from i - 1 to i + 2.
    """
    low, high = expr.type.minimum, expr.type.maximum
    match expr:
        case IndexValue(affine) if affine.terms:
            least, most = affine.range(dict(box))
            # What wraps round is no sum.
            if not low <= least <= most <= high:
                return None
            return Reach(affine - affine.constant, affine.constant, affine.constant)
        case Cast(operand) if isinstance(operand.type, IntType):
            least, most = _range(ranges, operand, facts)
            return _reach(ranges, box, operand, facts) if low <= least and most <= high else None
        case Binary("add" | "sub" as op, left, right):
            (a, b), (c, d) = _range(ranges, left, facts), _range(ranges, right, facts)
            sign = 1 if op == "add" else -1
            least, most = (a + c, b + d) if op == "add" else (a - d, b - c)
            first, second = (_reach(ranges, box, each, facts) for each in (left, right))
            if not low <= least <= most <= high or (first is None and second is None):
                return None
            first = first or Reach(Affine(), a, b)
            second = second or Reach(Affine(), c, d)
            ends = sorted((sign * second.low, sign * second.high))
            base = first.base + second.base * sign
            return Reach(base, first.low + ends[0], first.high + ends[1])
    return None


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
    if isinstance(expr, Scatter):
        yield from _reads(expr.condition, facts)
        inside = (*facts, *facts_of(expr.condition, True))
        yield from _reads(expr.value, inside)
        yield from _reads(expr.old, inside)
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
    is_proven = all(w.is_proven for w in windows)
    beyond = [w.unproven for w in windows if w.unproven is not None]
    unproven = (min(a for a, _ in beyond), max(b for _, b in beyond)) if beyond else None
    hull = Window(low, high, windows[0].known, is_proven, windows[0].told, unproven)
    moving = [w.moving for w in windows if w.moving is not None]
    if len(moving) < len(windows) or len({reach.base for reach in moving}) > 1:
        return hull
    reach = Reach(moving[0].base, min(r.low for r in moving), max(r.high for r in moving))
    return _narrowed(hull, reach)


def _is_inside(scop: Scop, access: Access, at: tuple[Range, ...]) -> bool:
    extents = _extents(scop, access)
    return all(low >= 0 and high < e for (low, high), e in zip(at, extents, strict=True))


def _outside(
    scop: Scop, access: Access, at: Sequence[Range], values: Sequence[Expr]
) -> Iterator[tuple[str, tuple[Label, ...], str]]:
    """Yield what is to be said of each subscript that may leave its dimension: help last."""
    array = scop.array(access.array)
    given = zip(at, values, strict=True)
    for number, subscript in enumerate(access.subscripts):
        if not isinstance(subscript, Window):
            continue
        ((low, high), value), extent = next(given), array.shape[number]
        if low >= 0 and high < extent:
            continue
        which = "the subscript" if len(array.shape) == 1 else f"subscript {number + 1}"
        size = "".join(f"[{extent}]" for extent in array.shape)
        written = source_text(scop, access.span)
        texts = subscript_texts(written, access.array)
        # What a pointer to one structure points to has a first subscript that is not written.
        unwritten = len(array.shape) - len(texts)
        is_whole = unwritten == 0 or (unwritten == 1 and array.shape[0] == 1)
        text = texts[number - unwritten] if texts and is_whole else None
        shown = f"`{written}`" if written else f"an element of {access.array}"
        is_never = high < 0 or low >= extent
        verb, so_far = ("lies", "") if is_never else ("may lie", ", as far as can be proven")
        yield (
            f"{shown} {verb} outside of {access.array}{size}",
            (
                Label(access.span, f"{which} is {_shown(low, high)}{so_far}"),
                Label(array.span, f"0 to {extent - 1} is inside"),
            ),
            _remedy(written, text, access, (low, high), extent, value),
        )


_NO_VALUE = "an element outside of its array has no value in C"


def _shown(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _remedy(
    written: str, text: str | None, access: Access, limits: Range, extent: int, value: Expr
) -> str:
    """Return what keeps a subscript inside, as it can be written into the program.

    Parameters
    ----------
    written: the C text of the element. text: of the subscript; None: it is none of the C text.
    value: what it is.
    """
    if extent & (extent - 1) == 0:
        remedy = f"keep it inside with `& {extent - 1}`, or use it under a condition that does"
    else:
        remedy = f"use it where a condition keeps it inside: `x >= 0 && x < {extent} ? ... : ...`"
    names = sorted({node.name for node in walk(value) if isinstance(node, ScalarParameter)})
    if names:
        given = " ".join(f"-D {name}=VALUE" for name in names)
        remedy = f"fix what the caller gives with {given}"
    where = f"before the statement in line {access.span.line}"
    if text is None:
        is_pointer = written.startswith("*")
        where = "where the pointer is set" if is_pointer else where
        what = "what is added to the array" if is_pointer else f"its place in {access.array}"
        said = f"of {what}: `assert(x >= 0 && x < {extent});`"
        return f"{remedy}; if it always is, say so {where}, {said}"
    change = re.search(r"\+\+|--|(?<![=!<>])=(?!=)", text)
    step = re.fullmatch(r"(\w+)\s*(\+\+|--)", text)
    told, before = text, ""
    if step is not None:
        # The assertion comes before the step.
        told = step[1]
    elif change is not None:
        told, before = "at", f"int at = {text}; "
        where = f"and write `{written.replace(text, 'at', 1)}`, in line {access.span.line}"
    elif re.search(r"[?&|^<>=!]", text):
        told = f"({text})"
    sides = [f"{told} >= 0"] if limits[0] < 0 else []
    sides += [f"{told} < {extent}"] if limits[1] >= extent else []
    return f"{remedy}; if it always is, say so {where}: `{before}assert({' && '.join(sides)});`"
