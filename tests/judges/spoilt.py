"""Plans with one thing changed: what every judge of plans, and of circuits, has to catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from rtlgen.ir.levels import Address, AnyBank, InBank
from rtlgen.ir.operations import is_division
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    ArithmeticOp,
    ChooseOp,
    Condition,
    FoldedForm,
    ForwardOp,
    IndexForm,
    KernelPlan,
    LoadOp,
    Memory,
    Operation,
    PlanError,
    Predicate,
    Region,
    Store,
    Stream,
    Tap,
)
from rtlgen.ir.scop import Scop
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.plans.interpreter import before_run, interpret


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A plan with one thing changed."""

    kind: str
    plan: KernelPlan


Change = Callable[[Stream], Iterator[Stream]]


def changed_op(stream: Stream, number: int, op: Operation) -> Stream:
    operations = (*stream.operations[:number], op, *stream.operations[number + 1 :])
    return replace(stream, operations=operations)


def nudged(form: Address) -> Iterator[Address]:
    """Yield addresses one element or one bank away, or that step otherwise."""
    if isinstance(form, InBank):
        yield InBank(form.bank ^ 1, form.row)
        yield from (InBank(form.bank, row) for row in nudged_forms(form.row))
    elif isinstance(form, AnyBank):
        yield replace(form, bank_bits=form.bank_bits[::-1], row_bits=form.row_bits[::-1])
        assert isinstance(form.place, IndexForm)
        yield from (replace(form, place=place) for place in nudged_forms(form.place))
    elif isinstance(form, FoldedForm):
        for n, field in enumerate(form.fields):
            before, after = form.fields[:n], form.fields[n + 1 :]
            if field.width_bits > 1:
                fewer = replace(field, width_bits=field.width_bits - 1)
                yield replace(form, fields=(*before, fewer, *after))
            for new in nudged_forms(field.form):
                yield replace(form, fields=(*before, replace(field, form=new), *after))
    else:
        yield from nudged_forms(form)


def nudged_forms(form: IndexForm) -> Iterator[IndexForm]:
    yield replace(form, constant=form.constant + 1)
    for level, c in enumerate(form.coefficients):
        coefficients = (*form.coefficients[:level], c + 1, *form.coefficients[level + 1 :])
        yield replace(form, coefficients=coefficients)


def reshaped(predicate: Predicate) -> Iterator[Predicate]:
    """Yield predicates with one bound moved, turned round, or left out."""
    for a, conditions in enumerate(predicate.alternatives):
        for c, condition in enumerate(conditions):
            form = condition.form
            turned = IndexForm(tuple(-x for x in form.coefficients), -form.constant)
            later = replace(form, constant=form.constant + 1)
            changes: list[tuple[Condition, ...]] = [(replace(condition, form=later),), ()]
            if not condition.equal:
                changes.append((replace(condition, form=turned),))
            for change in changes:
                parts = (*conditions[:c], *change, *conditions[c + 1 :])
                others = predicate.alternatives
                yield Predicate((*others[:a], parts, *others[a + 1 :]))


def offset_moved(stream: Stream) -> Iterator[Stream]:
    """Yield the stream a cycle too late for those that read from it, and a cycle too early."""
    yield replace(stream, offset_cycles=stream.offset_cycles + 1)
    if stream.offset_cycles:
        yield replace(stream, offset_cycles=stream.offset_cycles - 1)


def store_suppressed(stream: Stream) -> Iterator[Stream]:
    yield replace(stream, store=replace(stream.store, when=NEVER))


def store_bound(stream: Stream) -> Iterator[Stream]:
    for when in reshaped(stream.store.when):
        yield replace(stream, store=replace(stream.store, when=when))


def store_port(stream: Stream) -> Iterator[Stream]:
    if stream.store.port:
        yield replace(stream, store=replace(stream.store, port=stream.store.port - 1))


def store_address(stream: Stream) -> Iterator[Stream]:
    for form in nudged(stream.store.address) if stream.store.address is not None else ():
        yield replace(stream, store=replace(stream.store, address=form))


def divisions(stream: Stream) -> Iterator[tuple[int, ArithmeticOp]]:
    for number, op in enumerate(stream.operations):
        if is_division(op) and op.unit is None:
            yield number, op


def division_interval(stream: Stream) -> Iterator[Stream]:
    for number, op in divisions(stream):
        # One cycle more may still be fewer than there are.
        for interval in (op.interval_cycles + 1, op.interval_cycles + 100):
            yield changed_op(stream, number, replace(op, interval_cycles=interval))


def division_bound(stream: Stream) -> Iterator[Stream]:
    for number, op in divisions(stream):
        for when in (NEVER, *reshaped(op.when)):
            yield changed_op(stream, number, replace(op, when=when))


