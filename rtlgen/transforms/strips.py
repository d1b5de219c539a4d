"""Cut loops into strips: strip-mining.

Rewrite
-------
    for (i = 0; i < 390; i++)          for (i_strip = 0; i_strip < 65; i_strip++)
      S(i);                      ->      for (i = 0; i < 6; i++)
                                           S(6 * i_strip + i);

Instances and their order are those of the program, so nothing has to be proven. It is of use for
what other transforms do with the two loops: the iterations of a strip may take turns in a loop
further in, and what waits for their results waits for one strip instead of for all of them.

Reference: Wolfe, "More iteration space tiling", SC 1989.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, Scop, Statement, StatementNode
from rtlgen.source import Span
from rtlgen.transforms.lanes import trips_of


def in_strips(scop: Scop, sizes: Mapping[Span, int]) -> Scop:
    """Return a program with loops cut into strips.

    Parameters
    ----------
    sizes: iterations of a strip, by the place of the loop. A loop whose number of iterations is no
        known multiple of them stays as it is.
    """
    cutter = _Cutter(scop, sizes)
    tree = cutter.nodes(scop.tree, _Place())
    return replace(scop, statements=tuple(cutter.statements), tree=tree)


@dataclass(frozen=True, slots=True)
class _Place:
    """The loops around, and what iterators of the program are there."""

    loops: tuple[Loop, ...] = ()
    values: tuple[tuple[str, Affine], ...] = ()


class _Cutter:
    def __init__(self, scop: Scop, sizes: Mapping[Span, int]) -> None:
        self._scop = scop
        self._sizes = sizes
        self.statements: list[Statement] = []

    def nodes(self, nodes: Sequence[Node], place: _Place) -> tuple[Node, ...]:
        return tuple(self._node(node, place) for node in nodes)

    def _node(self, node: Node, place: _Place) -> Node:
        values = dict(place.values)
        match node:
            case StatementNode(name):
                self.statements.append(self._scop.statement(name).rewritten(values, place.loops))
                return node
            case ConditionNode(conditions, body):
                moved = tuple(condition.substitute(values) for condition in conditions)
                return ConditionNode(moved, self.nodes(body, place))
            case LoopNode(loop, body):
                own = loop.substitute(values).limited(values)
                size, trips = self._sizes.get(loop.span, 1), trips_of(own)
                if size == 1 or trips is None or trips % size or trips <= size:
                    kept = tuple((k, v) for k, v in place.values if k != own.iterator)
                    inside = _Place((*place.loops, own), kept)
                    return LoopNode(own, self.nodes(body, inside))
                outer = f"{own.iterator}_strip"
                count = Affine.variable(outer) * size + Affine.variable(own.iterator)
                around = replace(
                    own, iterator=outer, start=Affine(), step=1, scale=1, label=None, limits=()
                )
                strips = replace(around, stop=Affine((), trips // size))
                strip = replace(around, iterator=own.iterator, stop=Affine((), size))
                inside = _Place(
                    (*place.loops, strips, strip),
                    (*place.values, (own.iterator, own.start + count * own.step)),
                )
                return LoopNode(strips, (LoopNode(strip, self.nodes(body, inside)),))
