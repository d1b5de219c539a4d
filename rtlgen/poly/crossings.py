"""Which values are read in tiles later than that which writes them, in plain words.

A source in tile T and a sink in tile U are in one iteration of the first tile loops, or U is later
in one of them. Asked of instances in tiles, the one that is projected out leaves a quotient behind:
its tile. So it is asked of one instance in tiles and the other as it was before:

    same tile along loop k:    size_k * T_k <= sink_k < size_k * (T_k + 1)
    a later one:               size_k * (T_k + 1) <= sink_k

Or U is in the iteration of a tile loop that comes next after that of T, in one iteration of the
loops outside of it: then the sink is *beside* its source.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.sets import affine_text, equal_outer
from rtlgen.poly.tiling import TileGrid, TileRelations

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
