"""Shapes of loop nests, isl's enumeration of them, and what an index unit makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import islpy as isl
from amaranth.sim import Simulator, SimulatorContext

from rtlgen.hw.index_units import IndexUnit
from rtlgen.ir.plan import IndexForm, Level, LevelBound
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.memories.predicates import index_form
from rtlgen.nests.candidates import ragged_loops

SHAPES = {
    "triangle": "{ [i,j] : 0 <= i < 7 and 0 <= j <= i }",
    "upper triangle": "{ [i,j] : 0 <= i < 7 and i <= j < 7 }",
    "empty first row": "{ [i,j] : 0 <= i < 7 and 0 <= j < i }",
    "trapezoid": "{ [i,j] : 0 <= i < 5 and 2i <= j < 12 }",
    "parallelogram": "{ [t,x] : 0 <= t < 5 and t <= x < t + 4 }",
    "capped triangle": "{ [i,j] : 0 <= i < 9 and 0 <= j <= i and j < 4 }",
    "tetrahedron": "{ [i,j,k] : 0 <= i < 5 and 0 <= j <= i and j <= k <= i }",
    "prism": "{ [k,i,j] : 0 <= k < 3 and 0 <= i < 4 and 0 <= j <= i }",
    "skewed wedge": "{ [i,j,k] : 0 <= i < 4 and i <= j < 6 and 0 <= k <= j - i }",
    "one row": "{ [i,j] : i = 3 and 0 <= j <= i }",
    "diagonal": "{ [i,j] : 0 <= i < 6 and j = i }",
    "skewed twice": "{ [t,x] : 0 <= t < 6 and 2t <= x < 2t + 7 }",
    "hexagon": "{ [i,j] : 0 <= i < 9 and 0 <= j < 9 and i - 3 <= j <= i + 4 }",
    "anti-diagonals": "{ [d,i] : 0 <= i < 6 and 0 <= d - i < 5 }",
    "quotients": "{ [i,j] : 0 <= i < 9 and 2i - 3 <= 3j and 2j <= 3i + 4 and j >= 0 }",
    "thin wedge": "{ [i,j] : 0 <= i < 20 and 5j <= i and 0 <= j }",
    "negative slopes": "{ [i,j] : 0 <= i < 8 and 11 - 2i <= 3j and 2j <= 20 - i }",
    "late rows": "{ [i,j] : 0 <= i < 9 and 4 <= j < i }",
    "wavefronts of a cube": "{ [t,i,j] : 0 <= i < 3 and 0 <= j < 4 and 0 <= t - i - j < 3 }",
    "odd columns": "{ [i,h] : 0 <= i < 7 and 0 <= 2h - i < 9 }",
    "two in three": "{ [i,h] : 0 <= i < 7 and i <= 3h + i and 3h + 2i < 17 }",
    "rectangular tiles": """{ [a,b,i,j] : 4a <= i < 4a + 4 and 4b <= j < 4b + 4
                                          and 0 <= i < 10 and 0 <= j < 7 }""",
    "skewed tiles": """{ [a,b,i,j] : 3a <= i < 3a + 3 and 4b <= j < 4b + 4
                                     and 0 <= i < 5 and i <= j < i + 6 }""",
    "tiled wavefronts": """{ [t1,t2,t3,t4] : 0 <= t3 < 9 and 1 <= t4 - t3 < 9
                             and 4t2 <= t3 < 4t2 + 4 and 4t1 - 4t2 <= t4 < 4t1 - 4t2 + 4 }""",
}

HOLED = {
    ("tiled wavefronts", (0, 2, 1, 3)),
    ("tiled wavefronts", (0, 2, 3, 1)),
    ("tiled wavefronts", (0, 3, 1, 2)),
    ("tiled wavefronts", (0, 3, 2, 1)),
    ("tiled wavefronts", (2, 0, 1, 3)),
    ("tiled wavefronts", (2, 0, 3, 1)),
    ("tiled wavefronts", (2, 3, 0, 1)),
    ("tiled wavefronts", (3, 0, 1, 2)),
    ("tiled wavefronts", (3, 0, 2, 1)),
    ("tiled wavefronts", (3, 2, 0, 1)),
}
"""Orders in which an inner level is empty for some outer values: no nest runs them exactly."""


def cases() -> list[tuple[str, tuple[int, ...]]]:
    """Return every shape in every order of its loops."""
    return [
        (name, order)
        for name, text in SHAPES.items()
        for order in permutations(range(isl.Set(text).dim(isl.dim_type.set)))
    ]


def points_of(domain: isl.Set) -> list[tuple[int, ...]]:
    """Return the points of `domain` in lexicographic order."""
    found: list[tuple[int, ...]] = []
    dims = domain.dim(isl.dim_type.set)

    def keep(point: isl.Point) -> None:
        found.append(
            tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(dims))
        )

    domain.foreach_point(keep)
    return sorted(found)


def levels_of(name: str, order: Sequence[int]) -> tuple[tuple[Level, ...], list[tuple[int, ...]]]:
    """Return the moving levels of a shape's nest, and the counters that it should run through."""
    domain = isl.Set(SHAPES[name])
    names = [f"x{k}" for k in range(domain.dim(isl.dim_type.set))]
    boxes = []
    for k in order:
        low, high = domain.dim_min_val(k).to_python(), domain.dim_max_val(k).to_python()
        boxes.append(NestLoop(names[k], high - low + 1, low))
    loops = ragged_loops(domain, names, boxes)
    moving = [n for n, loop in enumerate(loops) if loop.extent > 1]

    def counted(loop: NestLoop, bound: Bound) -> LevelBound:
        form = index_form(bound.form - bound.divisor * loop.at, loops)
        kept = IndexForm(tuple(form.coefficients[n] for n in moving), form.constant)
        return LevelBound(kept, bound.divisor)

    levels = []
    for loop in (loops[n] for n in moving):
        lowers = tuple(counted(loop, bound) for bound in loop.lowers)
        uppers = tuple(counted(loop, bound) for bound in loop.uppers)
        levels.append(Level(loop.extent, None, lowers, uppers))
    points = [tuple(p[order[n]] - loops[n].at for n in moving) for p in points_of(domain)]
    return tuple(levels), sorted(points)


def issued(unit: IndexUnit, runs: int = 1) -> list[tuple[int, ...]]:
    """Return the counters of every issued iteration, and check that `valid` comes every `ii`."""
    found: list[tuple[int, ...]] = []

    async def bench(ctx: SimulatorContext) -> None:
        for _ in range(runs):
            ctx.set(unit.begin, 1)
            await ctx.tick()
            ctx.set(unit.begin, 0)
            idle = 0
            while idle < 2 * unit.ii:
                if ctx.get(unit.valid):
                    found.append(tuple(ctx.get(counter) for counter in unit.counters))
                    assert idle in (0, unit.ii - 1)
                    idle = 0
                else:
                    idle += 1
                await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found
