"""Expressions of isl's loop generator, read into the project's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from rtlgen.ir.code import Index, IndexOp, Number, Operation
from rtlgen.ir.sets import enum_name, integer

_OPERATIONS: Mapping[str, IndexOp] = {
    "and": "and",
    "and_then": "and",
    "or": "or",
    "or_else": "or",
    "max": "max",
    "min": "min",
    "minus": "neg",
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "fdiv_q": "floord",
    "pdiv_q": "div",
    "pdiv_r": "mod",
    "zdiv_r": "mod",
    "cond": "select",
    "select": "select",
    "eq": "eq",
    "le": "le",
    "lt": "lt",
    "ge": "ge",
    "gt": "gt",
}
"""What isl's operations are called here."""


def index(expr: isl.AstExpr, names: Mapping[str, Index]) -> Index:
    """Return `expr` with isl's names replaced by `names`."""
    match enum_name(expr.get_type()):
        case "int":
            return Number(integer(expr.get_val()))
        case "id":
            return names[expr.get_id().get_name()]
        case _:
            operands = [index(expr.get_op_arg(k), names) for k in range(expr.get_op_n_arg())]
            return _operation(_OPERATIONS[enum_name(expr.get_op_type())], operands)


def _operation(op: IndexOp, operands: Sequence[Index]) -> Index:
    """Return an operation; isl's minima and maxima have any number of operands."""
    if op in ("min", "max"):
        total = operands[0]
        for operand in operands[1:]:
            total = Operation(op, (total, operand))
        return total
    match op, operands:
        # -floor(-x / d) is how isl rounds up.
        case "neg", [Operation("floord", (Operation("neg", (dividend,)), divisor))]:
            return Operation("ceild", (dividend, divisor))
        case _:
            return Operation(op, tuple(operands))
