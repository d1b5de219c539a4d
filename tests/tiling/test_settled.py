"""Values of a tile that settle in front of multipliers, where that takes hardly any cycles."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

import rtlgen
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.scheduling.operand_registers import Wait, waits_before_multipliers
from rtlgen.tiling.form import Form
from rtlgen.tiling.part import TiledPart
from rtlgen.tiling.plan import TiledProgram
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import (
    LU,
    is_proven,
    planned,
)

MASKED = """
void masked(int a[N], int b[N], int c[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      c[i][j] = (a[i] ^ b[j]) * c[i][j];
}
"""

IN_TURN = """
void in_turn(int a[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = (a[i][j - 1] ^ i) * a[i][j];
}
"""


def unsettled(text: str, size: int, **options: Any) -> TiledProgram:
    """Return a plan in which no value waits."""
    with patch("rtlgen.tiling.form.affordable_waits", return_value=()):
        return planned.__wrapped__(text, size, kind="axi", **options)


def waits_left(found: TiledProgram) -> int:
    """Return how many values go into a multiplier straight from a choice or from logic."""
    parts = ((part.kernel.timing, part.region.kernel.streams) for part in found.parts)
    return sum(len(set(waits_before_multipliers(*part))) for part in parts)


@pytest.mark.sample("text0-16-1")
@pytest.mark.parametrize(("text", "size", "count"), [(MASKED, 16, 1), (MASKED, 16, 2), (LU, 12, 1)])
def test_values_settle_in_tiles(text: str, size: int, count: int) -> None:
    workers = WorkerRequest(count)
    found = planned(text, size, kind="axi", workers=workers)
    before = unsettled(text, size, workers=workers)
    assert is_proven(found)
    settled = waits_left(before) - waits_left(found)
    assert settled > 0
    cycles, least = predicted_cycles(found.plan), predicted_cycles(before.plan)
    assert cycles <= max(least + settled, 1.005 * least)


SEVERAL = """
void several(int a[N][N], int b[N][N], int c[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      c[i][j] = (a[i][j] ^ i) * b[i][j] + (a[i][j] ^ j) * c[i][j] + (b[i][j] ^ i) * (c[i][j] ^ j);
}
"""


@pytest.mark.sample("3")
@pytest.mark.parametrize("dear", range(4))
def test_those_that_take_too_long_do_not_settle_and_the_others_do(dear: int) -> None:
    """Halves are tried where all of them together take too long."""
    before = unsettled(SEVERAL, 8)
    useful = sorted(
        wait
        for part in before.parts
        for wait in waits_before_multipliers(part.kernel.timing, part.region.kernel.streams)
    )
    assert len(useful) == len(set(useful)) == 4
    settling = Form._settling

    def refusing(form: Form, part: TiledPart, waits: tuple[Wait, ...]) -> TiledPart | None:
        return None if useful[dear] in waits else settling(form, part, waits)

    with patch.object(Form, "_settling", refusing):
        found = planned.__wrapped__(SEVERAL, 8, kind="axi")
    (part,) = found.parts
    left = waits_before_multipliers(part.kernel.timing, part.region.kernel.streams)
    assert set(left) == {useful[dear]}


def test_a_value_that_the_next_iteration_waits_for_does_not_settle() -> None:
    found = planned(IN_TURN, 16, (4, 4), kind="axi")
    before = unsettled(IN_TURN, 16, tile=(4, 4))
    assert waits_left(found) == waits_left(before) == 1
    assert predicted_cycles(found.plan) == predicted_cycles(before.plan)


@pytest.mark.long
@pytest.mark.simulation
def test_circuits_whose_values_settle_are_exact() -> None:
    for memory, threads in (("axi:20", 2), ("fixed:4", 1)):
        design = rtlgen.compile(source=MASKED, define={"N": 16}, memory=memory, threads=threads)
        report = design.verify()
        assert report.exact and report.cycles == report.predicted_cycles
