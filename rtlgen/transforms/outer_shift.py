"""Outer loop shifting: which nests may become one perfect nest, and by which shifts.

The nests of a program: where its tree of loops branches, and which nests are perfect.

Judge whether OLS, outer loop shifting, brings the nests of a program into one perfect nest.

OLS turns the constant that separates two nests into a shift of their outermost loop. It is the
method that MF3 extends; this module decides where its published conditions hold, for comparison.

Reference
---------
OLS: Kato and Seto, IPSJ T-SLDM 6, 2013. The conditions, as MF3 states them: the nests are adjacent,
each one is perfect, and all have equal trip counts.

How far a statement must start after another one is the integer maximum over the dependence
relation. MF3 (Izawa et al.) tries a shift, looks for a violated pair and halves the interval; the
tests compare the two on every dependence of every example.

Rewrite
-------
    for i<8 for j<8 S0(i,j);  for i<8 for j<8 S1(i,j);
    ->
    for i<9 for j<8: if (i < 8) S0(i,j);
                     if (i >= 1) S1(i-1,j);       S1 needs row i of S0, so it is shifted by 1

A statement of a shallower nest, or one beside the innermost loop of a single nest, runs in one
iteration of the loops that it lacks: in their first, or in their last one where it stands behind
them. MFF needs constant bounds, so every loop runs over its bounding box. The flattened loop then
counts the iterations of that one nest.

Reference
---------
OLS: Kato and Seto, IPSJ T-SLDM 6, 2013. MFF: Ishikawa et al., VLD2017-97.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Literal, TypeAlias

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Dim, FlatDim, LoopDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import (
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    StatementNode,
    statements_under,
    walk_tree,
)
from rtlgen.ir.sets import ScopSets, equal_outer
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.errors import OuterShiftRefused
from rtlgen.poly.extrema import known_extrema
from rtlgen.poly.legality import find_violation
from rtlgen.source import Span
from rtlgen.transforms.units import dependence_units


@dataclass(frozen=True, slots=True)
class PerfectNest:
    """A perfect nest: its loops, outermost first, and the statements of the innermost one."""

    loops: tuple[Loop, ...]
    statements: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.loops[0].span.line


def branching(nodes: tuple[Node, ...]) -> tuple[tuple[Loop, ...], tuple[Node, ...]]:
    """Return the loops around the first level that holds several nests, and that level.

    The level of a program that holds a single nest is the body of its innermost loop.
    """
    outer: list[Loop] = []
    while True:
        match [node for node in nodes if holds_loop(node)]:
            case [LoopNode(loop, body)]:
                outer.append(loop)
                nodes = body
            case [ConditionNode(_, body)]:
                nodes = body
            case _:
                return tuple(outer), nodes


def holds_loop(node: Node) -> bool:
    return any(isinstance(inner, LoopNode) for inner in walk_tree((node,)))


def first_loop(node: Node) -> Loop:
    """Return the first loop of a node that holds one."""
    return next(n.loop for n in walk_tree((node,)) if isinstance(n, LoopNode))


def perfect_nest(node: Node) -> PerfectNest | None:
    """Return `node` as a perfect nest, or None when it is something else."""
    loops: list[Loop] = []
    while isinstance(node, LoopNode):
        loops.append(node.loop)
        if not any(map(holds_loop, node.body)):
            return PerfectNest(tuple(loops), statements_under(node.body))
        if len(node.body) > 1:
            return None
        node = node.body[0]
    return None


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


def exact_shift(
    sets: ScopSets, dependence: Dependence, source: FlatDim, sink: FlatDim, together: bool
) -> int:
    """Return the smallest legal shift_sink - shift_source for one dependence.

    Parameters
    ----------
    together: source and sink may share an iteration (the source stands first in the text).
    """
    coefficients: list[int] = []
    for name, dim, sign in ((dependence.source, source, 1), (dependence.sink, sink, -1)):
        iterators = sets.scop.statement(name).iterators
        coefficients += [sign * dim.rank.coefficient(iterator) for iterator in iterators]
    constant = source.rank.constant - sink.rank.constant
    pairs = known_extrema(sets, dependence.relation)
    assert pairs is not None, "a dependence relates some instances"
    largest = pairs.maximum(coefficients, constant)
    return largest if together else largest + 1


_NEEDED: Mapping[OlsRestriction, str] = {
    "adjacent": "adjacent",
    "perfect": "perfect",
    "equal trip counts": "of equal trip counts",
}


def outer_loop_shift(
    sets: ScopSets, dependences: Sequence[Dependence], verdict: OlsApplicability
) -> dict[str, FlatDim]:
    """Return the flattened loops of every statement in the one perfect nest that OLS makes.

    Parameters
    ----------
    sets, dependences: of the normalised program in program order. verdict: of OLS on it.

    Raises
    ------
    OuterShiftRefused: a restriction of OLS does not hold.
    """
    scop = sets.scop
    if verdict.obstacles:
        raise _refusal(verdict.obstacles)
    outer, level = branching(scop.tree)
    nests = [nest for nest in map(perfect_nest, level) if nest is not None]
    if not nests:
        return _sunk(scop)
    return _Shifter(scop, sets, dependences, len(outer), nests).flats()


def _refusal(obstacles: Sequence[OlsObstacle]) -> OuterShiftRefused:
    return OuterShiftRefused(
        f"outer loop shifting needs nests that are {_NEEDED[obstacles[0].restriction]}",
        labels=[Label(obstacle.span, obstacle.reason) for obstacle in obstacles[:1]],
        notes=[
            f"and nests that are {_NEEDED[obstacle.restriction]}: {obstacle.reason}"
            for obstacle in obstacles[1:]
        ],
        help="leave out --fuse ols: --fuse mf3 has no such restriction",
    )


def _sunk(scop: Scop) -> dict[str, FlatDim]:
    """Give every statement of a single nest the loops of the innermost ones."""
    loops = _shared_boxes(scop, [statement.name for statement in scop.statements])
    ends = _ends(scop.tree)
    flats = {}
    for statement in scop.statements:
        depth, own = len(statement.loops), []
        for n, loop in enumerate(loops):
            if n < depth:
                own.append(replace(loop, iterator=statement.iterators[n]))
            else:
                own.append(NestLoop(None, loop.extent, (loop.extent - 1) * ends[statement.name]))
        flats[statement.name] = FlatDim(tuple(own))
    return flats


def _ends(tree: tuple[Node, ...]) -> dict[str, int]:
    """Return for every statement 1 where it stands behind the loop beside it, else 0."""
    ends: dict[str, int] = {}

    def visit(nodes: tuple[Node, ...], behind: int) -> int:
        for node in nodes:
            if isinstance(node, StatementNode):
                ends[node.statement] = behind
            elif isinstance(node, LoopNode):
                visit(node.body, 0)
                behind = 1
            else:
                behind = visit(node.body, behind)
        return behind

    visit(tree, 0)
    return ends


def _shared_boxes(scop: Scop, names: Sequence[str]) -> list[NestLoop]:
    """Return, level by level, the smallest box around the loops of the statements."""
    boxes: list[NestLoop] = []
    for loops in (scop.schedule.loops(name) for name in names):
        for level, loop in enumerate(loops):
            if level == len(boxes):
                boxes.append(loop)
                continue
            low = min(boxes[level].at, loop.at)
            high = max(boxes[level].at + boxes[level].extent, loop.at + loop.extent)
            boxes[level] = replace(loop, extent=high - low, at=low)
    return boxes


@dataclass(frozen=True, slots=True, eq=False)
class _Shifter:
    """Several perfect nests, inside of `depth` loops that they share."""

    scop: Scop
    sets: ScopSets
    dependences: Sequence[Dependence]
    depth: int
    nests: Sequence[PerfectNest]

    def flats(self) -> dict[str, FlatDim]:
        names = [name for nest in self.nests for name in nest.statements]
        boxes = _shared_boxes(self.scop, names)
        plain = {name: self._padded(name, boxes) for name in names}
        inner = prod(loop.extent for loop in boxes[self.depth + 1 :])
        shifts = self._outer_shifts(plain, inner)
        return {
            name: self._shifted(plain[name], shifts[n], max(shifts), inner)
            for n, nest in enumerate(self.nests)
            for name in nest.statements
        }

    def _padded(self, name: str, boxes: Sequence[NestLoop]) -> FlatDim:
        iterators = self.scop.statement(name).iterators
        pads = [NestLoop(None, box.extent) for box in boxes[len(iterators) :]]
        own = [replace(box, iterator=it) for box, it in zip(boxes, iterators, strict=False)]
        return FlatDim((*own, *pads))

    def _outer_shifts(self, plain: Mapping[str, FlatDim], inner: int) -> list[int]:
        """Return the smallest shift of every nest, in iterations of its outermost loop."""
        home = {name: n for n, nest in enumerate(self.nests) for name in nest.statements}
        inside = {name: FlatDim(flat.loops[self.depth :]) for name, flat in plain.items()}
        shifts = [0] * len(self.nests)
        # Dependences point forward within one iteration of the loops around the nests.
        for dependence in sorted(self.dependences, key=lambda d: home[d.source]):
            source, sink = home[dependence.source], home[dependence.sink]
            within = self._within(dependence)
            if source >= sink or within is None:
                continue
            flats = inside[dependence.source], inside[dependence.sink]
            required = exact_shift(self.sets, within, *flats, together=True)
            shifts[sink] = max(shifts[sink], shifts[source] - (-required // inner))
        return shifts

    def _within(self, dependence: Dependence) -> Dependence | None:
        """Restrict a dependence to one iteration of the loops around the nests."""
        relation = equal_outer(dependence.relation, self.depth)
        return None if relation.is_empty() else replace(dependence, relation=relation)

    def _shifted(self, flat: FlatDim, shift: int, largest: int, inner: int) -> FlatDim:
        if not self.depth:
            return replace(flat, shift=shift * inner)
        # Inside of other loops the room for all shifts belongs to every iteration of them.
        loops = list(flat.loops)
        moved = loops[self.depth]
        loops[self.depth] = replace(moved, extent=moved.extent + largest, at=moved.at - shift)
        return FlatDim(tuple(loops))
