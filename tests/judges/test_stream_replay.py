"""The judge of streams, on plans that are spoilt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtlgen.design import Design
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.plan import ALWAYS, KernelPlan, LoadOp, Region
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.streams import Stream
from rtlgen.judges.stream_replay import require_streamed
from rtlgen.options import CompileOptions
from rtlgen.poly.errors import StreamOutOfOrder

TWO_READERS = """
void f(const int x[8], int y[8]) {
  for (int i = 0; i < 4; i++) {
    y[2 * i] = x[2 * i] + 1;
    y[2 * i + 1] = x[2 * i + 1] * 3;
  }
}
"""


def made() -> Design:
    options = CompileOptions(memory={"": "stream"})
    return Design(compile_program(parse_text(TWO_READERS, "f.c"), options), options)


def judge(design: Design, plan: KernelPlan) -> None:
    scop = design.compilation.analysis.scop
    placed = design.compilation.stages["flatten"].schedule
    require_streamed(plan, scop, scop.schedule, placed)


def spoilt(design: Design, number: int, **changes: Any) -> KernelPlan:
    """Return the plan with a stream of its only region changed."""
    (region,) = design.plan.body
    assert isinstance(region, Region)
    streams: list[Stream] = list(region.streams)
    streams[number] = replace(streams[number], **changes)
    return replace(design.plan, body=(replace(region, streams=tuple(streams)),))


def test_a_plan_of_the_compiler_is_in_order() -> None:
    design = made()
    assert len(design.plan.stream_memories) == 2
    judge(design, design.plan)


def test_two_elements_in_one_cycle_are_noticed() -> None:
    design = made()
    first, _ = design.plan.streams
    with pytest.raises(StreamOutOfOrder) as caught:
        judge(design, spoilt(design, 0, offset_cycles=first.offset_cycles + 1))
    assert caught.value.diagnostic.message == "x is no stream: x[1] is read with x[0]"


def test_elements_out_of_order_are_noticed() -> None:
    design = made()
    first, _ = design.plan.streams
    with pytest.raises(PlanUnsound, match="x are not accessed in order"):
        judge(design, spoilt(design, 0, offset_cycles=first.offset_cycles + 2))


def test_an_element_that_is_taken_by_padding_is_noticed() -> None:
    design = made()
    first, _ = design.plan.streams
    operations = tuple(
        replace(op, needed=ALWAYS) if isinstance(op, LoadOp) else op for op in first.operations
    )
    with pytest.raises(PlanUnsound, match="S0 accesses the stream x in padding"):
        judge(design, spoilt(design, 0, operations=operations))


def test_an_element_that_is_sent_by_padding_is_noticed() -> None:
    design = made()
    first, _ = design.plan.streams
    with pytest.raises(PlanUnsound, match="S0 accesses the stream y in padding"):
        judge(design, spoilt(design, 0, store=replace(first.store, when=ALWAYS)))
