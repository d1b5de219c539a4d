"""Scalars that a loop moves by a constant in every iteration: functions of its iterator.

for (j = 0; j < 8; j++) { a[k] = 0; k += 2; }        k is k0 + 2 * j inside, k0 + 16 behind
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from rtlgen.frontend.errors import FrontendError
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.loop_headers import split_header
from rtlgen.frontend.loops import LoopReader
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.symbols import ActiveIterator, Scopes
from rtlgen.frontend.writers import concerns, declared, mentions
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT64


class Inductions:
    """Finds by how much one run of a statement moves a scalar.

    Parameters
    ----------
    reader: returns a reader of expressions at a place, which leaves no trace.
    """

    def __init__(
        self, scopes: Scopes, locator: Locator, reader: Callable[[Ranges], ExpressionReader]
    ) -> None:
        self._scopes = scopes
        self._locator = locator
        self._reader = reader
        self._inner: frozenset[str] = frozenset()

    def move(self, node: c_ast.Node, name: str, ranges: Ranges) -> int | None:
        """Return by how much `node` moves `name`; None if that is not always the same."""
        self._inner = declared(node)
        return self._move(node, name, ranges)

    def _move(self, node: c_ast.Node | None, name: str, ranges: Ranges) -> int | None:
        if node is None or not concerns(node, name):
            return 0
        match node:
            case c_ast.Compound():
                moves = [self._move(item, name, ranges) for item in node.block_items or ()]
                known = [move for move in moves if move is not None]
                return sum(known) if len(known) == len(moves) else None
            case c_ast.Label():
                return self._move(node.stmt, name, ranges)
            case c_ast.For():
                return self._repeated(node, name, ranges)
            case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID()):
                return 1
            case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID()):
                return -1
            case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(), rvalue=by):
                return self._constant(by, name, ranges, 1 if op == "+=" else -1)
            case c_ast.Assignment(
                op="=",
                lvalue=c_ast.ID(),
                rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=left), right=by),
            ) if left == name:
                return self._constant(by, name, ranges, 1 if op == "+" else -1)
        return None

    def _constant(self, node: c_ast.Node, name: str, ranges: Ranges, sign: int) -> int | None:
        # What is declared in between is not the variable of that name out here.
        if mentions(node, self._inner | {name}):
            return None
        try:
            value = self._reader(ranges).value(node).constant
        except FrontendError:
            # It is refused when it is read in its turn.
            return None
        return None if value is None else sign * value

    def _repeated(self, node: c_ast.For, name: str, ranges: Ranges) -> int | None:
        header = [node.init, node.cond, node.next]
        if any(part is not None and concerns(part, name) for part in header):
            return None
        try:
            found = self.trips(node, self._inner, ranges)
        except FrontendError:
            return None
        if found is None:
            return None
        trips, inside, counter = found
        with self._scopes.iterating(counter.name, counter):
            move = self._move(node.stmt, name, inside)
        return None if move is None else trips * move

    def trips(
        self, node: c_ast.For, inner: frozenset[str], ranges: Ranges
    ) -> tuple[int, Ranges, ActiveIterator] | None:
        """Return how often a loop runs, if that is a constant, and what is known inside of it.

        Parameters
        ----------
        inner: names that do not mean there what they mean here.

        Raises
        ------
        FrontendError: its header is not supported.
        """
        header = split_header(node, self._locator)
        if any(
            mentions(part, inner - {header.iterator})
            for part in (header.start, header.condition, header.step, *header.limits)
        ):
            return None
        # Whether the type of the iterator holds it is checked when the loop is read.
        counter = ActiveIterator(header.iterator, INT64, header.span)
        reader = LoopReader(header, header.iterator, INT64, ranges, self._reader, self._locator)
        step = reader.step()
        start = reader.start(step)
        with self._scopes.iterating(header.iterator, counter):
            counted = reader.read(start, step, None)
        trips = trip_count(counted.loop)
        if header.limits or counted.limits or trips is None or not trips.is_constant:
            return None
        return max(0, trips.constant), ranges.inside(counted.body), counter


def trip_count(loop: Loop) -> Affine | None:
    """Return how often a loop runs, if that is affine; below 0 it stands for 0."""
    room = loop.stop - loop.start
    if room.is_constant:
        return Affine((), max(0, -(-room.constant // loop.step)))
    return room * loop.step if abs(loop.step) == 1 else None


def moved_inside(before: Affine | Expr, loop: Loop, move: int) -> Affine | Expr:
    """Return what a scalar is in an iteration of a loop, each of which moves it."""
    gone = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
    size = abs(loop.step)
    if isinstance(before, Affine) and move % size == 0:
        return before + gone * (move // size)
    by: Expr = IndexValue(gone * (move // size if move % size == 0 else 1), INT64)
    if move % size:
        steps = Binary("div", by, Constant(size, INT64), INT64)
        by = Binary("mul", steps, Constant(move, INT64), INT64)
    return Binary("add", _wide(before), by, INT64)


def moved_behind(
    before: Affine | Expr, loop: Loop, move: int, ranges: Ranges
) -> Affine | Expr | None:
    """Return what a scalar is behind a loop, each iteration of which moves it, if that is known."""
    whole = distance(loop, move, ranges)
    if whole is None:
        return None
    if isinstance(before, Affine):
        return before + whole
    return Binary("add", before, _wide(whole), INT64)


def _wide(value: Affine | Expr) -> Expr:
    if isinstance(value, Affine):
        return IndexValue(value, INT64)
    return value if value.type == INT64 else Cast(value, INT64)


def distance(loop: Loop, move: int, ranges: Ranges) -> Affine | None:
    """Return by how much all iterations of a loop move something, if affine."""
    trips = trip_count(loop)
    return None if trips is None or ranges.minimum(trips) < 0 else trips * move
