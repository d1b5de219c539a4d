"""Nests whose bounds depend on outer counters, against isl's own enumeration of the domain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import islpy as isl
import pytest
from amaranth.sim import Simulator, SimulatorContext

from rtlgen.hw.ragged import Add, Jump, Nest, RaggedOdometer, moves
from rtlgen.ir.plan import IndexForm
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.scheduling.predicates import index_form
from rtlgen.transforms.ragged import ragged_loops

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
}


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


def nest_of(domain: isl.Set, order: Sequence[int]) -> tuple[Nest, tuple[NestLoop, ...]]:
    names = [f"x{k}" for k in range(domain.dim(isl.dim_type.set))]
    boxes = []
    for k in order:
        low, high = domain.dim_min_val(k).to_python(), domain.dim_max_val(k).to_python()
        boxes.append(NestLoop(names[k], high - low + 1, low))
    loops = ragged_loops(domain, names, boxes)
    kept = tuple(loop for loop in loops if loop.extent > 1)
    zero = (0,) * len(kept)

    def form(loop: NestLoop, bound: Bound) -> IndexForm:
        return index_form(bound.form - loop.at, kept)

    lowers = tuple(form(loop, loop.lowers[0]) if loop.lowers else IndexForm(zero) for loop in kept)
    uppers = tuple(
        tuple(form(loop, u) for u in loop.uppers) or (IndexForm(zero, loop.extent - 1),)
        for loop in kept
    )
    return Nest(tuple(loop.extent for loop in kept), lowers, uppers), kept


def issued(nest: Nest, ii: int, runs: int = 1) -> list[list[int]]:
    """Return the counters of every issued iteration, and check that `valid` comes every `ii`."""
    unit = RaggedOdometer(nest, ii)
    found: list[list[int]] = []

    async def bench(ctx: SimulatorContext) -> None:
        for _ in range(runs):
            ctx.set(unit.begin, 1)
            await ctx.tick()
            ctx.set(unit.begin, 0)
            idle = 0
            while idle < 2 * ii:
                if ctx.get(unit.valid):
                    found.append([ctx.get(counter) for counter in unit.counters])
                    assert idle in (0, ii - 1)
                    idle = 0
                else:
                    idle += 1
                await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


# A bound with a factor rounds, and the larger of two lower bounds is no affine form: these nests
# run over more than the domain, and predicates leave out what is not in it.
WIDER = {("trapezoid", (1, 0)), ("parallelogram", (1, 0))}

CASES = [
    (name, order)
    for name, text in SHAPES.items()
    for order in permutations(range(isl.Set(text).dim(isl.dim_type.set)))
]


@pytest.mark.parametrize(("name", "order"), CASES)
def test_counts_through_the_domain_as_isl_enumerates_it(name: str, order: tuple[int, ...]) -> None:
    domain = isl.Set(SHAPES[name])
    nest, loops = nest_of(domain, order)
    points = [tuple(point[k] for k in order) for point in points_of(domain)]
    moving = [n for n, k in enumerate(order) if f"x{k}" in {loop.iterator for loop in loops}]
    expected = sorted([point[n] - loops[m].at for m, n in enumerate(moving)] for point in points)
    found = issued(nest, 1, runs=2)
    if (name, order) in WIDER:
        assert found == sorted(found[: len(found) // 2]) * 2
        assert len(found) > 2 * len(expected)
        found = [counters for counters in found if counters in expected]
    assert found == expected * 2


@pytest.mark.parametrize("ii", [2, 3])
def test_issues_every_ii_cycles(ii: int) -> None:
    nest, _ = nest_of(isl.Set(SHAPES["tetrahedron"]), (0, 1, 2))
    assert len(issued(nest, ii)) == len(points_of(isl.Set(SHAPES["tetrahedron"])))


def test_a_form_of_outer_counters_does_not_move_with_inner_ones() -> None:
    nest, _ = nest_of(isl.Set(SHAPES["tetrahedron"]), (0, 1, 2))
    assert moves(IndexForm((3, 0, 0), 1), nest)[:2] == (Add(0), Add(0))


def test_a_form_of_an_inner_counter_jumps_to_its_value_at_the_lower_bound() -> None:
    zero = (0, 0)
    triangle = Nest(
        (4, 4),
        (IndexForm(zero), IndexForm((1, 0))),
        ((IndexForm(zero, 3),), (IndexForm(zero, 3),)),
    )
    # for i<4, j=i..3: when i advances, 10*i + j becomes 10*(i + 1) + (i + 1).
    assert moves(IndexForm((10, 1)), triangle) == (
        Add(1),
        Jump(IndexForm((11, 0), 11)),
        Jump(IndexForm(zero)),
    )


def test_a_wrong_bound_is_noticed() -> None:
    nest, _ = nest_of(isl.Set(SHAPES["triangle"]), (0, 1))
    (first, (upper,)) = nest.uppers
    wrong = Nest(
        nest.extents,
        nest.lowers,
        (first, (IndexForm(upper.coefficients, upper.constant + 1),)),
    )
    assert len(issued(wrong, 1)) != len(points_of(isl.Set(SHAPES["triangle"])))
