"""Value ranges that follow the data: of every statement's result, and of every read.

A read has the values of the statements that it may get them from, which the dataflow tells
exactly. Values that go round in a cycle are a least fixed point, found from below; what still grows
after a few rounds grows to the next power of two at once, so that the search ends; where that was
too far, a last round takes it back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Expr, Read, children, with_children
from rtlgen.ir.scop import Access, Array, Scop, Statement
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.value_ranges import NoValueYet, Range, ValueRanges, value_range
from rtlgen.poly.dependences import Dataflow, Flow

PATIENCE_ROUNDS = 8
"""Rounds in which a range may grow by as little as it likes."""

NARROWING_ROUNDS = 2
"""Rounds that take back what a range has grown too far."""


class ValueFlow:
    """Ranges of a program's values.

    Parameters
    ----------
    sets: of the normalised program. flows: its dataflow.

    Members
    -------
    results: ranges of what statements store, by their names.
    """

    def __init__(self, sets: ScopSets, flows: Dataflow) -> None:
        self._sets = sets
        self._scop: Scop = sets.scop
        self._dataflow = flows
        self._flows: dict[tuple[str, int], list[Flow]] = {}
        for flow in flows.flows:
            self._flows.setdefault((flow.sink, flow.sink_read), []).append(flow)
        self.results: dict[str, Range] = {}
        self._covered: dict[tuple[str, int], bool] = {}
        self._tables: dict[tuple[str, int], Range] = {}
        self._indices: dict[tuple[str, Affine], Range] = {}
        self._boxes = {s.name: self._box(s) for s in self._scop.statements}
        self._expressions = {s.name: canonical(s)[0] for s in self._scop.statements}
        self._evaluated: dict[str, tuple[tuple[Range | None, ...], Range | None]] = {}
        self._settle()

    def ranges(self, statement: Statement) -> ValueRanges:
        """Return the ranges of the expressions of a statement."""

        def read_range(read: Read) -> Range:
            return self.read_range(statement, read)

        def index_range(affine: Affine) -> Range:
            key = statement.name, affine
            if key not in self._indices:
                self._indices[key] = self._sets.affine_range(statement, affine)
            return self._indices[key]

        return ValueRanges(self._boxes[statement.name], read_range, index_range)

    def box(self, statement: Statement) -> Mapping[str, Range]:
        """Return the range of every iterator of a statement."""
        return self._boxes[statement.name]

    def _box(self, statement: Statement) -> Mapping[str, Range]:
        box = self._sets.bounding_box(statement)
        assert box is not None, "a normalised program has no empty statement"
        return dict(zip(statement.iterators, box, strict=True))

    def _settle(self) -> None:
        moved, rounds = True, 0
        while moved:
            moved, rounds = False, rounds + 1
            for statement in self._scop.statements:
                found, known = self._result(statement), self.results.get(statement.name)
                if found is None:
                    continue
                if known is not None:
                    found = min(known[0], found[0]), max(known[1], found[1])
                if found != known:
                    moved = True
                    type_ = statement.expr.type
                    wide = _widened(known, found, (type_.minimum, type_.maximum))
                    self.results[statement.name] = found if rounds <= PATIENCE_ROUNDS else wide
        # From above, every round brings the ranges nearer and none leaves a value out.
        for _ in range(NARROWING_ROUNDS):
            for statement in self._scop.statements:
                found = self._result(statement)
                if found is not None:
                    self.results[statement.name] = found

    def _result(self, statement: Statement) -> Range | None:
        """Return the range of a result as its operands are known, or None without a first value."""
        sources = (f for n in range(len(statement.reads)) for f in self._feeding(statement, n))
        operands = tuple(self.results.get(flow.source) for flow in sources)
        known = self._evaluated.get(statement.name)
        if known is not None and known[0] == operands:
            return known[1]
        found: Range | None = None
        with suppress(NoValueYet):
            found = self.ranges(statement).range(self._expressions[statement.name])
        self._evaluated[statement.name] = operands, found
        return found

    def sources(self, statement: Statement, read: int) -> frozenset[str]:
        """Return the names of the statements that a read may get its value from."""
        return frozenset(flow.source for flow in self._feeding(statement, read))

    def _feeding(self, statement: Statement, read: int) -> Sequence[Flow]:
        return self._flows.get((statement.name, read), ())

    def read_range(self, statement: Statement, read: Read) -> Range:
        """Return the range of a read of a statement.

        Raises
        ------
        NoValueYet: no statement that runs gives it a value.
        """
        access = statement.reads[read.index]
        array = self._scop.array(access.array)
        if array.is_table:
            key = (statement.name, read.index)
            if key not in self._tables:
                values = _elements(array, access, self._boxes[statement.name])
                self._tables[key] = int(values.min()), int(values.max())
            return self._tables[key]
        if not self._is_covered(statement, read.index, access):
            return array.element.minimum, array.element.maximum
        flows = self._feeding(statement, read.index)
        found = [self.results[f.source] for f in flows if f.source in self.results]
        if not found:
            raise NoValueYet
        return min(low for low, _ in found), max(high for _, high in found)

    def _is_covered(self, statement: Statement, read: int, access: Access) -> bool:
        """Return whether the program itself has stored whatever is read.

        A local variable that was never written has no value at all in C.
        """
        if self._scop.array(access.array).storage == "local":
            return True
        if access.is_uncertain:
            return False
        key = (statement.name, read)
        if key not in self._covered:
            unfed = self._dataflow.unfed(self._sets, statement.name, read)
            self._covered[key] = unfed.is_empty()
        return self._covered[key]


def _elements(table: Array, access: Access, box: Mapping[str, Range]) -> NDArray[Any]:
    """Return the elements of a table that an access may touch, and perhaps others."""
    taken = []
    for subscript, extent in zip(access.subscripts, table.shape, strict=True):
        step = 1
        if isinstance(subscript, Affine):
            low, high = subscript.range(dict(box))
            moving = (c for name, c in subscript.terms if box[name][0] < box[name][1])
            step = max(1, gcd(*moving))
        else:
            low, high = subscript.low, subscript.high
            if subscript.known is not None:
                low, high = value_range(subscript.known, box)
        # The program makes no access outside, even if the box is larger than its iterations.
        first = low if low >= 0 else low % step
        taken.append(slice(first, min(high + 1, extent), step))
    values = np.array(table.values, dtype=object).reshape(table.shape)[tuple(taken)]
    return values if values.size else np.array(table.values, dtype=object)


def _widened(known: Range | None, found: Range, whole: Range) -> Range:
    """Return `found`, its moving ends moved on to a power of two."""
    low, high = found
    if known is None or low < known[0]:
        low = max(whole[0], -(1 << (-low).bit_length()) if low < 0 else 0)
    if known is None or high > known[1]:
        high = min(whole[1], (1 << high.bit_length()) - 1 if high > 0 else 0)
    return low, high


def canonical(statement: Statement) -> tuple[Expr, Mapping[int, int]]:
    """Return the expression of a statement with equal reads made one, and which one of each.

    All reads of an instance come before its write, so that they see the same values.
    """
    first: dict[tuple[object, ...], Read] = {}
    numbers: dict[int, int] = {}

    def merged(expr: Expr) -> Expr:
        operands = tuple(map(merged, children(expr)))
        if not isinstance(expr, Read):
            return with_children(expr, operands)
        access = statement.reads[expr.index]
        read = first.setdefault(
            (access.array, access.subscripts, operands), Read(expr.index, expr.type, operands)
        )
        numbers[expr.index] = read.index
        return read

    return merged(statement.expr), numbers
