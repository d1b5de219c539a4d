"""A circuit for several operations, no two of which begin in one cycle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.float.build import build_floating
from rtlgen.hw.operators import build_arithmetic
from rtlgen.hw.source_lines import mark
from rtlgen.ir.functional_units import FunctionalUnit
from rtlgen.ir.operations import FloatingOp

OPERANDS = "left", "right", "addend"
"""What the ports for the operands of an operation are called."""


class SharedUnit(wiring.Component):
    """Compute the operation of the user that begins.

    Parameters
    ----------
    unit: see there. shapes: of the operands, the same for all users.

    Members
    -------
    beginN: In(1), whether user N begins; of all, one at most.
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
        for n in range(len(unit.users)):
            members[f"begin{n}"] = In(1)
            members |= {f"{side}{n}": In(shape) for side, shape in self._shapes.items()}
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        begins = [getattr(self, f"begin{n}") for n in range(len(self._unit.users))]
        begin = self._held(m, reduce(or_, begins), Shape(1), "begin")
        operands = []
        for name, shape in self._shapes.items():
            # What does not begin is all zeros: a choice without an order takes half the logic.
            gated = [
                getattr(self, f"{name}{n}").as_unsigned() & begins[n].replicate(shape.width)
                for n in range(len(begins))
            ]
            operands.append(self._held(m, reduce(or_, gated), shape, name))
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
