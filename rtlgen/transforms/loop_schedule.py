"""The loops that a scheduler chooses: bands, tiles of them, wavefronts, each step proven.

Cut permutable loops into tiles.

Rewrite
-------
    for t1 for t2  S     ->   for t1 for t2    tiles of 8 by 8
                                for t3 = 8*t1 .. 8*t1+7  for t4 = 8*t2 .. 8*t2+7  S

Legal for a permutable band: no dependence runs against any of its loops, so none runs from a tile
to one before it. Inside a tile the loops may be interchanged too: the one with which most accesses
step to a neighbouring element becomes the innermost.

Reference: Irigoin and Triolet, "Supernode partitioning", POPL 1988.

Skew loops of permutable bands into wavefronts: the outermost ones, or the two innermost.

Rewrite
-------
    for t1 for t2  S(t1, t2)     ->   for t1  for t2  S(t1 - t2, t2)

t1 becomes the sum of the band's loops. A dependence that crosses any of them crosses t1, so the
other loops are parallel: the tiles of one wavefront can run side by side.
Reference: Lamport, "The parallel execution of DO loops", CACM 1974.

Bring a program into the loops that a scheduler chooses for it, every step proven.

    reschedule -> tile -> wavefront

Each pass gives the program new iterators. `poly.correspondence` proves that its instances are those
of the program before; the dependences then follow, and `poly.legality` judges the new order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.options import Fusion, LoopOptions, Scheduler
from rtlgen.poly.correspondence import correspondence, moved_dataflow, moved_dependences
from rtlgen.poly.dependences import Dataflow, Dependence
from rtlgen.poly.edges import Edge, marked, schedule_edges
from rtlgen.poly.errors import NothingToTile
from rtlgen.poly.isl_scheduler import isl_schedule
from rtlgen.poly.legality import require_legal
from rtlgen.poly.pluto import pluto
from rtlgen.poly.schedule_tree import (
    Band,
    Leaf,
    Node,
    Part,
    Row,
    bands_of,
    loop_rows,
    statements_of,
)
from rtlgen.poly.schedule_tree import Sequence as InSequence
from rtlgen.transforms.reschedule import change_iterators, reschedule
from rtlgen.transforms.tile_nests import forbidding


def tile(scop: Scop, tree: Node, sizes: Sequence[int]) -> Node:
    """Return the schedule of a normalised program, tiled.

    Tiles are given to the outermost bands that have a loop for every size.

    Raises
    ------
    NothingToTile: there is no such band.
    """
    if not any(_fits(band, sizes) for band in bands_of(tree)):
        deepest = max((len(band.rows) for band in bands_of(tree)), default=0)
        raise NothingToTile(
            f"no {len(sizes)} loops can be tiled by {','.join(map(str, sizes))}",
            notes=(f"the deepest permutable band has {deepest} loop{'s'[: deepest != 1]}",),
            help="give fewer sizes, or choose another --scheduler",
        )
    return _Tiler(scop, tree, sizes).node(tree)


def _fits(band: Band, sizes: Sequence[int]) -> bool:
    return len(band.rows) >= len(sizes) and (band.permutable or len(sizes) == 1)


@dataclass(frozen=True, slots=True)
class _Tiler:
    scop: Scop
    tree: Node
    sizes: Sequence[int]

    def node(self, node: Node) -> Node:
        """Return the schedule below `node` with its outermost suitable bands tiled."""
        match node:
            case Leaf():
                return node
            case InSequence(children):
                return InSequence(tuple(self.node(child) for child in children))
            case Band(rows, permutable, child) if _fits(node, self.sizes):
                cut = zip(rows, self.sizes, strict=False)
                tiles = tuple(Row((Part(row.forms, size),)) for row, size in cut)
                return Band(tiles, permutable, Band(self._inside(node), permutable, child))
            case Band(child=child):
                return replace(node, child=self.node(child))

    def _inside(self, band: Band) -> tuple[Row, ...]:
        """Return the loops of a band in the order in which they run inside a tile."""
        if not band.permutable:
            return band.rows
        near = {id(row): self._near_accesses(band, row) for row in band.rows}
        innermost = max(reversed(band.rows), key=lambda row: near[id(row)])
        return (*(row for row in band.rows if row is not innermost), innermost)

    def _near_accesses(self, band: Band, row: Row) -> int:
        """Count accesses that stay, or step to a neighbour in memory, when only `row` steps."""
        count = 0
        for name in statements_of(band):
            statement = self.scop.statement(name)
            rows = loop_rows(self.tree, name)
            change = change_iterators(statement, rows, "t")
            (time,) = (t for t, other in zip(change.times, rows, strict=True) if other is row)
            for access in (statement.write, *statement.reads):
                if access.is_lookup:
                    continue
                moved = access.substitute(change.values).affine
                steps = [abs(subscript.coefficient(time)) for subscript in moved]
                count += not any(steps[:-1]) and max(steps[-1:], default=0) <= 1
        return count


def inner_wavefront(tree: Node) -> Node:
    """Return the schedule with the two innermost loops of every permutable band skewed.

    Inside one iteration of all others the last loop is parallel then, and a dependence that crosses
    it alone before is carried by the loop around it: over as many iterations as the last loop has.
    A band whose last loop is parallel already stays as it is; `tree` is marked.
    """
    match tree:
        case Leaf():
            return tree
        case InSequence(children):
            return InSequence(tuple(inner_wavefront(child) for child in children))
        case Band(rows, permutable, child):
            child = inner_wavefront(child)
            if len(rows) < 2 or not permutable or rows[-1].mark == "parallel":
                return replace(tree, child=child)
            return Band((*rows[:-2], _front(rows[-2:]), rows[-1]), permutable, child)


def wavefront(tree: Node) -> Node:
    """Return the schedule with every outermost permutable band skewed.

    A band that has a parallel loop already stays as it is; `tree` is marked.
    """
    match tree:
        case Leaf():
            return tree
        case InSequence(children):
            return InSequence(tuple(wavefront(child) for child in children))
        case Band(rows, permutable, child):
            if len(rows) < 2 or not permutable:
                return replace(tree, child=wavefront(child))
            if any(row.mark == "parallel" for row in rows):
                return tree
            return Band((_front(rows), *rows[1:]), False, child)


def _front(rows: Sequence[Row]) -> Row:
    """Return the loop that counts the wavefronts of some loops: their sum."""
    return Row(tuple(part for row in rows for part in row.parts))


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
