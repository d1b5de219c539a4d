"""Lanes behind each other: what keeps them apart, and that each judge notices where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtlgen.ir.plan import (
    NEVER,
    AnyBank,
    ForwardOp,
    KernelPlan,
    LoadOp,
    Operation,
    Region,
    Stream,
    Workers,
)
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.scheduling.errors import NoLanes
from rtlgen.tiling.lanes import LaneRequest, require_skew, skewed
from rtlgen.tiling.plan import TiledProgram
from tests.tiling.programs import (
    SEIDEL,
    TRANSPOSED,
    is_proven,
    planned,
)


def transposed(lanes: int = 4) -> TiledProgram:
    return planned(TRANSPOSED, 24, (8, 8), lanes=LaneRequest("i", lanes))


def judged(found: TiledProgram, streams: tuple[Stream, ...]) -> None:
    (part,) = found.parts
    (workers,) = (p for p in found.plan.body if isinstance(p, Workers))
    (region,) = workers.regions
    changed = Workers((replace(region, kernel=Region.whole(streams)),))
    plan: KernelPlan = replace(found.plan, body=(changed,))
    needed = needed_by_host(plan, found.program.scop)
    assert replay_tiles(plan, changed, part.judged(found.program.scop), needed) is not None


def later(streams: tuple[Stream, ...], cycles: int) -> tuple[Stream, ...]:
    """Let every lane be so much farther behind the one before."""
    return tuple(replace(s, offset_cycles=s.offset_cycles + cycles * s.lane) for s in streams)


def test_each_lane_is_as_far_behind_the_one_before() -> None:
    found = transposed()
    (part,) = found.parts
    assert is_proven(found) and part.kernel.skew_cycles == 2
    assert [stream.offset_cycles for stream in found.plan.streams] == [0, 2, 4, 6]


def test_one_lane_each_for_those_that_write_and_those_that_read() -> None:
    found = transposed()
    banks = {memory.name: memory.bank_map.banks for memory in found.plan.memories}
    # A row for each lane that writes it, a column for each that reads it.
    assert banks["a_kept"] == 16 and banks["a_out"] == banks["a_in"] == 4
    for stream in found.plan.streams:
        for op in stream.operations:
            if isinstance(op, LoadOp) and isinstance(op.address, AnyBank):
                of_lane = {bank % 4 for bank in op.address.banks}
                assert op.memory != "a_in" or of_lane == {stream.lane}


def test_a_skew_too_small_is_refused_by_its_proof() -> None:
    (part,) = transposed().parts
    require_skew(part.kernel)
    assert skewed(replace(part.kernel, skew_cycles=0)).skew_cycles == part.kernel.skew_cycles
    smaller = replace(part.kernel, skew_cycles=part.kernel.skew_cycles - 1)
    with pytest.raises(NoLanes, match="lanes of S0 wait for each other"):
        require_skew(smaller)


def test_a_skew_too_large_for_another_lane_is_refused() -> None:
    (part,) = planned(SEIDEL, 18, (1, 4, 16), lanes=LaneRequest("i", 2)).parts
    require_skew(part.kernel)
    # What the last lane computes the first one needs in the next rows.
    larger = replace(part.kernel, skew_cycles=part.kernel.skew_cycles + 32)
    with pytest.raises(NoLanes) as refused:
        require_skew(larger)
    assert "S0(" in str(refused.value.diagnostic.notes)


def test_a_skew_too_small_is_noticed_by_the_replay() -> None:
    found = transposed()
    judged(found, found.plan.streams)
    with pytest.raises(PlanUnsound, match="takes a wrong value of a"):
        judged(found, later(found.plan.streams, -1))


def test_lanes_in_step_that_have_to_wait_are_noticed_by_the_replay() -> None:
    found = transposed()
    with pytest.raises(PlanUnsound, match="takes a wrong value of a"):
        judged(found, later(found.plan.streams, -2))


def test_a_tap_from_another_lane_is_noticed() -> None:
    found = transposed()
    *others, last = found.plan.streams

    def moved(op: Operation) -> Operation:
        if not isinstance(op, ForwardOp):
            return op
        taps = tuple(
            replace(tap, stream=tap.stream - 1) if tap.stream == last.lane - 1 else tap
            for tap in op.taps
        )
        return replace(op, taps=taps)

    spoilt = replace(last, operations=tuple(map(moved, last.operations)))
    assert spoilt != last
    with pytest.raises(PlanUnsound, match="takes a wrong value of a"):
        judged(found, (*others, spoilt))


@pytest.mark.long
def test_a_load_in_the_cycle_of_a_store_matters_only_without_a_tap() -> None:
    found = planned(TRANSPOSED, 64, (32, 32), kind="axi", lanes=LaneRequest("i", 8))
    judged(found, found.plan.streams)

    messages = []
    for number, stream in enumerate(found.plan.streams):
        for place, op in enumerate(stream.operations):
            if not isinstance(op, ForwardOp):
                continue
            for left_out in range(len(op.taps)):
                taps = tuple(
                    replace(tap, when=NEVER) if k == left_out else tap
                    for k, tap in enumerate(op.taps)
                )
                changed = list(stream.operations)
                changed[place] = replace(op, taps=taps)
                streams = list(found.plan.streams)
                streams[number] = replace(stream, operations=tuple(changed))
                with pytest.raises(PlanUnsound) as refused:
                    judged(found, tuple(streams))
                messages.append(str(refused.value))
    assert any("loads from a_kept in the cycle of a store" in message for message in messages)


def test_lanes_that_share_a_bank_are_noticed_though_they_never_meet() -> None:
    """In the replay tiles start in time; where they do not, two lanes might meet."""
    found = transposed()
    first, *others = found.plan.streams
    places = [
        op.address.banks
        for op in first.operations
        if isinstance(op, LoadOp) and isinstance(op.address, AnyBank) and op.memory == "a_in"
    ]
    assert places == [(0,)]

    def anywhere(op: Operation) -> Operation:
        if not (isinstance(op, LoadOp) and isinstance(op.address, AnyBank)):
            return op
        if op.memory != "a_in":
            return op
        return replace(op, address=replace(op.address, banks=(0, 1)))

    spoilt = replace(first, operations=tuple(map(anywhere, first.operations)))
    with pytest.raises(PlanUnsound, match="S0 and S0_1 meet in a bank of a_in"):
        judged(found, (spoilt, *others))
