"""The operators of C on values of known shapes, and circuits that several operations share.

The operators of C on values of known shapes, each with the latency it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.divider import Divider
from rtlgen.hw.float.build import build_floating
from rtlgen.hw.multiplier import Multiplier, constant_product
from rtlgen.hw.names import prefix_ports
from rtlgen.hw.pipeline import Stages, mark
from rtlgen.ir.functional_units import FunctionalUnit
from rtlgen.ir.operation_costs import is_sum
from rtlgen.ir.operations import FloatingOp, is_division
from rtlgen.ir.plan import ArithmeticOp, SelectOp


def build_arithmetic(
    m: Module,
    op: ArithmeticOp,
    operands: Sequence[Value],
    name: str,
    begin: Value | None = None,
) -> Signal:
    """Build `op` and return its result, `op.latency_cycles` after the operands.

    Parameters
    ----------
    begin: of an operation that does not begin in every cycle: that it does.
    """
    result = mark(Signal(Shape(op.width_bits, op.signed), name=name), op.span)
    if op.op == "mul" and _as_constant_product(operands) is None:
        value = _multiply(m, op, operands, name)
    elif is_division(op):
        value = _divide(m, op, operands, name, begin)
    else:
        truncated = mark(Signal(result.shape(), name=f"{name}_value"), op.span)
        m.d.comb += truncated.eq(_combinational(op, operands))
        value = Stages(m, op.latency_cycles, op.span).delay_to_end(truncated, name)
    m.d.comb += result.eq(value)
    return result


def build_select(m: Module, op: SelectOp, operands: Sequence[Value], name: str) -> Value:
    """Return operands[1] where operands[0] is not 0, else operands[2], delayed by the latency."""
    condition, if_true, if_false = operands
    chosen = mark(Signal(Shape(op.width_bits, op.signed), name=f"{name}_value"), op.span)
    m.d.comb += chosen.eq(Mux(condition.any(), if_true, if_false))
    return Stages(m, op.latency_cycles, op.span).delay_to_end(chosen, name)


def _as_constant_product(operands: Sequence[Value]) -> Value | None:
    """Return the product when one factor is a constant of few digits, else None."""
    a, b = operands
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const) and is_sum(b.value):
        return constant_product(a, b.value)
    return None


def _multiply(m: Module, op: ArithmeticOp, operands: Sequence[Value], name: str) -> Value:
    left, right = operands
    unit = Multiplier(left.shape(), right.shape(), op.width_bits, op.latency_cycles, op.span)
    prefix_ports(unit, name)
    m.submodules[f"{name}_unit"] = unit
    m.d.comb += [unit.left.eq(left), unit.right.eq(right)]
    return unit.result


def _divide(
    m: Module, op: ArithmeticOp, operands: Sequence[Value], name: str, begin: Value | None
) -> Value:
    dividend, divisor = operands
    shapes = dividend.shape(), divisor.shape()
    unit = Divider(*shapes, op.latency_cycles, op.span, op.interval_cycles)
    prefix_ports(unit, name)
    if begin is not None:
        m.d.comb += unit.begin.eq(begin)
    m.submodules[f"{name}_unit"] = unit
    m.d.comb += [unit.dividend.eq(dividend), unit.divisor.eq(divisor)]
    return unit.quotient if op.op == "div" else unit.remainder


def _combinational(op: ArithmeticOp, operands: Sequence[Value]) -> Value:
    """Return the exact result; Amaranth's operators widen and mix signs as integers do."""
    a = operands[0]
    b = operands[-1]
    match op.op:
        case "neg":
            return -a
        case "not":
            return ~a if a.shape().signed else ~(a + Const(0, 1)).as_signed()
        case "lnot":
            return ~a.any()
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            product = _as_constant_product(operands)
            assert product is not None, "other products have a unit of their own"
            return product
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "shl":
            return a << _count(b, op.modulus_bits)
        case "shr":
            return a >> _count(b, op.modulus_bits)
        case "lt":
            return _is_less(a, b)
        case "le":
            return ~_is_less(b, a)
        case "gt":
            return _is_less(b, a)
        case "ge":
            return ~_is_less(a, b)
        case "eq":
            return a == b
        case "ne":
            return a != b
        case _:
            raise ValueError(f"{op.op} is not combinational")


def _is_less(a: Value, b: Value) -> Value:
    """Return whether a < b: the sign of their difference.

    It is the last bit of one carry chain. Synthesis would also look whether all bits are equal, for
    two of the four comparisons, and correct the sign of what overflowed.
    """
    if isinstance(a, Const) or isinstance(b, Const):
        # Comparisons with some constants, 0 among them, need no chain.
        return a < b
    return (a - b)[-1]


def _count(value: Value, modulus_bits: int) -> Value:
    """Return `value` modulo `modulus_bits`, a power of two."""
    bits = modulus_bits.bit_length() - 1
    if isinstance(value, Const):
        return Const(value.value % modulus_bits, bits)
    return value.as_unsigned()[:bits]


OPERANDS = "left", "right", "addend"
"""What the ports for the operands of an operation are called."""


class SharedUnit(wiring.Component):
    """Compute the operation of the user that begins.

    Parameters
    ----------
    unit: see there. shapes: of the operands, the same for all users.

    Members
    -------
    beginN: In(1), whether user N begins; of all, one at most. Of twins, the first one is N.
    leftN, rightN, addendN: In, its operands, as many as there are.
    result: Out.

    Timing
    ------
    The latency of the operation after the operands, and a cycle more where they are registered.
    """

    def __init__(self, unit: FunctionalUnit, shapes: Sequence[Shape]) -> None:
        self._unit = unit
        self._shapes = dict(zip(OPERANDS, shapes, strict=False))
        members: dict[str, In | Out] = {
            "result": Out(Shape(unit.op.width_bits, unit.op.signed)),
        }
        for n in unit.leaders:
            members[f"begin{n}"] = In(1)
            members |= {f"{side}{n}": In(shape) for side, shape in self._shapes.items()}
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        leaders = self._unit.leaders
        begins = [getattr(self, f"begin{n}") for n in leaders]
        begin = self._held(m, reduce(or_, begins), Shape(1), "begin")
        operands = []
        for name, shape in self._shapes.items():
            # What does not begin is all zeros: a choice without an order takes half the logic.
            given = [getattr(self, f"{name}{n}").as_unsigned() for n in leaders]
            if len(given) > 1:
                gates = [begin.replicate(shape.width) for begin in begins]
                given = [value & gate for value, gate in zip(given, gates, strict=True)]
            operands.append(self._held(m, reduce(or_, given), shape, name))
        op = self._unit.op
        is_begun = begin if op.interval_cycles > 1 else None
        if isinstance(op, FloatingOp):
            result = build_floating(m, op, operands, op.op, is_begun)
        else:
            result = build_arithmetic(m, op, operands, op.op, is_begun)
        m.d.comb += self.result.eq(result)
        return m

    def _held(self, m: Module, value: Value, shape: Shape, name: str) -> Signal:
        """Return what was chosen, a cycle later where there is time for that."""
        chosen = mark(Signal(shape, name=name, reset_less=True), self._unit.op.span)
        if self._unit.is_registered:
            m.d.sync += chosen.eq(value)
        else:
            m.d.comb += chosen.eq(value)
        return chosen
