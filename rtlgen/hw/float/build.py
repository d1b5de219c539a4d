"""The operation of a plan on floats, as the component that computes it."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Shape, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.hw.float.comparisons import compare, extreme
from rtlgen.hw.float.conversions import convert, from_integer, integral, scale, to_integer
from rtlgen.hw.float.products import multiply
from rtlgen.hw.float.quotients import divide, square_root
from rtlgen.hw.float.sums import add, fused_multiply_add
from rtlgen.hw.names import prefix_ports
from rtlgen.hw.pipeline import Steps, mark
from rtlgen.ir.operation_costs import cycles_of_digits
from rtlgen.ir.plan import FloatingOp
from rtlgen.ir.types import FloatType, IntType, power_of_two
from rtlgen.target import float_steps


class FloatUnit(wiring.Component):
    """The circuit of one operation.

    Parameters
    ----------
    operands: shapes of those that are ports, and the constants among them, in order.

    Members
    -------
    operandN: In, a pattern of the type of the operands, which may lack upper bits that are 0; or
        an integer. result: Out, the pattern, or the integer, as unsigned bits.
    begin: In(1), beside operands whose result is wanted, `op.interval_cycles` apart at least; where
        that is more than one.

    Timing
    ------
    Latency `op.latency_cycles`. With `float_steps` cycles each step has one; with fewer, the
    interval is 1.
    """

    def __init__(self, op: FloatingOp, operands: Sequence[Shape | Const]) -> None:
        self._op = op
        self._operands = operands
        ports = {
            f"operand{n}": In(each) for n, each in enumerate(operands) if isinstance(each, Shape)
        }
        if op.interval_cycles > 1:
            if op.latency_cycles < cycles_of_digits(op, ()):
                raise ValueError(f"{op.interval_cycles} digits in turn take a cycle each")
            ports["begin"] = In(1)
        bits = 1 if op.op in ("lt", "le", "eq") else op.to.width_bits
        super().__init__({**ports, "result": Out(unsigned(bits))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        op = self._op
        type_ = op.of if isinstance(op.of, FloatType) else op.to
        assert isinstance(type_, FloatType)
        given, precision = self._given(), type_.fraction_bits + 1
        power, factor = _power_of_two(op, given)
        # What shifts by a constant converts, to exponents that are greater or less.
        step_op = "convert" if power else op.op
        count = float_steps(step_op, precision, subnormals=type_.subnormals)
        begin = self.begin if op.interval_cycles > 1 else None
        steps = Steps(m, count, op.latency_cycles, op.span, begin)
        result = scale(steps, factor, power, type_) if power else _computed(steps, op, given)
        m.d.comb += self.result.eq(result)
        return m

    def _given(self) -> list[Value]:
        given: list[Value] = []
        for n, each in enumerate(self._operands):
            value: Value = each if isinstance(each, Const) else getattr(self, f"operand{n}")
            if isinstance(self._op.of, FloatType):
                bits = self._op.of.width_bits
                if isinstance(value, Const):
                    value = Const(value.value, bits)
                else:
                    value = Cat(value, Const(0, max(0, bits - len(value))))[:bits]
            given.append(value)
        return given


def _power_of_two(op: FloatingOp, given: Sequence[Value]) -> tuple[int, Value]:
    """Return the factor of a product that is a power of two, and the other one; or 0."""
    if op.op == "mul" and isinstance(op.of, FloatType):
        for factor, other in (given, given[::-1]):
            if isinstance(factor, Const) and power_of_two(factor.value, op.of):
                return factor.value, other
    return 0, given[0]


def _computed(steps: Steps, op: FloatingOp, given: Sequence[Value]) -> Value:
    if isinstance(op.of, IntType):
        assert isinstance(op.to, FloatType)
        return from_integer(steps, given[0], op.to)
    match op.op:
        case "add":
            return add(steps, given[0], given[1], op.of)
        case "sub":
            return add(steps, given[0], Cat(given[1][:-1], ~given[1][-1]), op.of)
        case "mul":
            return multiply(steps, given[0], given[1], op.of)
        case "fma":
            return fused_multiply_add(steps, given[0], given[1], given[2], op.of)
        case "div":
            return divide(steps, given[0], given[1], op.of, op.interval_cycles)
        case "sqrt":
            return square_root(steps, given[0], op.of, op.interval_cycles)
        case "lt" | "le" | "eq":
            return compare(steps, op.op, given[0], given[1], op.of)
        case "min" | "max":
            return extreme(steps, op.op, given[0], given[1], op.of)
        case "to_int":
            assert isinstance(op.to, IntType)
            return to_integer(steps, given[0], op.of, op.to)
        case "convert":
            assert isinstance(op.to, FloatType)
            return convert(steps, given[0], op.of, op.to)
        case _:
            return integral(steps, op.op, given[0], op.of)


def build_floating(
    m: Module,
    op: FloatingOp,
    operands: Sequence[Value],
    name: str,
    begin: Value | None = None,
) -> Signal:
    """Build `op` and return its result, `op.latency_cycles` after the operands.

    Parameters
    ----------
    operands: patterns of `op.of`, or integers, with as many bits as they need.
    begin: of an operation that does not begin in every cycle: that it does.
    """
    unit = FloatUnit(op, [o if isinstance(o, Const) else o.shape() for o in operands])
    prefix_ports(unit, name)
    m.submodules[f"{name}_unit"] = unit
    if begin is not None:
        m.d.comb += unit.begin.eq(begin)
    for number, operand in enumerate(operands):
        if not isinstance(operand, Const):
            m.d.comb += getattr(unit, f"operand{number}").eq(operand)
    result = mark(Signal(Shape(op.width_bits, op.signed), name=name), op.span)
    m.d.comb += result.eq(unit.result)
    return result
