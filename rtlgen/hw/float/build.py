"""The operation of a plan on floats, as the component that computes it."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Value

from rtlgen.ir.plan import FloatingOp


def build_floating(m: Module, op: FloatingOp, operands: Sequence[Value], name: str) -> Value:
    """Build `op` and return its result, `op.latency_cycles` after the operands.

    Parameters
    ----------
    operands: patterns of `op.of`, or integers, with as many bits as they need.
    """
    raise NotImplementedError(op.op)
