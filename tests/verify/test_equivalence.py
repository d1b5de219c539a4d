"""The cycle of an element's last store follows from the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings

from rtlgen.ir.cycles import region_cycles
from rtlgen.ir.plan import ALWAYS, ConstantOp, IndexForm, KernelPlan, Region, Store
from rtlgen.verify import equivalence
from rtlgen.verify.equivalence import last_write_cycles
from tests.oracles.plans import chained_sums, random_plans
from tests.plans.interpreter import element_of


def every_store(plan: KernelPlan) -> Iterator[tuple[str, int, int]]:
    """Yield (memory, address, cycle) of all stores, iteration by iteration."""
    start = plan.index_latency_cycles
    for region in plan.regions:
        for stream in region.streams:
            boxes = product(*(range(level.extent) for level in stream.levels))
            for rank, counters in enumerate(boxes):
                if stream.store.when.holds(counters):
                    cycle = start + stream.offset_cycles + stream.ii * rank + stream.store.stage
                    memory = plan.memory(stream.store.memory)
                    assert stream.store.address is not None
                    number = element_of(memory, stream.store.address, counters)
                    yield memory.name, number, cycle
        start += region_cycles(plan, region)


def test_an_accumulator_is_written_last_in_its_last_iteration() -> None:
    # b[i] in iteration 4*i + 3, stage 6; c[i] in iteration 4*i + 3 from cycle 6 on, stage 3.
    wanted = [("b", (0,)), ("b", (3,)), ("c", (2,))]
    assert last_write_cycles(chained_sums(), wanted) == {
        ("b", (0,)): 9,
        ("b", (3,)): 21,
        ("c", (2,)): 20,
    }


def test_an_element_that_is_never_written_has_no_cycle() -> None:
    assert last_write_cycles(chained_sums(), [("A", (0, 0))]) == {}


@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
@settings(max_examples=30, deadline=None)
@given(plan=random_plans())
def test_it_agrees_with_listing_all_stores(chunk: int, plan: KernelPlan) -> None:
    expected: dict[tuple[str, tuple[int, ...]], int] = {}
    rows = plan.memories[0].shape[0]
    for _, address, cycle in every_store(plan):
        if 0 <= address < 3 * rows:
            element = ("A", divmod(address, 3))
            expected[element] = max(cycle, expected.get(element, 0))
    wanted = [("A", (row, column)) for row in range(rows) for column in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equivalence, "_CHUNK_ITERATIONS", chunk)
        assert last_write_cycles(plan, wanted) == expected


def test_a_statement_outside_all_loops_is_one_iteration() -> None:
    plan = chained_sums()
    stream = plan.regions[0].streams[1]
    once = replace(
        stream,
        levels=(),
        offset_cycles=5,
        operations=(ConstantOp(width_bits=32, signed=True, stage=0, value=7),),
        store=Store("c", IndexForm((), 2), 1, 0, ALWAYS),
    )
    alone = replace(plan, body=(Region.whole((once,)),), index_latency_cycles=3)
    elements = [("c", (row,)) for row in range(4)]
    assert last_write_cycles(alone, elements) == {("c", (2,)): 9}
