"""Conditions of `if`s to affine inequalities."""

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
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.values import ObstacleKind, Value
from rtlgen.ir.affine import Affine
from rtlgen.ir.types import common_type

Conjunction: TypeAlias = tuple[Affine, ...]
"""Affine expressions that are all >= 0 where the condition holds. `()` always holds."""

Cases: TypeAlias = tuple[Conjunction, ...]
"""Conjunctions of which at most one holds at a time. `()` never holds."""

MAX_CASES = 8

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def read_condition(
    node: c_ast.Node, reader: ExpressionReader, locator: Locator, negated: bool = False
) -> Cases:
    """Return the cases in which `node`, or its negation, holds.

    A disjunction is cut into cases that exclude one another: `i != j` into `i < j` and `i > j`.

    Raises
    ------
    FrontendError: it is not made of affine comparisons, or has too many cases.
    """
    cases = _read(node, reader, locator, negated)
    if len(cases) > MAX_CASES:
        raise NonAffineCondition(
            f"the condition `{locator.text(node)}` has {len(cases)} cases",
            labels=(Label(locator.span(node), f"at most {MAX_CASES} are supported"),),
            help="use several `if`s",
        )
    return cases


def _read(node: c_ast.Node, reader: ExpressionReader, locator: Locator, negated: bool) -> Cases:
    ranges = reader.arithmetic.ranges
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return _read(node.expr, reader, locator, not negated)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        left = read_condition(node.left, reader, locator, negated)
        right = read_condition(node.right, reader, locator, negated)
        if (node.op == "&&") != negated:
            return _both(left, right, ranges)
        otherwise = read_condition(node.left, reader, locator, not negated)
        return (*left, *_both(otherwise, right, ranges))
    if isinstance(node, c_ast.BinaryOp) and node.op in _NEGATED:
        op = _NEGATED[node.op] if negated else node.op
        return _possible(_comparison(op, _difference(node, reader, locator)), ranges)
    difference = _affine(reader.value(node), node, locator)
    return _possible(_comparison("==" if negated else "!=", difference), ranges)


def _both(left: Cases, right: Cases, ranges: Ranges) -> Cases:
    return _possible(tuple((*a, *b) for a in left for b in right), ranges)


def _possible(cases: Cases, ranges: Ranges) -> Cases:
    """Leave out cases that cannot hold, and conditions that hold anyway."""
    kept = []
    for case in cases:
        if any(ranges.under(case).maximum(condition) < 0 for condition in case):
            continue
        needed = [condition for condition in case if ranges.minimum(condition) < 0]
        kept.append(tuple(dict.fromkeys(needed)))
    return tuple(kept)


def _difference(node: c_ast.BinaryOp, reader: ExpressionReader, locator: Locator) -> Affine:
    """Return left - right, both in the type in which C compares them."""
    left, right = reader.value(node.left), reader.value(node.right)
    type_ = common_type(left.type, right.type)
    return _affine(reader.arithmetic.convert(left, type_), node, locator) - _affine(
        reader.arithmetic.convert(right, type_), node, locator
    )


def _comparison(op: str, difference: Affine) -> Cases:
    """Return where `difference op 0` holds."""
    below, above = -difference - 1, difference - 1
    match op:
        case "<":
            return ((below,),)
        case "<=":
            return ((-difference,),)
        case ">":
            return ((above,),)
        case ">=":
            return ((difference,),)
        case "==":
            return ((difference, -difference),)
        case _:
            return ((below,), (above,))


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
                help=f"{obstacle.fix}, or use a conditional expression",
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
