"""The search finds what trying everything finds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.planning.analysis import Analysis
from tests.islands import compile_island
from tests.poly.enumeration import PairKey, Point, memory_pairs

PROGRAMS = {
    "two products": """void f(int a[2][3], int b[3][2], int c[2][2], int d[2][2]) {
      for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)
        for (int k = 0; k < 3; k++) c[i][j] += a[i][k] * b[k][j];
      for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)
        for (int k = 0; k < 2; k++) d[i][j] += c[i][k] * b[k][j]; }""",
    "transposed use": """void f(int a[3][4], int x[4], int y[3]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) x[j] += a[i][j];
      for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) y[i] += a[i][j] * x[j]; }""",
    "shallow between deep": """void f(int a[3][3], int x[3], int y[3], int z[3]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) x[i] += a[i][j];
      for (int i = 0; i < 3; i++) y[i] = x[i] + z[i];
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) z[i] += a[j][i] * y[j]; }""",
    "overwritten input": """void f(int a[4][3], int b[4][3]) {
      for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++) b[i][j] = a[3 - i][j];
      for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++) a[i][j] = b[i][2 - j]; }""",
    "initialised sum": """void f(int a[3][4], int x[3], int y[4]) {
      for (int i = 0; i < 3; i++) { x[i] = 0; for (int j = 0; j < 4; j++) x[i] += a[i][j]; }
      for (int j = 0; j < 4; j++) { y[j] = 1; for (int i = 0; i < 3; i++) y[j] *= a[i][j] + x[i]; }
      }""",
}  # fmt: skip


def nests(own: list[NestLoop], extents: set[int], depth: int) -> Iterator[tuple[NestLoop, ...]]:
    """Yield every order and padding with up to `depth` loops, the real trip first or last."""
    for pads in range(depth - len(own) + 1):
        for sizes in itertools.product(sorted(extents), repeat=pads):
            for ends in itertools.product((0, 1), repeat=pads):
                padding = [NestLoop(None, n, (n - 1) * e) for n, e in zip(sizes, ends, strict=True)]
                yield from set(itertools.permutations([*own, *padding]))


def exhaustive_total(analysis: Analysis) -> int:
    """Return the smallest max(shift + count) over all orders and pads, by trying all of them."""
    scop = analysis.scop
    names = [s.name for s in scop.statements]
    pairs = memory_pairs(scop)
    own = {name: list(scop.schedule.loops(name)) for name in names}
    extents = {loop.extent for loops in own.values() for loop in loops}
    depth = max(map(len, own.values()))
    options: list[list[tuple[int, dict[Point, int]]]] = []
    for name in names:
        iterators = scop.statement(name).iterators
        ranked = []
        for loops in nests(own[name], extents, depth):
            flat = FlatDim(loops)
            points = itertools.product(*(range(x.at, x.at + x.extent) for x in own[name]))
            ranks = {p: flat.rank.evaluate(dict(zip(iterators, p, strict=True))) for p in points}
            inside = [r for (a, b, *_), r in pairs.items() if a == b == name]
            if all(ranks[p] < ranks[q] for related in inside for p, q in related):
                ranked.append((flat.count, ranks))
        options.append(_distinct(ranked))
    return min(
        total
        for choice in itertools.product(*options)
        if (total := _total(names, dict(zip(names, choice, strict=True)), pairs)) is not None
    )


def _distinct(ranked: list[tuple[int, dict[Point, int]]]) -> list[tuple[int, dict[Point, int]]]:
    """Keep one of several nests with the same ranks, the shortest."""
    best: dict[tuple[int, ...], tuple[int, dict[Point, int]]] = {}
    for count, ranks in ranked:
        key = tuple(ranks.values())
        if key not in best or count < best[key][0]:
            best[key] = (count, ranks)
    return list(best.values())


def _total(
    names: list[str],
    choice: dict[str, tuple[int, dict[Point, int]]],
    pairs: dict[PairKey, set[tuple[Point, Point]]],
) -> int | None:
    order = {name: n for n, name in enumerate(names)}
    gaps = [
        (a, b, max(choice[a][1][p] - choice[b][1][q] for p, q in related) + (order[a] >= order[b]))
        for (a, b, *_), related in pairs.items()
        if a != b
    ]
    shifts = dict.fromkeys(names, 0)
    for _ in range(len(names) + 1):
        late = [(a, b, gap) for a, b, gap in gaps if shifts[b] < shifts[a] + gap]
        if not late:
            return max(shifts[name] + choice[name][0] for name in names)
        for a, b, gap in late:
            shifts[b] = max(shifts[b], shifts[a] + gap)
    return None


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_total_is_the_smallest_there_is(name: str) -> None:
    program = parse_text(PROGRAMS[name], "program.c")
    compilation = compile_island(program)
    assert len(compilation.analysis.units) == len(compilation.analysis.scop.statements)
    assert compilation.decision.fused_iterations == exhaustive_total(compilation.analysis)
