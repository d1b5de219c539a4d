"""The instances of a program in its own order, and behind which others each of them comes.

A value flows from the last store to an element to the reads of it, and a store comes behind the
reads of what was there, and behind the store before it. All instances of a statement are looked at
together, as columns of numbers: a program of a hundred thousand instances takes a part of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.scop import Access, ConditionNode, LoopNode, Node, Scop, Statement

Columns: TypeAlias = Mapping[str, Ints]
"""The values of iterators, by name, one for each instance."""


class TooManyIterations(Exception):
    """More iterations would be walked through than somebody wants to wait for."""


@dataclass(frozen=True, slots=True)
class FlowKind:
    """Why instances of one statement come behind instances of another one.

    Members
    -------
    read: of `sink`, which gets the value; or of `source`, which has read what was in the place
        where `sink` stores; None: `source` has stored it.
    is_value: whether it is the value that is waited for, not the place.
    """

    source: str
    sink: str
    read: int | None
    is_value: bool


@dataclass(frozen=True, slots=True, eq=False)
class ValueFlows:
    """The instances of a program, numbered in its order, and those behind which each comes.

    Members
    -------
    count: of all instances. numbers: of the instances of each statement, in order.
    sources, sinks: a pair of instances for each flow, ordered by the sinks; a source has the
        smaller number. kinds: of each flow, as a place in `kind_list`.
    """

    count: int
    numbers: Mapping[str, Ints]
    sources: Ints
    sinks: Ints
    kinds: Ints
    kind_list: tuple[FlowKind, ...]


def value_flows(scop: Scop, most: int | None = None) -> ValueFlows:
    """Return the instances of a program, and what flows between them.

    Elements that depend on data, or that may lie outside of their array, are left out: a store to
    one leaves it open which value any element of the array has.

    Parameters
    ----------
    most: iterations of loops, with a statement in them or none; None: any number.

    Raises
    ------
    TooManyIterations
    """
    run = _Walk(scop, most).all_instances()
    pairs = _Pairs()
    accesses = _accesses(scop, run)
    for array in sorted({of.array for of in accesses if of.is_write}):
        _add_flows([of for of in accesses if of.array == array], pairs)
    sources, sinks, kinds = pairs.ordered()
    numbers = {name: each.numbers for name, each in run.items()}
    count = sum(map(len, numbers.values()))
    return ValueFlows(count, numbers, sources, sinks, kinds, tuple(pairs.kind_list))


@dataclass(frozen=True, slots=True, eq=False)
class _Instances:
    """Instances of a statement: their iterators, and which place each has among all others.

    Members
    -------
    numbers: places among the instances of one iteration of the loops around, of its own `outer`.
    outer: the iteration of these loops, by its number.
    """

    statement: str
    at: Columns
    numbers: Ints
    outer: Ints


@dataclass(slots=True)
class _Walk:
    """A program, walked in its order, all iterations of a loop at once.

    Members
    -------
    left: iterations of loops that may still be walked through; None: all.
    """

    scop: Scop
    left: int | None = None

    def all_instances(self) -> dict[str, _Instances]:
        """Return the instances of each statement that runs, in program order.

        Raises
        ------
        TooManyIterations
        """
        parts: dict[str, list[_Instances]] = {}
        for part in self._sequence(self.scop.tree, {}, 1)[1]:
            parts.setdefault(part.statement, []).append(part)
        return {name: _joined(of) for name, of in parts.items()}

    def _sequence(
        self, nodes: Sequence[Node], at: Columns, count: int
    ) -> tuple[Ints, list[_Instances]]:
        """Return how many instances each of `count` iterations around has, and all of them."""
        before = np.zeros(count, np.int64)
        found = []
        for node in nodes:
            counts, parts = self._node(node, at, count)
            found += [replace(p, numbers=p.numbers + before[p.outer]) for p in parts]
            before = before + counts
        return before, found

    def _node(self, node: Node, at: Columns, count: int) -> tuple[Ints, list[_Instances]]:
        if isinstance(node, LoopNode):
            return self._loop(node, at, count)
        if isinstance(node, ConditionNode):
            holds = np.ones(count, np.bool_)
            for condition in node.conditions:
                holds &= _holds(condition, at, count)
            kept = np.flatnonzero(holds)
            inner, parts = self._sequence(node.body, _taken(at, kept), len(kept))
            counts = np.zeros(count, np.int64)
            counts[kept] = inner
            return counts, [replace(part, outer=kept[part.outer]) for part in parts]
        every = np.arange(count)
        return np.ones(count, np.int64), [_Instances(node.statement, at, every * 0, every)]

    def _loop(self, node: LoopNode, at: Columns, count: int) -> tuple[Ints, list[_Instances]]:
        loop = node.loop
        start, stop = _value(loop.start, at, count), _value(loop.stop, at, count)
        distance = stop - loop.scale * start if loop.step > 0 else loop.scale * start - stop
        trips = np.maximum(0, -(-distance // (loop.scale * abs(loop.step))))
        ends = np.cumsum(trips)
        total = int(ends[-1]) if count else 0
        if self.left is not None:
            self.left -= total
            if self.left < 0:
                raise TooManyIterations
        outer = np.repeat(np.arange(count), trips)
        firsts = ends - trips
        values = start[outer] + loop.step * (np.arange(total) - firsts[outer])
        inner, parts = self._sequence(node.body, _taken(at, outer) | {loop.iterator: values}, total)
        sums = np.concatenate([[0], np.cumsum(inner)])
        offsets = sums[:-1] - sums[firsts][outer]
        moved = [
            replace(p, numbers=p.numbers + offsets[p.outer], outer=outer[p.outer]) for p in parts
        ]
        return sums[ends] - sums[firsts], moved


def _joined(parts: Sequence[_Instances]) -> _Instances:
    """Return the instances of one statement, wherever the tree has them, in program order."""
    if len(parts) == 1:
        return parts[0]
    numbers = np.concatenate([part.numbers for part in parts])
    order = np.argsort(numbers)
    names = parts[0].at.keys()
    at = {name: np.concatenate([part.at[name] for part in parts])[order] for name in names}
    return _Instances(parts[0].statement, at, numbers[order], order * 0)


def _taken(at: Columns, places: Ints) -> dict[str, Ints]:
    return {name: column[places] for name, column in at.items()}


def _value(form: Affine, at: Columns, count: int) -> Ints:
    value = np.full(count, form.constant, np.int64)
    for name, coefficient in form.terms:
        value += coefficient * at[name]
    return value


def _holds(condition: Constraint, at: Columns, count: int) -> Bools:
    if isinstance(condition, Congruence):
        holds: Bools = _value(condition.form, at, count) % condition.modulus == 0
    else:
        holds = _value(condition, at, count) >= 0
    return holds


@dataclass(frozen=True, slots=True, eq=False)
class _Accesses:
    """One access of a statement, in all of its instances.

    Members
    -------
    read: which; None: the store. numbers: of the instances with an element that is known.
    subscripts: of it, a column for each dimension. unknown: the other instances.
    """

    statement: str
    array: str
    read: int | None
    numbers: Ints
    subscripts: tuple[Ints, ...]
    unknown: Ints

    @property
    def is_write(self) -> bool:
        return self.read is None


def _accesses(scop: Scop, run: Mapping[str, _Instances]) -> list[_Accesses]:
    """Return all accesses of a program to arrays that it stores to."""
    statements = [(scop.statement(name), instances) for name, instances in run.items()]
    stored = {statement.write.array for statement, _ in statements}
    return [
        _access(statement, access, read, instances)
        for statement, instances in statements
        for read, access in ((None, statement.write), *enumerate(statement.reads))
        if access.array in stored
    ]


def _access(
    statement: Statement, access: Access, read: int | None, instances: _Instances
) -> _Accesses:
    at, numbers = instances.at, instances.numbers
    count = len(numbers)
    holds = np.full(count, not (access.is_lookup or access.is_conditional))
    for form in access.where:
        holds &= _value(form, at, count) >= 0
    known = np.flatnonzero(holds)
    subscripts: tuple[Ints, ...] = ()
    if len(known):
        inside = _taken(at, known)
        subscripts = tuple(_value(form, inside, len(known)) for form in access.affine)
    unknown = numbers[~holds]
    return _Accesses(statement.name, access.array, read, numbers[known], subscripts, unknown)


@dataclass(slots=True)
class _Pairs:
    """Flows, as they are found."""

    kind_list: list[FlowKind] = field(default_factory=list)
    sources: list[Ints] = field(default_factory=list)
    sinks: list[Ints] = field(default_factory=list)
    kinds: list[Ints] = field(default_factory=list)

    def add(self, sources: Ints, sinks: Ints, kinds: Ints) -> None:
        self.sources.append(sources)
        self.sinks.append(sinks)
        self.kinds.append(kinds)

    def ordered(self) -> tuple[Ints, Ints, Ints]:
        """Return sources, sinks and kinds, ordered by sinks."""
        none = np.zeros(0, np.int64)
        sources, sinks, kinds = (
            np.concatenate([none, *columns]) for columns in (self.sources, self.sinks, self.kinds)
        )
        order = np.argsort(sinks, kind="stable")
        return sources[order], sinks[order], kinds[order]


def _add_flows(accesses: Sequence[_Accesses], pairs: _Pairs) -> None:
    """Add what flows by way of one array.

    Parameters
    ----------
    accesses: to the array, all of the program's.
    """
    known = [of for of in accesses if len(of.numbers)]
    if not known:
        return
    counts = [len(of.numbers) for of in known]
    columns = zip(*(of.subscripts for of in known), strict=True)
    elements = _elements([np.concatenate(column) for column in columns], sum(counts))
    numbers = np.concatenate([of.numbers for of in known])
    which = np.repeat(np.arange(len(known)), counts)
    is_write = np.array([of.is_write for of in known])[which]
    # Those of an element one after another; an instance reads before it stores.
    order = np.lexsort((is_write, numbers, elements))
    elements, numbers, which = elements[order], numbers[order], which[order]
    is_write = is_write[order]
    places = np.arange(len(order))
    # The last store before each access, and the first one behind it, to the same element.
    last = np.maximum.accumulate(np.where(is_write, places, -1))
    last = np.concatenate([[-1], last[:-1]])
    is_stored = (last >= 0) & (elements[last] == elements)
    end = len(order)
    first = np.minimum.accumulate(np.where(is_write, places, end)[::-1])[::-1]
    reached = np.minimum(first, end - 1)
    is_replaced = (first < end) & (elements[reached] == elements)
    # What an instance reads and replaces itself does not wait for itself.
    is_replaced &= ~is_write & (numbers[reached] != numbers)

    unknown = np.sort(np.concatenate([of.unknown for of in accesses if of.is_write]))
    lost = np.searchsorted(unknown, numbers) > np.searchsorted(unknown, numbers[last], "right")
    table = _Table(known, pairs.kind_list)
    reads = np.flatnonzero(is_stored & ~is_write & ~lost)
    stores = last[reads]
    kinds = table.kinds(which[stores], which[reads], which[reads], is_value=True)
    pairs.add(numbers[stores], numbers[reads], kinds)
    reads = np.flatnonzero(is_replaced)
    stores = first[reads]
    kinds = table.kinds(which[reads], which[stores], which[reads], is_value=False)
    pairs.add(numbers[reads], numbers[stores], kinds)
    stores = np.flatnonzero(is_stored & is_write)
    before = last[stores]
    kinds = table.kinds(which[before], which[stores], which[before], is_value=False)
    pairs.add(numbers[before], numbers[stores], kinds)


def _elements(columns: Sequence[Ints], count: int) -> Ints:
    """Return a number for each of `count` elements of an array, inside of its bounds or not.

    Parameters
    ----------
    columns: the subscripts.
    """
    elements = np.zeros(count, np.int64)
    for column in columns:
        low, high = int(column.min()), int(column.max())
        elements = elements * (high - low + 1) + (column - low)
    return elements


@dataclass(frozen=True, slots=True)
class _Table:
    """The kinds of flows between the accesses of one array, added to those of the program."""

    accesses: Sequence[_Accesses]
    kind_list: list[FlowKind]

    def kinds(self, sources: Ints, sinks: Ints, reads: Ints, *, is_value: bool) -> Ints:
        """Return the kind of each flow, as a place in the list of all.

        Parameters
        ----------
        sources, sinks, reads: whose statements, and whose `read`, by the numbers of accesses.
        """
        size = len(self.accesses)
        codes, places = np.unique((sources * size + sinks) * size + reads, return_inverse=True)
        first = len(self.kind_list)
        for code in codes.tolist():
            pair, read = divmod(code, size)
            source, sink = divmod(pair, size)
            self.kind_list.append(
                FlowKind(
                    self.accesses[source].statement,
                    self.accesses[sink].statement,
                    self.accesses[read].read,
                    is_value,
                )
            )
        kinds: Ints = places.reshape(-1) + first
        return kinds
