"""Small arrays leave the block RAMs: all of one row of cells, and of others what a device lacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtlgen.ir.bank_map import Cut
from rtlgen.ir.block_rams import block_rams, with_small_memories
from rtlgen.ir.plan import KernelPlan
from rtlgen.target import get_target
from tests.plans.gemm import gemm_plan


def plan_of(*depths: int) -> KernelPlan:
    """Return a plan with one array of 32 bits for each depth, named by its place."""
    plan = gemm_plan(2)
    template = replace(plan.memories[0], read_ports=1, role="inout")
    memories = [replace(template, name=f"M{n}", shape=(depth,)) for n, depth in enumerate(depths)]
    return replace(plan, memories=tuple(memories), body=(), checksum=None, returned=None)


def in_cells(plan: KernelPlan) -> list[str]:
    return [memory.name for memory in plan.memories if memory.style == "distributed"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [("ecp5", ["M0", "M1"]), ("xilinx", ["M0", "M1", "M2"]), ("ice40", [])],
)
def test_an_array_of_one_row_of_cells_is_made_of_them(target: str, expected: list[str]) -> None:
    plan = with_small_memories(plan_of(1, 16, 17, 64, 65), get_target(target))
    assert in_cells(plan) == expected


def test_banks_stay_where_there_are_block_rams_for_them() -> None:
    plan = plan_of(64)
    banked = replace(plan, memories=(replace(plan.memories[0], cuts=(Cut(0, "cyclic", 8),)),))
    assert in_cells(with_small_memories(banked, get_target())) == []
    lacking = replace(get_target(), device_block_rams=0)
    assert in_cells(with_small_memories(banked, lacking)) == ["M0"]


def test_of_deeper_ones_the_smallest_move_and_only_as_many_as_a_device_lacks_block_rams() -> None:
    target = replace(get_target(), device_block_rams=4)
    fitting = plan_of(64, 65, 40, 17)
    assert in_cells(with_small_memories(fitting, target)) == []
    larger = with_small_memories(plan_of(64, 65, 40, 17, 512, 300), target)
    assert in_cells(larger) == ["M2", "M3"]
    assert block_rams(larger, target) == 4


def test_nothing_moves_where_the_device_is_too_small_anyway() -> None:
    target = replace(get_target(), device_block_rams=1)
    assert in_cells(with_small_memories(plan_of(64, 65, 512), target)) == []


def test_registers_and_tables_stay_what_they_are() -> None:
    target = replace(get_target(), device_block_rams=0)
    array = plan_of(40).memories[0]
    register = replace(array, kind="register", read_latency_cycles=0)
    table = replace(array, name="M1", kind="rom", values=tuple(range(40)), role="in")
    plan = replace(plan_of(40), memories=(register, table))
    assert with_small_memories(plan, target) == plan


def test_a_window_moves_by_its_words_of_the_bus() -> None:
    array = plan_of(64).memories[0]
    window = replace(array, kind="filled", word_bits=128, storage="local")
    plan = replace(plan_of(64), memories=(window,))
    assert in_cells(with_small_memories(plan, get_target())) == ["M0"]
