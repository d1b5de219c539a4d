"""What is said of workers that gain less than there are of them."""

from __future__ import annotations

from typing import Any

import pytest

from rtlgen.scheduling.workers import WorkerRequest
from rtlgen.tiling.summary import tiles_report
from rtlgen.tiling.worker_limits import worker_limits
from tests.tiling.programs import TRANSPOSED, planned
from tests.tiling.test_sharing import PATHS


def said(text: str, size: int, tile: tuple[int, ...], workers: int) -> list[str]:
    found = planned(text, size, tile, kind="axi", workers=WorkerRequest(workers))
    report = tiles_report(found, 1 << 30)
    limits = list(worker_limits(report["units"]))
    assert report["advice"][: len(limits)] == limits
    return limits


@pytest.mark.long
def test_rows_that_run_one_at_a_time_are_named() -> None:
    assert said(PATHS, 16, (1, 4, 4), 4) == [
        "S0: 1 of 4 workers computes at a time, since each iteration of tt0 waits for the one "
        "before; more workers gain nothing"
    ]
    assert said(PATHS, 16, (1, 4, 4), 1) == []


@pytest.mark.long
def test_a_bus_that_is_busy_longer_than_the_workers_is_named() -> None:
    (limit,) = said(TRANSPOSED, 64, (4, 8), 8)
    assert limit.startswith("S0: 8 workers compute for ") and "bus that is busy for" in limit
    assert said(TRANSPOSED, 64, (8, 8), 2) == []


def unit(**workers: Any) -> dict[str, Any]:
    own = {"count": 4, "loop": "t0", "at_a_time": None, "busiest": 1.0, "apart": None, **workers}
    return {"statements": ["S0"], "kernel_cycles": 90, "bus_cycles": 30, "workers": own}


def test_an_uneven_share_is_named() -> None:
    assert list(worker_limits([unit(busiest=1.05)])) == []
    assert list(worker_limits([unit(busiest=1.33)])) == [
        "S0: the busiest worker has 1.33 of an equal share, and all end with it"
    ]


def test_units_that_one_worker_would_run_side_by_side_are_named() -> None:
    behind = {**unit(), "statements": ["S1", "S2"]}
    assert list(worker_limits([unit(apart="no loop can be shared"), behind])) == [
        "S0 come before S1, S2, not beside: in common tiles no loop can be shared; one worker can "
        "run both side by side"
    ]
