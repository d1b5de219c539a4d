"""Where computed subscripts lie, found by running a program on intervals.

The ranges of `poly.value_flow` hold for all instances of a statement at once. What counts on, or
hangs together with a condition met before, needs more:

    for (i = 0; i < 16; i++)                        n is 0 to i in iteration i, so that out[n] is
      if (x[i] > 0) out[n++] = x[i];                inside of out[16]

    if (sp > 0) { sp--; s += stack[sp]; }           where sp was > 0 it is >= 0 now

Here every instance is run, in the order of the program, its iterators known, its data intervals.
Where data decides what a scalar becomes, the run goes on in both ways (a `_Path`), each of which
knows what decided it; at the end of an iteration, ways that differ in no flag that was set outside
are joined. An array has one interval for all of its elements. That is abstract interpretation with
partitioned traces: Cousot and Cousot, POPL 1977; Rival and Mauborgne, TOPLAS 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rtlgen.ir.affine import Affine, constraint_holds
from rtlgen.ir.conditions import Fact, facts_of, is_truth
from rtlgen.ir.constant_folding import folded
from rtlgen.ir.expr import (
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
    LoopNode,
    Node,
    Scop,
    Statement,
    statements_under,
)
from rtlgen.ir.types import FloatType
from rtlgen.ir.value_ranges import Facts, NoValueYet, Range, ValueRanges

MAX_STEPS = 12_000
"""Instances, each once for every way in which the run goes on: some ten seconds."""

MAX_PATHS = 16
"""Ways in which the run goes on at once; more are joined."""


class TooManySteps(Exception):
    """The program is too long to be run on intervals."""


@dataclass(frozen=True, slots=True)
class _Element:
    """What a read is of: an array, and its subscripts where they are known."""

    array: str
    at: tuple[Expr | int, ...]

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
    facts: of reads by number, with the elements that they are of.
    """

    scalars: dict[str, Range] = field(default_factory=dict)
    facts: tuple[tuple[Fact, tuple[_Element, ...]], ...] = ()


def interval_run(scop: Scop) -> Mapping[tuple[str, int], tuple[Range, ...]]:
    """Return where the computed subscripts of reads lie, by statement and number of the read.

    Those of reads that are never made are left out.

    Raises
    ------
    TooManySteps
    """
    run = _Run(scop)
    run.nodes(scop.tree)
    return {key: tuple(ranges) for key, ranges in run.found.items()}


