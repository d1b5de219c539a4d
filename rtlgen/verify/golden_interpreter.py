"""The golden model, word by word: small and slow, so that it is plainly right."""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.ir.affine import Affine, constraint_holds
from rtlgen.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Constant,
    Expr,
    FloatOperation,
    IndexValue,
    Read,
    ScalarParameter,
    Scatter,
    Select,
    Unary,
)
from rtlgen.ir.float_arithmetic import evaluate, fits_integer
from rtlgen.ir.scop import Access, ConditionNode, LoopNode, Node, Scop, Statement
from rtlgen.ir.types import FloatType, IntType, NumberType
from rtlgen.verify.golden_state import (
    EVENT_KINDS,
    EventKind,
    GoldenEvent,
    keeps_element,
    leaves_told,
    out_of_bounds,
)
from rtlgen.verify.values import Elements


class Interpreter:
    """Walk the tree of a Scop in program order, changing `memory` in place.

    Members
    -------
    counts: executed instances of every statement so far.
    """

    def __init__(self, scop: Scop, memory: dict[str, Elements], scalars: dict[str, int]) -> None:
        self._scop = scop
        self._flat = {name: array.reshape(-1) for name, array in memory.items()}
        self._written = {
            array.name: [False] * array.depth
            for array in scop.arrays
            if array.role == "local" and not array.is_table
        }
        self._scalars = scalars
        self._iterators: dict[str, int] = {}
        self._events: dict[tuple[str, EventKind], tuple[int, tuple[int, ...]]] = {}
        self.counts = {statement.name: 0 for statement in scop.statements}

    def run(self) -> None:
        """Execute the whole program.

        Raises
        ------
        SubscriptError
        """
        self._run(self._scop.tree)

    @property
    def events(self) -> tuple[GoldenEvent, ...]:
        """What C leaves undefined and the run met."""
        return tuple(
            GoldenEvent(kind, statement.name, *self._events[statement.name, kind])
            for statement in self._scop.statements
            for kind in EVENT_KINDS
            if (statement.name, kind) in self._events
        )

    def _run(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, LoopNode):
                self._loop(node)
            elif isinstance(node, ConditionNode):
                if all(constraint_holds(c, self._iterators) for c in node.conditions):
                    self._run(node.body)
            else:
                self._execute(self._scop.statement(node.statement))

    def _loop(self, node: LoopNode) -> None:
        loop, ends = node.loop, node.ends
        for value in loop.values(self._iterators):
            self._iterators[loop.iterator] = value
            if any(end.evaluate(self._iterators) < 0 for end in ends):
                break
            self._run(node.body)
        self._iterators.pop(loop.iterator, None)

    def _execute(self, statement: Statement) -> None:
        if isinstance(statement.expr, Scatter):
            self._scatter(statement, statement.expr)
            return
        is_chosen = isinstance(statement.expr, Select)
        stored = self._stored if is_chosen else self._value
        value = stored(statement.expr, statement)
        place = self._place(statement.write, (), statement)
        name = statement.write.array
        if value is not None:
            self._flat[name][place] = self._scop.array(name).element.wrap(value)
            if name in self._written:
                self._written[name][place] = True
        self.counts[statement.name] += 1

    def _scatter(self, statement: Statement, expr: Scatter) -> None:
        """Execute a statement that writes an element which data decides, or none."""
        name = statement.write.array
        if self._value(expr.condition, statement):
            value = self._value(expr.value, statement)
            place = self._place(statement.write, expr.at, statement)
            self._flat[name][place] = self._scop.array(name).element.wrap(value)
            if name in self._written:
                self._written[name][place] = True
        self.counts[statement.name] += 1

    def _stored(self, expr: Expr, statement: Statement) -> int | None:
        """Return the value that is stored; None where the element is left as it is."""
        match expr:
            case Select(condition, if_true, if_false):
                taken = if_true if self._value(condition, statement) else if_false
                value = self._stored(taken, statement)
                return None if value is None else expr.type.wrap(value)
            case Read(index) if keeps_element(statement.reads[index], statement):
                return None
        return self._value(expr, statement)

    def _place(self, access: Access, at: Sequence[Expr], statement: Statement) -> int:
        """Return the row-major position of the accessed element.

        Parameters
        ----------
        at: the values of the subscripts that depend on data.
        """
        looked_up = iter([self._value(part, statement) for part in at])
        element = tuple(
            subscript.evaluate(self._iterators)
            if isinstance(subscript, Affine)
            else next(looked_up)
            for subscript in access.subscripts
        )
        place = 0
        for value, extent in zip(element, self._scop.array(access.array).shape, strict=True):
            if not 0 <= value < extent:
                raise out_of_bounds(self._scop, statement.name, access, element, self._iterators)
            place = place * extent + value
        for value, subscript in zip(element, access.subscripts, strict=True):
            if leaves_told(value, subscript):
                raise out_of_bounds(self._scop, statement.name, access, element, self._iterators)
        return place

    def _value(self, expr: Expr, statement: Statement) -> int:
        return expr.type.wrap(self._exact(expr, statement))

    def _exact(self, expr: Expr, statement: Statement) -> int:
        """Return the mathematical value of `expr` for the operands' wrapped values."""
        match expr:
            case Constant(value):
                return value
            case IndexValue(affine):
                return affine.evaluate(self._iterators)
            case ScalarParameter(name):
                return self._scalars[name]
            case Read(index, at=at):
                return self._read(statement.reads[index], at, statement)
            case Unary(op, operand):
                x = self._value(operand, statement)
                return -x if op == "neg" else ~x if op == "not" else int(x == 0)
            case Cast(operand):
                return self._value(operand, statement)
            case Scatter():
                raise ValueError("a scatter is no value of one element")
            case Select(condition, if_true, if_false):
                taken = if_true if self._value(condition, statement) else if_false
                return self._value(taken, statement)
            case FloatOperation(op, operands):
                values = [self._value(operand, statement) for operand in operands]
                if op == "to_int" and not _fits(values[0], expr):
                    self._note("float conversion", statement)
                return evaluate(op, values, *expr.formats)
            case Binary(op, left, right):
                a, b = self._value(left, statement), self._value(right, statement)
                return self._binary(op, a, b, left.type, statement)

    def _read(self, access: Access, at: Sequence[Expr], statement: Statement) -> int:
        place = self._place(access, at, statement)
        if access.array in self._written and not self._written[access.array][place]:
            self._note("uninitialised read", statement)
        return int(self._flat[access.array][place])

    def _binary(self, op: BinaryOp, a: int, b: int, left: NumberType, statement: Statement) -> int:
        match op:
            case "add":
                return a + b
            case "sub":
                return a - b
            case "mul":
                return a * b
            case "and":
                return a & b
            case "or":
                return a | b
            case "xor":
                return a ^ b
            case "lt":
                return int(a < b)
            case "le":
                return int(a <= b)
            case "gt":
                return int(a > b)
            case "ge":
                return int(a >= b)
            case "eq":
                return int(a == b)
            case "ne":
                return int(a != b)
            case "shl" | "shr":
                if not 0 <= b < left.width_bits:
                    self._note("shift count", statement)
                count = b % left.width_bits
                return a << count if op == "shl" else a >> count
            case "div" | "rem":
                return self._divide(op, a, b, left, statement)

    def _divide(self, op: BinaryOp, a: int, b: int, type_: NumberType, statement: Statement) -> int:
        if b == 0:
            self._note("division by zero", statement)
            return -1 if op == "div" else a
        if type_.signed and a == type_.minimum and b == -1:
            self._note("division overflow", statement)
        # C truncates towards zero, Python's // rounds down.
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op == "div" else a - quotient * b

    def _note(self, kind: EventKind, statement: Statement) -> None:
        here = tuple(self._iterators[name] for name in statement.iterators)
        count, first = self._events.get((statement.name, kind), (0, here))
        self._events[statement.name, kind] = (count + 1, first)


def _fits(bits: int, expr: FloatOperation) -> bool:
    """Return whether a conversion to an integer has a value in C."""
    of, to = expr.of, expr.type
    assert isinstance(of, FloatType) and isinstance(to, IntType)
    return fits_integer(bits, of, to)
