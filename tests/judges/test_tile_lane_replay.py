"""The judge of tiles refuses each single thing that is wrong in a plan of lanes and banks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtlgen.ir.bank_map import Cut
from rtlgen.ir.plan import (
    Address,
    AnyBank,
    ForwardOp,
    KernelPlan,
    LoadOp,
    Memory,
    Operation,
    Stream,
    Workers,
)
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.plan import TiledProgram
from tests.tiling.programs import FILTER, PRODUCT, planned

TILE = (4, 8, 4)


def product() -> TiledProgram:
    return planned(PRODUCT, 13, TILE, lanes=LaneRequest("j", 4))


def judged(found: TiledProgram, plan: KernelPlan) -> None:
    (part,) = found.parts
    (workers,) = (p for p in plan.body if isinstance(p, Workers))
    needed = needed_by_host(plan, found.program.scop)
    assert replay_tiles(plan, workers, part.judged(found.program.scop), needed) is not None


def with_streams(
    plan: KernelPlan, streams: tuple[Stream, ...], memories: tuple[Memory, ...] = ()
) -> KernelPlan:
    (workers,) = (p for p in plan.body if isinstance(p, Workers))
    (region,) = workers.regions
    changed = replace(region, kernel=replace(region.kernel, streams=streams))
    return replace(plan, body=(Workers((changed,)),), memories=memories or plan.memories)


def test_the_plan_itself_is_sound() -> None:
    found = product()
    judged(found, with_streams(found.plan, found.plan.streams))


def test_lanes_that_change_places_are_noticed() -> None:
    found = product()
    first, second, *rest = found.plan.streams
    swapped = (replace(first, lane=1), replace(second, lane=0), *rest)
    with pytest.raises(PlanUnsound):
        judged(found, with_streams(found.plan, swapped))


def test_a_lane_in_the_wrong_bank_is_noticed() -> None:
    found = product()
    first, *rest = found.plan.streams
    assert isinstance(first.store.address, AnyBank)
    store = replace(first.store, address=replace(first.store.address, banks=(1,)))
    with pytest.raises(PlanUnsound, match="is in another bank of"):
        judged(found, with_streams(found.plan, (replace(first, store=store), *rest)))


def test_other_bits_for_a_bank_are_noticed() -> None:
    found = product()
    first, *rest = found.plan.streams
    address = first.store.address
    assert isinstance(address, AnyBank)
    turned = replace(address, bank_bits=address.bank_bits[::-1])
    store = replace(first.store, address=turned)
    with pytest.raises(PlanUnsound, match="takes other bits for the bank of"):
        judged(found, with_streams(found.plan, (replace(first, store=store), *rest)))


def test_a_bank_too_few_is_noticed() -> None:
    """With two banks for four lanes, two of them meet in each."""
    found = product()

    def fewer(address: Address | None) -> Address | None:
        if not isinstance(address, AnyBank):
            return address
        width = len(address.bank_bits) + len(address.row_bits)
        others = tuple(bit for bit in range(width) if bit)
        return replace(address, bank_bits=(0,), row_bits=others, banks=(address.banks[0] & 1,))

    streams = tuple(
        replace(
            stream,
            operations=tuple(
                replace(op, address=fewer(op.address)) if isinstance(op, LoadOp) else op
                for op in stream.operations
            ),
            store=replace(stream.store, address=fewer(stream.store.address)),
            copies=tuple(replace(s, address=fewer(s.address)) for s in stream.copies),
        )
        for stream in found.plan.streams
    )
    memories = tuple(
        replace(m, shape=(m.depth // 2, 2, 1), cuts=(Cut(1, "cyclic", 2),)) if m.cuts else m
        for m in found.plan.memories
    )
    plan = with_streams(found.plan, streams, memories)
    with pytest.raises(PlanUnsound, match="in one cycle"):
        judged(found, plan)


def test_a_tap_from_another_lane_is_noticed() -> None:
    found = product()
    first, *rest = found.plan.streams

    def moved(op: Operation) -> Operation:
        if not isinstance(op, ForwardOp):
            return op
        return replace(op, taps=tuple(replace(tap, stream=1) for tap in op.taps))

    spoilt = replace(first, operations=tuple(map(moved, first.operations)))
    assert spoilt != first
    with pytest.raises(PlanUnsound, match="takes a wrong value of C"):
        judged(found, with_streams(found.plan, (spoilt, *rest)))


def with_loads(stream: Stream, memory: str, **changes: object) -> Stream:
    """Change the loads of one memory."""
    operations = tuple(
        replace(op, **changes)  # type: ignore[arg-type]
        if isinstance(op, LoadOp) and op.memory == memory
        else op
        for op in stream.operations
    )
    assert operations != stream.operations
    return replace(stream, operations=operations)


@pytest.mark.parametrize("banks", [(1,), (1, 2, 3)])
def test_a_load_from_the_wrong_bank_is_noticed(banks: tuple[int, ...]) -> None:
    found = product()
    first, *rest = found.plan.streams
    (address,) = (
        op.address for op in first.operations if isinstance(op, LoadOp) and op.memory == "B_in"
    )
    assert isinstance(address, AnyBank) and address.banks == (0,)
    changed = with_loads(first, "B_in", address=replace(address, banks=banks))
    with pytest.raises(PlanUnsound, match="S0 is in another bank of B_in"):
        judged(found, with_streams(found.plan, (changed, *rest)))


def test_a_load_that_is_in_the_wrong_bank_now_and_then_is_noticed() -> None:
    found = planned(FILTER, 37, (8, 4), lanes=LaneRequest("i", 4))
    first, *rest = found.plan.streams
    (address,) = (
        op.address for op in first.operations if isinstance(op, LoadOp) and op.memory == "x_in"
    )
    assert isinstance(address, AnyBank) and address.banks == (0, 1, 2, 3)
    judged(found, with_streams(found.plan, found.plan.streams))
    changed = with_loads(first, "x_in", address=replace(address, banks=(0, 1, 3)))
    with pytest.raises(PlanUnsound, match="S0 is in another bank of x_in"):
        judged(found, with_streams(found.plan, (changed, *rest)))


def test_other_bits_for_a_row_are_noticed() -> None:
    found = product()
    first, *rest = found.plan.streams
    address = first.store.address
    assert isinstance(address, AnyBank)
    turned = replace(address, row_bits=address.row_bits[::-1])
    store = replace(first.store, address=turned)
    with pytest.raises(PlanUnsound, match="takes other bits for the bank of"):
        judged(found, with_streams(found.plan, (replace(first, store=store), *rest)))


def test_a_port_too_few_is_noticed() -> None:
    """Lanes that read an array on chip want different elements of it in one cycle."""
    found = planned(PRODUCT, 8, TILE, on_chip=frozenset("AB"), lanes=LaneRequest("j", 4))
    judged(found, with_streams(found.plan, found.plan.streams))
    # Of A they all want the same one.
    for memory, others in (("A", 1), ("B", 4)):
        assert found.plan.memory(memory).read_ports == others
    through_one = tuple(with_loads(stream, "B", port=0) for stream in found.plan.streams[1:])
    changed = with_streams(found.plan, (found.plan.streams[0], *through_one))
    with pytest.raises(PlanUnsound, match="two loads use read port 0 of B in one cycle"):
        judged(found, changed)


def test_a_bank_too_few_is_noticed_of_stores_alone() -> None:
    found = product()
    memories = tuple(
        replace(m, shape=(m.depth,), cuts=()) if m.name == "C_out" else m
        for m in found.plan.memories
    )
    streams = tuple(
        replace(stream, store=replace(stream.store, address=place_of(stream.store.address)))
        for stream in found.plan.streams
    )
    with pytest.raises(
        PlanUnsound, match="two stores through the write port of C_out in one cycle"
    ):
        judged(found, with_streams(found.plan, streams, memories))


def place_of(address: Address | None) -> Address:
    assert isinstance(address, AnyBank)
    return address.place


def test_two_lanes_are_replayed() -> None:
    found = planned(PRODUCT, 13, TILE, lanes=LaneRequest("j", 2))
    assert {stream.lane for stream in found.plan.streams} == {0, 1}
    judged(found, with_streams(found.plan, found.plan.streams))
