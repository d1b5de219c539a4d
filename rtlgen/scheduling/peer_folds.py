"""Folds of what workers hand over: the memory of one worker, in which its peer stores.

Rows of tiles, the iterations of the loop that workers share, run side by side, each so many columns
behind the one before (`scheduling.doacross`). A value of p in row r is read by q in row r + 1, of
another worker. Another store p' of the same worker to its place

- in row r, in the tile of p or behind it, may come before q: the writer does not wait for its
  reader, or no farther than for the column `ahead` columns before its own;
- in a later row of its own, r + NP at least, comes behind q where that waits for the tile of q, or
  for one behind it: row by row, column J for column J + lag.

So p' must have another place in the first case, and in the second one where that is not so. When in
a tile its statements issue does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.dependences import Flow
from rtlgen.scheduling.doacross import Doacross
from rtlgen.scheduling.folds import (
    instance_pairs,
    of_second,
    sample_of,
    sharing_places,
    values_apart,
)


@dataclass(frozen=True, slots=True)
class Hands:
    """How workers hand values over.

    Members
    -------
    across: how rows wait for each other. workers: who share them in turn.
    is_tight: whether a row is only so many columns ahead of the one behind it.
    """

    across: Doacross
    workers: int
    is_tight: bool


class PeerCollisions:
    """Values that are lost in the fold of a memory of which one worker is at either end.

    Parameters
    ----------
    statement: that writes them. written: its instances that do. flows: of what is handed over, each
        value to the next row.
    depth: how many outermost loops are over tiles.
    """

    def __init__(
        self,
        sets: ScopSets,
        statement: Statement,
        written: isl.Set,
        flows: Sequence[Flow],
        depth: int,
        hands: Hands,
    ) -> None:
        self.sets = sets
        self.statement = statement
        self.written = written
        self.flows = tuple(flows)
        across, row, column = hands.across, hands.across.space, hands.across.space + 1
        rows = f"(e{row} - d{row})"
        later = f"{rows} >= {hands.workers - 1} and d{column} > e{column} + {across.lag} * {rows}"
        same = f"e{row} = d{row} - 1"
        if hands.is_tight:
            same += f" and e{column} < d{column} + {across.ahead}"
        behind = [self._in_row(row, level) for level in range(column, depth)]
        behind.append(self._in_tile(row, depth))
        self.ways: list[isl.Map] = []
        for flow in flows:
            sink = sets.scop.statement(flow.sink)
            in_row = flow.relation.apply_range(self._pairs(sink, same))
            self.ways += [in_row.intersect(order).coalesce() for order in behind]
            self.ways.append(flow.relation.apply_range(self._pairs(sink, later)).coalesce())

    def _in_row(self, row: int, level: int) -> isl.Map:
        """Return {p -> p'} in one row, p' in a later iteration of a loop in it."""
        where = [f"e{k} = d{k}" for k in range(row + 1, level)]
        return self._pairs(self.statement, " and ".join([*where, f"e{level} > d{level}"]))

    def _in_tile(self, row: int, depth: int) -> isl.Map:
        """Return {p -> p'} in one tile of a row, of different elements.

        Of one element, nothing comes behind what is read from outside of the tile.
        """
        names = self.statement.iterators
        where = " and ".join(f"e{k} = d{k}" for k in range(row + 1, depth))
        differ = [
            f"{affine_text(form, names)} != {of_second(form, names)}"
            for form in self.statement.write.affine
        ]
        return self._pairs(self.statement, f"{where} and ({' or '.join(differ)})")

    def _pairs(self, first: Statement, where: str) -> isl.Map:
        """Return {first -> p'} under a condition on their iterators, d0, d1 .. and e0, e1 .."""
        return instance_pairs(self.sets, first, self.statement, [where])

    def apart(self, bits: Sequence[int]) -> tuple[int, ...] | None:
        """See `folds.Losing`."""
        sharing = sharing_places(self.sets, self.statement, self.written, bits)
        for way in self.ways:
            keep_going(self.sets.context)
            lost = sharing.intersect(way)
            if not lost.is_empty():
                pair = sample_of(lost)
                return values_apart(self.statement, pair.domain(), pair.range())
        return None
