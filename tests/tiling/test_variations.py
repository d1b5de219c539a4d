"""Strips of tiles are as wide as the RAM allows, however few widths are looked at.

Copies of windows: enough that nothing waits for want of one, no more than that, and they fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from unittest.mock import patch

import pytest

import rtlgen
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan import PlanError, TiledRegion, Transfer
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.timeline import workers_cycles
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.planning.compilation import TiledCompilation
from rtlgen.tiling.part import TiledPart
from rtlgen.tiling.variations import MOST_BITS, NOT_MISSED, CopySearch, Strips, StripSearch
from tests.tiling.programs import FILTER, JACOBI, KIB, PRODUCT, TRANSPOSED, planned


@pytest.mark.sample("of flat tiles")
@pytest.mark.parametrize(
    ("text", "size", "tile", "budget_bits"),
    [
        pytest.param(TRANSPOSED, 64, (4, 4), 7 * 512, id="of the first loop"),
        pytest.param(TRANSPOSED, 128, (4, 4), 8 * 512, id="wider"),
        pytest.param(TRANSPOSED, 128, (2, 8), 14 * 512, id="of flat tiles"),
        pytest.param(
            JACOBI, 42, (2, 4, 4), 16 * KIB, id="of an inner loop", marks=pytest.mark.long
        ),
    ],
)
def test_strips_are_as_wide_as_fits(
    text: str,
    size: int,
    tile: tuple[int, ...],
    budget_bits: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    best, widths = StripSearch.best, []

    def judged(search: StripSearch, *, partly: bool) -> TiledPart | None:
        found = best(search, partly=partly)
        fitting = [width for width in every_width(search.strips) if fits(search, width)]
        if fitting:
            assert found is not None
            assert max(found.tiling.phases) == fitting[-1]
            widths.append(fitting[-1])
        elif not partly:
            assert found is None
        return found

    monkeypatch.setattr(StripSearch, "best", judged)
    planned.__wrapped__(text, size, tile, budget_bits=budget_bits)
    assert widths and max(widths) > 2


def every_width(strips: Strips) -> list[int]:
    widths = [2]
    while (after := strips.after(widths[-1])) <= strips.widest():
        widths.append(after)
    return widths if strips.widest() > 1 else []


def fits(search: StripSearch, width: int) -> bool:
    """Tell whether strips of a width keep all values in few enough cycles."""
    cut = search.form.cuts.in_order(search.strips.in_order(width))
    if cut is None or search.form.busy_in_strips(cut) >= search.fewest:
        return False
    held = search.form.held_in_strips(cut)
    return held is not None and held.fits


PARTLY_CUT = """
#include <stdint.h>
int partly_cut(int64_t a[11][11], int p) {
  int sum = p;
  for (int i = 2; i < 9; i++)
    for (int j = i; j < 9; j++)
      for (int k = 8; k >= 2; k--) {
        a[i][k + 2] += a[i][j + 1] >> 2;
        sum += (a[i - 1][j] ^ a[i - 1][j] ^ a[j + 2][j + 1]) >> 2;
      }
  for (int i = 2; i < 9; i += 2)
    for (int j = 2; j < 9; j++)
      if (j < 5)
        a[i + 1][j + 1] += a[i][j - 1] * a[i][i - 1];
  return sum;
}
"""


@pytest.mark.long
def test_tiles_in_strips_may_leave_inner_loops_whole() -> None:
    design = rtlgen.compile(
        source=PARTLY_CUT, memory="fixed:2", bus_bits=128, tile=(1, 1), max_bram_kib=1
    )
    tiled = design.compilation
    assert isinstance(tiled, TiledCompilation)
    assert {part.tiling.sizes for part in tiled.tiled.parts} == {(), (1, 1)}


BUS = Bus("fixed", 8)

CASES = [(TRANSPOSED, 32, (8, 8)), (PRODUCT, 12, (4, 4, 4)), (FILTER, 64, (8, 8))]


def part_of(text: str, size: int, tile: tuple[int, ...]) -> TiledPart:
    (part,) = planned(text, size, tile).parts
    return part


def cycles_with(part: TiledPart, copies: Mapping[str, int]) -> int:
    """Return the cycles of a part whose windows have so many copies, as log2."""

    def moved(transfer: Transfer) -> Transfer:
        return replace(transfer, at=replace(transfer.at, tile_bits=copies[transfer.window]))

    def changed(region: TiledRegion) -> TiledRegion:
        return replace(region, transfers=tuple(map(moved, region.transfers)))

    workers = part.workers
    return workers_cycles(replace(workers, regions=tuple(map(changed, workers.regions))), BUS)


def bits_with(part: TiledPart, copies: Mapping[str, int]) -> int:
    """Return the RAM that windows take with so many copies."""
    now = {transfer.window: transfer.at.tile_bits for transfer in part.region.transfers}
    return sum(
        (m.depth * m.width_bits * m.read_ports >> now[m.name]) << copies[m.name]
        for m in part.windows.memories
        if m.name in copies
    )


def faults(
    part: TiledPart, copies: Mapping[str, int], budget_bits: int, fewest: int
) -> Iterator[str]:
    """Yield what is wrong with copies that are to save some of so many cycles."""
    windows = [transfer.window for transfer in part.region.transfers]
    if sorted(copies) != sorted(windows) or min(copies.values()) < 1:
        yield "not every window has two copies or more"
        return
    if bits_with(part, copies) > budget_bits:
        yield "they do not fit"
    cycles = cycles_with(part, copies)
    if cycles > TOLERANCE * fewest:
        yield "they do not save enough"
    best = cycles_with(part, dict.fromkeys(windows, MOST_BITS))
    if cycles > int(NOT_MISSED * best):
        yield "more are missed"
    for window in windows:
        less = {**copies, window: copies[window] - 1}
        if less[window] and cycles_with(part, less) <= int(NOT_MISSED * best):
            yield f"{window} has more than it needs"


def fewest_of(part: TiledPart) -> int:
    return cycles_with(part, {t.window: 1 for t in part.region.transfers})


@pytest.mark.parametrize("case", CASES, ids=["transposed", "product", "filter"])
def test_copies_are_those_that_are_missed(case: tuple[str, int, tuple[int, ...]]) -> None:
    part = part_of(*case)
    budget, fewest = 8 * part.ram_bits, fewest_of(part)
    found = CopySearch(part, BUS, budget).best(fewest)
    assert found is not None and max(found.values()) > 1
    assert list(faults(part, found, budget, fewest)) == []


@pytest.mark.parametrize("case", CASES, ids=["transposed", "product", "filter"])
def test_copies_that_are_spoilt_are_caught(case: tuple[str, int, tuple[int, ...]]) -> None:
    part = part_of(*case)
    budget, fewest = 8 * part.ram_bits, fewest_of(part)
    found = CopySearch(part, BUS, budget).best(fewest)
    assert found is not None
    for window, bits in found.items():
        for spoilt in (bits - 1, bits + 1):
            assert list(faults(part, {**found, window: spoilt}, budget, fewest)), window
        assert list(faults(part, {w: found[w] for w in found if w != window}, budget, fewest))
    assert list(faults(part, found, bits_with(part, found) - 1, fewest)) == ["they do not fit"]
    assert "they do not save enough" in faults(part, found, budget, cycles_with(part, found))


def test_a_budget_is_kept_at_the_price_of_cycles() -> None:
    part = part_of(*CASES[0])
    fewest = fewest_of(part)
    found = CopySearch(part, BUS, 8 * part.ram_bits).best(fewest)
    assert found is not None
    # What the part has besides its windows is not theirs.
    others = part.ram_bits - bits_with(
        part, {t.window: t.at.tile_bits for t in part.region.transfers}
    )
    for less in (0, 1, bits_with(part, found) // 2):
        budget = bits_with(part, found) + others - less
        tight = CopySearch(part, BUS, budget).best(fewest)
        assert tight is None or bits_with(part, tight) <= budget - others
        assert (tight == found) == (less == 0)


@pytest.mark.parametrize("step", [-1, 1])
def test_a_plan_with_other_copies_than_its_addresses_have_is_refused(step: int) -> None:
    found = planned(*CASES[0])
    (part,) = found.parts
    for number, transfer in enumerate(part.region.transfers):
        at = replace(transfer.at, tile_bits=transfer.at.tile_bits + step)
        moved = list(part.region.transfers)
        moved[number] = replace(transfer, at=at)
        region = replace(part.region, transfers=tuple(moved))
        workers = replace(part.workers, regions=(region,))
        with pytest.raises((PlanUnsound, PlanError)):
            plan = replace(found.plan, body=(workers,))
            scop = found.program.scop
            replay_tiles(plan, workers, part.judged(scop), needed_by_host(plan, scop))


class Trap(CopySearch):
    """Where half as many copies of the first window are missed least, and no more can go then."""

    def _cycles(self, copies: Mapping[str, int], most: int) -> int:
        first, second, *others = copies.values()
        if min(others) < MOST_BITS or first < MOST_BITS - 1 or max(first, second) < MOST_BITS:
            return most + 1
        return 2 - (first < MOST_BITS)

    def _taken(self, copies: Mapping[str, int]) -> int:
        return sum(1 << bits for bits in copies.values())


def test_copies_that_lead_nowhere_are_taken_back() -> None:
    part = part_of(PRODUCT, 12, (4, 4, 4))
    search = Trap(part, BUS, 0)
    windows = [transfer.window for transfer in part.region.transfers]
    search._bits = dict.fromkeys(windows, 1)
    search._left = search._taken(dict.fromkeys(windows, MOST_BITS)) - 6
    expected = dict.fromkeys(windows, MOST_BITS) | {windows[1]: 1}
    assert search.best(10) == expected
    with patch("rtlgen.tiling.variations.MOST_TRIED", len(windows)):
        assert search.best(10) is None
