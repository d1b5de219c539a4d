"""What is judged is the plan that is built: nothing changes it after its replay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import rtlgen
from rtlgen.datapath.binding import with_units
from rtlgen.ir.operation_costs import multiplier_blocks
from rtlgen.ir.plan import NEVER, KernelPlan, Workers
from rtlgen.ir.plan_error import PlanUnsound
from tests.tiling.spoilt import with_transfer

CHAINED = """void f(int a[32][32], int b[32][32], int c[32][32], int d[32][32])
{
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) c[i][j] = a[i][j] * b[j][i];
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) d[i][j] = c[j][31 - i] * b[i][j];
}
"""


def test_a_plan_in_tiles_is_replayed_with_the_multipliers_that_it_shares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options: dict[str, Any] = {"memory": "axi", "max_dsp": 3, "max_bram_kib": 2}
    right = rtlgen.compile(source=CHAINED, path="f.c", **options)
    assert multiplier_blocks(right.plan) == 3, "two products share one multiplier"

    def spoilt(plan: KernelPlan, *given: Any, **named: Any) -> KernelPlan:
        shared = with_units(plan, *given, **named)
        first, *others = shared.body
        assert isinstance(first, Workers)
        (region,) = first.regions
        window = region.transfers[0].window
        less = with_transfer(region, window, lambda each: replace(each, when=NEVER))
        return replace(shared, body=(replace(first, regions=(less,)), *others))

    monkeypatch.setattr("rtlgen.planning.in_tiles.with_units", spoilt)
    with pytest.raises(PlanUnsound):
        rtlgen.compile(source=CHAINED, path="f.c", **options)
