"""Circuits of several workers: exact, in the cycles predicted, whatever the memory does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.options import BusKind, Policy
from rtlgen.tiling.units import UnitPlanner
from rtlgen.windows.workers import WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.oracles.random_tiles.campaign import none_wrong
from tests.tiling.programs import (
    BLUR,
    KIB,
    LU,
    PRODUCT,
    SEIDEL,
    TRANSPOSED,
    TRIANGULAR,
    TWO_PRODUCTS,
    planned,
)

pytestmark = pytest.mark.simulation

CASES: tuple[tuple[str, int, tuple[int, ...], Policy, int, BusKind, bool], ...] = (
    (TRANSPOSED, 21, (8, 8), "cyclic", 2, "fixed", False),
    (TRANSPOSED, 29, (8, 8), "F", 3, "axi", True),
    (SEIDEL, 9, (2, 4, 4), "C", 2, "axi", False),
    (TRIANGULAR, 14, (4, 4, 4), "cyclic", 3, "axi", False),
    (BLUR, 20, (4, 8), "F", 2, "fixed", True),
    (TRANSPOSED, 19, (4, 8), "C", 5, "fixed", False),
    (PRODUCT, 13, (4, 4, 4), "F", 3, "fixed", False),
    (LU, 12, (4, 4, 4), "C", 5, "axi", False),
    (TWO_PRODUCTS, 10, (4, 4, 4), "cyclic", 4, "axi", True),
    (SEIDEL, 13, (2, 4, 4), "F", 4, "fixed", True),
    (TRANSPOSED, 45, (4, 4), "cyclic", 3, "axi", False),
    (LU, 9, (2, 2, 2), "cyclic", 2, "fixed", False),
    (SEIDEL, 8, (2, 2, 2), "cyclic", 2, "axi", False),
)
"""Program, size, tile, policy, workers, memory, barrier."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "kib"), [("axi", 20), pytest.param("fixed", 22, marks=pytest.mark.long)]
)
def test_circuits_that_wait_for_room_are_exact(kind: BusKind, kib: int, tmp_path: Path) -> None:
    """Kernels hand values over to the next row of tiles, as far as there is room for them."""
    request = WorkerRequest(4)
    found = planned(LU, 16, (2, 2, 2), kind=kind, budget_bits=kib * KIB, workers=request)
    assert found.parts[0].windows.room
    plans = [(found.plan, found.parsed)]
    assert plan_failures(plans, tmp_path, pauses=(False, True)) == [[]]


@pytest.mark.parametrize("cases", [CASES[:1], pytest.param(CASES, marks=pytest.mark.long)])
def test_circuits_of_workers_are_exact(
    cases: tuple[tuple[str, int, tuple[int, ...], Policy, int, BusKind, bool], ...],
    tmp_path: Path,
) -> None:
    plans = []
    for number, (text, size, tile, policy, workers, kind, barrier) in enumerate(cases):
        request = WorkerRequest(workers, policy, barrier)
        found = planned(text, size, tile, kind=kind, latency_cycles=5, workers=request)
        assert any(len(part.workers.regions) > 1 for part in found.parts)
        plans.append((replace(found.plan, name=f"f{number}"), found.parsed))
    assert plan_failures(plans, tmp_path, pauses=(False, True)) == [[] for _ in plans]


QUICK = (*(500, 502, 513, 516, 518, 521, 523, 527, 540, 542, 547, 557),)
"""Seeds of programs that are small once they are circuits, or refused soon."""


AXI = range(0, 600, 60)
"""First seeds of batches of which about half are circuits; the others are refused."""


@pytest.mark.long
def test_some_random_programs_with_threads_are_exact(tmp_path: Path) -> None:
    seen = none_wrong(QUICK, tmp_path, "axi", threads=True)
    assert seen["exact"] >= 6 and seen["workers"] >= 4, seen


@pytest.mark.long
def test_a_store_may_be_ahead_of_one_that_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two stores of one worker, of which one is done with a wave before the other comes to it."""
    # One worker would be done sooner.
    monkeypatch.setattr(UnitPlanner, "is_fixed", True)
    assert none_wrong(range(567, 568), tmp_path, "axi", threads=True)["exact"] == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "kind"),
    [*((first, "fixed") for first in range(500, 800, 60)), *((first, "axi") for first in AXI)],
)
def test_many_random_programs_with_threads_are_exact(
    first: int, kind: BusKind, tmp_path: Path
) -> None:
    assert none_wrong(range(first, first + 60), tmp_path, kind, threads=True)["workers"] >= 15
