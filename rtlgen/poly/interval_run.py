"""Where computed subscripts lie, found by running a program on intervals.

The ranges of `poly.value_flow` hold for all instances of a statement at once. What counts on, or
hangs together with a condition met before, needs more:

    for (i = 0; i < 16; i++)                        n is 0 to i in iteration i, so that out[n] is
      if (x[i] > 0) out[n++] = x[i];                inside of out[16]

    if (sp > 0) { sp--; s += stack[sp]; }           where sp was > 0 it is >= 0 now

Here the statements are run in the order of the program, data being intervals. Where data decides
what a scalar becomes, the run goes on in both ways (a `_Path`), each of which knows what decided
it; at the end of an iteration, ways that differ in no flag that was set outside are joined. An
array has one interval for all of its elements. What scalars that say where something lies have to
do with each other and with iterators is kept as well (`poly.relations`).

A loop is run until an iteration adds nothing to what is known at its start; what still grows after
some iterations is given up, and what was given up in vain is taken back. Or else each iteration is
run by itself, iterators known: that tells more, and takes as long as the program has instances.
That is abstract interpretation with partitioned traces: Cousot and Cousot, POPL 1977; Rival and
Mauborgne, TOPLAS 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine, constraint_holds
from rtlgen.ir.constant_folding import folded
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    Scatter,
    Select,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import (
    Access,
    Array,
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    Statement,
    statements_under,
)
from rtlgen.ir.types import INT32, FloatType, IntType
from rtlgen.ir.value_ranges import (
    Fact,
    Facts,
    NoValueYet,
    Range,
    Shapes,
    ValueRanges,
    facts_of,
    is_truth,
)
from rtlgen.poly.relations import Relations, joined
from rtlgen.poly.telling_scalars import flags_of, iterators_of, likely_ends, related_scalars

MAX_STEPS = 12_000
"""Instances, each once for every way in which the run goes on: some ten seconds."""

MAX_PATHS = 16
"""Ways in which the run goes on at once; more are joined."""

PATIENCE_ROUNDS = 2
"""Iterations of a loop after which what still grows gets the next bound that the program names."""

MAX_ROUNDS = 5
"""Iterations of a loop after which what still grows is given up."""

NARROWING_ROUNDS = 1
"""Iterations that take back what was given up in vain."""


class TooManySteps(Exception):
    """The program is too long to be run on intervals."""


@dataclass(frozen=True, slots=True)
class _Element:
    """What a read is of: an array, and its subscripts where they are known."""

    array: str
    at: tuple[Expr | Affine | int, ...]

    def may_be(self, other: _Element) -> bool:
        """Tell whether two are one element, perhaps."""
        return self.array == other.array and not any(
            isinstance(a, int) and isinstance(b, int) and a != b
            for a, b in zip(self.at, other.at, strict=True)
        )


@dataclass(slots=True)
class _Path:
    """One way of the run: what scalars are, and what is known since data decided so.

    Members
    -------
    scalars: those that have a value.
    relations: of some scalars, and of iterators.
    facts: of reads by number, with the elements that they are of.
    """

    scalars: dict[str, Range]
    relations: Relations
    facts: tuple[tuple[Fact, tuple[_Element, ...]], ...] = ()


def interval_run(
    scop: Scop, results: Mapping[str, Range], *, by_instances: bool
) -> Mapping[tuple[str, int], tuple[Range, ...]]:
    """Return where the computed subscripts of reads lie, by statement and number of the read.

    Those of reads that are never made are left out.

    Parameters
    ----------
    results: ranges of what statements compute.
    by_instances: each iteration is run by itself.

    Raises
    ------
    TooManySteps
    """
    run = _Run(scop, results, by_instances=by_instances)
    run.nodes(scop.tree)
    return {key: tuple(ranges) for key, ranges in run.found.items()}


class _Run:
    def __init__(self, scop: Scop, results: Mapping[str, Range], *, by_instances: bool) -> None:
        self.found: dict[tuple[str, int], list[Range]] = {}
        self._scop = scop
        self._results = results
        self._by_instances = by_instances
        self._arrays = {array.name: array for array in scop.arrays}
        self._contents = {a.name: _initial(a) for a in scop.arrays if a.shape}
        self._is_growing = False
        self._is_trial = 0
        self._shapes = Shapes()
        self._asked: dict[tuple[str, ...], list[str]] = {}
        self._iterators: dict[str, int] = {}
        self._boxes: dict[str, Range] = {}
        self._numbers: dict[_Element, int] = {}
        self._elements: list[_Element] = []
        self._steps = 0
        self._flags = flags_of(scop)
        self._ends = np.array(likely_ends(scop))
        scalars = {a.name: given for a in scop.arrays if not a.shape and (given := _initial(a))}
        self._related = tuple(related_scalars(scop))
        iterators = [] if by_instances else iterators_of(scop.tree)
        relations = Relations.unknown((*self._related, *iterators))
        for name in self._related:
            if name in scalars:
                relations = relations.with_value(name, {}, scalars[name])
        self._paths = [_Path(scalars, relations)]

    def nodes(self, nodes: tuple[Node, ...]) -> None:
        """Run some nodes."""
        for node in nodes:
            if isinstance(node, LoopNode):
                if self._by_instances:
                    self._each_iteration(node)
                else:
                    self._all_iterations(node)
            elif isinstance(node, ConditionNode):
                self._where(node)
            else:
                self._execute(self._scop.statement(node.statement))

    # Loops and conditions.

    def _each_iteration(self, node: LoopNode) -> None:
        for value in node.loop.values(self._iterators):
            self._iterators[node.loop.iterator] = value
            if any(end.evaluate(self._iterators) < 0 for end in node.ends):
                break
            self.nodes(node.body)
            self._join(node.body)
        self._iterators.pop(node.loop.iterator, None)

    def _all_iterations(self, node: LoopNode) -> None:
        """Run a loop until what is known at the start of its iterations holds for each of them."""
        loop, name = node.loop, node.loop.iterator
        terms, constant = _terms(loop.start)
        self._paths = [
            replace(path, relations=path.relations.with_value(name, terms, (constant, constant)))
            for path in self._paths
        ]
        self._boxes[name] = self._box(node)
        self._join(())
        entered = head = self._by_flags(self._paths, node.body)
        rounds, is_settled, taken_back, was_growing = 0, False, 0, self._is_growing
        while not is_settled or taken_back < NARROWING_ROUNDS:
            contents = dict(self._contents)
            self._is_growing = was_growing or rounds >= PATIENCE_ROUNDS
            with self._trial():
                self._iterate(node, head)
            later = self._by_flags(self._paths, node.body, *entered.values())
            if is_settled:
                head, taken_back = later, taken_back + 1
                continue
            if rounds >= PATIENCE_ROUNDS:
                ends = self._ends if rounds < MAX_ROUNDS else self._ends[-1:]
                later = {
                    key: self._widened(head[key], path, ends) if key in head else path
                    for key, path in later.items()
                }
            is_settled = contents == self._contents and _are_same(head, later)
            head, rounds = later, rounds + 1
        self._is_growing = was_growing
        self._iterate(node, head)
        behind = self._by_flags(self._paths, node.body, *entered.values())
        self._paths = [
            replace(path, relations=path.relations.without(name))
            for path in self._left(behind.values(), _before_stop(loop) * -1 - 1)
        ]
        self._boxes.pop(name)

    def _iterate(self, node: LoopNode, head: Mapping[object, _Path]) -> None:
        """Run the body once where an iteration begins; behind it, the iterator is the next one."""
        loop = node.loop
        self._paths = self._left(head.values(), _before_stop(loop))
        self.nodes(node.body)
        step, name = loop.step, loop.iterator
        self._paths = [
            replace(path, relations=path.relations.with_value(name, {name: 1}, (step, step)))
            for path in self._paths
        ]

    def _where(self, node: ConditionNode) -> None:
        if self._by_instances:
            if all(constraint_holds(c, self._iterators) for c in node.conditions):
                self.nodes(node.body)
            return
        before, others = self._paths, self._paths
        for condition in node.conditions:
            if isinstance(condition, Affine):
                self._paths = self._left(self._paths, condition)
        if len(node.conditions) == 1 and isinstance(node.conditions[0], Affine):
            others = self._left(before, node.conditions[0] * -1 - 1)
        self.nodes(node.body)
        self._paths = [*self._paths, *others]
        if len(self._paths) > MAX_PATHS:
            self._join(())

    def _left(self, paths: Iterable[_Path], condition: Affine) -> list[_Path]:
        """Return the ways on which a function of iterators may be >= 0."""
        terms, constant = _terms(condition)
        found = (replace(p, relations=p.relations.where(terms, constant)) for p in paths)
        return [path for path in found if not path.relations.is_empty]

    def _box(self, node: LoopNode) -> Range:
        """Return the range of an iterator."""
        loop = node.loop
        ends = (loop.start, loop.stop) if loop.scale == 1 else (loop.start,)
        found = [end.range(self._boxes) for end in ends]
        if loop.scale > 1:
            found += [tuple(x // loop.scale for x in loop.stop.range(self._boxes))]  # type: ignore[list-item]
        return min(low for low, _ in found) - 1, max(high for _, high in found) + 1

    @contextmanager
    def _trial(self) -> Iterator[None]:
        """Run what is not yet known to hold of all iterations: nothing is noted."""
        self._is_trial += 1
        try:
            yield
        finally:
            self._is_trial -= 1

    def _by_flags(
        self, paths: Sequence[_Path], body: tuple[Node, ...], *more: _Path
    ) -> dict[object, _Path]:
        """Return one way for all those that differ in no flag that is set outside of a body."""
        self._paths = [*more, *paths]
        self._join(body)
        flags = self._flags_outside(body)
        found: dict[object, _Path] = {}
        for path in self._paths:
            key = tuple(path.scalars.get(name) for name in flags)
            found[key] = _joined([found[key], path]) if key in found else path
        return found

    def _widened(self, earlier: _Path, later: _Path, ends: NDArray[np.float64]) -> _Path:
        """Return what is known of a way, what has got worse with the next of some bounds."""
        scalars = dict(later.scalars)
        for name, (low, high) in later.scalars.items():
            least, most = earlier.scalars.get(name, (low, high))
            type_ = self._arrays[name].element
            scalars[name] = (
                low if low >= least else max(type_.minimum, -_next(ends, -low)),
                high if high <= most else min(type_.maximum, _next(ends, high)),
            )
        relations = earlier.relations.widened(later.relations, ends)
        return replace(later, scalars=scalars, relations=relations)

    def _execute(self, statement: Statement) -> None:
        self._steps += len(self._paths)
        if self._steps > MAX_STEPS:
            raise TooManySteps
        if not self._paths:
            return
        expr = self._concrete(statement.expr, statement)
        self._paths = [
            after for path in self._paths for after in self._after(path, expr, statement)
        ]
        if len(self._paths) > MAX_PATHS:
            self._join(())

    def _after(self, path: _Path, expr: Expr, statement: Statement) -> list[_Path]:
        """Return the ways in which the run goes on behind an instance."""
        ranges = self._ranges(path)
        facts = tuple(fact for fact, _ in path.facts)
        if not self._is_trial:
            self._note(expr, statement.expr, statement, ranges, facts, path)
        array = self._arrays[statement.write.array]
        written = self._written(statement)
        if isinstance(expr, Scatter):
            if ranges.decided(expr.condition, facts) is not False:
                inside = (*facts, *facts_of(expr.condition, True))
                self._store(array, _value(ranges, expr.value, inside))
            return [self._without(path, written)]
        if array.shape:
            self._store(array, _value(ranges, expr, facts))
            return [self._without(path, written)]
        least, most = self._results.get(statement.name, (-inf, inf))
        found: list[_Path] = []
        simple, is_position = folded(expr, ranges, facts), array.name in self._related
        for way, value, told in self._ways(path, simple, ranges, facts, is_position=is_position):
            low, high = _value(self._ranges(way), value, told)
            if max(low, least) <= min(high, most):
                low, high = int(max(low, least)), int(min(high, most))
            found.append(self._with_scalar(way, array.name, value, (low, high), written))
        return found

    def _ranges(self, path: _Path) -> ValueRanges:
        return ValueRanges(self._boxes, lambda read: self._read(path, read), shapes=self._shapes)

    def _ways(
        self, path: _Path, expr: Expr, ranges: ValueRanges, facts: Facts, *, is_position: bool
    ) -> Iterable[tuple[_Path, Expr, Facts]]:
        """Yield the ways in which data decides a value: what it is there, and what is known."""
        question = expr.condition if isinstance(expr, Select) else expr
        is_asked = isinstance(expr, Select) or is_truth(expr)
        if not is_asked or ranges.decided(question, facts) is not None:
            yield path, expr, facts
            return
        for holds in (True, False):
            told = facts_of(question, holds)
            relations = self._related_by(path, told)
            if relations.is_empty:
                continue
            new = ((fact, self._elements_in(fact.expr)) for fact in told)
            known = (*path.facts, *(each for each in new if each[1]))
            value: Expr = Constant(int(holds), expr.type)
            if isinstance(expr, Select):
                value = expr.if_true if holds else expr.if_false
            way, all_told = _Path(path.scalars, relations, known), (*facts, *told)
            if isinstance(value, Select) and is_position:
                inside = self._ranges(way)
                yield from self._ways(way, value, inside, all_told, is_position=True)
            else:
                yield way, value, all_told

    def _related_by(self, path: _Path, facts: Facts) -> Relations:
        """Return the relations where facts hold."""
        relations = path.relations
        for fact in facts:
            asked: Expr = fact.expr
            if not isinstance(asked, Binary) or asked.op not in COMPARISONS:
                asked = Binary("ne", asked, Constant(0, INT32), INT32)
            left, right = (self._sum(path, side) for side in (asked.left, asked.right))
            if left is None or right is None:
                continue
            ((terms, (low, high)), (others, (least, most))) = left, right
            op = asked.op if fact.holds else _OPPOSITE[asked.op]
            form = {k: terms.get(k, 0) - others.get(k, 0) for k in (*terms, *others)}
            if not any(form.values()):
                continue
            if op == "ne":
                # It is not the one end of its range.
                ends = relations.bounds(form)
                op = "gt" if ends[0] + low >= most else "lt" if ends[1] + high <= least else op
            if op == "ne":
                continue
            sign, strict, is_equation = _SIGNS[op]
            form = {k: sign * c for k, c in form.items()}
            constant = high - least if sign > 0 else most - low
            is_exact = low == high and least == most
            if is_equation and not is_exact:
                relations = relations.where(form, high - least)
                relations = relations.where({k: -c for k, c in form.items()}, most - low)
            else:
                relations = relations.where(form, constant - strict, is_equation=is_equation)
        return relations

    def _sum(self, path: _Path, expr: Expr) -> tuple[dict[str, int], Range] | None:
        """Return an integer as a sum of related ones, and what lies in a range."""
        if isinstance(expr.type, FloatType):
            return None
        found = self._terms(path, expr)
        return found if found is not None else ({}, _value(self._ranges(path), expr, ()))

    def _terms(self, path: _Path, expr: Expr) -> tuple[dict[str, int], Range] | None:
        """Return a sum of related integers that an expression is, unless it wraps."""
        match expr:
            case Constant(value):
                return {}, (value, value)
            case IndexValue(affine, type_) if not self._by_instances:
                low, high = affine.range(self._boxes)
                if type_.minimum <= low and high <= type_.maximum:
                    terms, constant = _terms(affine)
                    return terms, (constant, constant)
            case Read(index) if not expr.at:
                name = self._elements[index].array
                return ({name: 1}, (0, 0)) if name in self._related else None
            case Cast(operand):
                return self._held(path, self._sum(path, operand), expr)
            case Binary("add" | "sub" as op, left, right):
                a, b = self._sum(path, left), self._sum(path, right)
                if a is None or b is None:
                    return None
                sign = 1 if op == "add" else -1
                terms = {k: a[0].get(k, 0) + sign * b[0].get(k, 0) for k in (*a[0], *b[0])}
                low, high = b[1] if sign > 0 else (-b[1][1], -b[1][0])
                limits = a[1][0] + low, a[1][1] + high
                return self._held(path, ({k: c for k, c in terms.items() if c}, limits), expr)
            case Binary("mul", left, Constant(by)) | Binary("mul", Constant(by), left) if by > 0:
                factor = self._sum(path, left)
                if factor is not None:
                    low, high = factor[1]
                    scaled = {k: c * by for k, c in factor[0].items()}, (low * by, high * by)
                    return self._held(path, scaled, expr)
        return None

    def _held(
        self, path: _Path, found: tuple[dict[str, int], Range] | None, expr: Expr
    ) -> tuple[dict[str, int], Range] | None:
        """Return a sum if the type of an expression holds it."""
        if found is None or not isinstance(expr.type, IntType):
            return None
        low, high = path.relations.bounds(found[0])
        is_held = expr.type.minimum <= low + found[1][0] and high + found[1][1] <= expr.type.maximum
        return found if is_held else None

    def _quotient(self, path: _Path, relations: Relations, name: str, value: Binary) -> Relations:
        """Return the relations of a scalar that is a quotient, or shifted right."""
        known, by = self._sum(path, value.left), value.right
        if known is None or not isinstance(by, Constant) or not 0 < by.value < 31:
            return relations
        terms, (low, high) = known
        if name in terms or path.relations.bounds(terms)[0] + low < 0:
            return relations
        size = 1 << by.value if value.op == "shr" else by.value
        rest = {k: -c for k, c in terms.items()}
        relations = relations.where({name: size, **rest}, size - 1 - low)
        return relations.where({name: -size, **terms}, high)

    def _with_scalar(
        self, path: _Path, name: str, value: Expr, limits: Range, written: _Element
    ) -> _Path:
        relations = path.relations
        if name in self._related:
            known = self._terms(path, value)
            terms, more = ({}, limits) if known is None else known
            old = relations.bounds({name: 1})
            if not terms and more[0] == more[1] and old[0] == old[1]:
                # A number that becomes another one has the same to do with others as before.
                terms, more = {name: 1}, (more[0] - int(old[0]), more[1] - int(old[0]))
            relations = relations.with_value(name, terms, more)
            if known is not None:
                low, high = limits
                relations = relations.where({name: 1}, -low).where({name: -1}, high)
            elif isinstance(value, Binary) and value.op in ("div", "shr"):
                relations = self._quotient(path, relations, name, value)
        found = self._without(path, written)
        return _Path({**found.scalars, name: limits}, relations, found.facts)

    def _without(self, path: _Path, written: _Element) -> _Path:
        """Return a way without what is known of an element that is written."""
        left = tuple(
            (fact, elements)
            for fact, elements in path.facts
            if not any(element.may_be(written) for element in elements)
        )
        return path if len(left) == len(path.facts) else replace(path, facts=left)

    def _store(self, array: Array, value: Range) -> None:
        known = self._contents[array.name]
        low, high = value if known is None else (min(known[0], value[0]), max(known[1], value[1]))
        if known is not None and self._is_growing:
            low = low if low == known[0] else array.element.minimum
            high = high if high == known[1] else array.element.maximum
        self._contents[array.name] = low, high

    def _flags_outside(self, body: tuple[Node, ...]) -> Sequence[str]:
        """Return the flags that somebody may ask for behind a body."""
        names = tuple(statements_under(body))
        if names not in self._asked:
            inside, seen, own = frozenset(names), set[str](), set[str]()
            for name in names:
                statement = self._scop.statement(name)
                seen |= {read.array for read in statement.reads}
                own |= {statement.write.array} - seen
                seen.add(statement.write.array)
            others = (s for s in self._scop.statements if s.name not in inside)
            own -= {read.array for statement in others for read in statement.reads}
            self._asked[names] = [name for name in self._flags if name not in own]
        return self._asked[names]

    def _join(self, body: tuple[Node, ...]) -> None:
        """Join the ways that differ in no flag, or only in those of an iteration that ends.

        All of them are, where these are too many. What is known of elements of arrays is forgotten:
        the next iteration has others.
        """
        flags = self._flags_outside(body)
        groups: dict[object, list[_Path]] = {}
        for path in self._paths:
            key = tuple(path.scalars.get(name) for name in flags)
            groups.setdefault(key, []).append(path)
        if len(groups) > MAX_PATHS:
            groups = {None: self._paths}
        self._paths = [_joined(paths) for paths in groups.values()]

    # Expressions of one instance, without iterators.

    def _concrete(self, expr: Expr, statement: Statement) -> Expr:
        """Return an expression with reads by their elements, and iterators, if they are known."""
        if isinstance(expr, IndexValue):
            if not self._by_instances:
                return expr
            return Constant(expr.type.wrap(expr.affine.evaluate(self._iterators)), expr.type)
        parts = tuple(self._concrete(part, statement) for part in children(expr))
        if not isinstance(expr, Read):
            return with_children(expr, parts)
        element = self._element(statement.reads[expr.index], parts)
        if element not in self._numbers:
            self._numbers[element] = len(self._elements)
            self._elements.append(element)
        return Read(self._numbers[element], expr.type, parts)

    def _element(self, access: Access, at: Sequence[Expr]) -> _Element:
        computed = iter(at)
        subscripts: list[Expr | Affine | int] = []
        for subscript in access.subscripts:
            if isinstance(subscript, Affine):
                is_known = self._by_instances or subscript.is_constant
                subscripts.append(subscript.evaluate(self._iterators) if is_known else subscript)
                continue
            value = next(computed)
            subscripts.append(value.value if isinstance(value, Constant) else value)
        return _Element(access.array, tuple(subscripts))

    def _written(self, statement: Statement) -> _Element:
        if isinstance(statement.expr, Scatter):
            at = [self._concrete(part, statement) for part in statement.expr.at]
            return self._element(statement.write, at)
        return self._element(statement.write, ())

    def _elements_in(self, expr: Expr) -> tuple[_Element, ...]:
        return tuple(self._elements[node.index] for node in walk(expr) if isinstance(node, Read))

    def _read(self, path: _Path, read: Read) -> Range:
        """Return the range of what a read brings.

        Raises
        ------
        NoValueYet: the program has given it no value.
        """
        element = self._elements[read.index]
        array = self._arrays[element.array]
        known = path.scalars.get(array.name)
        if known is not None and array.name in self._related:
            low, high = path.relations.bounds({array.name: 1})
            if max(low, known[0]) <= min(high, known[1]):
                known = int(max(low, known[0])), int(min(high, known[1]))
        if array.shape:
            known = _table_value(array, element) or self._contents[array.name]
        if known is None:
            raise NoValueYet
        return known

    def _note(
        self,
        expr: Expr,
        origin: Expr,
        statement: Statement,
        ranges: ValueRanges,
        facts: Facts,
        path: _Path,
    ) -> None:
        """Note where the subscripts of reads lie that an instance makes."""
        if isinstance(expr, Select | Scatter):
            condition, *others = zip(children(expr), children(origin), strict=True)
            self._note(*condition, statement, ranges, facts, path)
            taken = ranges.decided(expr.condition, facts)
            for n, arm in enumerate(others):
                holds = n == 0 or isinstance(expr, Scatter)
                if taken is None or taken is holds:
                    told = facts_of(expr.condition, holds)
                    way = replace(path, relations=self._related_by(path, told))
                    if not way.relations.is_empty:
                        known = (*facts, *told)
                        self._note(*arm, statement, self._ranges(way), known, way)
        else:
            for part, old in zip(children(expr), children(origin), strict=True):
                self._note(part, old, statement, ranges, facts, path)
        if isinstance(expr, Read) and isinstance(origin, Read) and expr.at:
            lies = [self._place(path, ranges, part, facts) for part in expr.at]
            found = self.found.setdefault((statement.name, origin.index), lies)
            for n, (low, high) in enumerate(lies):
                found[n] = min(found[n][0], low), max(found[n][1], high)

    def _place(self, path: _Path, ranges: ValueRanges, expr: Expr, facts: Facts) -> Range:
        """Return where a subscript lies."""
        low, high = _value(ranges, expr, facts)
        known = self._terms(path, expr)
        if known is not None:
            least, most = path.relations.bounds(known[0])
            least, most = max(low, least + known[1][0]), min(high, most + known[1][1])
            if least <= most:
                return int(least), int(most)
        return low, high


_SIGNS = {
    "ge": (1, 0, False), "gt": (1, 1, False), "le": (-1, 0, False), "lt": (-1, 1, False),
    "eq": (1, 0, True),
}  # fmt: skip
"""For a comparison of a and b: the sign of a - b, by how much it is above 0, whether it is 0."""

_OPPOSITE = {"ge": "lt", "gt": "le", "le": "gt", "lt": "ge", "eq": "ne", "ne": "eq"}


def _next(ends: NDArray[np.float64], value: int) -> int:
    """Return the first of some bounds that is no smaller; a very large one where there is none."""
    end = ends[np.searchsorted(ends, value)]
    return int(end) if end < inf else 1 << 64


def _terms(affine: Affine) -> tuple[dict[str, int], int]:
    return dict(affine.terms), affine.constant


def _before_stop(loop: Loop) -> Affine:
    """Return what is >= 0 while a loop goes on."""
    distance = loop.stop - Affine.variable(loop.iterator) * loop.scale
    return (distance if loop.step > 0 else -distance) - 1


def _are_same(a: Mapping[object, _Path], b: Mapping[object, _Path]) -> bool:
    """Return whether the same is known on the ways of two times."""
    return a.keys() == b.keys() and all(
        path.scalars == b[key].scalars
        and path.facts == b[key].facts
        and path.relations.is_as(b[key].relations)
        for key, path in a.items()
    )


def _value(ranges: ValueRanges, expr: Expr, facts: Facts) -> Range:
    """Return the range of a value; of one that C leaves open, that of its type."""
    try:
        return ranges.range(expr, facts)
    except NoValueYet:
        return expr.type.minimum, expr.type.maximum


def _initial(array: Array) -> Range | None:
    """Return the range of what an array holds before the run, if it holds anything."""
    if array.is_table:
        return min(array.values), max(array.values)
    if array.storage == "local":
        return None
    return array.element.minimum, array.element.maximum


def _table_value(array: Array, element: _Element) -> Range | None:
    """Return the value of an element of a table, where it is known which one it is."""
    if not array.is_table or isinstance(array.element, FloatType):
        return None
    place = 0
    for subscript, extent in zip(element.at, array.shape, strict=True):
        if not isinstance(subscript, int) or not 0 <= subscript < extent:
            return None
        place = place * extent + subscript
    return array.values[place], array.values[place]


def _joined(paths: Sequence[_Path]) -> _Path:
    """Return what is so in each of some ways."""
    first, *others = paths
    scalars = dict(first.scalars)
    for path in others:
        for name, (low, high) in path.scalars.items():
            # Nobody reads it who comes by a way on which it has no value.
            known = scalars.get(name, (low, high))
            scalars[name] = min(low, known[0]), max(high, known[1])
    facts = tuple(
        (fact, elements)
        for fact, elements in first.facts
        if not any(element.at for element in elements)
        and all((fact, elements) in path.facts for path in others)
    )
    relations = []
    for path in paths:
        own = path.relations
        for name in scalars.keys() - path.scalars.keys():
            if name in own.names:
                own = own.with_value(name, {}, scalars[name])
        relations.append(own)
    return _Path(scalars, joined(relations), facts)
