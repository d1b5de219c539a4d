"""Reads of lanes that share a port of each bank, and what keeps others from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access
from rtlgen.memories import lane_banks as module
from rtlgen.memories.lane_banks import LanePorts, LaneRead, lane_ports
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.plan import TiledProgram
from rtlgen.windows import movers
from tests.tiling.programs import (
    JACOBI,
    KIB,
    is_proven,
    parsed,
    planned,
)

LANES = 16

SWEEPS = JACOBI.replace("t < 6", "t < 3")

CROSS = ((0, 0), (0, -1), (0, 1), (1, 0), (-1, 0))


def read(row: int, column: int, together: object = "S0", step: int = 1) -> LaneRead:
    """Return a read of a[i + row][step * lane + column]."""
    subscripts = (
        Affine.variable("i") + row,
        Affine.variable("lane") * step + column,
    )
    access = parsed(JACOBI, 8).scop.statements[0].reads[0]
    changed: Access = replace(access, subscripts=subscripts)
    return LaneRead(changed, together)


def ports(*reads: LaneRead, shared: bool = True, in_step: bool = True) -> LanePorts:
    return lane_ports(reads, NestLoop("lane", LANES), (1,), in_step=in_step, shared=shared)


def test_a_stencil_takes_one_port_of_banks_of_rows_and_columns() -> None:
    found = ports(*(read(*at) for at in CROSS))
    # Three rows, and 18 columns of one of them.
    assert found.count == 1 and found.cuts == {0: 2, 1: 5}
    assert set(found.ports) == {0} and not any(found.own)


def test_neighbours_in_a_row_take_twice_as_many_banks() -> None:
    assert ports(read(0, 0), read(0, 1)).cuts == {1: 5}


def test_no_more_banks_than_tell_the_lanes_apart_where_that_is_enough() -> None:
    assert ports(read(0, 0)).cuts == {1: 4}
    # The same words are one read.
    assert ports(read(0, 3), read(0, 3)).cuts == {1: 4}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(read(1, 0, together="S1"), id="of another statement, or in another cycle"),
        pytest.param(read(0, 0, step=3), id="of other steps"),
    ],
)
def test_what_is_not_known_to_be_apart_has_a_port_of_its_own(other: LaneRead) -> None:
    found = ports(read(0, 0), other)
    assert found.count == 2 and found.ports == (0, 1)


def test_each_read_has_its_port_where_none_is_to_be_shared() -> None:
    reads = [read(*at) for at in CROSS]
    assert ports(*reads, shared=False).count == 5
    assert ports(*reads, in_step=False).count == 5


def in_lanes(budget_bits: int) -> TiledProgram:
    return planned(
        SWEEPS, 14, (2, 4, 4), kind="axi", lanes=LaneRequest("j", 4), budget_bits=budget_bits
    )


def most_ports(found: TiledProgram) -> int:
    return max(memory.read_ports for memory in found.plan.memories)


@pytest.mark.long
def test_ports_are_shared_where_the_ram_does_not_do_for_copies() -> None:
    large, small = in_lanes(256 * KIB), in_lanes(8 * KIB)
    assert most_ports(large) == 5 and is_proven(large)
    assert most_ports(small) == 1 and is_proven(small)
    (part,) = small.parts
    assert part.ram_bits <= 8 * KIB


@pytest.mark.long
def test_reads_that_meet_in_a_bank_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_are_apart", lambda *of: True)
    planned.cache_clear()
    with pytest.raises(PlanUnsound, match="two"):
        in_lanes(8 * KIB)


@pytest.mark.long
def test_words_that_share_a_place_of_a_window_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movers, "_have_places", lambda *of, **named: True)
    planned.cache_clear()
    with pytest.raises(PlanUnsound):
        in_lanes(8 * KIB)
