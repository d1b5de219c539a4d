"""Distances of all candidates at once are those that are found one by one.

Masks and sorted arrays tell the same of cycles that two share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.ints import Ints
from rtlgen.nests import distances, search
from rtlgen.nests.distances import (
    MASK_CYCLES,
    Candidate,
    KnownDistances,
    cycle_mask,
    required_distances,
    share_cycle,
    shifted,
)
from rtlgen.nests.precedence import ClosedPairs, Precedence
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import analyse
from rtlgen.planning.choice import choose_plan
from rtlgen.poly.extrema import PairExtrema
from rtlgen.poly.instances import Pairs

BOXES = """
void boxes(int a[6][8], int b[6][8], int c[6][8][4], int d[6]) {
  for (int i = 0; i < 6; i++) for (int j = 0; j < 8; j++) b[i][j] = a[i][j] * 3;
  for (int i = 0; i < 6; i++) for (int j = 1; j < 7; j++) for (int k = 0; k < 4; k++)
    c[i][j][k] = b[i][j - 1] + b[5 - i][j] + k;
  for (int i = 0; i < 6; i++) for (int j = 0; j < 8; j++) d[i] += b[i][j] * c[i][j][j / 2];
}
"""
TRIANGULAR = """
void triangular(int a[12][12], int b[12], int c[12]) {
  for (int i = 0; i < 12; i++) for (int j = 0; j <= i; j++) a[i][j] = a[i][j] + j;
  for (int i = 0; i < 12; i++) for (int j = i; j < 12; j++) b[i] += a[j][i];
  for (int i = 0; i < 12; i++) c[i] = b[11 - i] - a[i][0];
}
"""
LARGE = """
void large(int a[900][900], int b[900], int c[900]) {
  for (int i = 0; i < 900; i++) for (int j = 0; j <= i; j++) a[i][j] = a[i][j] + j;
  for (int i = 0; i < 900; i++) for (int j = 0; j <= i; j++) b[i] += a[i][j];
  for (int i = 0; i < 900; i++) c[i] = b[i] - 1;
}
"""


@pytest.mark.parametrize(
    ("text", "kind"), [(BOXES, PairExtrema), (TRIANGULAR, Pairs), (LARGE, ClosedPairs)]
)
def test_all_at_once_are_those_of_any_two(
    text: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def noted(
        units: Sequence[Sequence[Candidate]],
        precedences: Sequence[Precedence],
        known: KnownDistances | None = None,
    ) -> dict[tuple[int, int], Ints]:
        found = required_distances(units, precedences, known)
        seen.append((units, precedences, found))
        return found

    monkeypatch.setattr(search, "required_distances", noted)
    # Each row is worked on by itself.
    monkeypatch.setattr(distances, "GAPS_IN_CACHE", 1)
    with limited_effort():
        choose_plan(analyse(parse_text(text)), CompileOptions())
    rng = np.random.default_rng(7)
    for units, precedences, found in seen:
        for (a, b), table in found.items():
            between = [
                p
                for p in precedences
                if p.source in units[a][0].placements and p.sink in units[b][0].placements
            ]
            for _ in range(20):
                n, m = int(rng.integers(len(units[a]))), int(rng.integers(len(units[b])))
                source, sink = units[a][n], units[b][m]
                apart = [
                    p.required(
                        source.placements[p.source], sink.placements[p.sink], source.ii, sink.ii
                    )
                    + source.shifts[p.source]
                    - sink.shifts[p.sink]
                    for p in between
                ]
                assert table[n, m] == max(apart)
    assert any(isinstance(p.related, kind) for _, some, _ in seen for p in some)
    assert any(len(table) > 1 for *_, found in seen for table in found.values())


LANES = """
void lanes(int a[4][8], int b[4][8], int c[4][8]) {
  for (int j = 0; j < 8; j++) {
    LINES
  }
}
"""


def tables_made(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Precedence]]:
    """Return a list that will hold the precedences of every table of distances made from now on."""
    seen: list[Sequence[Precedence]] = []
    compute = distances._distances

    def counted(
        sources: Sequence[Candidate],
        sinks: Sequence[Candidate],
        precedences: Sequence[Precedence],
    ) -> Ints:
        seen.append(precedences)
        return compute(sources, sinks, precedences)

    monkeypatch.setattr(distances, "_distances", counted)
    return seen


def test_alike_pairs_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\n".join(
        f"b[{lane}][j] = a[{lane}][j] + 1; c[{lane}][j] = b[{lane}][j] * 3;" for lane in range(4)
    )
    compute = distances._distances
    seen = tables_made(monkeypatch)
    asked: list[int] = []

    def noted(
        units: Sequence[Sequence[Candidate]],
        precedences: Sequence[Precedence],
        known: KnownDistances | None = None,
    ) -> dict[tuple[int, int], Ints]:
        before = len(seen)
        found = required_distances(units, precedences, known)
        asked.append(len(seen) - before)
        # Each table is that of its own pair all the same.
        home = {name: n for n, unit in enumerate(units) for name in unit[0].placements}
        for (a, b), table in found.items():
            own = [p for p in precedences if (home[p.source], home[p.sink]) == (a, b)]
            assert np.array_equal(table, compute(units[a], units[b], own))
        return found

    monkeypatch.setattr(search, "required_distances", noted)
    analysis = analyse(parse_text(LANES.replace("LINES", lines)))
    choose_plan(analysis, CompileOptions())
    assert asked and max(asked) == 1


@pytest.mark.parametrize("kept", [distances.GAPS_KEPT, 0])
def test_what_is_asked_for_again_is_known(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compute = distances._distances
    asked: list[tuple[Sequence[Sequence[Candidate]], Sequence[Precedence]]] = []

    def noted(
        units: Sequence[Sequence[Candidate]],
        precedences: Sequence[Precedence],
        known: KnownDistances | None = None,
    ) -> dict[tuple[int, int], Ints]:
        asked.append((units, precedences))
        return required_distances(units, precedences, known)

    monkeypatch.setattr(search, "required_distances", noted)
    choose_plan(analyse(parse_text(BOXES)), CompileOptions())
    units, precedences = asked[-1]
    seen = tables_made(monkeypatch)
    monkeypatch.setattr(distances, "GAPS_KEPT", kept)
    known = KnownDistances()
    first = required_distances(units, precedences, known)
    tables = len(seen)
    # Whatever is in other units, or beside a pair, it is the same pair.
    again = required_distances([list(unit) for unit in units], precedences, known)
    assert len(seen) == (tables if kept else 2 * tables) > 0
    assert all(np.array_equal(table, again[pair]) for pair, table in first.items())
    later = [replace(p, lag=p.lag + 100) for p in precedences]
    moved = required_distances(units, later, known)
    assert any((moved[pair] > table).any() for pair, table in first.items())
    for (a, b), table in moved.items():
        own = [p for p in later if p.source in units[a][0].placements]
        own = [p for p in own if p.sink in units[b][0].placements]
        assert np.array_equal(table, compute(units[a], units[b], own))


def test_masks_and_arrays_agree_at_every_distance() -> None:
    draw = np.random.default_rng(3)
    met = 0
    for _ in range(40):
        a, b = (np.unique(draw.integers(0, 40, draw.integers(1, 6))) for _ in range(2))
        one, other = cycle_mask(a), cycle_mask(b)
        assert one is not None and other is not None
        for distance in range(-45, 46):
            expected = bool(set(a.tolist()) & set((b + distance).tolist()))
            assert bool(one & shifted(other, distance)) == expected
            assert share_cycle(a, b + distance) == expected
            met += expected
    assert met


def test_long_times_have_no_mask() -> None:
    assert cycle_mask(np.array([], dtype=np.int64)) == 0
    assert cycle_mask(np.array([MASK_CYCLES - 1])) == 1 << (MASK_CYCLES - 1)
    assert cycle_mask(np.array([0, MASK_CYCLES])) is None
    assert cycle_mask(np.array([-1, 0])) is None
