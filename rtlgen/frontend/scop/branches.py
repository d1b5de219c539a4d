"""`if` to domains and guards.

    if (i > 0 && a[i] > m) { m = a[i]; at = i; }

becomes, where i - 1 >= 0,

    t = a[i] > m;  m = t ? a[i] : m;  at = t ? i : at;

The affine part of a condition becomes a domain, the rest a guard. A domain costs nothing and keeps
what the guard reads inside of its array, as `&&` does in C; a guard is evaluated for every point of
the domain. It is kept in a variable of its own only when a statement under it may change what it
reads before another one has asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pycparser import c_ast

from rtlgen.frontend.analysis.cases import MAX_CASES, cases_of
from rtlgen.frontend.analysis.ranges import Cases, Conjunction, Guard, Ranges
from rtlgen.frontend.analysis.values import Obstacle, ObstacleKind, Value, opaque
from rtlgen.frontend.lowering.nodes import alike, changed
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.elements import stays_inside
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.reaching import State, known_by_iterators, value_after
from rtlgen.frontend.reading.writes import read_assignment, written
from rtlgen.frontend.scop.cases import Place
from rtlgen.frontend.syntax.assigned import assigned, called_below, calls, single_statement
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.expr import Expr, Select
from rtlgen.ir.scop import Access, ConditionNode, Node
from rtlgen.ir.types import INT32

if TYPE_CHECKING:
    from rtlgen.frontend.scop.body import BodyReader


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a condition that depends on data, or on the iterators in no affine way.

    Members
    -------
    given: where it is evaluated, besides what is around the `if`.
    """

    node: c_ast.Node
    negated: bool
    given: Conjunction


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way in which a condition holds: every affine condition, and every leaf, in order."""

    conditions: Conjunction = ()
    leaves: tuple[Leaf, ...] = ()


class ConditionReader:
    """Takes the condition of an `if` apart.

    Parameters
    ----------
    reader: returns an expression reader for the place of the `if` where conditions hold, too.
    is_inside: whether accesses, made inside given ranges, surely stay in their arrays.
    strides: take comparisons of remainders as affine conditions, too.
    """

    def __init__(
        self,
        reader: Callable[[Conjunction], ExpressionReader],
        is_inside: Callable[[Sequence[Access], Ranges], bool],
        strides: bool = True,
    ) -> None:
        self._reader = reader
        self._strides = strides
        self._is_inside = is_inside

    def alternatives(self, node: c_ast.Node, negated: bool = False) -> tuple[Alternative, ...]:
        """Return the ways, of which at most one holds at a time, in which `node` holds.

        A disjunction is cut into cases that exclude one another: `i != j` into `i < j` and `i > j`.
        """
        return self._alternatives(node, negated, ())

    def _alternatives(
        self, node: c_ast.Node, negated: bool, given: Conjunction
    ) -> tuple[Alternative, ...]:
        cases = self._affine_cases(node, negated, given)
        if cases is not None and len(cases) <= MAX_CASES:
            return tuple(Alternative(case) for case in cases)
        whole = (Alternative((), (Leaf(node, negated, given),)),)
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self._alternatives(node.expr, not negated, given)
        if not (isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||")):
            return whole
        if (node.op == "&&") != negated:
            left = self._alternatives(node.left, negated, given)
            parts = self._product(left, node.right, negated, given)
        elif self._is_safe(node, given):
            return whole
        else:
            left = self._alternatives(node.left, negated, given)
            otherwise = self._alternatives(node.left, not negated, given)
            parts = (*left, *self._product(otherwise, node.right, negated, given))
        return parts if len(parts) <= MAX_CASES else whole

    def _product(
        self,
        left: tuple[Alternative, ...],
        right: c_ast.Node,
        negated: bool,
        given: Conjunction,
    ) -> tuple[Alternative, ...]:
        return tuple(
            Alternative((*a.conditions, *b.conditions), (*a.leaves, *b.leaves))
            for a in left
            for b in self._alternatives(right, negated, (*given, *a.conditions))
        )

    def _is_safe(self, node: c_ast.Node, given: Conjunction) -> bool:
        """Return whether all of `node` may be evaluated, whatever its parts are."""
        if calls(node):
            return False
        reader = self._reader(given)
        reader.value(node)
        return self._is_inside(reader.reads, reader.arithmetic.ranges)

    def _affine_cases(self, node: c_ast.Node, negated: bool, given: Conjunction) -> Cases | None:
        """Return the cases in which `node` holds, or None if it is not affine."""
        if calls(node):
            return None
        reader = self._reader(given)
        value = reader.value(node).expr
        return cases_of(value, negated, reader.arithmetic.ranges, self._strides)


@dataclass(frozen=True, slots=True)
class _Branch:
    body: c_ast.Node
    alternatives: tuple[Alternative, ...]


class BranchReader:
    """Reads one `if` after the other."""

    def __init__(self, body: BodyReader, declarations: Declarations, locator: Locator) -> None:
        self._body = body
        self._declarations = declarations
        self._locator = locator

    def read(self, node: c_ast.If, place: Place, label: str | None) -> tuple[Node, ...]:
        """Return the nodes of an `if`."""
        merged = self._as_one_assignment(node, self._branches(node, place, False), place, label)
        if merged is not None:
            return merged
        branches = self._branches(node, place, True)
        self._warn_of_empty(node, branches)
        is_single = _holds_one_assignment(branches)
        nested = _asked_after_the_same(branches)
        guards: dict[tuple[int, Conjunction], Guard] = {}
        nodes: list[Node] = []
        for branch in branches:
            for alternative in branch.alternatives:
                before = place
                for leaf in alternative.leaves:
                    key = (id(leaf.node), leaf.given)
                    if key not in guards:
                        where = before if key in nested else place
                        guards[key] = self._guard(node, leaf, where, nodes, is_single)
                    before = before.guarded(guards[key], leaf.negated)
        return (*nodes, *self._read_branches(node, branches, place, guards))

    def _warn_of_empty(self, node: c_ast.If, branches: Sequence[_Branch]) -> None:
        for branch in branches:
            if not branch.alternatives:
                is_else = branch.body is not node.iftrue
                what = "the `else` of this condition is" if is_else else "this condition is"
                self._body.warn_left_out(
                    "W0106", f"{what} never true", self._locator.span(node.cond)
                )

    def _branches(self, node: c_ast.If, place: Place, strides: bool) -> list[_Branch]:
        reader = ConditionReader(
            lambda given: self._body.reader(place.under(given)), self._stays_inside, strides
        )
        branches = []
        for body, negated in ((node.iftrue, False), (node.iffalse, True)):
            if body is None:
                continue
            branches.append(_Branch(body, reader.alternatives(node.cond, negated)))
        return branches

    def _read_branches(
        self,
        node: c_ast.If,
        branches: Sequence[_Branch],
        place: Place,
        guards: dict[tuple[int, Conjunction], Guard],
    ) -> list[Node]:
        reaching = self._body.reaching
        before = reaching.state
        certain = any(a == Alternative() for branch in branches for a in branch.alternatives)
        question = self._known_condition(node, place)
        after = {True: list[State](), False: list[State]()}
        if not certain and node.iffalse is None:
            after[False].append(before)
        nodes: list[Node] = []
        for branch in branches:
            for alternative in branch.alternatives:
                reaching.restore(before)
                inside = replace(
                    place.under(alternative.conditions), condition=self._locator.span(node.cond)
                )
                for leaf in alternative.leaves:
                    inside = inside.guarded(guards[id(leaf.node), leaf.given], leaf.negated)
                body = self._body.nested(branch.body, inside)
                after[branch.body is node.iftrue].append(reaching.state)
                if body and alternative.conditions:
                    nodes.append(ConditionNode(alternative.conditions, body))
                else:
                    nodes.extend(body)
        both = [*after[True], *after[False]]
        reaching.merge(both or [before], self._declarations.variables)
        if question is not None and after[True] and after[False]:
            self._choose(node, question, after[True], after[False], place)
        return nodes

    def _known_condition(self, node: c_ast.If, place: Place) -> Expr | None:
        """Return the condition of an `if`, where the iterators decide it."""
        if calls(node.cond):
            return None
        reader = self._body.reader(place)
        value = reader.arithmetic.truth(reader.value(node.cond)).expr
        return known_by_iterators(value, place.ranges)

    def _choose(
        self,
        node: c_ast.If,
        question: Expr,
        after_true: Sequence[State],
        after_false: Sequence[State],
        place: Place,
    ) -> None:
        """Note what the scalars that an `if` on iterators sets are behind it.

        int low = i - 2; if (low < 0) low = 0;        low is i - 2 < 0 ? 0 : i - 2
        """
        for name, assignment in assigned(node):
            variable = self._declarations.scopes.stored(name)
            if variable is None or variable.shape != ():
                continue
            arms = [value_after(states, variable) for states in (after_true, after_false)]
            if arms[0] is None or arms[1] is None or arms[0] == arms[1]:
                continue
            chosen = Select(question, arms[0], arms[1], variable.element)
            known = known_by_iterators(chosen, place.ranges)
            span = self._locator.span(assignment)
            if known is not None and not self._body.keep_law(node, variable, place, span):
                self._body.reaching.define(variable, span, known)

    # Guards.

    def _guard(
        self, node: c_ast.If, leaf: Leaf, place: Place, before: list[Node], is_single: bool
    ) -> Guard:
        """Return the guard of a leaf, after what has to be computed for it.

        Parameters
        ----------
        place: of the `if`, guarded by the leaves that are asked before this one.
        """
        where = place.under(leaf.given)
        made: list[Node] = []
        reader = self._body.reader(where, made)
        value = reader.arithmetic.truth(reader.condition(leaf.node, (node.cond, *_arms(node))))
        guard = Guard(value.expr, tuple(reader.reads))
        if not is_single and self._may_change(node, guard.reads):
            guard = self._kept(leaf, value, where, reader, made)
        before.extend([ConditionNode(leaf.given, tuple(made))] if leaf.given and made else made)
        return guard

    def _kept(
        self,
        leaf: Leaf,
        value: Value,
        place: Place,
        reader: ExpressionReader,
        made: list[Node],
    ) -> Guard:
        """Return the guard that a new variable holds."""
        span = self._locator.span(leaf.node)
        variable = self._declarations.temporary("condition", INT32, span)
        self._body.reaching.declare(variable)
        assignment = written(variable, span, value, reader, self._locator.text(leaf.node))
        made.append(self._body.assign(leaf.node, assignment, place, reader))
        kept = self._body.reader(place)
        read = kept.read(variable, Access(variable.name, (), span))
        return Guard(read.expr, tuple(kept.reads))

    def _may_change(self, node: c_ast.If, reads: Sequence[Access]) -> bool:
        """Return whether something in the branches may change what a condition reads."""
        branches = _arms(node)
        if reads and any(calls(branch) for branch in branches):
            return True
        changed = {
            variable.name
            for branch in branches
            for name, _ in assigned(branch)
            if (variable := self._declarations.scopes.stored(name)) is not None
        }
        return any(read.array in changed for read in reads)

    def _stays_inside(self, reads: Sequence[Access], ranges: Ranges) -> bool:
        """Return whether no access can leave its array."""
        shapes = {variable.name: variable.shape for variable in self._declarations.variables}
        return all(stays_inside(read, shapes[read.array], ranges) for read in reads)

    # One assignment in place of two.

    def _as_one_assignment(
        self, node: c_ast.If, branches: Sequence[_Branch], place: Place, label: str | None
    ) -> tuple[Node, ...] | None:
        """Return `if (c) x = a; else x += b;` as `x = c ? a : x + b`, or None if it is not that."""
        found = [single_statement(branch.body) for branch in branches]
        sides = [side for side in found if side is not None and changed(side) is not None]
        if len(sides) != 2:
            return None
        leaves = [a.leaves for branch in branches for a in branch.alternatives if not a.conditions]
        if len(leaves) != 2 or any(len(parts) != 1 for parts in leaves):
            return None
        if any(not self._body.changing.isdisjoint(called_below(side)) for side in sides):
            # Each call has to happen where it stands.
            return None
        targets = [changed(side) for side in sides]
        # What was lowered stands at the place of other text.
        if not alike(*targets):
            return None
        if any(self._body.cases.of_target(target, place) is not None for target in targets):
            return None
        before: list[Node] = []
        reader = self._body.reader(place, before)
        condition = reader.arithmetic.truth(reader.condition(node.cond, _arms(node)))
        with reader.conditionally():
            assignments = [
                read_assignment(side, reader, self._declarations.scopes, self._locator)
                for side in sides
            ]
        first, second = assignments
        if first.variable.shape == () and None not in (first.value.affine, second.value.affine):
            return None
        type_ = first.variable.element
        expr = Select(condition.expr, first.value.expr, second.value.expr, type_)
        span = first.write.span
        value = opaque(expr, Obstacle(ObstacleKind.DATA, "depends on data", span), span)
        text = f"{self._locator.text(node.cond)} ? {first.text} : {second.text}"
        both = replace(first, value=value, text=text)
        return (*before, self._body.assign(node, both, place, reader, label))


def _arms(node: c_ast.If) -> list[c_ast.Node]:
    return [arm for arm in (node.iftrue, node.iffalse) if arm is not None]


def _asked_after_the_same(branches: Sequence[_Branch]) -> set[tuple[int, Conjunction]]:
    """Return the leaves that the program asks only after the same answers of the same others."""
    before: dict[tuple[int, Conjunction], set[tuple[tuple[int, bool], ...]]] = {}
    for branch in branches:
        for alternative in branch.alternatives:
            answers = [(id(leaf.node), leaf.negated) for leaf in alternative.leaves]
            for place, leaf in enumerate(alternative.leaves):
                before.setdefault((id(leaf.node), leaf.given), set()).add(tuple(answers[:place]))
    return {key for key, prefixes in before.items() if len(prefixes) == 1}


def _holds_one_assignment(branches: Sequence[_Branch]) -> bool:
    """Return whether one assignment, in one place, is all that is under the `if`."""
    if len(branches) != 1 or len(branches[0].alternatives) != 1:
        return False
    only = single_statement(branches[0].body)
    return isinstance(only, c_ast.Assignment | c_ast.UnaryOp)
