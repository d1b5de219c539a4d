"""The search: hyperplanes while there are any, then cuts, down to single statements.

A band takes hyperplanes for as long as all its dependences allow one more: every row of it is legal
for every dependence, so its loops can be permuted and tiled. Where no further one exists, the pairs
that the band orders are dropped and the next band begins inside; where a band cannot even begin,
the statements are cut into groups that run one after another (a scalar dimension).
"""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from dataclasses import dataclass

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.sets import ScopSets
from rtlgen.options import Fusion
from rtlgen.poly.edges import Edge
from rtlgen.poly.errors import NoHyperplane
from rtlgen.poly.pluto.components import (
    Group,
    components,
    connected,
    cut_after_longest,
    cut_by_depth,
)
from rtlgen.poly.pluto.farkas import Cone, cones
from rtlgen.poly.pluto.hyperplane import Found, Hyperplane, best_hyperplane, is_complete
from rtlgen.poly.pluto.unknowns import Unknowns
from rtlgen.poly.row_times import within_rows
from rtlgen.poly.schedule_tree import Band, Leaf, Node, Row, in_sequence


def pluto(sets: ScopSets, edges: Ordered[Edge], fusion: Fusion = "smart") -> Node:
    """Return the schedule of a normalised program.

    Parameters
    ----------
    edges: see `poly.edges.schedule_edges`.

    Raises
    ------
    NoHyperplane: a cycle of statements has no common hyperplane.
    TooComplex: isl's operation limit was met.
    """
    with limited_effort("its hyperplanes"):
        return _Search(sets, fusion).schedule(edges)


@dataclass(frozen=True, slots=True, eq=False)
class _Constrained:
    """An edge, and the functions that are non-negative on it."""

    edge: Edge
    cones: tuple[Cone, ...]


class _Search:
    def __init__(self, sets: ScopSets, fusion: Fusion) -> None:
        self.sets = sets
        self.fusion = fusion
        self.iterators = {s.name: s.iterators for s in sets.scop.statements}
        schedule = sets.scop.schedule
        self.size = max(
            (loop.at + loop.extent for name in self.iterators for loop in schedule.loops(name)),
            default=1,
        )

    def schedule(self, edges: Ordered[Edge]) -> Node:
        names = tuple(self.iterators)
        found: Found = dict.fromkeys(names, ())
        groups = [names]
        if self.fusion != "max":
            groups = components(names, edges)
        if self.fusion == "smart":
            groups = cut_by_depth(groups, {n: len(self.iterators[n]) for n in names})
        return in_sequence([self._node(g, _inside(edges, g), found) for g in groups])

    def _node(self, group: Group, edges: Ordered[Edge], found: Found) -> Node:
        """Return the schedule of a group inside the rows found so far."""
        constrained = [_Constrained(e, cones(self.sets, e, self.size)) for e in edges]
        rows: list[Row] = []
        inner = dict(found)
        while not self._complete(group, inner):
            row = self._row(group, constrained, inner)
            if row is None:
                break
            rows.append(row)
            for name in group:
                inner[name] = (*inner[name], self._coefficients(name, row.forms[name]))
        if rows:
            remaining = within_rows(self.sets, edges, rows)
            return Band(tuple(rows), len(rows) > 1, self._node(group, remaining, inner))
        if len(group) == 1 and self._complete(group, found):
            return Leaf(group[0])
        groups = self._cut(group, constrained, found)
        return in_sequence([self._node(g, _inside(edges, g), found) for g in groups])

    def _complete(self, group: Group, found: Found) -> bool:
        return all(is_complete(self.iterators[name], found[name]) for name in group)

    def _coefficients(self, name: str, form: Affine) -> tuple[int, ...]:
        return tuple(form.coefficient(iterator) for iterator in self.iterators[name])

    def _row(self, group: Group, edges: Ordered[_Constrained], found: Found) -> Row | None:
        """Return one hyperplane of every connected part of the group, side by side."""
        forms: dict[str, Affine] = {}
        bounds: list[tuple[int, int]] = []
        for part in connected(group, [c.edge for c in edges]):
            hyperplane = self._hyperplane(part, edges, found)
            if hyperplane is None:
                return None
            forms |= hyperplane.forms
            bounds.append(hyperplane.bound)
        return Row.of(forms, bound=max(bounds))

    def _hyperplane(
        self, part: Group, edges: Ordered[_Constrained], found: Found
    ) -> Hyperplane | None:
        unknowns = Unknowns({name: self.iterators[name] for name in part})
        own = [cone for c in edges if c.edge.source in part for cone in c.cones]
        if self._complete(part, found):
            # Nothing is left to tell apart: these statements wait for the others.
            return Hyperplane({name: Affine() for name in part}, (0, 0))
        return best_hyperplane(self.sets, unknowns, own, found)

    def _cut(self, group: Group, edges: Ordered[_Constrained], found: Found) -> list[Group]:
        groups = components(group, [c.edge for c in edges])
        if len(groups) == 1:
            raise NoHyperplane(
                f"no hyperplane orders {', '.join(group)}",
                notes=("they depend on each other in a cycle",),
                help="use --scheduler isl",
            )
        if self.fusion != "max" or self._complete(group, found):
            return groups

        def possible(leading: Group) -> bool:
            return self._row(leading, _constrained_inside(edges, leading), found) is not None

        return cut_after_longest(groups, possible)


def _inside(edges: Ordered[Edge], group: Group) -> list[Edge]:
    return [e for e in edges if e.source in group and e.sink in group]


def _constrained_inside(edges: Ordered[_Constrained], group: Group) -> list[_Constrained]:
    return [c for c in edges if c.edge.source in group and c.edge.sink in group]
