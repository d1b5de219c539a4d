"""Conditions of `if`s to conjunctions of affine inequalities."""

from __future__ import annotations

from typing import TypeAlias

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import (
    DataDependentCondition,
    FrontendError,
    IndexWraps,
    NonAffineCondition,
    ParameterInControl,
)
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.values import ObstacleKind, Value
from rtlgen.ir.affine import Affine
from rtlgen.ir.types import common_type

Conjunction: TypeAlias = tuple[Affine, ...]
"""Affine expressions that are all >= 0 where the condition holds. `()` always holds."""

NEVER: Conjunction = (Affine((), -1),)

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def read_condition(
    node: c_ast.Node, reader: ExpressionReader, locator: Locator, negated: bool = False
) -> Conjunction:
    """Return the conjunction that `node`, or its negation, is.

    Raises
    ------
    FrontendError: it is no conjunction of affine comparisons.
    """
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return read_condition(node.expr, reader, locator, not negated)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        left = read_condition(node.left, reader, locator, negated)
        right = read_condition(node.right, reader, locator, negated)
        if (node.op == "&&") != negated:
            return _simplified((*left, *right), reader)
        return _disjunction(node, left, right, locator, negated)
    if isinstance(node, c_ast.BinaryOp) and node.op in NEGATED:
        op = NEGATED[node.op] if negated else node.op
        difference = _difference(node, reader, locator)
        return _simplified(_comparison(op, difference, node, reader, locator, negated), reader)
    value = reader.value(node)
    difference = _affine(value, node, locator)
    return _simplified(
        _comparison("==" if negated else "!=", difference, node, reader, locator, negated), reader
    )


def _difference(node: c_ast.BinaryOp, reader: ExpressionReader, locator: Locator) -> Affine:
    """Return left - right, both in the type in which C compares them."""
    left, right = reader.value(node.left), reader.value(node.right)
    type_ = common_type(left.type, right.type)
    return _affine(reader.arithmetic.convert(left, type_), node, locator) - _affine(
        reader.arithmetic.convert(right, type_), node, locator
    )


def _comparison(
    op: str,
    difference: Affine,
    node: c_ast.Node,
    reader: ExpressionReader,
    locator: Locator,
    negated: bool,
) -> Conjunction:
    match op:
        case "<":
            return (-difference - 1,)
        case "<=":
            return (-difference,)
        case ">":
            return (difference - 1,)
        case ">=":
            return (difference,)
        case "==":
            return (difference, -difference)
    # `!=` is a disjunction, unless one side is out of reach.
    if reader.arithmetic.ranges.minimum(difference) >= 0:
        return (difference - 1,)
    if reader.arithmetic.ranges.maximum(difference) <= 0:
        return (-difference - 1,)
    raise _not_a_conjunction(node, locator, negated, "holds on both sides of the value")


def _disjunction(
    node: c_ast.Node, left: Conjunction, right: Conjunction, locator: Locator, negated: bool
) -> Conjunction:
    if left == NEVER or right == ():
        return right
    if right == NEVER or left == ():
        return left
    raise _not_a_conjunction(node, locator, negated, "a disjunction")


def _simplified(conditions: Conjunction, reader: ExpressionReader) -> Conjunction:
    """Leave out what holds anyway; return NEVER when one condition cannot hold."""
    ranges = reader.arithmetic.ranges
    if any(ranges.maximum(condition) < 0 for condition in conditions):
        return NEVER
    kept = [condition for condition in conditions if ranges.minimum(condition) < 0]
    return tuple(dict.fromkeys(kept))


def _affine(value: Value, node: c_ast.Node, locator: Locator) -> Affine:
    if value.affine is None:
        raise _refusal(value, locator.text(node))
    return value.affine


def _refusal(value: Value, text: str) -> FrontendError:
    obstacle = value.obstacle
    if obstacle is None:
        raise ValueError("an affine value needs no refusal")
    label = Label(obstacle.span, obstacle.reason)
    match obstacle.kind:
        case ObstacleKind.ARGUMENT:
            return ParameterInControl(
                f"the condition `{text}` depends on a scalar parameter",
                labels=(label,),
                help="fix the parameter with -D NAME=VALUE, or use a conditional expression",
            )
        case ObstacleKind.DATA:
            return DataDependentCondition(
                f"the condition `{text}` depends on data",
                labels=(label,),
                help="use a conditional expression: x = condition ? a : x;",
            )
        case ObstacleKind.WRAPS:
            return IndexWraps(
                f"the condition `{text}` wraps round",
                labels=(label,),
                help="use a signed iterator",
            )
        case _:
            return NonAffineCondition(
                f"the condition `{text}` is not affine",
                labels=(label,),
                help="compare constants plus constant multiples of iterators",
            )


def _not_a_conjunction(
    node: c_ast.Node, locator: Locator, negated: bool, reason: str
) -> NonAffineCondition:
    text = locator.text(node)
    what = f"the `else` of `{text}`" if negated else f"the condition `{text}`"
    return NonAffineCondition(
        f"{what} is not a conjunction",
        labels=(Label(locator.span(node), reason),),
        help="write one `if` for each case, so that at most one of them holds",
    )
