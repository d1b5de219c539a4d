"""Workers share tiles: what they wait for is enough, and no less would be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from rtlgen.errors import RtlgenError
from rtlgen.ir.plan import Condition, IndexForm, Predicate, Transfer, Wait, Workers
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.options import POLICIES, Policy
from rtlgen.tiling.errors import NoParallelTiles
from rtlgen.tiling.plan import TiledProgram
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import (
    JACOBI,
    PRODUCT,
    SEIDEL,
    TRANSPOSED,
    TRIANGULAR,
    is_proven,
    planned,
    planned_through_memory,
)
from tests.tiling.spoilt import with_transfer

MOVING_UP = """
void moving_up(int a[9][N]) {
  for (int t = 0; t < 8; t++)
    for (int i = 0; i < N - 1; i++)
      a[t][i] = a[t + 1][i] + a[t + 1][i + 1];
}
"""


def shared(policy: Policy = "cyclic", workers: int = 2, *, barrier: bool = False) -> TiledProgram:
    return planned(TRANSPOSED, 29, (8, 8), workers=WorkerRequest(workers, policy, barrier))


def judged(found: TiledProgram, workers: Workers) -> None:
    (part,) = found.parts
    plan = replace(found.plan, body=(workers,))
    scop = found.program.scop
    needed = needed_by_host(plan, scop)
    assert replay_tiles(plan, workers, part.judged(scop), needed) is not None


def changed(found: TiledProgram, window: str, change: Callable[[Transfer], Transfer]) -> Workers:
    """Return the workers of a program with one transfer changed."""
    regions = found.parts[0].workers.regions
    return Workers(tuple(with_transfer(region, window, change) for region in regions))


@pytest.mark.sample("F-3-False", "C-2-True", "C-3-True")
@pytest.mark.parametrize("barrier", [False, True])
@pytest.mark.parametrize("workers", [2, 3, 5])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_plan_itself_is_sound(policy: Policy, workers: int, barrier: bool) -> None:
    found = shared(policy, workers, barrier=barrier)
    assert is_proven(found)
    assert len(found.parts[0].workers.regions) > 1


def test_tiles_that_mirror_each_other_are_in_different_waves() -> None:
    (part,) = shared(barrier=True).parts
    assert part.space == 1
    assert part.tiling.order == ((2, 1), (1, 0))
    waits = part.region.transfer("a_in").after
    assert waits == (Wait("a_out", 1, 1),)
    for region in part.workers.regions:
        loads = [t for t in region.transfers if t.direction == "load"]
        assert {w.window for t in loads for w in t.after} == {"a_out_w0", "a_out_w1"}


@pytest.mark.parametrize(
    "after", [(), (Wait("a_out_w0", 1, 1),), (Wait("a_out_w0", 1, 1), Wait("a_out_w1", 2, 1))]
)
def test_a_load_that_waits_for_less_is_refused(after: tuple[Wait, ...]) -> None:
    found = shared(barrier=True)
    workers = changed(found, "a_in_w0", lambda t: replace(t, after=after))
    with pytest.raises(PlanUnsound, match="takes a wrong value of a"):
        judged(found, workers)


def ring(workers: int = 3) -> TiledProgram:
    """Return rows of tiles that wait for each other, a row as far behind the next as may be."""
    return planned_through_memory(TRANSPOSED, 45, (8, 8), workers=WorkerRequest(workers))


def test_rows_that_wait_for_each_other_are_shared() -> None:
    (part,) = ring().parts
    assert part.across is not None
    assert (part.space, part.across.lag) == (0, 1)
    for number, region in enumerate(part.workers.regions):
        waits = [wait for t in region.transfers for wait in t.after]
        assert {wait.window for wait in waits} == {f"a_out_w{(number - 1) % 3}"}


@pytest.mark.parametrize("form", ["taken", "given"])
@pytest.mark.parametrize("tiles", [1, -1])
def test_rows_that_wait_for_the_wrong_tile_are_refused(form: str, tiles: int) -> None:
    """One column less than the lag, or more: that never comes, or in time for the wrong tile."""
    found = ring()

    def moved(index_form: IndexForm) -> IndexForm:
        return replace(
            index_form, constant=index_form.constant + tiles * index_form.coefficients[1]
        )

    def changed_wait(wait: Wait) -> Wait:
        return replace(wait, **{form: getattr(wait, form).with_forms(moved)})

    workers = found.parts[0].workers
    for transfer in workers.transfers:
        if transfer.after:
            spoil = partial(replace, after=tuple(map(changed_wait, transfer.after)))
            workers = Workers(
                tuple(with_transfer(region, transfer.window, spoil) for region in workers.regions)
            )
    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a|waits for"):
        judged(found, workers)


def test_a_worker_that_waits_for_no_row_is_refused() -> None:
    found = ring()
    waiting = next(t for t in found.parts[0].workers.regions[1].transfers if t.after)
    workers = changed(found, waiting.window, lambda t: replace(t, after=()))
    with pytest.raises(PlanUnsound, match="takes a wrong value of a"):
        judged(found, workers)


def test_workers_that_wait_for_each_other_in_a_circle_are_refused() -> None:
    """Each waits for what the other one stores in the same iteration, before it stores itself."""
    found = shared(barrier=True)
    workers = found.parts[0].workers
    every = Predicate(((Condition(IndexForm((0, 0))),),))
    for own, other in ((0, 1), (1, 0)):
        wait = Wait(f"a_out_w{other}", 0, 1, given=every)
        spoil = partial(replace, after=(wait,))
        workers = Workers(
            tuple(with_transfer(region, f"a_in_w{own}", spoil) for region in workers.regions)
        )
    with pytest.raises(PlanUnsound, match="waits for itself"):
        judged(found, workers)


def test_workers_that_do_what_the_others_should_are_refused() -> None:
    found = shared()
    (part,) = found.parts
    judge = part.judged(found.program.scop)
    swapped = replace(judge, counters=tuple(reversed(judge.counters)))
    needed = needed_by_host(found.plan, found.program.scop)
    with pytest.raises(PlanUnsound):
        replay_tiles(found.plan, part.workers, swapped, needed)


def test_a_worker_that_is_missing_is_noticed() -> None:
    found = shared()
    (part,) = found.parts
    first, second = part.workers.regions
    own = [t.window for t in second.transfers if t.direction == "store"]
    alone = replace(
        first,
        transfers=tuple(
            replace(t, after=tuple(w for w in t.after if w.window not in own))
            for t in first.transfers
        ),
        after=(),
    )
    with pytest.raises(PlanUnsound, match=r"runs \d+ of 812 instances"):
        judged(found, Workers((alone,)))


def test_stores_wait_where_no_load_does() -> None:
    """What is loaded was there before; a later wave must not write over it before that."""
    found = planned(MOVING_UP, 24, (1, 8), workers=WorkerRequest(3, "C"))
    (part,) = found.parts
    assert part.space == 1
    assert all(not t.after for t in part.region.transfers if t.direction == "load")
    assert part.region.transfer("a_out").after == (Wait("a_out", 1, 1),)
    at_once = [
        replace(region, transfers=tuple(replace(t, after=()) for t in region.transfers))
        for region in part.workers.regions
    ]
    with pytest.raises(PlanUnsound, match="takes a wrong value of a"):
        judged(found, Workers(tuple(at_once)))


@pytest.mark.sample("text0-13-tile0-F-3")
@pytest.mark.parametrize(
    ("text", "size", "tile", "policy", "workers"),
    [
        (PRODUCT, 13, (4, 4, 4), "F", 3),
        (TRIANGULAR, 14, (4, 4, 4), "cyclic", 4),
        (SEIDEL, 11, (2, 4, 4), "C", 3),
        (JACOBI, 11, (2, 4, 4), "cyclic", 2),
    ],
)
def test_programs_of_all_kinds_are_shared(
    text: str, size: int, tile: tuple[int, ...], policy: Policy, workers: int
) -> None:
    found = planned(text, size, tile, workers=WorkerRequest(workers, policy))
    assert is_proven(found)
    assert all(1 < len(part.workers.regions) <= workers for part in found.parts)
    assert found.alone == (None,) * len(found.parts)


def test_sums_stay_with_a_worker() -> None:
    """A product is shared by rows or columns, and its sums are not stored before they are done."""
    (part,) = planned(PRODUCT, 16, (4, 4, 4), workers=WorkerRequest(2)).parts
    assert part.words_by("store") == 16 * 16 * 4 // 8


def test_a_last_value_that_nobody_reads_may_stay_on_chip() -> None:
    """Those before it, which another tile reads, are stored; then all is written over."""
    text = """
    void f(int64_t a[N], const int64_t b[N]) {
      for (int t = 0; t < 8; t++) for (int i = 0; i < N; i++) a[i] += b[i];
      for (int i = 0; i < N; i++) a[i] = b[i];
    }"""
    found = planned(f"#include <stdint.h>{text}", 8, (1, 1), buffer=False)
    assert is_proven(found)


def test_a_recurrence_is_not_shared() -> None:
    text = "void f(int a[N]) { for (int i = 1; i < N; i++) a[i] = a[i - 1] + 1; }"
    with pytest.raises(NoParallelTiles, match="depend on each other through a"):
        planned(text, 16, (4,), workers=WorkerRequest(2))


def test_what_cannot_be_shared_runs_beside_what_can() -> None:
    text = """
    void f(int a[N], int b[N], const int c[N]) {
      for (int i = 1; i < N; i++) a[i] = a[i - 1] + 1;
      for (int i = 0; i < N; i++) b[i] = c[i] * 2;
    }"""
    found = planned(text, 16, (4,), workers=WorkerRequest(2))
    assert [len(part.workers.regions) for part in found.parts] == [1, 2]
    assert found.alone[0] is not None and "through a" in found.alone[0]
    assert found.alone[1] is None


def test_an_array_on_chip_is_read_by_all_and_written_by_none() -> None:
    text = """
    void f(const int t[4], int a[N][4], int s[4]) {
      for (int i = 0; i < N; i++) for (int j = 0; j < 4; j++) a[i][j] = a[i][j] * t[j];
    }"""
    found = planned(text, 16, (4, 4), on_chip=frozenset("t"), workers=WorkerRequest(3))
    assert found.plan.memory("t").read_ports == 3
    with pytest.raises(RtlgenError, match="writes a, which is on chip"):
        planned(text, 16, (4, 4), on_chip=frozenset("ta"), workers=WorkerRequest(3))
