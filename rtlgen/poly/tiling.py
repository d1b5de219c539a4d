"""Relations between the instances of a program in tiles, and values that cross between tiles.

Relations between the instances of a program in tiles: inside of a tile, and from tile to tile.

The first dimensions of every instance are those of its tile. All of it is exact, and none of it
depends on how many tiles there are.

Reference: Alias, Darte, Plesco, "Optimizing remote accesses for offloaded kernels", DATE 2013.

Which values are read in tiles later than that which writes them, in plain words.

A source in tile T and a sink in tile U are in one iteration of the first tile loops, or U is later
in one of them. Asked of instances in tiles, the one that is projected out leaves a quotient behind:
its tile. So it is asked of one instance in tiles and the other as it was before:

    same tile along loop k:    size_k * T_k <= sink_k < size_k * (T_k + 1)
    a later one:               size_k * (T_k + 1) <= sink_k

Or U is in the iteration of a tile loop that comes next after that of T, in one iteration of the
loops outside of it: then the sink is *beside* its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.sets import ScopSets, affine_text, attempt, equal_outer
from rtlgen.poly.correspondence import Correspondence
from rtlgen.poly.dependences import Dataflow, Dependence, Flow
from rtlgen.poly.extrema import known_extrema

STEP_OPERATIONS = 200_000
"""isl operations that finding the next tile may take; where it takes more, it is the next one."""


@dataclass(frozen=True, slots=True, eq=False)
class TileGrid:
    """How the instances of a program became those of a program in tiles.

    Members
    -------
    flows: of the program before, in the order of those in tiles. moved: {before -> in tiles}.
    blocks: of every tile loop, what it steps through: number of a loop of the program before, of
        how many iterations, and the first of these by the tile iterators; None for one that counts
        tiles along several loops.
    """

    flows: tuple[Flow, ...]
    moved: Correspondence
    blocks: tuple[tuple[int, int, Affine] | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TileRelations:
    """What depends on what in a program in tiles.

    Members
    -------
    sets: the program; the first `depth` iterators of its statements are the tile loops.
    dependences, flows: of the whole program, between instances in tiles.
    has_lanes: whether the last iterator numbers lanes. in_step: whether instances that differ in
        nothing else issue together.
    """

    sets: ScopSets
    depth: int
    dependences: tuple[Dependence, ...]
    flows: Dataflow
    has_lanes: bool = False
    in_step: bool = True

    def together(self, relation: isl.Map) -> isl.Map:
        """Restrict a relation between instances of one statement to pairs that issue together."""
        if not self.has_lanes or not self.in_step:
            return isl.Map.empty(relation.get_space())
        return equal_outer(relation, relation.dim(isl.dim_type.in_) - 1).coalesce()

    def in_one_lane(self, relation: isl.Map) -> isl.Map:
        """Restrict a relation to pairs in one lane; where lanes are in step, all lanes count."""
        if not self.has_lanes or self.in_step:
            return relation
        first, second = isl.dim_type.in_, isl.dim_type.out
        return relation.equate(
            first, relation.dim(first) - 1, second, relation.dim(second) - 1
        ).coalesce()

    def to_no_later_lane(self, relation: isl.Map) -> isl.Map:
        """Leave out pairs whose second is in a later lane, which runs later for that.

        Where lanes are in step, all pairs count.
        """
        if not self.has_lanes or self.in_step:
            return relation
        first, second = isl.dim_type.in_, isl.dim_type.out
        earlier = relation.order_gt(
            first, relation.dim(first) - 1, second, relation.dim(second) - 1
        )
        return earlier.union(self.in_one_lane(relation)).coalesce()

    def same_tile(self) -> TileRelations:
        """Return what is between instances of one tile."""
        dependences = [
            replace(d, relation=relation)
            for d in self.dependences
            if not (relation := self.within(d.relation)).is_empty()
        ]
        flows = [
            replace(f, relation=relation)
            for f in self.flows.flows
            if not (relation := self.within(f.relation)).is_empty()
        ]
        live = dict(self.flows.live_out)
        return replace(self, dependences=tuple(dependences), flows=Dataflow(tuple(flows), live))

    def within(self, relation: isl.Map, levels: int | None = None) -> isl.Map:
        """Restrict a relation to pairs in one tile, or in one iteration of the outermost loops."""
        keep_going(self.sets.context)
        return equal_outer(relation, self.depth if levels is None else levels).coalesce()

    def across(self, relation: isl.Map) -> isl.Map:
        """Restrict a relation to pairs whose second is in a later tile."""
        return self.leaving(relation, self.depth)

    def leaving(self, relation: isl.Map, levels: int) -> isl.Map:
        """Restrict a relation to pairs whose second is later in one of the outermost tile loops."""
        keep_going(self.sets.context)
        found = isl.Map.empty(relation.get_space())
        return reduce(isl.Map.union, _later(relation, levels), found).coalesce()

    def has_across(self, relation: isl.Map) -> bool:
        """Tell whether there is a pair whose second is in a later tile."""
        for later in _later(relation, self.depth):
            keep_going(self.sets.context)
            if not later.is_empty():
                return True
        return False

    def tile_pairs(self, relation: isl.Map) -> isl.Map:
        """Return the tiles of the pairs of a relation, without names."""
        found = relation
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            found = found.project_out(kind, self.depth, found.dim(kind) - self.depth)
            found = found.reset_tuple_id(kind)
        return found.coalesce()

    def placed_at_origin(self, relation: isl.Map, lanes_count: bool = False) -> isl.Map:
        """Return the pairs of a relation with the tiles left out: all in the tile at the origin.

        Lanes are left out, too, unless they count: all are in the first one.
        """
        keep_going(self.sets.context)
        found = relation
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            name = relation.get_tuple_name(kind)
            left_out = [(0, self.depth)]
            if self.has_lanes and not lanes_count:
                left_out.append((found.dim(kind) - 1, 1))
            for first, count in left_out:
                found = found.project_out(kind, first, count).insert_dims(kind, first, count)
                for k in range(first, first + count):
                    found = found.fix_val(kind, k, isl.Val(0, relation.get_ctx()))
            found = found.set_tuple_name(kind, name)
        return found.coalesce()

    def at_origin(self, inside: ScopSets) -> TileRelations:
        """Return the relations of one tile, in the program of that tile alone."""
        same = self.same_tile()
        return TileRelations(
            inside,
            self.depth,
            tuple(
                replace(d, relation=relation)
                for d in same.dependences
                if not (relation := self._order_at_origin(d)).is_empty()
            ),
            Dataflow(
                tuple(
                    replace(f, relation=self.placed_at_origin(relation))
                    for f in same.flows.flows
                    if not (relation := self.to_no_later_lane(f.relation)).is_empty()
                ),
                dict(inside.domains),
            ),
        )

    def _order_at_origin(self, dependence: Dependence) -> isl.Map:
        """Return the pairs of a dependence at the origin that do not issue together anyway.

        What issues together reads before it stores.
        """
        relation = self.to_no_later_lane(dependence.relation)
        if dependence.source == dependence.sink:
            relation = relation.subtract(self.together(relation))
        return self.placed_at_origin(relation)

    def tiles(self) -> isl.Set:
        """Return the tiles in which some statement has an instance."""
        found = [
            domain.project_out(
                isl.dim_type.set, self.depth, domain.dim(isl.dim_type.set) - self.depth
            ).reset_tuple_id()
            for domain in self.sets.domains.values()
        ]
        return reduce(isl.Set.union, found).coalesce()

    def feeding(self, statement: str, read: int) -> tuple[Flow, ...]:
        """Return the flows into a read, from whatever tile."""
        return tuple(f for f in self.flows.flows if (f.sink, f.sink_read) == (statement, read))

    def beyond(
        self, relation: isl.Map, source: Sequence[int], sink: Sequence[int], least: int
    ) -> isl.Map:
        """Restrict a relation to pairs with source . p - sink . q > least.

        Parameters
        ----------
        source, sink: coefficients of the iterators, as in `largest`.
        """
        space = isl.LocalSpace.from_space(relation.get_space())
        more = isl.Constraint.inequality_alloc(space).set_constant_val(-least - 1)
        lanes = 1 if self.has_lanes and self.in_step else 0
        for kind, sign, form in ((isl.dim_type.in_, 1, source), (isl.dim_type.out, -1, sink)):
            for k in range(self.depth, len(form) - lanes):
                more = more.set_coefficient_val(kind, k, sign * form[k])
        return relation.add_constraint(more)

    def largest(self, relation: isl.Map, source: Sequence[int], sink: Sequence[int]) -> int | None:
        """Return the largest source . p - sink . q over the pairs, whatever their tiles, or None.

        Lanes that are not in step are iterations like others.

        Parameters
        ----------
        source, sink: coefficients of the iterators; those of the tile loops do not count.
        """
        pairs = known_extrema(self.sets, self.placed_at_origin(relation, not self.in_step))
        return None if pairs is None else pairs.maximum([*source, *(-c for c in sink)], 0)


def _later(relation: isl.Map, levels: int) -> Iterator[isl.Map]:
    """Yield the pairs that differ first in one loop after the other, the second one later."""
    first, second = isl.dim_type.in_, isl.dim_type.out
    for k in range(levels):
        yield relation.order_lt(first, k, second, k)
        relation = relation.equate(first, k, second, k)


def tiles_between(order: isl.Set, pairs: isl.Map, most: int) -> int:
    """Return how many tiles the second of each pair comes after the first, at least.

    Parameters
    ----------
    order: the tiles that run, in lexicographic order. pairs: of tiles, the first one earlier.
    most: where it is more, so many.
    """
    context = order.get_ctx()
    following = _following(order)
    if following is None:
        return 1
    reached = following
    for distance in range(1, most):
        # Where it takes too long to know more, it is as far as is known.
        if not attempt(context, STEP_OPERATIONS, partial(pairs.is_disjoint, reached)):
            return distance
        further = attempt(context, STEP_OPERATIONS, partial(_next, reached, following))
        if further is None:
            return distance + 1
        reached = further
    return most


def tiles_behind(order: isl.Set, count: int) -> isl.Map:
    """Return each tile with those that run as one of the next ones.

    Where it takes too long to tell these, all that run later.

    Parameters
    ----------
    order: the tiles that run, in lexicographic order. count: of the next ones.
    """
    following = _following(order)
    if following is None:
        return order.lex_lt_set(order)
    reached = found = following
    for _ in range(1, count):
        further = attempt(order.get_ctx(), STEP_OPERATIONS, partial(_next, reached, following))
        if further is None:
            return order.lex_lt_set(order)
        reached, found = further, found.union(further)
    return found.coalesce()


def _following(order: isl.Set) -> isl.Map | None:
    """Return each tile with the one that runs next; None where that takes too long to tell."""
    return attempt(
        order.get_ctx(), STEP_OPERATIONS, lambda: order.lex_lt_set(order).lexmin().coalesce()
    )


def _next(reached: isl.Map, following: isl.Map) -> isl.Map:
    return reached.apply_range(following).coalesce()


Block: TypeAlias = tuple[int, int, Affine]


class Crossings:
    """The instances whose value crosses the border of a tile, or does not.

    Parameters
    ----------
    grid: how the program of `relations` was cut.
    """

    def __init__(self, relations: TileRelations, grid: TileGrid) -> None:
        self.relations = relations
        self.sets = relations.sets
        self.grid = grid
        self._known: dict[tuple[str, int, int], isl.Set] = {}
        self._beside: dict[tuple[int, int], isl.Map] = {}

    def near_sinks(self, number: int, levels: int) -> isl.Set:
        """Return the instances that take a value of flow `number` from near.

        Parameters
        ----------
        levels: near is one iteration of so many outermost tile loops.
        """
        return self._once("near sinks", number, levels, lambda: self._sinks(number, levels, False))

    def far_sinks(self, number: int, levels: int) -> isl.Set:
        """Return the instances that take a value of flow `number` from farther."""
        return self._once("far sinks", number, levels, lambda: self._sinks(number, levels, True))

    def near_sources(self, number: int, levels: int) -> isl.Set:
        """Return the instances whose value flow `number` takes somewhere near."""
        return self._once(
            "near sources", number, levels, lambda: self._sources(number, levels, False)
        )

    def far_sources(self, number: int, levels: int) -> isl.Set:
        """Return the instances whose value flow `number` takes somewhere farther."""
        return self._once(
            "far sources", number, levels, lambda: self._sources(number, levels, True)
        )

    def beside(self, number: int, loop: int) -> isl.Map:
        """Return the pairs of flow `number` whose sink is beside its source.

        Parameters
        ----------
        loop: the tile loop of which these are in an iteration and in the next one.
        """
        key = number, loop
        if key not in self._beside:
            keep_going(self.sets.context)
            relation = equal_outer(self.relations.flows.flows[number].relation, loop)
            following = self._where(relation, f"d{loop} = p{loop} + 1")
            self._beside[key] = relation.intersect(following).coalesce()
        return self._beside[key]

    def _once(self, kind: str, number: int, levels: int, find: Callable[[], isl.Set]) -> isl.Set:
        key = kind, number, levels
        if key not in self._known:
            keep_going(self.sets.context)
            self._known[key] = find().coalesce()
        return self._known[key]

    def _blocks(self, levels: int) -> list[Block] | None:
        """Return what the first tile loops step through, if each steps through one loop."""
        found = [block for block in self.grid.blocks[:levels] if block is not None]
        return found if len(found) == levels else None

    def _sinks(self, number: int, levels: int, far: bool) -> isl.Set:
        flow = self.grid.flows[number]
        blocks = self._blocks(levels)
        if blocks is None:
            return self._crossing(number, levels, far).range()
        return self._told(flow.relation, flow.sink, blocks, far, "<=").range()

    def _sources(self, number: int, levels: int, far: bool) -> isl.Set:
        flow = self.grid.flows[number]
        blocks = self._blocks(levels)
        if blocks is None:
            return self._crossing(number, levels, far).domain()
        return self._told(flow.relation.reverse(), flow.source, blocks, far, ">=").range()

    def _crossing(self, number: int, levels: int, far: bool) -> isl.Map:
        relation = self.relations.flows.flows[number].relation
        if far:
            return self.relations.leaving(relation, levels)
        return self.relations.within(relation, levels)

    def _told(
        self, relation: isl.Map, statement: str, blocks: list[Block], far: bool, side: str
    ) -> isl.Map:
        """Return {instance before -> instance in tiles} of the pairs that are far, or near.

        Parameters
        ----------
        statement: of the second one, which is brought into tiles. side: where the tile of the first
            one is.
        """
        pairs = relation.apply_range(self.grid.moved[statement])
        same = [self._same(pairs, statement, block) for block in blocks]
        if not far:
            return reduce(isl.Map.intersect, same, pairs)
        found = pairs.subtract(pairs)
        for place, block in enumerate(blocks):
            other = self._other(pairs, statement, block, side)
            found = found.union(reduce(isl.Map.intersect, [*same[:place], other], pairs))
        return found

    def _same(self, pairs: isl.Map, statement: str, block: Block) -> isl.Map:
        k, size, begin = self._begin(statement, block)
        return self._where(pairs, f"{begin} <= p{k} <= {begin} + {size - 1}")

    def _other(self, pairs: isl.Map, statement: str, block: Block, side: str) -> isl.Map:
        k, size, begin = self._begin(statement, block)
        if side == "<=":
            return self._where(pairs, f"p{k} <= {begin} - 1")
        return self._where(pairs, f"p{k} >= {begin} + {size}")

    def _begin(self, statement: str, block: Block) -> tuple[int, int, str]:
        """Return a block with its first iteration as text."""
        k, size, begin = block
        names = self.sets.scop.statement(statement).iterators
        return k, size, f"({affine_text(begin, names)})"

    def _where(self, pairs: isl.Map, condition: str) -> isl.Map:
        first = ",".join(f"p{n}" for n in range(pairs.dim(isl.dim_type.in_)))
        second = ",".join(f"d{n}" for n in range(pairs.dim(isl.dim_type.out)))
        names = [pairs.get_tuple_name(kind) for kind in (isl.dim_type.in_, isl.dim_type.out)]
        return self.sets.read_map(
            f"{{ {names[0]}[{first}] -> {names[1]}[{second}] : {condition} }}"
        )
