"""Local data that is read before anything has written it: refused, or warned of, with a witness.

A value-based flow ends in every read that gets its value from a write. What remains of the reads of
a local variable has no value in C.
"""

from __future__ import annotations

from collections.abc import Iterator

from rtlgen.errors import Diagnostic, Label
from rtlgen.ir.effort import advising, keep_going
from rtlgen.ir.expr import Binary, Expr, Read, Scatter, Select, children
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, first_point
from rtlgen.poly.dependences import Dataflow
from rtlgen.poly.errors import ReadBeforeWrite


def require_written(sets: ScopSets, flows: Dataflow) -> tuple[Diagnostic, ...]:
    """Return a warning for every local read that may find no value.

    Raises
    ------
    ReadBeforeWrite: an instance surely reads local data that nothing has written; the first read in
        program order, and its lexicographically first such instance.
    """
    warnings = []
    for statement in sets.scop.statements:
        certain = {n for n in _certain(statement.expr) if not statement.reads[n].is_conditional}
        for number in _asked(statement):
            found: tuple[int, ...] | None = None
            # What is built gives such a read a value all the same.
            with advising():
                keep_going(sets.context)
                found = _witness(sets, flows, statement, number)
            if found is None:
                continue
            message, labels, note = _described(sets, statement, statement.reads[number], found)
            if number in certain:
                raise ReadBeforeWrite(
                    f"{message} is read before it has a value",
                    labels=labels,
                    notes=(note,),
                    help="give it a value before, or where it is declared",
                )
            warnings.append(
                Diagnostic(
                    "W0204",
                    f"{message} may be read before it has a value",
                    labels,
                    (note, "whether it is depends on data"),
                    severity="warning",
                )
            )
    return tuple(warnings)


def _asked(statement: Statement) -> list[int]:
    """Return the reads of the C text; a guarded store also reads what it leaves as it is."""
    kept = statement.old_read
    match statement.expr:
        case Select(if_false=Read(index)):
            read = statement.reads[index]
            same = read.subscripts == statement.write.subscripts
            kept = index if read.array == statement.write.array and same else None
    return [number for number in range(len(statement.reads)) if number != kept]


def _certain(expr: Expr) -> Iterator[int]:
    """Yield the reads that are carried out whatever the data is."""
    match expr:
        case Read(index):
            yield index
            for subscript in expr.at:
                yield from _certain(subscript)
        case Select(condition=condition) | Scatter(condition=condition):
            yield from _certain(condition)
        case Binary(op="and" | "or", left=left):
            # It may stand for `&&` or `||`, which need not look at their right side.
            yield from _certain(left)
        case _:
            for child in children(expr):
                yield from _certain(child)


def _witness(
    sets: ScopSets, flows: Dataflow, statement: Statement, number: int
) -> tuple[int, ...] | None:
    """Return the first instance whose read number `number` finds no value, if there is one."""
    access = statement.reads[number]
    array = sets.scop.array(access.array)
    if array.role != "local" or array.is_table:
        return None
    # An element outside of the array is one that a condition keeps the program from reading.
    made = sets.accessing(statement, access)
    left = flows.unfed(sets, statement.name, number).intersect(made)
    return None if left.is_empty() else first_point(left)


def _described(
    sets: ScopSets, statement: Statement, read: Access, instance: tuple[int, ...]
) -> tuple[str, tuple[Label, ...], str]:
    """Return what is read, where, and that nothing wrote it before."""
    element = "[...]"
    if not read.is_lookup:
        values = dict(zip(statement.iterators, instance, strict=True))
        element = "".join(f"[{subscript.evaluate(values)}]" for subscript in read.affine)
    array = sets.scop.array(read.array)
    writers = [s.name for s in sets.scop.statements if s.write.array == read.array]
    note = f"nothing writes {read.array}{element} before"
    if not writers:
        note = f"no statement writes {read.array}"
    labels = (
        Label(read.span, f"read by {statement.instance_text(instance)}"),
        Label(array.span, "declared here, without a value"),
    )
    return f"the local {read.array}{element}", labels, note
