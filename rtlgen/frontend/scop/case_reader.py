"""Statements that are read once for each case of a choice that they depend on.

    a[i < 4 ? i : i + 2] = x;       for (j = 0; j < (i < 4 ? 3 : 5); j++) S

What is written has one affine subscript in each case, and a loop has one affine bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pycparser import c_ast

from rtlgen.errors import Diagnostic
from rtlgen.frontend.analysis.cases import (
    Cases,
    choice_in,
    division_in,
    each_value,
    is_by_iterators,
    product_in,
    truncation_in,
    values_of,
)
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.turn import Observation
from rtlgen.frontend.analysis.values import Value
from rtlgen.frontend.errors import FrontendError
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.symbols import LookedUp
from rtlgen.frontend.scop.place import Place, StatementReader
from rtlgen.frontend.syntax.assigned import below
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Expr
from rtlgen.ir.scop import ConditionNode, Node


class Body(StatementReader, Protocol):
    """What the reader of cases needs of the reader of everything else."""

    warnings: list[Diagnostic]
    observed: Mapping[int, Observation]


class CaseReader:
    """Finds choices, and reads what depends on them."""

    def __init__(self, body: Body, declarations: Declarations) -> None:
        self._body = body
        self._declarations = declarations

    def of_target(self, target: c_ast.Node, place: Place) -> Cases | None:
        """Return the cases in which an element that is assigned has other subscripts."""
        if not isinstance(target, c_ast.ArrayRef | c_ast.UnaryOp):
            return None
        try:
            subscripts = self._body.control_reader(place).elements.element(target).subscripts
        except FrontendError:
            # It is refused when it is read in its turn.
            return None
        values = [s.value for s in subscripts if isinstance(s, LookedUp)]
        return (
            self.of_values(values, place)
            or _first(truncation_in, values, place)
            or _first(product_in, values, place)
            or self._by_iteration(target, place)
        )

    def _by_iteration(self, target: c_ast.Node, place: Place) -> Cases | None:
        """Return the few iterations in each of which a scalar that no law describes is a number."""
        names = (part for part in below(target) if isinstance(part, c_ast.ID))
        for observation in map(self._body.observed.get, map(id, names)):
            if observation is None or observation.law is not None:
                continue
            at = Affine.variable(observation.iterator)
            first, last = place.ranges.minimum(at), place.ranges.maximum(at)
            if first < last:
                return each_value(at, [x for x in observation.values if first <= x <= last])
        return None

    def of_values(self, values: Sequence[Value], place: Place) -> Cases | None:
        """Return the cases in which values that the iterators decide are others."""
        return _first(choice_in, values, place)

    def of_bounds(self, values: Sequence[Value], place: Place) -> Cases | None:
        """Return the cases in which bounds are others, by choices, remainders or factors."""
        return (
            self.of_values(values, place)
            or _first(division_in, values, place)
            or _first(product_in, values, place)
        )

    def of_step(self, value: Value, place: Place) -> Cases | None:
        """Return the cases in which a step is a number, where outer iterators say what it is."""
        if value.affine is None:
            return self.of_bounds([value], place)
        return values_of(value.affine, place.ranges)

    def each(
        self, cases: Cases, place: Place, read: Callable[[Place], tuple[Node, ...]]
    ) -> tuple[Node, ...]:
        """Read a statement in every case; what is known behind it holds in all of them."""
        reaching, earlier = self._body.reaching, list(self._body.warnings)
        before, after, nodes = reaching.state, [], list[Node]()
        warnings: list[list[Diagnostic]] = []
        for case in cases:
            reaching.restore(before)
            made = read(place.under(case))
            nodes.extend([ConditionNode(case, made)] if made and case else made)
            after.append(reaching.state)
            warnings.append(self._body.warnings[len(earlier) :])
            self._body.warnings[len(earlier) :] = []
        reaching.merge(after, self._declarations.variables)
        # What holds in one of the cases only is no news about the text.
        self._body.warnings += [w for w in warnings[0] if all(w in more for more in warnings[1:])]
        return tuple(nodes)


def _first(
    find: Callable[[Expr, Ranges], Cases | None], values: Sequence[Value], place: Place
) -> Cases | None:
    """Return the first cases that are found in a value of the iterators."""
    for value in values:
        if value.affine is None and is_by_iterators(value.expr):
            cases = find(value.expr, place.ranges)
            if cases is not None:
                return cases
    return None
