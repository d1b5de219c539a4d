"""Statements that are not supported, and what to write instead."""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import (
    CommaOperator,
    FrontendError,
    Jump,
    SwitchUnsupported,
    UnboundedLoop,
    UnsupportedStatement,
)
from rtlgen.frontend.locate import Locator


def statement_refusal(node: c_ast.Node, locator: Locator) -> FrontendError:
    """Return the error of a statement that is none of the supported ones."""
    start = (Label(locator.start(node)),)
    match node:
        case c_ast.While() | c_ast.DoWhile():
            word = "while" if isinstance(node, c_ast.While) else "do"
            return UnboundedLoop(
                f"`{word}` loops are not supported",
                labels=start,
                help="write a `for` loop with affine bounds",
            )
        case c_ast.Break() | c_ast.Continue() | c_ast.Goto():
            word = type(node).__name__.lower()
            return Jump(
                f"`{word}` is not supported",
                labels=start,
                help="use loop bounds, or an `if` around the statements",
            )
        case c_ast.Return():
            return Jump(
                "`return` is supported only as the last statement",
                labels=start,
                help="assign the value to a variable, and return it at the end",
            )
        case c_ast.Switch():
            return SwitchUnsupported(
                "`switch` is not supported",
                labels=start,
                help="use conditional expressions, or `if`s on the iterators",
            )
        case c_ast.ExprList():
            return CommaOperator(
                "the comma operator is not supported",
                labels=(Label(locator.span(node)),),
                help="write one statement for each part",
            )
        case _:
            return UnsupportedStatement(
                "this statement is not supported",
                labels=(Label(locator.span(node), "has no effect, or is not an assignment"),),
            )
