"""Circuits of lanes in tiles: exact, in the cycles predicted, whatever the memory does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.ir.plan import (
    AnyBank,
    ForwardOp,
    KernelPlan,
    LoadOp,
    Operation,
    Region,
    Stream,
    Workers,
)
from rtlgen.ir.scop import Scop
from rtlgen.options import BusKind
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.windows.workers import ONE_WORKER, WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.oracles.random_tiles.campaign import none_wrong
from tests.tiling.programs import (
    BLUR,
    ELIMINATION,
    FILTER,
    JACOBI,
    LU_BY_STEPS,
    PRODUCT,
    SEIDEL,
    TRANSPOSED,
    TWO_PRODUCTS,
    planned,
)

pytestmark = pytest.mark.simulation

TWO = WorkerRequest(2, "cyclic", False)

Case = tuple[str, int, tuple[int, ...], str, int, BusKind, int, WorkerRequest]

CASES: tuple[Case, ...] = (
    (PRODUCT, 13, (4, 8, 4), "j", 4, "axi", 64, ONE_WORKER),
    (PRODUCT, 11, (8, 4, 4), "i", 4, "fixed", 128, TWO),
    (BLUR, 21, (4, 8), "j", 4, "axi", 64, ONE_WORKER),
    (FILTER, 37, (8, 4), "i", 4, "axi", 64, ONE_WORKER),
    (JACOBI, 10, (2, 4, 4), "j", 4, "axi", 64, ONE_WORKER),
    (PRODUCT, 12, (4, 6, 4), "j", 3, "axi", 32, ONE_WORKER),
    (BLUR, 40, (4, 32), "j", 32, "axi", 128, ONE_WORKER),
    (TWO_PRODUCTS, 9, (4, 4, 4), "j", 2, "axi", 64, TWO),
    (ELIMINATION, 11, (4, 4, 4), "i", 4, "fixed", 64, ONE_WORKER),
    (LU_BY_STEPS, 16, (2, 4, 6), "i", 4, "axi", 64, ONE_WORKER),
    (TRANSPOSED, 24, (12, 12), "i", 4, "axi", 64, ONE_WORKER),
    (TRANSPOSED, 21, (8, 8), "i", 8, "axi", 64, ONE_WORKER),
    (TRANSPOSED, 22, (8, 8), "i", 4, "fixed", 32, ONE_WORKER),
    (SEIDEL, 14, (1, 8, 8), "i", 4, "axi", 64, ONE_WORKER),
)
"""Program, size, tile, loop, lanes, memory, bits of a word, workers."""


def plan_of(case: Case) -> tuple[KernelPlan, Scop]:
    text, size, tile, loop, lanes, kind, bits, workers = case
    found = planned(
        text,
        size,
        tile,
        kind=kind,
        latency_cycles=5,
        word_bits=bits,
        workers=workers,
        lanes=LaneRequest(loop, lanes),
    )
    assert any(part.kernel.lanes == lanes for part in found.parts)
    return found.plan, found.parsed


@pytest.mark.parametrize("cases", [CASES[:1], pytest.param(CASES, marks=pytest.mark.long)])
def test_circuits_of_lanes_are_exact(cases: tuple[Case, ...], tmp_path: Path) -> None:
    plans = []
    for number, case in enumerate(cases):
        plan, scop = plan_of(case)
        plans.append((replace(plan, name=f"f{number}"), scop))
    assert plan_failures(plans, tmp_path, pauses=(False, True)) == [[] for _ in plans]


@pytest.mark.long
def test_a_lane_that_reads_from_another_bank_is_caught(tmp_path: Path) -> None:
    plan, scop = plan_of(CASES[0])
    (workers,) = plan.body
    assert isinstance(workers, Workers)
    (region,) = workers.regions
    first, *rest = region.kernel.streams

    def moved(op: Operation) -> Operation:
        if not (isinstance(op, LoadOp) and isinstance(op.address, AnyBank)):
            return op
        return replace(op, address=replace(op.address, banks=(op.address.banks[0] ^ 1,)))

    spoilt = replace(first, operations=tuple(map(moved, first.operations)))
    kernel = replace(region.kernel, streams=(spoilt, *rest))
    wrong = replace(plan, body=(replace(workers, regions=(replace(region, kernel=kernel),)),))
    (failures,) = plan_failures([(wrong, scop)], tmp_path)
    assert failures


def with_streams(
    plan: KernelPlan, change: Callable[[Stream, tuple[Stream, ...]], Stream]
) -> KernelPlan:
    (workers,) = plan.body
    assert isinstance(workers, Workers)
    (region,) = workers.regions
    streams = region.kernel.streams
    kernel = Region.whole(tuple(change(stream, streams) for stream in streams))
    return replace(plan, body=(replace(workers, regions=(replace(region, kernel=kernel),)),))


@pytest.mark.long
def test_a_skew_too_small_is_caught(tmp_path: Path) -> None:
    plan, scop = plan_of(CASES[-3])

    def earlier(stream: Stream, _: tuple[Stream, ...]) -> Stream:
        return replace(stream, offset_cycles=stream.offset_cycles - stream.lane)

    (failures,) = plan_failures([(with_streams(plan, earlier), scop)], tmp_path)
    assert failures


@pytest.mark.long
def test_a_tap_from_another_lane_is_caught(tmp_path: Path) -> None:
    plan, scop = plan_of(CASES[-3])

    def spoilt(stream: Stream, streams: tuple[Stream, ...]) -> Stream:
        if stream.lane < 2:
            return stream
        operations = tuple(
            replace(
                op,
                taps=tuple(
                    replace(tap, stream=tap.stream - (tap.stream == stream.lane - 1))
                    for tap in op.taps
                ),
            )
            if isinstance(op, ForwardOp)
            else op
            for op in stream.operations
        )
        return replace(stream, operations=operations)

    wrong = with_streams(plan, spoilt)
    assert wrong != plan
    (failures,) = plan_failures([(wrong, scop)], tmp_path)
    assert failures


@pytest.mark.long
def test_some_random_programs_in_lanes_are_exact(tmp_path: Path) -> None:
    seen = none_wrong(range(6), tmp_path, "axi", lanes=True)
    assert seen["exact"] >= 2 and seen["lanes"] >= 2, seen


@pytest.mark.long
def test_words_that_lanes_look_at_in_vain_begin_no_burst(tmp_path: Path) -> None:
    # A word behind two others goes on with their burst, however few bits its number has.
    assert none_wrong([3095], tmp_path, "axi", lanes=True)["exact"] == 1


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 500, 100))
def test_many_random_programs_in_lanes_are_exact(first: int, tmp_path: Path) -> None:
    kind: BusKind = "axi" if first % 200 else "fixed"
    seen = none_wrong(range(first, first + 100), tmp_path, kind, lanes=True)
    assert seen["exact"] >= 20 and seen["crossed banks"], seen
