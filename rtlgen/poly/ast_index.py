"""Expressions of isl's loop generator, read into the project's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from rtlgen.ir.code import Index, IndexOp, Number, Operation

_OPERATIONS: Mapping[isl.ast_expr_op_type, IndexOp] = {
    isl.ast_expr_op_type.and_: "and",
    isl.ast_expr_op_type.and_then: "and",
    isl.ast_expr_op_type.or_: "or",
    isl.ast_expr_op_type.or_else: "or",
    isl.ast_expr_op_type.max: "max",
    isl.ast_expr_op_type.min: "min",
    isl.ast_expr_op_type.minus: "neg",
    isl.ast_expr_op_type.add: "add",
    isl.ast_expr_op_type.sub: "sub",
    isl.ast_expr_op_type.mul: "mul",
    isl.ast_expr_op_type.div: "div",
    isl.ast_expr_op_type.fdiv_q: "floord",
    isl.ast_expr_op_type.pdiv_q: "div",
    isl.ast_expr_op_type.pdiv_r: "mod",
    isl.ast_expr_op_type.zdiv_r: "mod",
    isl.ast_expr_op_type.cond: "select",
    isl.ast_expr_op_type.select: "select",
    isl.ast_expr_op_type.eq: "eq",
    isl.ast_expr_op_type.le: "le",
    isl.ast_expr_op_type.lt: "lt",
    isl.ast_expr_op_type.ge: "ge",
    isl.ast_expr_op_type.gt: "gt",
}


def index(expr: isl.AstExpr, names: Mapping[str, Index]) -> Index:
    """Return `expr` with isl's names replaced by `names`."""
    kind = expr.get_type()
    if kind == isl.ast_expr_type.int:
        return Number(expr.get_val().to_python())
    if kind == isl.ast_expr_type.id:
        return names[expr.get_id().get_name()]
    operands = [index(expr.get_op_arg(k), names) for k in range(expr.get_op_n_arg())]
    return _operation(_OPERATIONS[expr.get_op_type()], operands)


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