class _Run:
    def __init__(self, scop: Scop) -> None:
        self.found: dict[tuple[str, int], list[Range]] = {}
        self._scop = scop
        self._arrays = {array.name: array for array in scop.arrays}
        self._contents = {a.name: _initial(a) for a in scop.arrays if a.shape}
        self._iterators: dict[str, int] = {}
        self._numbers: dict[_Element, int] = {}
        self._elements: list[_Element] = []
        self._steps = 0
        others = {s.write.array for s in scop.statements if not is_truth(s.expr)}
        self._flags = [a.name for a in scop.arrays if not a.shape and a.name not in others]
        scalars = {a.name: given for a in scop.arrays if not a.shape and (given := _initial(a))}
        self._paths = [_Path(scalars)]

    def nodes(self, nodes: tuple[Node, ...]) -> None:
        """Run some nodes."""
        for node in nodes:
            if isinstance(node, LoopNode):
                for value in node.loop.values(self._iterators):
                    self._iterators[node.loop.iterator] = value
                    if any(end.evaluate(self._iterators) < 0 for end in node.ends):
                        break
                    self.nodes(node.body)
                    self._join(node.body)
                self._iterators.pop(node.loop.iterator, None)
            elif isinstance(node, ConditionNode):
                if all(constraint_holds(c, self._iterators) for c in node.conditions):
                    self.nodes(node.body)
            else:
                self._execute(self._scop.statement(node.statement))

    def _execute(self, statement: Statement) -> None:
        self._steps += len(self._paths)
        if self._steps > MAX_STEPS:
            raise TooManySteps
        expr = self._concrete(statement.expr, statement)
        self._paths = [
            after for path in self._paths for after in self._after(path, expr, statement)
        ]
        if len(self._paths) > MAX_PATHS:
            self._join(())

    def _after(self, path: _Path, expr: Expr, statement: Statement) -> list[_Path]:
        """Return the ways in which the run goes on behind an instance."""
        ranges = ValueRanges({}, lambda read: self._read(path, read))
        facts = tuple(fact for fact, _ in path.facts)
        self._note(expr, statement.expr, statement, ranges, facts)
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
        return [
            self._with_scalar(way, array.name, _value(ranges, value, told), written)
            for way, value, told in self._ways(path, folded(expr, ranges, facts), ranges, facts)
        ]

    def _ways(
        self, path: _Path, expr: Expr, ranges: ValueRanges, facts: Facts
    ) -> Iterable[tuple[_Path, Expr, Facts]]:
        """Yield the ways in which data decides a value: what it is there, and what is known."""
        question = expr.condition if isinstance(expr, Select) else expr
        is_asked = isinstance(expr, Select) or is_truth(expr)
        if not is_asked or ranges.decided(question, facts) is not None:
            yield path, expr, facts
            return
        for holds in (True, False):
            told = facts_of(question, holds)
            new = ((fact, self._elements_in(fact.expr)) for fact in told)
            known = (*path.facts, *(each for each in new if each[1]))
            value: Expr = Constant(int(holds), expr.type)
            if isinstance(expr, Select):
                value = expr.if_true if holds else expr.if_false
            yield _Path(path.scalars, known), value, (*facts, *told)

    def _with_scalar(self, path: _Path, name: str, value: Range, written: _Element) -> _Path:
        found = self._without(path, written)
        return _Path({**found.scalars, name: value}, found.facts)

    def _without(self, path: _Path, written: _Element) -> _Path:
        """Return a way without what is known of an element that is written."""
        left = tuple(
            (fact, elements)
            for fact, elements in path.facts
            if not any(element.may_be(written) for element in elements)
        )
        return path if len(left) == len(path.facts) else _Path(path.scalars, left)

    def _store(self, array: Array, value: Range) -> None:
        known = self._contents[array.name]
        joined = value if known is None else (min(known[0], value[0]), max(known[1], value[1]))
        if joined != known:
            self._contents[array.name] = joined

    def _join(self, body: tuple[Node, ...]) -> None:
        """Join the ways that differ in no flag, or only in those of an iteration that ends.

        All of them are, where these are too many. What is known of elements of arrays is forgotten:
        the next iteration has others.
        """
        own = {self._scop.statement(name).write.array for name in statements_under(body)}
        flags = [name for name in self._flags if name not in own]
        groups: dict[object, list[_Path]] = {}
        for path in self._paths:
            key = tuple(path.scalars.get(name) for name in flags)
            groups.setdefault(key, []).append(path)
        if len(groups) > MAX_PATHS:
            groups = {None: self._paths}
        self._paths = [_joined(paths) for paths in groups.values()]

    # Expressions of one instance, without iterators.

    def _concrete(self, expr: Expr, statement: Statement) -> Expr:
        """Return an expression with its iterators known, and its reads known by their elements."""
        if isinstance(expr, IndexValue):
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
        subscripts: list[Expr | int] = []
        for subscript in access.subscripts:
            if isinstance(subscript, Affine):
                subscripts.append(subscript.evaluate(self._iterators))
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
        if array.shape:
            known = _table_value(array, element) or self._contents[array.name]
        if known is None:
            raise NoValueYet
        return known

    def _note(
        self, expr: Expr, origin: Expr, statement: Statement, ranges: ValueRanges, facts: Facts
    ) -> None:
        """Note where the subscripts of reads lie that an instance makes."""
        arms: list[tuple[Expr, Expr, Facts]] = []
        if isinstance(expr, Select | Scatter):
            condition, *others = zip(children(expr), children(origin), strict=True)
            arms.append((*condition, facts))
            taken = ranges.decided(expr.condition, facts)
            for n, arm in enumerate(others):
                holds = n == 0 or isinstance(expr, Scatter)
                if taken is None or taken is holds:
                    arms.append((*arm, (*facts, *facts_of(expr.condition, holds))))
        else:
            parts = zip(children(expr), children(origin), strict=True)
            arms += [(part, old, facts) for part, old in parts]
        for part, old, known in arms:
            self._note(part, old, statement, ranges, known)
        if isinstance(expr, Read) and isinstance(origin, Read) and expr.at:
            lies = [_value(ranges, part, facts) for part in expr.at]
            found = self.found.setdefault((statement.name, origin.index), lies)
            for n, (low, high) in enumerate(lies):
                found[n] = min(found[n][0], low), max(found[n][1], high)


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
    return _Path(scalars, facts)
