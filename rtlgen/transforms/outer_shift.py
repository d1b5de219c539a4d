"""Outer loop shifting: bring adjacent perfect nests of equal trip counts into one perfect nest.

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
from math import prod

from rtlgen.errors import Label
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.ir.scop import LoopNode, Node, Scop, StatementNode
from rtlgen.ir.sets import ScopSets, equal_outer
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.errors import OuterShiftRefused
from rtlgen.transforms.nests import PerfectNest, branching, perfect_nest
from rtlgen.transforms.ols import OlsApplicability, OlsObstacle, OlsRestriction
from rtlgen.transforms.shift import exact_shift

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
