"""Which tiles workers share: those that run side by side, and what is said where none do."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from rtlgen.design import compile_design
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.timeline import estimated_cycles, workers_cycles
from rtlgen.options import CompileOptions
from rtlgen.report.text import plan_report_text
from rtlgen.tiling import form
from rtlgen.tiling.cut import CutPart
from rtlgen.tiling.errors import NoParallelTiles
from rtlgen.tiling.form import Candidate, Form
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import TRANSPOSED, planned, planned_through_memory

POLYNOMIALS = """
#include <stdint.h>
void polynomials(uint8_t a[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      for (int k = 0; k < 16; k++)
        a[i][j] = a[i][j] * a[j][i] + a[i][j - 1];
}
"""

MIRRORED = """
void mirrored(int a[N][N]) {
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = a[i - 1][N - 1 - j] + a[i][j - 1];
}
"""
"""Each row begins with what ends the one before."""

PATHS = """
void paths(int p[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];
}
"""
"""An iteration of k needs all of the one before."""


@pytest.mark.long
def test_rows_that_run_one_after_another_are_not_shared_where_others_run_side_by_side() -> None:
    """Two rows of tiles are in one word: tiles in the order of C come in pairs of whole rows."""
    bus, tile = Bus("axi", 8), (4, 4, 16)
    one = planned(POLYNOMIALS, 48, tile, kind="axi").parts[0]
    (found,) = planned(POLYNOMIALS, 48, tile, kind="axi", workers=WorkerRequest(4)).parts
    assert found.across is None
    assert workers_cycles(found.workers, bus) < 0.5 * workers_cycles(one.workers, bus)


def test_rows_side_by_side_are_shared_in_the_order_of_c() -> None:
    workers = WorkerRequest(4)
    (found,) = planned_through_memory(TRANSPOSED, 64, (8, 8), kind="axi", workers=workers).parts
    assert found.across is not None
    assert (found.across.lag, found.across.columns) == (1, 8)
    assert found.across.rows_at_a_time == 4


def test_rows_hand_over_what_would_be_loaded_again() -> None:
    """A row is a diagonal of tiles, so that what mirrors a tile is in its own row."""
    bus, workers = Bus("fixed", 8), WorkerRequest(4)
    (found,) = planned(TRANSPOSED, 64, (8, 8), workers=workers).parts
    (other,) = planned_through_memory(TRANSPOSED, 64, (8, 8), workers=workers).parts
    (alone,) = planned(TRANSPOSED, 64, (8, 8)).parts
    assert found.tiling.order == ((1, 1), (1, 0))
    assert found.windows.peers
    assert not other.windows.peers
    assert found.words_moved == alone.words_moved < other.words_moved
    assert workers_cycles(found.workers, bus) < workers_cycles(other.workers, bus)


def test_it_is_said_that_rows_run_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "mirrored.c"
    path.write_text(MIRRORED)
    options = CompileOptions(
        defines={"N": "12"}, memory={"": "axi"}, bus_bits=32, tile=(1, 4), threads=2
    )
    report = compile_design(path, options).report()
    assert "2 tiles behind the one before, no more than 1 at a time" in plan_report_text(report)


@pytest.mark.long
def test_many_tiles_are_compared_by_what_the_first_ones_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each tile waits for words that the tile before has stored: neither kernel nor bus tell."""
    bus, workers = Bus("axi", 50), WorkerRequest(4)
    options = {"kind": "axi", "latency_cycles": 50, "workers": workers}
    (part,) = planned_through_memory(PATHS, 16, (1, 1, 1), **options).parts
    cycles = workers_cycles(part.workers, bus)
    monkeypatch.setattr(form, "SAMPLED_TILES", 300)
    found = Candidate.of(part, bus, followed=part.region.tiles - 1)
    assert max(found.kernel_cycles, found.bus_cycles) < 0.5 * cycles
    assert abs(found.cycles - cycles) < 0.1 * cycles


@pytest.mark.long
def test_rows_that_run_one_after_another_take_the_kernel_as_long_as_one_worker() -> None:
    one = planned(PATHS, 16, (1, 4, 4), kind="axi").parts[0]
    four = planned(PATHS, 16, (1, 4, 4), kind="axi", workers=WorkerRequest(4)).parts[0]
    assert four.across is not None and four.across.rows_at_a_time == 1
    tiles = four.region.tiles * four.region.issue_cycles
    assert (
        four.kernel_cycles
        == tiles
        == 4 * max(r.tiles for r in four.workers.regions) * (four.region.issue_cycles)
    )
    assert one.kernel_cycles == one.region.tiles * one.region.issue_cycles


@pytest.mark.parametrize("starts", [40, 200])
def test_an_estimate_from_the_first_tiles_is_near_what_all_take(starts: int) -> None:
    bus = Bus("axi", 20)
    workers = planned(TRANSPOSED, 96, (8, 8), kind="axi", workers=WorkerRequest(4)).parts[0].workers
    cycles = workers_cycles(workers, bus)
    assert abs(estimated_cycles(workers, bus, starts) - cycles) < 0.35 * cycles
    tiles = sum(region.tiles for region in workers.regions)
    assert 0.95 * cycles < estimated_cycles(workers, bus, tiles) <= cycles


@pytest.mark.sample("request_of0")
@pytest.mark.parametrize("request_of", [WorkerRequest(4, "C"), WorkerRequest(4, "cyclic", True)])
def test_who_could_wait_for_one_another_is_told_so(request_of: WorkerRequest) -> None:
    assert planned(PATHS, 16, (1, 4, 4), kind="axi", workers=WorkerRequest(4)).parts
    with pytest.raises(NoParallelTiles, match="depend on each other") as caught:
        planned(PATHS, 16, (1, 4, 4), kind="axi", workers=request_of)
    assert "`cyclic`, without a barrier" in str(caught.value.diagnostic.help)


def test_a_variable_that_all_workers_would_write_is_told_to_have_a_loop_of_its_own() -> None:
    text = "int last(int a[N]) { int s = 0; for (int i = 0; i < N; i++) s ^= a[i]; return s; }"
    with pytest.raises(NoParallelTiles, match="S0 writes s, which is on chip") as caught:
        planned(text, 16, kind="axi", workers=WorkerRequest(2, "cyclic", False))
    assert caught.value.diagnostic.help == "compute it in a loop of its own, or use one worker"


@pytest.mark.long
def test_words_that_cannot_be_counted_in_one_order_are_counted_in_the_others() -> None:
    """Once, tiles of any size were given up for it, but those of very few iterations."""
    counted, failed = Form._counted, set[tuple[int, ...]]()

    def failing_once(form: Form, cut: CutPart) -> int | None:
        if cut.tiling.sizes not in failed:
            failed.add(cut.tiling.sizes)
            raise TooComplex("too complex")
        return counted(form, cut)

    workers = WorkerRequest(2)
    with patch.object(Form, "_counted", failing_once):
        found = planned.__wrapped__(TRANSPOSED, 21, kind="axi", workers=workers)
    assert failed
    before = planned(TRANSPOSED, 21, kind="axi", workers=workers)
    assert predicted_cycles(found.plan) <= 1.1 * predicted_cycles(before.plan)
