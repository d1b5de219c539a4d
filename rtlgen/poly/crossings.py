"""Which values are read in tiles later than that which writes them, in plain words.

A source in tile T and a sink in tile U are in one iteration of the first tile loops, or U is later
in one of them. Asked of instances in tiles, the one that is projected out leaves a quotient behind:
its tile. So it is asked of one instance in tiles and the other as it was before:

    same tile along loop k:    size_k * T_k <= sink_k < size_k * (T_k + 1)
    a later one:               size_k * (T_k + 1) <= sink_k
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.sets import affine_text
from rtlgen.poly.tiling import TileGrid, TileRelations


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

    def _once(self, kind: str, number: int, levels: int, find: Callable[[], isl.Set]) -> isl.Set:
        key = kind, number, levels
        if key not in self._known:
            keep_going(self.sets.context)
            self._known[key] = find().coalesce()
        return self._known[key]

    def _loops(self, levels: int) -> list[int] | None:
        """Return the loop whose tiles each of the first tile loops counts, if each counts one."""
        found = []
        for row in self.grid.rows[:levels]:
            loops = [k for k, c in enumerate(row) if c]
            if len(loops) > 1 or row[loops[0]] != 1:
                return None
            found += loops
        return found

    def _sinks(self, number: int, levels: int, far: bool) -> isl.Set:
        flow = self.grid.flows[number]
        loops = self._loops(levels)
        if loops is None:
            return self._crossing(number, levels, far).range()
        return self._told(flow.relation, flow.sink, loops, far, "<=").range()

    def _sources(self, number: int, levels: int, far: bool) -> isl.Set:
        flow = self.grid.flows[number]
        loops = self._loops(levels)
        if loops is None:
            return self._crossing(number, levels, far).domain()
        return self._told(flow.relation.reverse(), flow.source, loops, far, ">=").range()

    def _crossing(self, number: int, levels: int, far: bool) -> isl.Map:
        relation = self.relations.flows.flows[number].relation
        if far:
            return self.relations.leaving(relation, levels)
        return self.relations.within(relation, levels)

    def _told(
        self, relation: isl.Map, statement: str, loops: list[int], far: bool, side: str
    ) -> isl.Map:
        """Return {instance before -> instance in tiles} of the pairs that are far, or near.

        Parameters
        ----------
        statement: of the second one, which is brought into tiles. side: where the tile of the first
            one is.
        """
        pairs = relation.apply_range(self.grid.moved[statement])
        same = [self._same(pairs, statement, k) for k in loops]
        if not far:
            return reduce(isl.Map.intersect, same, pairs)
        found = pairs.subtract(pairs)
        for place, k in enumerate(loops):
            other = self._other(pairs, statement, k, side)
            found = found.union(reduce(isl.Map.intersect, [*same[:place], other], pairs))
        return found

    def _same(self, pairs: isl.Map, statement: str, k: int) -> isl.Map:
        begin = self._begin(statement, k)
        return self._where(pairs, f"{begin} <= p{k} <= {begin} + {self.grid.sizes[k] - 1}")

    def _other(self, pairs: isl.Map, statement: str, k: int, side: str) -> isl.Map:
        begin = self._begin(statement, k)
        if side == "<=":
            return self._where(pairs, f"p{k} <= {begin} - 1")
        return self._where(pairs, f"p{k} >= {begin} + {self.grid.sizes[k]}")

    def _begin(self, statement: str, k: int) -> str:
        """Return the first iteration along loop k of the tile of an instance."""
        names = self.sets.scop.statement(statement).iterators
        return f"({affine_text(self.grid.coordinates[k] * self.grid.sizes[k], names)})"

    def _where(self, pairs: isl.Map, condition: str) -> isl.Map:
        first = ",".join(f"p{n}" for n in range(pairs.dim(isl.dim_type.in_)))
        second = ",".join(f"d{n}" for n in range(pairs.dim(isl.dim_type.out)))
        names = [pairs.get_tuple_name(kind) for kind in (isl.dim_type.in_, isl.dim_type.out)]
        return self.sets.read_map(
            f"{{ {names[0]}[{first}] -> {names[1]}[{second}] : {condition} }}"
        )
