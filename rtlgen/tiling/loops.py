"""The loops in which a unit may be cut into tiles: those of the C program, or PLUTO's.

Statements share the loops that are cut. In C they often share fewer than they have, and time loops
cannot be cut without skewing what is inside of them; PLUTO's loops are made for tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import TooComplex, limited_effort
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.counting import count_points
from rtlgen.poly.errors import IllegalSchedule, NoHyperplane
from rtlgen.scheduling.decide import Decision
from rtlgen.tiling.program import Program
from rtlgen.transforms.loop_schedule import LoopOptions, Scheduled, schedule_loops
from rtlgen.transforms.reschedule import reschedule
from rtlgen.transforms.units import loop_paths


@dataclass(frozen=True, slots=True, eq=False)
class UnitLoops:
    """A unit in loops that may be cut.

    Members
    -------
    program: in the iterators of these loops. depth: how many outermost loops its statements share.
    written: in those of C.
    before: by statement, the iterators that it has in the C program, by those of these loops.
    are_written: whether they are the loops of the C program. instances: of every statement.
    decisions: for the tiles that were planned, see `tiling.part`.
    folds: that were found for them, see `scheduling.windows`.
    """

    program: Program
    depth: int
    written: Scop
    before: Mapping[str, tuple[Affine, ...]]
    are_written: bool
    instances: Mapping[str, int]
    decisions: dict[tuple[object, ...], Decision] = field(default_factory=dict)
    folds: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)


def loops_of(part: Program) -> Iterator[UnitLoops]:
    """Yield the loops of a unit that may be cut into tiles; those of C come first."""
    scop = part.scop
    own = {
        statement.name: tuple(map(Affine.variable, statement.iterators))
        for statement in scop.statements
    }
    instances = {name: count_points(domain) for name, domain in part.sets.domains.items()}
    written = UnitLoops(part, shared_loops(scop), scop, own, True, instances)
    yield written
    if any(statement.loops for statement in scop.statements):
        found = _from_pluto(part, instances)
        if found is not None and found.depth >= written.depth:
            yield found


def _from_pluto(part: Program, instances: Mapping[str, int]) -> UnitLoops | None:
    try:
        with limited_effort():
            found = schedule_loops(part.sets, part.dependences, part.flows, LoopOptions("pluto"))
    except (NoHyperplane, TooComplex, IllegalSchedule):
        # Loops nobody asked for are only tried.
        return None
    assert found is not None, "a scheduler was asked for"
    program = Program(found.sets, found.dependences, found.flows)
    depth = shared_loops(program.scop)
    return UnitLoops(program, depth, part.scop, _before(part, found), False, instances)


def _before(part: Program, found: Scheduled) -> Mapping[str, tuple[Affine, ...]]:
    """Return the iterators of C by those of the new loops."""
    # What a statement knows of its origin is rewritten with everything else.
    statements = tuple(
        replace(statement, origin=tuple(map(Affine.variable, statement.iterators)))
        for statement in part.scop.statements
    )
    marked = ScopSets(replace(part.scop, statements=statements), part.sets)
    after = reschedule(marked, found.final)
    return {statement.name: statement.origin for statement in after.statements}


def shared_loops(scop: Scop) -> int:
    """Return how many outermost loops the statements of a unit share."""
    paths = list(loop_paths(scop.tree).values())
    return sum(len(set(numbers)) == 1 for numbers in zip(*paths, strict=False))
