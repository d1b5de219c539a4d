"""Bring a program into the loops that a scheduler chooses for it, every step proven.

    reschedule -> tile -> wavefront

Each pass gives the program new iterators. `poly.correspondence` proves that its instances are those
of the program before; the dependences then follow, and `poly.legality` judges the new order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.options import Fusion, LoopOptions, Scheduler
from rtlgen.poly.correspondence import correspondence, moved_dataflow, moved_dependences
from rtlgen.poly.dependences import Dataflow, Dependence
from rtlgen.poly.edges import Edge, schedule_edges
from rtlgen.poly.errors import NothingToTile
from rtlgen.poly.isl_scheduler import isl_schedule
from rtlgen.poly.legality import require_legal
from rtlgen.poly.pluto.search import pluto
from rtlgen.poly.row_times import marked
from rtlgen.poly.schedule_tree import Node
from rtlgen.transforms.reschedule import reschedule
from rtlgen.transforms.tile import tile
from rtlgen.transforms.tile_witness import forbidding
from rtlgen.transforms.wavefront import inner_wavefront, wavefront


@dataclass(frozen=True, slots=True, eq=False)
class Scheduled:
    """A program in the loops of a schedule.

    Members
    -------
    scheduler: which one chose. tree: what it answered; final: the same after tiling and skewing.
    written: the dependences of the program before.
    sets: the program in its new loops. dependences, flows: the same between the new instances.
    stages: the program after each pass.
    """

    scheduler: Scheduler
    tree: Node
    final: Node
    written: tuple[Dependence, ...]
    sets: ScopSets
    dependences: tuple[Dependence, ...]
    flows: Dataflow
    stages: Mapping[str, Scop] = field(default_factory=dict)


def schedule_loops(
    sets: ScopSets, dependences: Sequence[Dependence], flows: Dataflow, options: LoopOptions
) -> Scheduled | None:
    """Return a normalised program in the loops asked for, or None where it keeps its own.

    Raises
    ------
    NoHyperplane, NothingToTile, RewriteUnsound, IllegalSchedule, TooComplex
    """
    scheduler = options.chosen
    if scheduler is None:
        return None
    edges = schedule_edges(sets, flows)
    tree = marked(sets, edges, _schedule(sets, edges, scheduler, options.fusion))
    stages: dict[str, Scop] = {}
    final, after, relations = tree, sets, tuple(dependences)
    moved = None
    for name, what, final in _passes(sets, edges, tree, options, dependences):
        after = ScopSets(reschedule(sets, final), sets)
        moved = correspondence(sets, after)
        relations = moved_dependences(dependences, after, moved)
        require_legal(after, relations, after.scop.schedule, what)
        stages[name] = after.scop
    assert moved is not None, "rescheduling always runs"
    return Scheduled(
        scheduler,
        tree,
        final,
        tuple(dependences),
        after,
        relations,
        moved_dataflow(flows, moved),
        stages,
    )


def _schedule(sets: ScopSets, edges: Sequence[Edge], scheduler: Scheduler, fusion: Fusion) -> Node:
    if scheduler == "pluto":
        return pluto(sets, edges, fusion)
    return isl_schedule(sets, edges, scheduler)


def _passes(
    sets: ScopSets,
    edges: Sequence[Edge],
    tree: Node,
    options: LoopOptions,
    dependences: Sequence[Dependence],
) -> Iterator[tuple[str, str, Node]]:
    """Yield pass, what it does, and the schedule after it."""
    yield "reschedule", "rescheduling the loops", tree
    if options.tile:
        try:
            cut = tile(sets.scop, tree, options.tile)
        except NothingToTile as error:
            raise _explained(error, sets, dependences, options.tile) from None
        tree = marked(sets, edges, cut)
        yield "tile", "tiling the loops", tree
    if options.inner_wavefront:
        tree = marked(sets, edges, inner_wavefront(tree))
        yield "wavefront", "skewing the loops", tree
    if options.wavefront:
        tree = marked(sets, edges, wavefront(tree))
        yield "wavefront", "skewing the loops", tree


def _explained(
    error: NothingToTile,
    sets: ScopSets,
    dependences: Sequence[Dependence],
    sizes: tuple[int, ...],
) -> NothingToTile:
    """Return the error with the dependence that keeps the loops of the program from being cut."""
    found = forbidding(sets, dependences, sizes)
    if found is None:
        return error
    labels, note = found
    told = error.diagnostic
    return NothingToTile(told.message, labels=labels, notes=(*told.notes, note), help=told.help)
