"""Relations between the instances of a program in tiles: inside of a tile, and from tile to tile.

The first dimensions of every instance are those of its tile. All of it is exact, and none of it
depends on how many tiles there are.

Reference: Alias, Darte, Plesco, "Optimizing remote accesses for offloaded kernels", DATE 2013.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.sets import ScopSets, attempt, equal_outer
from rtlgen.poly.correspondence import Correspondence
from rtlgen.poly.dependences import Dataflow, Dependence, Flow
from rtlgen.poly.extrema import pair_extrema

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
        if relation.is_empty():
            return None
        pairs = pair_extrema(self.placed_at_origin(relation, not self.in_step))
        return pairs.maximum([*source, *(-c for c in sink)], 0)


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
    following = attempt(
        context, STEP_OPERATIONS, lambda: order.lex_lt_set(order).lexmin().coalesce()
    )
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


def _next(reached: isl.Map, following: isl.Map) -> isl.Map:
    return reached.apply_range(following).coalesce()