def units(stream: Stream) -> Iterator[tuple[int, ArithmeticOp]]:
    for number, op in enumerate(stream.operations):
        if isinstance(op, ArithmeticOp) and op.unit is not None:
            yield number, op


def unit_bound(stream: Stream) -> Iterator[Stream]:
    for number, op in units(stream):
        for when in (NEVER, *reshaped(op.when)):
            yield changed_op(stream, number, replace(op, when=when))


def unit_stage(stream: Stream) -> Iterator[Stream]:
    """Yield the stream as it issues when others have the unit."""
    if any(units(stream)):
        for cycles in range(1, stream.offset_cycles + 1, 3):
            yield replace(stream, offset_cycles=stream.offset_cycles - cycles)


def with_copies(
    stream: Stream, change: Callable[[Store], Iterator[Store | None]]
) -> Iterator[Stream]:
    for k, copy in enumerate(stream.copies):
        for new in change(copy):
            others = () if new is None else (new,)
            yield replace(stream, copies=(*stream.copies[:k], *others, *stream.copies[k + 1 :]))


def copy_dropped(stream: Stream) -> Iterator[Stream]:
    yield from with_copies(stream, lambda copy: iter((None,)))


def copy_bound(stream: Stream) -> Iterator[Stream]:
    def change(copy: Store) -> Iterator[Store]:
        yield from (replace(copy, when=when) for when in reshaped(copy.when))

    yield from with_copies(stream, change)


def copy_too_few(stream: Stream) -> Iterator[Stream]:
    """Yield the stream without the copies of the last iteration of a level."""
    depth = len(stream.levels)

    def change(copy: Store) -> Iterator[Store]:
        for number, level in enumerate(stream.levels):
            early = Condition(IndexForm.counter(number, depth) * -1 + (level.extent - 2))
            kept = tuple((*parts, early) for parts in copy.when.alternatives)
            yield replace(copy, when=Predicate(kept))

    yield from with_copies(stream, change)


def copy_address(stream: Stream) -> Iterator[Stream]:
    def change(copy: Store) -> Iterator[Store]:
        if copy.address is not None:
            yield from (replace(copy, address=form) for form in nudged(copy.address))

    yield from with_copies(stream, change)


def choice_bound(stream: Stream) -> Iterator[Stream]:
    for number, op in enumerate(stream.operations):
        if isinstance(op, ChooseOp):
            for when in (ALWAYS, NEVER, *reshaped(op.when)):
                yield changed_op(stream, number, replace(op, when=when))


def loads(stream: Stream) -> Iterator[tuple[int, LoadOp]]:
    for number, op in enumerate(stream.operations):
        if isinstance(op, LoadOp):
            yield number, op


def load_address(stream: Stream) -> Iterator[Stream]:
    for number, op in loads(stream):
        for form in nudged(op.address) if op.address is not None else ():
            yield changed_op(stream, number, replace(op, address=form))


def load_bound(stream: Stream) -> Iterator[Stream]:
    for number, op in loads(stream):
        yield changed_op(stream, number, replace(op, needed=NEVER))
        for needed in reshaped(op.needed):
            yield changed_op(stream, number, replace(op, needed=needed))


def load_version(stream: Stream) -> Iterator[Stream]:
    """Yield the stream with loads from another version."""
    for number, op in loads(stream):
        for k, where in enumerate(op.versions):
            for new in (NEVER, ALWAYS, *reshaped(where)):
                versions = (*op.versions[:k], new, *op.versions[k + 1 :])
                yield changed_op(stream, number, replace(op, versions=versions))


def load_port(stream: Stream) -> Iterator[Stream]:
    for number, op in loads(stream):
        if op.port:
            yield changed_op(stream, number, replace(op, port=0))


def with_taps(stream: Stream, change: Callable[[Tap], Iterator[Tap | None]]) -> Iterator[Stream]:
    for number, op in enumerate(stream.operations):
        for k, tap in enumerate(op.taps if isinstance(op, ForwardOp) else ()):
            assert isinstance(op, ForwardOp)
            for new in change(tap):
                taps = (*op.taps[:k], *(() if new is None else (new,)), *op.taps[k + 1 :])
                yield changed_op(stream, number, replace(op, taps=taps))


def tap_dropped(stream: Stream) -> Iterator[Stream]:
    yield from with_taps(stream, lambda tap: iter((None,)))


def tap_delay(stream: Stream) -> Iterator[Stream]:
    def change(tap: Tap) -> Iterator[Tap]:
        yield replace(tap, delay_cycles=tap.delay_cycles + 1)

    yield from with_taps(stream, change)


