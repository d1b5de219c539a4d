"""Which loop over tiles workers can share.

The iterations of a loop can go to different workers where, in one iteration of the loops outside of
it, nothing passes between them: no dependence through an array that they share. An array that is
never off chip, since all of its values are read in the iteration that writes them, is in a memory
of each worker's own.

Where no loop is like that, the iterations of the outermost one may still wait for one another:
`scheduling.doacross`.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from rtlgen.errors import Label
from rtlgen.poly.dependences import Dependence
from rtlgen.scheduling.doacross import Doacross, SharedLoop, doacross
from rtlgen.tiling.chip import Chip
from rtlgen.tiling.cut import CutPart
from rtlgen.tiling.errors import NoParallelTiles
from rtlgen.tiling.part import traffic_of


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """The loop over tiles that workers can share, or what is in the way.

    Members
    -------
    loop: None where there is none. obstacle: what every loop has in its way.
    writer: the statement that writes an array on chip. may_wait: whether one could be shared if its
        iterations waited for one another.
    """

    loop: SharedLoop | None
    obstacle: Dependence | None = None
    writer: str | None = None
    may_wait: bool = False


def sharing_of(cut: CutPart, chip: Chip) -> Sharing:
    """Return which loop over tiles workers can share."""
    for statement in cut.relations.sets.scop.statements:
        if statement.write.array not in chip.off_chip:
            # Its memory has one write port.
            return Sharing(None, writer=statement.name)
    obstacle: Dependence | None = None
    for number, loop in enumerate(cut.tile_loops):
        if loop.extent == 1:
            continue
        between = [
            d for d in cut.relations.dependences if not _between(d.relation, number).is_empty()
        ]
        if between:
            moved = _moved(cut, chip, number + 1)
            between = [d for d in between if d.array in moved]
        if not between:
            return Sharing(SharedLoop(number))
        obstacle = obstacle or between[0]
    across = _across(cut, chip)
    if across is None:
        return Sharing(None, obstacle)
    if chip.workers.policy != "cyclic" or chip.workers.barrier:
        return Sharing(None, obstacle, may_wait=True)
    return Sharing(SharedLoop(across.space, across))


def _across(cut: CutPart, chip: Chip) -> Doacross | None:
    """Return how the iterations of the outermost loop can wait for one another, if they can."""
    for number, loop in enumerate(cut.tile_loops):
        if loop.extent > 1:
            moved = _moved(cut, chip, number + 1)
            pairs = [
                cut.relations.tile_pairs(dependence.relation)
                for dependence in cut.relations.dependences
                if dependence.array in moved
            ]
            return doacross(cut.relations.sets, cut.tile_loops, number, pairs, chip.workers.count)
    return None


def _between(relation: isl.Map, number: int) -> isl.Map:
    """Restrict a relation to one iteration of the loops outside, and to two of this one."""
    for k in range(number):
        relation = relation.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    earlier = relation.order_lt(isl.dim_type.in_, number, isl.dim_type.out, number)
    later = relation.order_gt(isl.dim_type.in_, number, isl.dim_type.out, number)
    return earlier.union(later)


def _moved(cut: CutPart, chip: Chip, levels: int) -> set[str]:
    """Return the arrays that are moved where values stay on chip within some loops."""
    traffic = traffic_of(cut, chip, levels)
    moved = [moved for moved, _ in traffic.loads()] + list(traffic.stores())
    return {each.footprint.array.name for each in moved}


def no_parallel_tiles(cut: CutPart, found: Sharing, workers: int) -> NoParallelTiles:
    """Return what says why workers cannot share tiles."""
    what = f"no loop over tiles can be shared by {workers} workers"
    if found.obstacle is None:
        if found.writer is None:
            return NoParallelTiles(f"{what}: there is one tile", help="ask for smaller tiles")
        scop = cut.relations.sets.scop
        access = scop.statement(found.writer).write
        remedy = "keep that array off chip, or use one worker"
        if scop.array(access.array).depth == 1:
            # One element is never off chip.
            remedy = "compute it in a loop of its own, or use one worker"
        return NoParallelTiles(
            f"{what}: {found.writer} writes {access.array}, which is on chip",
            labels=(Label(access.span, "all workers would write it"),),
            help=remedy,
        )
    between = found.obstacle
    remedy = "use one worker, or other sizes of tiles"
    if found.may_wait:
        remedy = (
            "share them by `cyclic`, without a barrier: each tile then waits for those it needs; "
            f"or {remedy}"
        )
    return NoParallelTiles(
        f"{what}: tiles of one wave depend on each other through {between.array}",
        labels=(
            Label(between.sink_access.span, f"{between.sink} depends on it"),
            Label(between.source_access.span, f"{between.source}, in another tile"),
        ),
        help=remedy,
    )
