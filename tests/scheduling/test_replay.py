"""The replay of a plan passes what the compiler makes, and catches every plan that is spoilt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from rtlgen.driver import Compilation, CompileOptions, compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    Condition,
    ForwardOp,
    IndexForm,
    KernelPlan,
    LoadOp,
    Operation,
    PlanError,
    Predicate,
    Region,
    Stream,
    Tap,
)
from rtlgen.ir.scop import Scop
from rtlgen.scheduling.errors import PlanUnsound
from rtlgen.scheduling.replay import replay
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.plans.interpreter import interpret

PROGRAMS = {
    "products": """void f(int a[3][4], int b[4][3], int c[3][3], int d[3][3]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { c[i][j] = 7 - c[i][j];
        for (int k = 0; k < 4; k++) c[i][j] += a[i][k] * b[k][j]; }
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) d[i][j] -= c[i][k] * d[k][j]; }""",
    "stencil": """void f(int a[8], int b[8]) {
      for (int t = 0; t < 3; t++) {
        for (int i = 1; i < 7; i++) b[i] = a[i - 1] + 3 * a[i] + a[i + 1];
        for (int i = 1; i < 7; i++) a[i] = b[i] - b[i - 1]; } }""",
    "triangle": """void f(int L[4][4], int x[4], int b[4]) {
      for (int i = 0; i < 4; i++) { x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
        x[i] = x[i] * L[i][i]; } }""",
    "recurrence": "void f(int a[12], int b[12]) {"
    " for (int i = 2; i < 12; i++) a[i] = a[i - 2] * b[i] - a[i - 1]; }",
    "scalars": """int f(int a[6]) { int s = 1, t;
      for (int i = 0; i < 6; i++) { t = a[i] - s; s = t * 3; a[i] = t; } return s; }""",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A plan with one thing changed."""

    kind: str
    plan: KernelPlan


Change = Callable[[Stream], Iterator[Stream]]


def changed_op(stream: Stream, number: int, op: Operation) -> Stream:
    operations = (*stream.operations[:number], op, *stream.operations[number + 1 :])
    return replace(stream, operations=operations)


def nudged(form: IndexForm) -> Iterator[IndexForm]:
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


def offset_earlier(stream: Stream) -> Iterator[Stream]:
    if stream.offset_cycles:
        yield replace(stream, offset_cycles=stream.offset_cycles - 1)


def store_suppressed(stream: Stream) -> Iterator[Stream]:
    yield replace(stream, store=replace(stream.store, when=NEVER))


def store_bound(stream: Stream) -> Iterator[Stream]:
    for when in reshaped(stream.store.when):
        yield replace(stream, store=replace(stream.store, when=when))


def store_address(stream: Stream) -> Iterator[Stream]:
    for form in nudged(stream.store.address):
        yield replace(stream, store=replace(stream.store, address=form))


def loads(stream: Stream) -> Iterator[tuple[int, LoadOp]]:
    for number, op in enumerate(stream.operations):
        if isinstance(op, LoadOp):
            yield number, op


def load_address(stream: Stream) -> Iterator[Stream]:
    for number, op in loads(stream):
        for form in nudged(op.address):
            yield changed_op(stream, number, replace(op, address=form))


def load_bound(stream: Stream) -> Iterator[Stream]:
    for number, op in loads(stream):
        yield changed_op(stream, number, replace(op, needed=NEVER))
        for needed in reshaped(op.needed):
            yield changed_op(stream, number, replace(op, needed=needed))


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


CHANGES: tuple[Change, ...] = (
    offset_earlier,
    store_suppressed,
    store_bound,
    store_address,
    load_address,
    load_bound,
    load_port,
    tap_dropped,
    tap_delay,
    tap_bound,
)


def spoilt_plans(plan: KernelPlan) -> Iterator[Spoilt]:
    (region,) = plan.regions
    for number, stream in enumerate(region.streams):
        for change in CHANGES:
            for new in change(stream):
                streams = (*region.streams[:number], new, *region.streams[number + 1 :])
                yield Spoilt(change.__name__, replace(plan, regions=(Region(streams),)))


def is_wrong(plan: KernelPlan, program: Scop) -> bool:
    """Tell by execution, with random data, whether a plan computes anything else."""
    inputs = random_inputs(program, 3)
    golden = run_golden(program, inputs, engine="interpreter")
    images = {
        m.name: np.asarray(inputs[m.name]).ravel().tolist() if m.name in inputs else [0] * m.depth
        for m in plan.memories
    }
    try:
        after = interpret(plan, images, {})
    except (AssertionError, IndexError, KeyError):
        return True
    wrong = plan.returned is not None and after[plan.returned] != [golden.returned]
    return wrong or any(
        after[name] != image.ravel().tolist() for name, image in golden.arrays.items()
    )


def replays(plan: KernelPlan, compilation: Compilation) -> bool:
    scop = compilation.analysis.scop
    try:
        return replay(plan, scop, scop.schedule, compilation.stages["flatten"].schedule)
    except PlanUnsound:
        return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_spoilt_plan_that_computes_something_else_is_caught(name: str) -> None:
    program = parse_text(PROGRAMS[name], "program.c")
    compilation = compile_program(program, CompileOptions())
    assert replays(compilation.plan, compilation)
    caught: Counter[str] = Counter()
    for spoilt in spoilt_plans(compilation.plan):
        if not replays(spoilt.plan, compilation):
            caught[spoilt.kind] += 1
        else:
            assert not is_wrong(spoilt.plan, program.scop), spoilt.kind
    assert caught["store_suppressed"] and caught["store_address"] and caught["load_address"]
    assert caught["load_bound"] or caught["tap_bound"], caught


def test_every_kind_of_change_is_caught_somewhere() -> None:
    caught = set()
    for text in PROGRAMS.values():
        compilation = compile_program(parse_text(text, "program.c"), CompileOptions())
        for spoilt in spoilt_plans(compilation.plan):
            if spoilt.kind not in caught and not replays(spoilt.plan, compilation):
                caught.add(spoilt.kind)
    assert caught == {change.__name__ for change in CHANGES}


def test_what_is_wrong_is_said() -> None:
    compilation = compile_program(parse_text(PROGRAMS["products"], "p.c"), CompileOptions())
    scop = compilation.analysis.scop
    spoilt = next(s.plan for s in spoilt_plans(compilation.plan) if s.kind == "load_address")
    with pytest.raises(PlanUnsound, match="not sound: S0 addresses the wrong element of c"):
        replay(spoilt, scop, scop.schedule, compilation.stages["flatten"].schedule)


def test_a_plan_that_contradicts_itself_cannot_even_be_written_down() -> None:
    compilation = compile_program(parse_text(PROGRAMS["products"], "p.c"), CompileOptions())
    stream = compilation.plan.streams[0]
    with pytest.raises(PlanError, match="stores its value before it is there"):
        replace(stream, store=replace(stream.store, stage=0))
