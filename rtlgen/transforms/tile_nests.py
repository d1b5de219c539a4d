"""Cut the loops that statements share into tiles, or name the tiles that a dependence forbids.

Cut the loops that statements share into tiles, which run in an order of one's own choice.

Rewrite
-------
    for i<N  for j<N  S(i, j)    ->    for t0  for t1            (t0, t1) = order . (i_tile, j_tile)
                                         for i<8  for j<8  S(8*i_tile + i, 8*j_tile + j)

Tiles are cut in the coordinates of the C program, so that they begin where words of memory do. The
order is any unimodular map of the tile coordinates: a permutation, or with their sum as the first
row a wavefront. Whether tiles may run in it is for `poly.legality` to judge: what is asked is not
that the loops be permutable, only that no dependence runs from a tile to one before it.

With lanes, a loop inside of a tile is cut once more, and what is cut off runs innermost, around
each statement by itself. Its iterations are the lanes:

    for i<8  for j<8  S(i, j)    ->    for i<8  for j<2  for lane<4  S(i, 4*j + lane)

Lanes that are not in step run one behind the other, as the C program has them: their loop is next
to the one that they are of, `for i<2  for lane<4  for j<8  S(4*i + lane, j)`.

Tiles that a dependence forbids: which two of them need each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.errors import Label
from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.effort import advising
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, Scop, Statement, loop_paths
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.correspondence import correspondence, moved_dependences
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.legality import Instance, Violation, find_violation, illegal_schedule
from rtlgen.transforms.normalise import boxed, program_order
from rtlgen.transforms.reschedule import column_echelon, new_iterators


@dataclass(frozen=True, slots=True)
class Step:
    """What one tile loop steps through.

    Members
    -------
    row: of the order. size: how far a step is in it. count: the steps of an inner loop; 0: outer.
    """

    row: int
    size: int
    count: int


@dataclass(frozen=True, slots=True)
class Block:
    """The iterations of a loop that belong to one iteration of a tile loop.

    Members
    -------
    loop: number of the loop that is cut. begin: its first iteration, by the tile loops.
    """

    loop: int
    size: int
    begin: Affine


@dataclass(frozen=True, slots=True)
class Lanes:
    """Iterations that run side by side: `count` neighbours of the loop of number `loop`.

    Members
    -------
    in_step: whether they issue in one cycle; else each lane runs some cycles behind the one before.
    """

    loop: int
    count: int
    in_step: bool = True


@dataclass(frozen=True, slots=True)
class Tiling:
    """How loops are cut.

    Members
    -------
    sizes: iterations of a tile, a number a loop that all statements share, outermost first.
    order: rows over the tile coordinates, the slowest first; unimodular.
    phases: of every row, how far the inner one of two loops counts that step through it together,
        so that a step of the outer one is a step of whole words. 1: one loop; () where all are.
    woven: the row whose inner loop is the innermost of all, so that tiles next to each other are
        far apart in the rows behind it; None: no row's is.
    spread: that loop runs through all of its tiles always, and so keeps others apart.
    lanes: which iterations of a tile run side by side; None: each by itself.
    origins: by loop, how many iterations before its iteration 0 a tile begins; () where all begin
        with it. The loops that are cut have been delayed by as much.
    """

    sizes: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]
    phases: tuple[int, ...] = ()
    woven: int | None = None
    spread: bool = False
    lanes: Lanes | None = None
    origins: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if any(size < 1 for size in self.sizes):
            raise ValueError(f"tiles of {self.sizes} iterations")
        if len(self.order) != len(self.sizes) or any(
            len(row) != len(self.sizes) for row in self.order
        ):
            raise ValueError(f"{self.order} is no order of {len(self.sizes)} coordinates")
        if any(pivot != 1 for pivot in _pivots(self.order)):
            raise ValueError(f"{self.order} is not unimodular")
        if (
            len(self.phases) not in (0, self.depth)
            or (self.woven is not None and self.phases[self.woven] < 2)
            or (self.spread and self.woven is None)
        ):
            raise ValueError(f"tiles in the order {self.order} have no phases {self.phases}")
        if self.lanes is not None and self.sizes[self.lanes.loop] % self.lanes.count:
            raise ValueError(f"{self.lanes} do not fit tiles of {self.sizes}")
        if len(self.origins) not in (0, self.depth) or not all(
            0 <= origin < size for origin, size in zip(self.origins, self.sizes, strict=False)
        ):
            raise ValueError(f"tiles of {self.sizes} do not begin {self.origins} iterations before")

    @property
    def depth(self) -> int:
        return len(self.sizes)

    @property
    def outermost(self) -> int:
        """The number of the first loop that the slowest row of the order counts."""
        return next(k for k, c in enumerate(self.order[0]) if c)

    @property
    def trips(self) -> tuple[int, ...]:
        """Iterations of the loops inside of a tile: of the one in lanes, so many times fewer."""
        found = list(self.sizes)
        if self.lanes is not None:
            found[self.lanes.loop] //= self.lanes.count
        return tuple(found)

    def begun_before(self, loop: int, iterations: int) -> Tiling:
        """Return the same with tiles that begin so many iterations before the first of a loop."""
        origins = list(self.origins or (0,) * self.depth)
        origins[loop] = iterations
        return replace(self, origins=tuple(origins))

    @property
    def steps(self) -> tuple[Step, ...]:
        """What every tile loop steps through."""
        outer: list[Step] = []
        last: list[Step] = []
        for row, phase in enumerate(self.phases or (1,) * self.depth):
            outer.append(Step(row, phase, 0))
            if phase > 1:
                inner = last if row == self.woven else outer
                inner.append(Step(row, 1, phase))
        return (*outer, *last)

    @property
    def loop_count(self) -> int:
        """How many tile loops there are."""
        return len(self.steps)

    @property
    def phase_loops(self) -> tuple[tuple[int, int], ...]:
        """The tile loops that count within whole words: the number of each, and its iterations."""
        return tuple((n, step.count) for n, step in enumerate(self.steps) if step.count)

    def blocks(self, names: Sequence[str]) -> tuple[Block | None, ...]:
        """Return what each tile loop steps through; None for one that counts several coordinates.

        Parameters
        ----------
        names: of the tile loops.
        """
        rows = [Affine()] * self.depth
        found: list[Block | None] = []
        for name, step in zip(names, self.steps, strict=True):
            row = self.order[step.row]
            rows[step.row] = rows[step.row] + Affine.variable(name) * step.size
            (k, *others) = (k for k, c in enumerate(row) if c)
            if others or row[k] != 1:
                found.append(None)
            else:
                size = self.sizes[k]
                found.append(Block(k, size * step.size, rows[step.row] * size))
        return tuple(found)

    def coordinates(self, names: Sequence[str]) -> tuple[Affine, ...]:
        """Return each tile coordinate as a function of the tile loops of these names."""
        rows = [Affine()] * self.depth
        for name, step in zip(names, self.steps, strict=True):
            rows[step.row] = rows[step.row] + Affine.variable(name) * step.size
        # order . U = H is lower triangular with ones, so T = U . y with H . y = the tile loops.
        found = column_echelon(self.order, self.depth)
        solved: list[Affine] = []
        for k, row in enumerate(found.echelon):
            before = affine_sum(part * c for part, c in zip(solved, row, strict=False))
            solved.append(rows[k] - before)
        return tuple(
            affine_sum(part * c for part, c in zip(solved, row, strict=True))
            for row in found.unimodular
        )


def _pivots(order: Sequence[Sequence[int]]) -> list[int]:
    found = column_echelon(order, len(order))
    return [found.echelon[row][k] for k, row in enumerate(found.pivots)]


@dataclass(frozen=True, slots=True)
class TiledScop:
    """A program in tiles.

    Members
    -------
    scop: scheduled by tile, and inside of a tile in program order.
    inside: one whole tile, that with the number 0 in every tile loop, as a program of its own.
    tile_iterators: the loops over tiles, the first iterators of every statement.
    before: by statement, its iterators before as functions of those that it has now.
    lane: the loop over lanes, the last iterator of every statement; None without lanes. One whole
        tile has its first lane alone.
    """

    scop: Scop
    inside: Scop
    tile_iterators: tuple[str, ...]
    before: Mapping[str, tuple[Affine, ...]]
    lane: str | None = None


def cut_into_tiles(scop: Scop, tiling: Tiling) -> TiledScop:
    """Return a program in tiles; its loops count as in C, and its statements share those cut."""
    *tile_names, lane = new_iterators(scop, tiling.loop_count + 1)
    names = tuple(tile_names)
    cutter = _Cutter(scop, tiling, names, lane)
    tree = cutter.nodes(scop.tree, 0)
    for loop in reversed(cutter.tile_loops):
        tree = (LoopNode(loop, tree),)
    statements = tuple(map(cutter.statement, scop.statements))
    cut = replace(scop, statements=statements, tree=tree, schedule=program_order(tree))
    before = {
        statement.name: tuple(
            cutter.values(statement).get(name, Affine.variable(name))
            for name in statement.iterators
        )
        for statement in scop.statements
    }
    innermost = None if tiling.lanes is None else lane
    return TiledScop(boxed(cut), boxed(_first_tile(cut, tiling)), names, before, innermost)


def _first_tile(cut: Scop, tiling: Tiling) -> Scop:
    """Return the tile at the origin, whole whether the program has all of it or not."""
    depth = tiling.loop_count

    def single(statement: Statement) -> Statement:
        last = len(statement.loops) - (tiling.lanes is not None)
        loops = [
            loop if depth <= k < last else replace(loop, start=Affine(), stop=Affine((), 1))
            for k, loop in enumerate(statement.loops)
        ]
        return replace(statement, loops=tuple(loops), conditions=())

    # What a local array holds when the tile is done others may read: it does not end with it.
    arrays = tuple(replace(a, storage="global") if a.storage == "local" else a for a in cut.arrays)
    return replace(cut, arrays=arrays, statements=tuple(map(single, cut.statements)))


class _Cutter:
    def __init__(self, scop: Scop, tiling: Tiling, names: Sequence[str], lane: str) -> None:
        self.scop = scop
        self.tiling = tiling
        self.names = names
        self.coordinates = tiling.coordinates(names)
        self.tile_loops = self._tile_loops()
        self.lane = lane

    @property
    def lane_loop(self) -> Loop | None:
        """The loop over lanes, where there are some."""
        lanes = self.tiling.lanes
        if lanes is None:
            return None
        span = self.scop.statements[0].span
        return Loop(self.lane, Affine(), Affine((), lanes.count), 1, span)

    @property
    def _place_of_lanes(self) -> int | None:
        """The loop inside of which that over lanes is; None where it is innermost."""
        lanes = self.tiling.lanes
        return None if lanes is None or lanes.in_step else lanes.loop

    def _tile_loops(self) -> tuple[Loop, ...]:
        """Return loops over a box around all tiles."""
        boxes = [self._box(statement) for statement in self.scop.statements]
        tiles = [
            (min(box[k][0] for box in boxes) // size, max(box[k][1] for box in boxes) // size)
            for k, size in enumerate(self.tiling.sizes)
        ]
        span = self.scop.statements[0].span
        ranges: list[tuple[int, int]] = []
        for step in self.tiling.steps:
            form = Affine.of({str(k): c for k, c in enumerate(self.tiling.order[step.row])})
            low, high = form.range({str(k): ends for k, ends in enumerate(tiles)})
            whole = (low // step.size, high // step.size)
            ranges.append((0, step.count - 1) if step.count else whole)
        return tuple(
            Loop(name, Affine((), low), Affine((), high + 1), 1, span)
            for name, (low, high) in zip(self.names, ranges, strict=True)
        )

    def _box(self, statement: Statement) -> list[tuple[int, int]]:
        box = self.scop.schedule.box(statement.name)
        return [box[iterator] for iterator in statement.iterators]

    def nodes(self, nodes: tuple[Node, ...], depth: int) -> tuple[Node, ...]:
        """Return the tree inside of a tile."""
        found: list[Node] = []
        for node in nodes:
            match node:
                case LoopNode(loop, body):
                    inner = self.nodes(body, depth + 1)
                    if self.lane_loop is not None and depth == self._place_of_lanes:
                        inner = (LoopNode(self.lane_loop, inner),)
                    found.append(LoopNode(self._inside(loop, depth), inner))
                case ConditionNode(_, body):
                    # The statements have their conditions.
                    found += self.nodes(body, depth)
                case _ if self.lane_loop is not None and self._place_of_lanes is None:
                    found.append(LoopNode(self.lane_loop, (node,)))
                case _:
                    found.append(node)
        return tuple(found)

    def _inside(self, loop: Loop, depth: int) -> Loop:
        """Return a loop as it runs in a tile: one that is cut counts from 0.

        One of a single iteration, the same in all tiles that have it, runs in that one.
        """
        if depth < self.tiling.depth:
            first, behind = Affine(), Affine((), self.tiling.trips[depth])
            if loop.start.is_constant and loop.stop == loop.start * loop.scale + 1:
                first = Affine((), self._inner_place(loop.start.constant, depth))
                behind = first + 1
            return replace(loop, start=first, stop=behind, step=1, scale=1, limits=())
        return replace(loop, limits=())

    def _inner_place(self, iteration: int, depth: int) -> int:
        """Return what counts an iteration of a loop that is cut inside of its tile."""
        place = iteration % self.tiling.sizes[depth]
        lanes = self.tiling.lanes
        return place if lanes is None or lanes.loop != depth else place // lanes.count

    def values(self, statement: Statement) -> dict[str, Affine]:
        """Return what the iterators that are cut stand for."""
        cut = zip(statement.iterators, self.coordinates, self.tiling.sizes, strict=False)
        found = {name: Affine.variable(name) + tile * size for name, tile, size in cut}
        lanes = self.tiling.lanes
        if lanes is not None:
            name = statement.iterators[lanes.loop]
            more = Affine.variable(name) * (lanes.count - 1)
            found[name] = found[name] + more + Affine.variable(self.lane)
        return found

    def statement(self, statement: Statement) -> Statement:
        """Return a statement in tiles."""
        depth, values = self.tiling.depth, self.values(statement)
        box = self._box(statement)
        inner = [
            self._inside(loop, k) if k < depth else _boxed_loop(loop, box[k])
            for k, loop in enumerate(statement.loops)
        ]
        lanes = () if self.lane_loop is None else (self.lane_loop,)
        cut = statement.rewritten(values, (*self.tile_loops, *inner, *lanes))
        bounds = tuple(bound.substitute(values) for bound in statement.bounds)
        others = tuple(c for c in cut.conditions if not isinstance(c, Affine))
        return replace(cut, conditions=(*others, *bounds))


def _boxed_loop(loop: Loop, box: tuple[int, int]) -> Loop:
    low, high = box
    return replace(
        loop, start=Affine((), low), stop=Affine((), high + 1), step=1, scale=1, limits=()
    )


def _unit_rows(depth: int) -> list[tuple[int, ...]]:
    return [tuple(int(k == n) for k in range(depth)) for n in range(depth)]


def _front(depth: int, first: int = 1, second: int = 1) -> tuple[int, ...]:
    """Return the row of a wavefront through the first two loops."""
    return (first, second, *[0] * (depth - 2))


def tile_orders(depth: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the orders that are worth a look: rotations of the loops, and their wavefronts."""
    unit = _unit_rows(depth)
    found = [tuple(unit)]
    if depth > 1:
        found += [
            (_front(depth), unit[0], *unit[2:]),
            tuple([unit[1], unit[0], *unit[2:]]),
            tuple([*unit[1:], unit[0]]),
            tuple([unit[-1], *unit[:-1]]),
        ]
    return tuple(dict.fromkeys(found))


