"""The operators of C on values of known shapes, each with the latency it is given."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Mux, Shape, Signal, Value

from rtlgen.hw.constant_product import constant_product
from rtlgen.hw.divider import Divider
from rtlgen.hw.multiplier import Multiplier
from rtlgen.hw.names import prefix_ports
from rtlgen.hw.pipeline import Stages
from rtlgen.hw.source_lines import mark
from rtlgen.ir.operations import is_division
from rtlgen.ir.plan import ArithmeticOp, SelectOp
from rtlgen.ir.signed_digits import is_sum


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
