"""Judge whether OLS, outer loop shifting, brings the nests of a program into one perfect nest.

OLS turns the constant that separates two nests into a shift of their outermost loop. It is the
method that MF3 extends; this module decides where its published conditions hold, for comparison.

Reference
---------
OLS: Kato and Seto, IPSJ T-SLDM 6, 2013. The conditions, as MF3 states them: the nests are adjacent,
each one is perfect, and all have equal trip counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Dim, LoopDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import Loop, Node, Scop, statements_under
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.legality import find_violation
from rtlgen.source import Span
from rtlgen.transforms.nests import (
    PerfectNest,
    branching,
    first_loop,
    holds_loop,
    perfect_nest,
)
from rtlgen.transforms.units import dependence_units

OlsVerdict: TypeAlias = Literal["works", "fails", "not needed"]
OlsRestriction: TypeAlias = Literal["adjacent", "perfect", "equal trip counts"]


@dataclass(frozen=True, slots=True)
class OlsObstacle:
    """A restriction that a program does not meet, where, and how, without a full stop."""

    restriction: OlsRestriction
    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class OlsApplicability:
    """The verdict on one program.

    Members
    -------
    obstacles: why OLS fails, one a broken restriction.
    unneeded: why OLS is not needed, without a full stop.
    """

    verdict: OlsVerdict
    obstacles: tuple[OlsObstacle, ...] = ()
    unneeded: str = ""

    def __post_init__(self) -> None:
        if (self.verdict == "fails") != bool(self.obstacles):
            raise ValueError(f"OLS {self.verdict} with the obstacles {self.obstacles}")

    @property
    def broken(self) -> tuple[OlsRestriction, ...]:
        return tuple(obstacle.restriction for obstacle in self.obstacles)

    @property
    def reason(self) -> str:
        """For "fails" and "not needed": why; for "works" empty."""
        return "; ".join(obstacle.reason for obstacle in self.obstacles) or self.unneeded

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


def ols_applicability(
    scop: Scop, sets: ScopSets, dependences: Sequence[Dependence]
) -> OlsApplicability:
    """Return whether OLS works for a program, fails, or is not needed.

    It is not needed for a single nest, nor where the nests may issue from one perfect nest without
    any shift. Trip counts are compared level by level, as far as both nests are deep.

    Parameters
    ----------
    scop: normalised, in program order. sets, dependences: of it.
    """
    outer, level = branching(scop.tree)
    if not any(map(holds_loop, level)):
        obstacle = _skipped(sets, dependences, outer)
        if obstacle is not None:
            return OlsApplicability("fails", (obstacle,))
        return OlsApplicability("not needed", unneeded="there is a single nest")
    perfect = [nest for nest in map(perfect_nest, level) if nest is not None]
    found = (
        _between(scop, level),
        _imperfection(scop, level),
        _unequal(perfect, len(outer)),
    )
    obstacles = tuple(obstacle for obstacle in found if obstacle is not None)
    if obstacles:
        return OlsApplicability("fails", obstacles)
    if find_violation(sets, dependences, _side_by_side(scop, outer, perfect)) is None:
        return OlsApplicability("not needed", unneeded="the nests fuse without a shift")
    return OlsApplicability("works")


def _skipped(
    sets: ScopSets, dependences: Sequence[Dependence], loops: Sequence[Loop]
) -> OlsObstacle | None:
    """Return the innermost loop of a single nest, where statements beside it cannot join it.

    They run in one of its iterations. Where it has none, they can be kept apart instead, unless
    they depend on its statements in a cycle.
    """
    for unit in dependence_units(sets.scop, dependences):
        depths = {name: len(sets.scop.statement(name).iterators) for name in unit.statements}
        inside = [sets.domains[name] for name, depth in depths.items() if depth == len(loops)]
        for name, depth in depths.items():
            beside = sets.domains[name].reset_tuple_id()
            for domain in inside:
                inner = isl.dim_type.set, depth, len(loops) - depth
                beside = beside.subtract(domain.project_out(*inner).reset_tuple_id())
            if inside and depth < len(loops) and not beside.is_empty():
                loop = loops[-1]
                reason = (
                    f"loop {loop.iterator} at line {loop.span.line} is empty in some iterations of "
                    f"{name} (line {sets.scop.statement(name).span.line})"
                )
                return OlsObstacle("equal trip counts", reason, loop.span)
    return None


def _between(scop: Scop, level: tuple[Node, ...]) -> OlsObstacle | None:
    """Return what stands between two nests."""
    places = [place for place, node in enumerate(level) if holds_loop(node)]
    beside = [n for n in level[places[0] : places[-1]] if not holds_loop(n)]
    inside = statements_under(tuple(beside))
    if not inside:
        return None
    reason = f"{_listed(scop, inside)} between the nests"
    return OlsObstacle("adjacent", reason, scop.statement(inside[0]).span)


def _imperfection(scop: Scop, level: tuple[Node, ...]) -> OlsObstacle | None:
    """Return what keeps the nests, or the program around them, from being perfect."""
    loops = [first_loop(n) for n in level if holds_loop(n) and perfect_nest(n) is None]
    found = [f"the nest at line {loop.span.line} is not perfect" for loop in loops]
    spans = [loop.span for loop in loops]
    inside = {name for node in level for name in statements_under((node,))}
    places = [place for place, node in enumerate(level) if holds_loop(node)]
    beside = statements_under((*level[: places[0]], *level[places[-1] + 1 :]))
    outside = [s.name for s in scop.statements if s.name in beside or s.name not in inside]
    if outside:
        found.append(f"{_listed(scop, outside)} beside the nests")
        spans.append(scop.statement(outside[0]).span)
    return OlsObstacle("perfect", "; ".join(found), spans[0]) if found else None


def _listed(scop: Scop, names: Sequence[str]) -> str:
    lines = ", ".join(f"{name} (line {scop.statement(name).span.line})" for name in names)
    return f"{lines} {'stands' if len(names) == 1 else 'stand'}"


def _unequal(nests: Sequence[PerfectNest], depth: int) -> OlsObstacle | None:
    """Return the first two nests whose loops differ."""
    for one, other in pairwise(nests):
        shared = min(len(one.loops), len(other.loops))
        if _trips(one, depth)[:shared] != _trips(other, depth)[:shared]:
            reason = (
                f"the nests at lines {one.line} and {other.line} have trip counts "
                f"{_product(one)} and {_product(other)}"
            )
            return OlsObstacle("equal trip counts", reason, other.loops[0].span)
    return None


def _trips(nest: PerfectNest, depth: int) -> tuple[tuple[Affine, int], ...]:
    """Return the bounds of the loops, iterators replaced by the level that they count."""
    levels = {
        loop.iterator: Affine.variable(f"level{depth + n}") for n, loop in enumerate(nest.loops)
    }
    return tuple((loop.stop.substitute(levels), loop.scale) for loop in nest.loops)


def _product(nest: PerfectNest) -> str:
    return " x ".join(
        f"({loop.stop})" if loop.stop.terms else str(loop.stop) for loop in nest.loops
    )


def _side_by_side(scop: Scop, outer: Sequence[Loop], nests: Sequence[PerfectNest]) -> Schedule:
    """Return the schedule with all nests in one perfect nest, in program order inside of it."""
    deepest = max(len(nest.loops) for nest in nests)
    dims: dict[str, tuple[Dim, ...]] = {}
    place = 0
    for nest in nests:
        counters = [LoopDim(NestLoop(loop.iterator, 1)) for loop in (*outer, *nest.loops)]
        pads = [LoopDim(NestLoop(None, 1))] * (deepest - len(nest.loops))
        for name in nest.statements:
            dims[name] = (*counters, *pads, ScalarDim(place))
            place += 1
    return Schedule({statement.name: dims[statement.name] for statement in scop.statements})
