"""Statements and data that matter: live, of use to somebody, written before they are read.

Live statements: those whose values can be seen after the run, or decide one that can.

A value is seen where it outlives the run outside of local variables, or is returned. Whatever
statement gives it its operands, by the dataflow of values, is live with it. All other statements
are dead, also those that read nothing but each other.

Statements of which nobody would notice the absence: warnings, each with its witness.

Local data that is read before anything has written it: refused, or warned of, with a witness.

A value-based flow ends in every read that gets its value from a write. What remains of the reads of
a local variable has no value in C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from rtlgen.errors import Diagnostic, Label
from rtlgen.ir.effort import advising, keep_going
from rtlgen.ir.expr import Binary, Cast, Expr, Read, Scatter, Select, children
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.sets import ScopSets, earliest, first_point
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Dataflow, Dependence, Flow
from rtlgen.poly.errors import ReadBeforeWrite


def dead_statements(scop: Scop, flows: Dataflow) -> frozenset[str]:
    """Return the names of the dead statements of a normalised program.

    Parameters
    ----------
    flows: its dataflow.
    """
    sources: dict[str, set[str]] = {}
    for flow in flows.flows:
        sources.setdefault(flow.sink, set()).add(flow.source)
    names = [statement.name for statement in scop.statements]
    live = {name for name in names if not flows.outliving(scop, name).is_empty()}
    todo = list(live)
    while todo:
        found = sources.get(todo.pop(), set()) - live
        live |= found
        todo += found
    return frozenset(names) - live


def useless_statements(
    program: Scop, sets: ScopSets, dependences: Sequence[Dependence], flows: Dataflow
) -> tuple[Diagnostic, ...]:
    """Return the warnings of a program: never executed, without effect, stored for nobody.

    Parameters
    ----------
    program: as written; `sets` belong to the normalised program, which lacks what never runs.
    """
    found = [*_never_run(program, sets.scop)]
    unseen = dead_statements(sets.scop, flows)
    for statement in sets.scop.statements:
        with advising():
            keep_going(sets.context)
            found += _without_effect(statement) or _stored_for_nobody(
                sets, dependences, flows, statement, is_dead=statement.name in unseen
            )
    return tuple(found)


def _warning(code: str, message: str, label: Label, *notes: str) -> Diagnostic:
    return Diagnostic(code, message, (label,), notes, severity="warning")


def _never_run(program: Scop, kept: Scop) -> Iterator[Diagnostic]:
    names = {statement.name for statement in kept.statements}
    for statement in program.statements:
        if statement.name not in names:
            label = Label(statement.span, "left out")
            note = "its loops and conditions leave no iteration"
            yield _warning("W0201", f"{statement.name} is never executed", label, note)


def _without_effect(statement: Statement) -> list[Diagnostic]:
    """Return a warning for `x = x`."""
    expr: Expr = statement.expr
    while isinstance(expr, Cast):
        expr = expr.operand
    if not isinstance(expr, Read):
        return []
    read, write = statement.reads[expr.index], statement.write
    if (read.array, read.subscripts) != (write.array, write.subscripts):
        return []
    label = Label(statement.span, "what it stores is there already")
    return [_warning("W0203", f"{statement.name} has no effect", label)]


def _stored_for_nobody(
    sets: ScopSets,
    dependences: Sequence[Dependence],
    flows: Dataflow,
    statement: Statement,
    *,
    is_dead: bool,
) -> list[Diagnostic]:
    """Return a warning for a statement whose values nobody reads, or only what is never seen.

    Parameters
    ----------
    is_dead: whether it is left out of the circuit.
    """
    array = sets.scop.array(statement.write.array)
    if statement.write.span == array.span:
        # An initialiser, or a variable of the compiler's own.
        return []
    domain = sets.domains[statement.name]
    dead = domain.subtract(flows.outliving(sets.scop, statement.name))
    readers = [flow for flow in flows.flows if flow.source == statement.name]
    for flow in readers:
        dead = dead.subtract(flow.relation.domain())
    if is_dead and not domain.is_subset(dead):
        return [_feeding_dead(statement, domain.subtract(dead), readers)]
    if dead.is_empty():
        return []
    if not is_dead:
        # A last value that is left over, or a border that is set again, is as it should be.
        dead = dead.intersect(_repeated(sets, dependences, statement))
        if 2 * count_points(dead) <= count_points(domain):
            return []
    left_out = (_left_out(statement),) if is_dead else ()
    return [_dead_store(sets, dependences, statement, dead, left_out)]


def _left_out(statement: Statement) -> str:
    return f"{statement.name} is left out of the circuit"


def _feeding_dead(statement: Statement, used: isl.Set, readers: Sequence[Flow]) -> Diagnostic:
    """Return the warning of a statement that is read by dead ones alone, itself perhaps."""
    instance = first_point(used)
    names = ", ".join(dict.fromkeys(flow.sink for flow in readers))
    return _warning(
        "W0202",
        f"the values that {statement.write.array} gets are never seen",
        Label(statement.write.span, f"stored by {statement.instance_text(instance)}"),
        f"read by {names} alone, for nothing that outlives the run",
        _left_out(statement),
    )


def _repeated(sets: ScopSets, dependences: Sequence[Dependence], statement: Statement) -> isl.Set:
    """Return the instances whose element the same statement is the next one to write."""
    times = sets.schedule_maps(sets.scop.schedule)
    own = _later(dependences, times, statement.name, statement.name)
    following = own
    for other in sets.scop.statements:
        later = _later(dependences, times, statement.name, other.name)
        if later is not None and following is not None:
            following = following.union(later)
    if own is None or following is None:
        return sets.domains[statement.name].subtract(sets.domains[statement.name])
    return earliest(following).intersect(own).domain()


def _later(
    dependences: Sequence[Dependence], times: Mapping[str, isl.Map], source: str, sink: str
) -> isl.Map | None:
    """Return {instance of `source` -> times at which `sink` writes its element}."""
    for d in dependences:
        if (d.kind, d.source, d.sink) == ("output", source, sink):
            return d.relation.apply_range(times[sink])
    return None


def _dead_store(
    sets: ScopSets,
    dependences: Sequence[Dependence],
    statement: Statement,
    dead: isl.Set,
    left_out: Sequence[str],
) -> Diagnostic:
    instance = first_point(dead)
    values = dict(zip(statement.iterators, instance, strict=True))
    element = "[...]"
    if not statement.write.is_lookup:
        element = "".join(f"[{s.evaluate(values)}]" for s in statement.write.affine)
    label = Label(
        statement.write.span, f"stored by {statement.instance_text(instance)}, read by nobody"
    )
    following = _next_writer(sets, dependences, statement, instance)
    note = f"the local {statement.write.array} is gone after the run"
    if following is not None:
        note = f"{following} overwrites it"
    name = f"{statement.write.array}{element}"
    return _warning("W0202", f"the value that {name} gets is never used", label, note, *left_out)


def _next_writer(
    sets: ScopSets,
    dependences: Sequence[Dependence],
    statement: Statement,
    instance: tuple[int, ...],
) -> str | None:
    """Return the instance that writes the same element next, if there is one."""
    point = sets.instance_set(statement, instance)
    later: list[tuple[tuple[int, ...], str]] = []
    for dependence in dependences:
        if (dependence.kind, dependence.source) != ("output", statement.name):
            continue
        sinks = dependence.relation.intersect_domain(point).range()
        if not sinks.is_empty():
            sink, first = sets.scop.statement(dependence.sink), first_point(sinks)
            at = dict(zip(sink.iterators, first, strict=True))
            time = tuple(t.evaluate(at) for t in sets.scop.schedule.time(sink.name))
            later.append((time, sink.instance_text(first)))
    return min(later)[1] if later else None


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
