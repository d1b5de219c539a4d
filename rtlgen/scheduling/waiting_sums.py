"""Sums of floats that wait for their adder: what `--float reassociate` is for."""

from __future__ import annotations

from rtlgen.ir.expr import FloatOperation, Read, Select
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.types import FloatType
from rtlgen.scheduling.datapath import float_latency_cycles
from rtlgen.source import Span
from rtlgen.target import Target


def waiting_sums(plan: KernelPlan, scop: Scop) -> tuple[tuple[Span, FloatType], ...]:
    """Return the statements that add to a float and begin less often than in every cycle.

    With the type of the sum, each place in the program once.
    """
    slow = {stream.span for region in plan.regions for stream in region.streams if stream.ii > 1}
    return tuple(
        {
            statement.span: type_
            for statement in scop.statements
            if statement.span in slow and (type_ := _summed(statement)) is not None
        }.items()
    )


def _summed(statement: Statement) -> FloatType | None:
    """Return the type of the sum to which a statement adds, if that is what it does."""
    expr = statement.expr
    # What is added only where a condition holds leaves the sum as it is elsewhere.
    while isinstance(expr, Select):
        arms = [arm for arm in (expr.if_true, expr.if_false) if not isinstance(arm, Read)]
        if len(arms) != 1:
            return None
        expr = arms[0]
    match expr:
        case FloatOperation("add" | "sub", operands, FloatType() as type_):
            for operand in operands:
                if isinstance(operand, Read):
                    read = statement.reads[operand.index]
                    if read.array == statement.write.array:
                        return type_
    return None


def partial_sums(type_: FloatType, target: Target) -> int:
    """Return how many sums an adder can take turns with: a power of two."""
    latency = float_latency_cycles("add", type_, type_, target)
    return max(2, 1 << (latency - 1).bit_length())
