"""The loops of workers in hardware: an odometer runs through what the formulas say."""

from __future__ import annotations

import pytest

from rtlgen.hw.elastic import ElasticOdometer
from rtlgen.hw.levels import active_levels
from rtlgen.ir.iterations import iterations_of
from rtlgen.ir.sharing import shared_loops
from rtlgen.options import POLICIES, Policy
from tests.hw.nests import issued
from tests.ir.test_sharing import waves


@pytest.mark.sample("C-16-15", "cyclic-17-8", "cyclic-16-15", "C-17-8")
@pytest.mark.parametrize(
    ("workers", "worker"), [(1, 0), (2, 1), (3, 0), (3, 2), (8, 5), (16, 15), (17, 8)]
)
@pytest.mark.parametrize("policy", POLICIES)
def test_an_odometer_shares_loops_without_a_bubble(
    policy: Policy, workers: int, worker: int
) -> None:
    """From -3 to 200 iterations are shared, wave after wave, in two runs."""
    levels = shared_loops(waves(), 1, policy, workers, worker).levels
    counted = [k for k, level in enumerate(levels) if level.extent > 1]
    points = [tuple(row[k] for k in counted) for row in iterations_of(levels).tolist()]
    assert issued(ElasticOdometer(active_levels(levels), 1), runs=2) == points * 2
