"""Strips of tiles are as wide as the RAM allows, however few widths are looked at."""

from __future__ import annotations

import pytest

import rtlgen
from rtlgen.search.compilation import TiledCompilation
from rtlgen.tiling.part import TiledPart
from rtlgen.tiling.strips import Strips, StripSearch
from tests.tiling.programs import JACOBI, KIB, TRANSPOSED, planned


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
