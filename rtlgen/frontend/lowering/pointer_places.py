"""Where pointers point, in terms of positions.

*(p + 1), p at p_at in a                 a: [p_at + 1]
(*r)[j], r at r_at in the rows of m      m: [r_at][j]
f[k], f at f_at in all elements of m     m: [f_at + k], through two dimensions
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pycparser import c_ast

from rtlgen.frontend.errors import FrontendError, PointerUnsupported
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import Place, copied, integer, named, number
from rtlgen.frontend.lowering.pointer_values import (
    STEP_OPS,
    Choice,
    Index,
    Step,
    Target,
    Targets,
    combined,
    way_root,
)
from rtlgen.frontend.lowering.rewriter import Rewriter
from rtlgen.frontend.lowering.walkers import Spot, Walker, Walkers
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator


class PointerPlaces(Rewriter, ABC):
    """Finds what expressions with pointers name."""

    refusing = PointerUnsupported

    def __init__(self, tree: c_ast.FileAST, walkers: Walkers, locator: Locator) -> None:
        super().__init__(tree, locator)
        self._walkers = walkers.found
        self._targets = Targets(self.names)
        self._spots: dict[int, Spot] = {}

    @contextmanager
    def _pointing(self, walker: Walker, spot: Spot) -> Iterator[None]:
        """Let a pointer point into one of what it may point into."""
        self._spots[id(walker)] = spot
        try:
            yield
        finally:
            del self._spots[id(walker)]

    def _undecided(self, node: c_ast.Node) -> Walker | None:
        """Return the pointer that an expression begins with, if it may point to several things."""
        walker = self._walker(way_root(self.names, node))
        is_decided = walker is None or len(walker.spots) == 1 or id(walker) in self._spots
        return None if is_decided else walker

    def _spot(self, walker: Walker) -> Spot:
        return self._spots.get(id(walker)) or walker.spots[0]

    def _position(self, walker: Walker, node: c_ast.Node) -> c_ast.Node:
        return variable(walker.at, node.coord)

    def _require_run(self, walker: Walker, node: c_ast.Node) -> None:
        if not walker.runs:
            message = f"`{walker.pointer.symbol.name}` points to one variable, and is moved"
            raise self._refused(message, node, "let it point into an array", "moved here")

    def _walker(self, node: c_ast.Node | None) -> Walker | None:
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is None else self._walkers.get(id(symbol.node))

    def _target(self, node: c_ast.Node, *, is_named: bool = False) -> Target | None:
        """Return what an expression points to, or names, in terms of positions."""
        find = self._targets.named if is_named else self._targets.pointed_to
        found = find(node)
        if found is None:
            return None
        walker = self._walkers.get(id(found.base.node))
        if self._undecided(node) is not None:
            raise self._chosen_address(node)
        steps = [
            replace(step, value=self.expression(copied(step.value), None))
            if isinstance(step, Index)
            else step
            for step in found.steps
        ]
        if walker is None:
            return Target(found.base, tuple(steps))
        return self._from(walker, steps, way_root(self.names, node), self._step_in(node))

    def _step_in(self, node: c_ast.Node) -> c_ast.UnaryOp | None:
        """Return the step of the pointer that a way begins with: `*p++`."""
        root = way_root(self.names, node)
        for part in below(node):
            if isinstance(part, c_ast.UnaryOp) and part.op in STEP_OPS and part.expr is root:
                return part
        return None

    def _from(
        self,
        walker: Walker,
        steps: Sequence[Step],
        node: c_ast.Node,
        step: c_ast.UnaryOp | None,
    ) -> Target:
        """Return where a way leads that begins with a pointer."""
        spot = self._spot(walker)
        if not self._is_in_sight(spot.base):
            message = f"`{spot.base.name}` is another variable here"
            why = "this points into the outer one"
            raise self._refused(message, node, "rename the inner one", why)
        at: c_ast.Node = self._position(walker, node)
        if step is not None:
            self._require_run(walker, step)
            if spot.run > 1:
                raise self._as_value(step, "it is stepped where rows are counted")
            at = c_ast.UnaryOp(step.op, at, step.coord)
        leads = iter(spot.leads)
        extents = self._targets.extents(spot.base, spot.pattern)
        start = len(spot.pattern) - spot.run
        made: list[Step] = []
        for kind in spot.pattern[:start]:
            if kind == "[]":
                lead = next(leads)
                made.append(Index(variable(lead, node.coord)))
            else:
                made.append(Choice(kind))
        first, *rest = steps or [Index(integer(0, node.coord))]
        if not spot.run:
            if not isinstance(first, Index) or number(first.value) != 0:
                self._require_run(walker, node)
            return Target(spot.base, (*made, *rest))
        if not isinstance(first, Index):
            raise self._unknown(node)
        inner = tuple(extent for extent in extents[start + 1 :] if extent is not None)
        if len(inner) != spot.run - 1:
            raise self._unknown(node)
        moved = Index(combined("+", at, first.value), inner)
        return Target(spot.base, (*made, moved, *rest))

    def _is_in_sight(self, symbol: Symbol) -> bool:
        found = self.names.lookup(symbol.name)
        return found is not None and found.node is symbol.node

    def _linear(self, target: Target, run: int, node: c_ast.Node) -> c_ast.Node:
        """Return the number of an element among those of the last `run` dimensions of a way."""
        steps = [each for step in target.steps for each in _singles(step, run)]
        extents = self._targets.extents(target.base, unrolled(target))
        found: c_ast.Node | None = None
        start = len(extents)
        spans: list[tuple[Index, int]] = []
        while steps and isinstance(steps[-1], Index) and len(extents) - start < run:
            last = steps.pop()
            assert isinstance(last, Index)
            start -= 1 + len(last.inner)
            spans.insert(0, (last, start))
        for step, first in spans:
            if found is not None:
                for extent in extents[first : first + 1 + len(step.inner)]:
                    if extent is None:
                        raise self._unknown(node)
                    found = combined("*", found, copied(extent))
            found = step.value if found is None else combined("+", found, step.value)
        return integer(0, node.coord) if found is None else found

    def _rebuilt(self, target: Target, node: c_ast.Node) -> c_ast.Node:
        """Return the expression that names a target."""
        made: c_ast.Node = c_ast.ID(target.base.name, node.coord)
        for step in target.steps:
            if isinstance(step, Choice):
                member = c_ast.ID(step.name, node.coord)
                made = c_ast.StructRef(made, ".", member, node.coord)
                continue
            for index in unfolded(step):
                made = c_ast.ArrayRef(made, index, node.coord)
        return self._locator.stand_in(made, node)

    # Refusals.

    def _unknown(self, node: c_ast.Node) -> FrontendError:
        remedy = "let it point into an array that is named here, or count in an integer"
        return self._refused("it is not known what this points to", node, remedy)

    def _chosen_address(self, node: c_ast.Node) -> FrontendError:
        message = "the address of one of several arrays is used as a value"
        return self._refused(message, node, "use it in a statement of its own")

    def _as_value(self, node: c_ast.Node, why: str) -> FrontendError:
        remedy = "use what it points to, or compare it with a pointer into the same array"
        return self._refused("a pointer that moves is used as a value", node, remedy, why)


def unfolded(step: Index) -> list[c_ast.Node]:
    """Return the subscripts of all dimensions that one counts through."""
    found: list[c_ast.Node] = []
    left = step.value
    for extent in reversed(step.inner):
        found.insert(0, combined("%", copied(left), copied(extent)))
        left = combined("/", copied(left), copied(extent))
    return [left, *found]


def _singles(step: Step, run: int) -> list[Step]:
    """Return a step for each dimension of one that counts through more than `run` of them."""
    if isinstance(step, Choice) or len(step.inner) < run:
        return [step]
    return [Index(value) for value in unfolded(step)]


def unrolled(target: Target) -> list[str]:
    """Return the pattern of a target with a step for each dimension."""
    found: list[str] = []
    for step in target.steps:
        if isinstance(step, Choice):
            found.append(step.name)
        else:
            found += ["[]"] * (1 + len(step.inner))
    return found


def leads_to(target: Target, spot: Spot) -> bool:
    """Return whether a target is in a spot."""
    return target.base.node is spot.base.node and unrolled(target) == [*spot.pattern]


def is_in(walker: Walker, spot: Spot, at: Place) -> c_ast.Node:
    """Return the condition that a pointer points into a spot."""
    return c_ast.BinaryOp("==", named(walker.which, at), integer(spot.number, at), at)


def variable(name: str | int, at: Place) -> c_ast.Node:
    """Return a variable, or the number that takes its place."""
    return integer(name, at) if isinstance(name, int) else named(name, at)
