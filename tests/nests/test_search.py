"""Which partial choices of a search are followed.

The search finds what trying everything finds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.nests.search import Frontier, Growth
from rtlgen.planning.analysis import Analysis
from tests.islands import compile_island
from tests.poly.enumeration import PairKey, Point, memory_pairs


def column(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def grown(seed: int, size: int = 60) -> Growth:
    """Return choices of two units before, and one that is new, with small random figures."""
    numbers = random.Random(seed)

    def some(most: int, count: int) -> Ints:
        return column([numbers.randrange(most) for _ in range(count)])

    before = Frontier(
        np.stack([some(2, 8), some(3, 8)], axis=1),
        np.stack([some(5, 8), some(5, 8)], axis=1),
        *(some(5, 8) for _ in range(3)),
    )
    return Growth(before, *(some(n, size) for n in (8, 3, 5, 6, 4, 6)))


def beats(a: list[int], b: list[int]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("open_units", [[], [2], [0, 2]])
@pytest.mark.parametrize("fewest_changes", [True, False])
def test_only_choices_that_another_one_equals_or_beats_are_dropped(
    seed: int, open_units: list[int], fewest_changes: bool
) -> None:
    growth = grown(seed)
    parents = growth.parents
    chosen = np.column_stack([growth.before.chosen[parents], growth.candidates])
    starts = np.column_stack([growth.before.starts[parents], growth.starts])

    def seen(chosen: Ints, starts: Ints, end: int, changes: int) -> list[list[int]]:
        measures = [end, *starts[open_units].tolist()] + ([changes] if fewest_changes else [])
        return [chosen[open_units].tolist(), measures]

    kept = growth.undominated(open_units, fewest_changes=fewest_changes)
    survivors = [
        seen(*row) for row in zip(kept.chosen, kept.starts, kept.end, kept.changes, strict=True)
    ]
    for row in zip(chosen, starts, growth.end, growth.changes, strict=True):
        group, measures = seen(*row)
        assert any(group == g and beats(m, measures) for g, m in survivors)
    for n, (group, measures) in enumerate(survivors):
        others = survivors[:n] + survivors[n + 1 :]
        assert not any(group == g and beats(m, measures) for g, m in others)


def test_a_narrow_search_follows_the_best_bounds_in_the_order_of_the_choices() -> None:
    zeros = np.zeros((4, 1), dtype=np.int64)
    frontier = Frontier(
        column([0, 1, 2, 3]).reshape(4, 1),
        zeros,
        end=column([9, 8, 7, 6]),
        changes=column([0, 0, 0, 0]),
        bound=column([5, 9, 5, 6]),
    )
    assert frontier.with_best_bounds(2).chosen[:, 0].tolist() == [0, 2]
    assert frontier.with_best_bounds(1).chosen[:, 0].tolist() == [2]
    assert frontier.with_best_bounds(4) is frontier
    assert frontier.first() == 3


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="different lengths"):
        Frontier(np.zeros((2, 1), np.int64), np.zeros((2, 1), np.int64), *[column([0])] * 3)


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