def tap_bound(stream: Stream) -> Iterator[Stream]:
    def change(tap: Tap) -> Iterator[Tap]:
        yield from (replace(tap, when=when) for when in (ALWAYS, *reshaped(tap.when)))

    yield from with_taps(stream, change)


def tap_read(stream: Stream) -> Iterator[Stream]:
    """Yield the stream with values of other reads, or what is stored in place of what is read."""

    def change(tap: Tap) -> Iterator[Tap]:
        if tap.read is not None:
            reads = {op.read for _, op in loads(stream)} - {tap.read}
            yield from (replace(tap, read=read) for read in (None, *sorted(reads)))

    yield from with_taps(stream, change)


def copy_value(stream: Stream) -> Iterator[Stream]:
    """Yield the stream with copies of other values: its own, and what other reads have brought."""

    def change(copy: Store) -> Iterator[Store]:
        others = {number for number, _ in loads(stream)} | {stream.store.value}
        for number in sorted(others - {copy.value}):
            if stream.operations[number].result_stage <= copy.stage:
                yield replace(copy, value=number)

    yield from with_copies(stream, change)


CHANGES: tuple[Change, ...] = (
    offset_moved,
    store_suppressed,
    store_bound,
    store_address,
    store_port,
    copy_dropped,
    copy_bound,
    copy_too_few,
    copy_address,
    copy_value,
    choice_bound,
    division_interval,
    division_bound,
    unit_bound,
    unit_stage,
    load_address,
    load_version,
    load_bound,
    load_port,
    tap_dropped,
    tap_delay,
    tap_bound,
    tap_read,
)


def spoilt_plans(plan: KernelPlan) -> Iterator[Spoilt]:
    (region,) = plan.regions
    for number, stream in enumerate(region.streams):
        for change in CHANGES:
            for new in change(stream):
                streams = (*region.streams[:number], new, *region.streams[number + 1 :])
                yield Spoilt(change.__name__, replace(plan, body=(Region.whole(streams),)))
    short = replace(region, length_cycles=region.length_cycles - 1)
    yield Spoilt("end", replace(plan, body=(short,)))
    yield from (Spoilt("home", replace(plan, memories=new)) for new in homes_moved(plan.memories))
    yield from (Spoilt("part", replace(plan, memories=new)) for new in parts_moved(plan.memories))


def homes_moved(memories: tuple[Memory, ...]) -> Iterator[tuple[Memory, ...]]:
    """Yield the memories with one element at home in another bank."""
    for k, memory in enumerate(memories):
        for place, home in enumerate(memory.homes):
            homes = (*memory.homes[:place], int(home == 0), *memory.homes[place + 1 :])
            yield (*memories[:k], replace(memory, homes=homes), *memories[k + 1 :])


def parts_moved(memories: tuple[Memory, ...]) -> Iterator[tuple[Memory, ...]]:
    """Yield the memories with one part of an array a row or a column beside where it was."""
    for k, memory in enumerate(memories):
        if memory.part is None:
            continue
        for dim, low in enumerate(memory.part.low):
            for step in (-1, 1):
                moved = (*memory.part.low[:dim], low + step, *memory.part.low[dim + 1 :])
                with suppress(PlanError):
                    part = replace(memory.part, low=moved)
                    yield (*memories[:k], replace(memory, part=part), *memories[k + 1 :])


def is_wrong(plan: KernelPlan, program: Scop) -> bool:
    """Tell by execution, with random data, whether a plan computes anything else."""
    inputs = random_inputs(program, 3)
    golden = run_golden(program, inputs, engine="interpreter")
    images = {
        m.name: np.asarray(inputs[m.name]).ravel().tolist()
        if m.name in inputs
        else list(m.values or [0] * m.depth)
        for m in plan.memories
    }
    try:
        after = interpret(plan, images, {s.name: int(inputs[s.name]) for s in plan.scalars})
    except (AssertionError, IndexError, KeyError):
        return True
    wrong = plan.returned is not None and after[plan.returned] != [golden.returned]
    if wrong or any(m.part is not None and not _can_run_again(m, after) for m in plan.memories):
        return True
    return any(after[name] != image.ravel().tolist() for name, image in golden.arrays.items())


def _can_run_again(memory: Memory, after: Mapping[str, list[int]]) -> bool:
    """Tell whether a part of an array holds what the host would fill it with now: it need not."""
    assert memory.part is not None
    if not memory.part.is_hosted:
        return True
    places = np.unique(memory.part.places(np.arange(memory.part.size)))
    filled = before_run(memory, after)
    return all(filled[place] == after[memory.name][place] for place in places[places >= 0])
