"""Where a statement stands, in which case it is read, and what is computed before it.

Statements that are read once for each case of a choice that they depend on.

    a[i < 4 ? i : i + 2] = x;       for (j = 0; j < (i < 4 ? 3 : 5); j++) S

What is written has one affine subscript in each case, and a loop has one affine bound.

Values that are computed before the statements that use them, in variables of their own.

void add(int *p, int n) { while (n--) *p++ += 1; }

add(&h[x[i]], k);         p_at = x[i];  n = k;  and p is h + p_at
int *q = &h[x[i]];        q_at = x[i];          and q is h + q_at
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pycparser import c_ast

from rtlgen.errors import Diagnostic
from rtlgen.frontend.analysis.cases import (
    choice_in,
    division_in,
    each_value,
    is_by_iterators,
    product_in,
    truncation_in,
    values_of,
)
from rtlgen.frontend.analysis.ranges import Cases, Conjunction, Guard, Ranges, with_own_reads
from rtlgen.frontend.analysis.values import Value
from rtlgen.frontend.errors import FrontendError
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.reaching import Origin
from rtlgen.frontend.reading.symbols import Held, Index, LookedUp, Variable, View
from rtlgen.frontend.reading.writes import written
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import CType, Locator
from rtlgen.ir.affine import Affine, Constraint
from rtlgen.ir.expr import Expr
from rtlgen.ir.scop import Access, ConditionNode, Loop, Node
from rtlgen.ir.types import NumberType
from rtlgen.source import Span

if TYPE_CHECKING:
    from rtlgen.frontend.scop.body import BodyReader


@dataclass(frozen=True, slots=True)
class Place:
    """Loops (outermost first), conditions, their ranges, and the condition on data, if any.

    Members
    -------
    condition: the innermost `if` inside of the innermost loop, affine or not.
    iterations: of all loops around, at most.
    told: what assertions before say.
    """

    loops: tuple[Loop, ...] = ()
    conditions: tuple[Constraint, ...] = ()
    ranges: Ranges = field(default_factory=Ranges)
    guard: Guard | None = None
    condition: Span | None = None
    iterations: int = 1
    told: tuple[Origin, ...] = ()

    def under(self, conditions: Conjunction) -> Place:
        """Return the place inside an affine `if`."""
        return replace(
            self,
            conditions=(*self.conditions, *conditions),
            ranges=self.ranges.under(conditions),
        )

    def guarded(self, guard: Guard, is_negated: bool) -> Place:
        """Return the place where `guard` holds too, or does not hold."""
        inner = guard.negated() if is_negated else guard
        return replace(self, guard=self.guard.then(inner) if self.guard else inner)


class CaseReader:
    """Finds choices, and reads what depends on them."""

    def __init__(self, body: BodyReader, declarations: Declarations) -> None:
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
        for part in below(target):
            named = (
                self._declarations.scopes.stored(part.name) if isinstance(part, c_ast.ID) else None
            )
            observation = None if named is None else self._body.observed.get((id(part), named.name))
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


class Keeper:
    """Reads what parameters and pointers are set to."""

    def __init__(self, body: BodyReader, declarations: Declarations, locator: Locator) -> None:
        self._body = body
        self._declarations = declarations
        self._locator = locator

    def value(
        self, node: c_ast.Node, name: str, type_: NumberType, place: Place
    ) -> tuple[Variable, list[Node]]:
        """Return a variable that holds the value of an expression, and the statements that set it.

        Parameters
        ----------
        name: of what is set to it.
        """
        nodes: list[Node] = []
        reader = self._body.reader(place, nodes)
        value = reader.value(node)
        variable = self._declarations.temporary(name, type_, self._locator.span(node))
        # A loop that counts with it begins with what it holds.
        self._body.note_used_after(variable)
        nodes.append(self._set(variable, value, node, reader, place))
        return variable, nodes

    def view(
        self, node: c_ast.Node, name: str, type_: CType, place: Place
    ) -> tuple[View, list[Node]]:
        """Return what a pointer is, and the statements that keep where it points to.

        Iterators keep it where it follows from them.
        """
        nodes: list[Node] = []
        reader = self._body.reader(place, nodes)
        view = reader.elements.view(node, name, type_)

        def kept(index: Index | Held) -> Index | Held:
            if not isinstance(index, LookedUp):
                return index
            element = index.value.expr.type
            span = self._locator.span(node)
            held = self._declarations.temporary(f"{name}_at", element, span, is_position=True)
            value, own = self._alone(index.value, reader.reads, place)
            nodes.append(self._set(held, value, node, own, place))
            return Held(held)

        fixed = tuple(kept(index) for index in view.fixed)
        return replace(view, fixed=fixed, offset=kept(view.offset)), nodes

    def _alone(
        self, value: Value, reads: Sequence[Access], place: Place
    ) -> tuple[Value, ExpressionReader]:
        """Return a part of what a statement computes, and a reader that has read it alone."""
        reader = self._body.reader(place)
        expr, own = with_own_reads(value.expr, reads)
        reader.reads.extend(own)
        reader.may_leave = any(read.is_conditional for read in reader.reads)
        return replace(value, expr=expr), reader

    def _set(
        self,
        variable: Variable,
        value: Value,
        node: c_ast.Node,
        reader: ExpressionReader,
        place: Place,
    ) -> Node:
        self._body.reaching.declare(variable)
        text = f"{variable.name} = {self._locator.text(node)}"
        assignment = written(variable, self._locator.span(node), value, reader, text)
        return self._body.assign(node, assignment, place, reader)