def any_loop_first(depth: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the orders in which one of the loops is outside of all others.

    Where one unit waits for another, it is behind by some tiles of the first loop.
    """
    unit = _unit_rows(depth)
    return tuple((unit[k], *unit[:k], *unit[k + 1 :]) for k in range(depth))


def steep_fronts(depth: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return wavefronts in which the tiles of a wave are farther apart in one loop than in another.

    Tiles that mirror each other, (I, J) and (J, I), are in one wave of a plain front.
    """
    unit = _unit_rows(depth)
    if depth < 2:
        return ()
    steep, flat = _front(depth, 2, 1), _front(depth, 1, 2)
    return (steep, unit[0], *unit[2:]), (flat, unit[1], *unit[2:])


WOVEN_TILES = 8
"""Tiles next to each other in a woven order, of which none waits for another."""


def woven_order(sizes: tuple[int, ...]) -> Tiling:
    """Return tiles in stripes along the second loop, each in wavefronts.

    Of tiles of which each needs something of its neighbour along the second loop, those next to
    each other run far apart: in between are others of the stripe.
    """
    return _in_phases(sizes, WOVEN_TILES, _front(len(sizes)), spread=True)


def strip_order(sizes: tuple[int, ...], tiles: int, *, slanted: bool) -> Tiling:
    """Return tiles in strips of so many along the first loop, one strip after the other.

    Rewrite
    -------
        for t0 for t1      ->   for strip  for t1, or slanted t0 + t1  for the t0 of the strip

    What is read again in a strip waits for the length of a column of the strip, not of the array.
    """
    depth = len(sizes)
    return _in_phases(sizes, tiles, _front(depth) if slanted else _unit_rows(depth)[1])


def inner_strip_order(sizes: tuple[int, ...], tiles: int, loop: int) -> Tiling:
    """Return tiles in strips of so many along an inner loop, in each iteration of the first one.

    Rewrite
    -------
        for t0 for t1 for t2      ->   for t0  for strip of t2  for t1  for the t2 of the strip

    Of sweeps over time, a strip does as many as a tile before the next strip does them.
    """
    unit = _unit_rows(len(sizes))
    others = [row for k, row in enumerate(unit) if k not in (0, loop)]
    phases = (1, tiles, *[1] * (len(sizes) - 2))
    return Tiling(sizes, (unit[0], unit[loop], *others), phases, woven=1)


def _in_phases(
    sizes: tuple[int, ...], tiles: int, second: tuple[int, ...], *, spread: bool = False
) -> Tiling:
    """Return the order in which so many tiles along the first loop are innermost of all."""
    unit = _unit_rows(len(sizes))
    phases = (tiles, *[1] * (len(sizes) - 1))
    return Tiling(sizes, (unit[0], second, *unit[2:]), phases, woven=0, spread=spread)


class WitnessTiles:
    """The tiles of two instances in the wrong order, and where an instance is.

    Members
    -------
    first, second: texts of the tiles of source and sink.
    """

    def __init__(self, tiled: TiledScop, tiling: Tiling, violation: Violation) -> None:
        self._tiled = tiled
        self._sizes = tiling.sizes
        self.first = self._tile_of(violation.dependence.source, violation.source_instance)
        self.second = self._tile_of(violation.dependence.sink, violation.sink_instance)

    def where(self, name: str, instance: Instance) -> str:
        """Return in which tile an instance of a statement is, as part of a sentence."""
        return f" in tile {self._tile_of(name, instance)}"

    def _tile_of(self, name: str, instance: Instance) -> str:
        values = dict(zip(self._tiled.scop.statement(name).iterators, instance, strict=True))
        cut = zip(self._tiled.before[name], self._sizes, strict=False)
        return f"({', '.join(str(form.evaluate(values) // size) for form, size in cut)})"


def forbidding(
    sets: ScopSets, dependences: Sequence[Dependence], sizes: tuple[int, ...]
) -> tuple[tuple[Label, ...], str] | None:
    """Return which accesses keep the loops of the program from being cut, and a note of two tiles.

    None where statements do not share as many loops, or where it takes too long to tell.
    """
    scop = sets.scop
    paths = list(loop_paths(scop.tree).values())
    if sum(len(set(numbers)) == 1 for numbers in zip(*paths, strict=False)) < len(sizes):
        return None
    tiling = Tiling(sizes, tile_orders(len(sizes))[0])
    violation: Violation | None = None
    with advising():
        tiled = cut_into_tiles(scop, tiling)
        after = ScopSets(tiled.scop, sets)
        moved = moved_dependences(dependences, after, correspondence(sets, after))
        violation = find_violation(after, moved, tiled.scop.schedule)
    if violation is None:
        return None

    tiles = WitnessTiles(tiled, tiling, violation)
    found = illegal_schedule(tiled.scop, violation, "cutting the loops", where=tiles.where)
    note = (
        f"cut as they are, tile {tiles.first} would have to be done before tile {tiles.second},"
        " which runs first"
    )
    return found.diagnostic.labels, note
