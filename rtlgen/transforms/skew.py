"""Skew the loops of statements that wait for their own results.

Rewrite
-------
    for k for i for j                        for k for t for i
      S: a[i][j] = f(a[i][k], a[k][j])   ->    S: a[i][t - i] = f(a[i][k], a[k][t - i])
    in the loops (k, i + j, i)

Instances that depend on each other in neighbouring iterations come to lie a whole wavefront apart.
The statements of the unit leave the loops that they share with others, which loop distribution
would do as well, and all statements of the unit share the new ones.

References: Lamport, "The parallel execution of DO loops", CACM 17(2), 1974 (hyperplanes); Wolfe,
"Loop skewing: the wavefront method revisited", IJPP 15(4), 1986.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import LoopDim
from rtlgen.ir.scop import Node, Scop, Statement, statements_under
from rtlgen.ir.sets import ScopSets
from rtlgen.poly import schedule_tree
from rtlgen.poly.correspondence import correspondence, moved_dataflow, moved_dependences
from rtlgen.poly.dependences import Dataflow, Dependence
from rtlgen.poly.legality import require_legal
from rtlgen.poly.schedule_tree import Band, Leaf, Row
from rtlgen.transforms.normalise import Replacements, boxed, program_order, restricted
from rtlgen.transforms.reschedule import rescheduled
from rtlgen.transforms.units import Unit


@dataclass(frozen=True, slots=True)
class Skew:
    """New loops for the statements of one unit.

    Members
    -------
    rows: by statement, what the new loops count, outermost first, over the C iterators.
    slots, slots_before: issue slots of the unit, expected in these loops and in those before.
    reason: why it waits in those.
    overlaps: whether iterations of an outer loop share rows for that.
    shared: how many of the new loops, from the outermost one on, all statements are in; None: all.
        Inside of these, each has new loops of its own, one statement behind the other.
    order: how the statements follow each other in what they share; None: as in the unit.
    is_backward: whether it has the loops that it had, and some of them only run backward.
    """

    unit: Unit
    rows: Mapping[str, tuple[Affine, ...]]
    slots: int
    slots_before: int
    reason: str
    shared: int | None = None
    order: tuple[str, ...] | None = None
    overlaps: bool = False
    is_backward: bool = False

    def __post_init__(self) -> None:
        if set(self.rows) != set(self.unit.statements):
            raise ValueError("a skew moves all statements of its unit")
        if len({len(rows) for rows in self.rows.values()}) != 1:
            raise ValueError("the statements of a unit share their number of new loops")
        if self.order is not None and set(self.order) != set(self.unit.statements):
            raise ValueError("a skew keeps the statements of its unit")
        if self.shared is not None and not 0 < self.shared < self.depth:
            raise ValueError(f"{self.shared} of {self.depth} loops are not some of them")

    @property
    def depth(self) -> int:
        """How many new loops every statement has."""
        return len(next(iter(self.rows.values())))

    @property
    def tree(self) -> schedule_tree.Node:
        """The new loops as a schedule."""
        names = self.unit.statements if self.order is None else self.order
        shared = self.depth if self.shared is None else self.shared
        parts: list[schedule_tree.Node] = [
            Leaf(name)
            if self.shared is None
            else Band(self._rows([name], range(shared, self.depth)), False, Leaf(name))
            for name in names
        ]
        return Band(self._rows(names, range(shared)), False, schedule_tree.in_sequence(parts))

    def _rows(self, names: Sequence[str], levels: Iterable[int]) -> tuple[Row, ...]:
        return tuple(Row.of({n: self.rows[n][level] for n in names}) for level in levels)


@dataclass(frozen=True, slots=True, eq=False)
class Skewed:
    """A program some of whose units are in new loops.

    Members
    -------
    written, dependences: the dependences before, and the same between the new instances.
    sets, flows: of the program in its new loops.
    """

    skews: tuple[Skew, ...]
    written: tuple[Dependence, ...]
    sets: ScopSets
    dependences: tuple[Dependence, ...]
    flows: Dataflow

    @property
    def statements(self) -> frozenset[str]:
        """The statements in new loops."""
        return frozenset(name for skew in self.skews for name in skew.unit.statements)

    @property
    def in_order(self) -> frozenset[str]:
        """Those whose new loops are to stay in their order."""
        kept = (skew for skew in self.skews if not skew.is_backward)
        return frozenset(name for skew in kept for name in skew.unit.statements)

    @property
    def apart(self) -> frozenset[str]:
        """Those that have some of them for themselves."""
        apart = (skew for skew in self.skews if skew.shared is not None)
        return frozenset(name for skew in apart for name in skew.unit.statements)


def skew(
    sets: ScopSets,
    dependences: Sequence[Dependence],
    flows: Dataflow,
    units: Sequence[Unit],
    skews: Sequence[Skew],
) -> Skewed:
    """Return a normalised program with some of its units in new loops, every step proven.

    Raises
    ------
    RewriteUnsound, IllegalSchedule, TooComplex
    """
    after = ScopSets(_rewritten(sets, units, skews), sets)
    moved = correspondence(sets, after)
    relations = moved_dependences(dependences, after, moved)
    require_legal(after, relations, after.scop.schedule, "skewing loops")
    return Skewed(tuple(skews), tuple(dependences), after, relations, moved_dataflow(flows, moved))


def _rewritten(sets: ScopSets, units: Sequence[Unit], skews: Sequence[Skew]) -> Scop:
    scop = sets.scop
    found = {skew.unit: skew for skew in skews}
    tree: tuple[Node, ...] = ()
    changed: dict[str, Statement] = {}
    for unit in units:
        if unit in found:
            nodes, statements = rescheduled(sets, found[unit].tree)
            changed |= {statement.name: statement for statement in statements}
        else:
            nodes = restricted(scop.tree, frozenset(unit.statements))
        tree += nodes
    # Units are in the order of their dependences, which may not be that of the text.
    rewritten = replace(
        scop,
        statements=tuple(
            changed.get(name) or scop.statement(name) for name in statements_under(tree)
        ),
        tree=tree,
        schedule=program_order(tree),
    )
    return boxed(rewritten, {s.name: _times(scop, s) for s in scop.statements})


def _times(scop: Scop, statement: Statement) -> Replacements:
    """Return what the iterators of a statement count, where not themselves."""
    return {
        dim.loop.iterator: dim.value
        for dim in scop.schedule.dims[statement.name]
        if isinstance(dim, LoopDim) and dim.value is not None and dim.loop.iterator is not None
    }
