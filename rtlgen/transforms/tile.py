"""Cut permutable loops into tiles.

Rewrite
-------
    for t1 for t2  S     ->   for t1 for t2    tiles of 8 by 8
                                for t3 = 8*t1 .. 8*t1+7  for t4 = 8*t2 .. 8*t2+7  S

Legal for a permutable band: no dependence runs against any of its loops, so none runs from a tile
to one before it. Inside a tile the loops may be interchanged too: the one with which most accesses
step to a neighbouring element becomes the innermost.

Reference: Irigoin and Triolet, "Supernode partitioning", POPL 1988.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.scop import Scop
from rtlgen.poly.errors import NothingToTile
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
from rtlgen.transforms.change_iterators import change_iterators


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
