"""Assignments: what they write, and the value converted to the type of it."""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.truth_tables import BINARY_OPS
from rtlgen.frontend.analysis.values import Value, literal
from rtlgen.frontend.errors import (
    FrontendError,
    IteratorModified,
    ReadOnly,
    UnsupportedStatement,
)
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.symbols import (
    ActiveIterator,
    NamedConstant,
    ScalarInput,
    Scopes,
    Variable,
    View,
)
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.expr import Expr
from rtlgen.ir.scop import Access
from rtlgen.ir.types import INT32
from rtlgen.source import Span

ASSIGNMENT_OPS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A write of one element. `value` has the element's type.

    Members
    -------
    at: where data decides which element it is, the values of the computed subscripts.
    """

    variable: Variable
    write: Access
    value: Value
    text: str
    at: tuple[Expr, ...] = ()


def read_assignment(
    node: c_ast.Node,
    reader: ExpressionReader,
    scopes: Scopes,
    locator: Locator,
    known: Value | None = None,
) -> Assignment:
    """Return what `x = e`, `x op= e`, `x++` or `x--` assigns.

    Parameters
    ----------
    known: the value of `e`, where it has been read already.

    Raises
    ------
    FrontendError: the target cannot be written, or the value is not supported.
    """
    target = node.lvalue if isinstance(node, c_ast.Assignment) else node.expr
    refusal = _write_refusal(target, node, scopes, locator)
    if refusal is not None:
        raise refusal
    target_element = reader.written(target)
    variable, access, at = target_element.variable, target_element.access, target_element.at
    span = locator.span(node)

    def current() -> Value:
        return reader.read(variable, access, at) if at else reader.current(variable, access)

    if isinstance(node, c_ast.UnaryOp):
        old = current()
        one = literal(1, INT32, span)
        value = reader.arithmetic.binary("add" if "+" in node.op else "sub", old, one, span)
    elif node.op == "=":
        value = reader.value(node.rvalue) if known is None else known
    else:
        old = current()
        op = BINARY_OPS[node.op.removesuffix("=")]
        value = reader.arithmetic.binary(op, old, reader.value(node.rvalue), span)
    converted = reader.arithmetic.convert(value, variable.element)
    return Assignment(variable, access, converted, locator.text(node), at)


def written(
    variable: Variable, span: Span, value: Value, reader: ExpressionReader, text: str
) -> Assignment:
    """Return the assignment of `value` to a scalar variable."""
    converted = reader.arithmetic.convert(value, variable.element)
    return Assignment(variable, Access(variable.name, (), span), converted, text)


def _write_refusal(
    target: c_ast.Node, node: c_ast.Node, scopes: Scopes, locator: Locator
) -> FrontendError | None:
    """Return why `target` cannot be written, or None."""
    base = target
    while isinstance(base, c_ast.ArrayRef | c_ast.UnaryOp):
        base = base.name if isinstance(base, c_ast.ArrayRef) else base.expr
        while isinstance(base, c_ast.BinaryOp):
            base = base.left
    span = locator.span(target)
    if not isinstance(base, c_ast.ID):
        if isinstance(base, c_ast.Cast | c_ast.Constant | c_ast.BinaryOp | c_ast.TernaryOp):
            return UnsupportedStatement(
                "this cannot be assigned to", labels=(Label(span, "is a value, not a place"),)
            )
        return None
    match scopes.lookup(base.name):
        case ActiveIterator(name) as counter:
            refused = IteratorModified(
                f"the iterator `{base.name}` is assigned in the body of its loop",
                labels=(
                    Label(locator.span(node), "assigned"),
                    Label(counter.span, f"`{name}` counts this"),
                ),
                help="put the step into the loop header",
            )
            refused.loop = counter.loop
            return refused
        case ScalarInput():
            return ReadOnly(
                f"the parameter `{base.name}` is assigned",
                labels=(Label(span, "is an input port"),),
                help="copy it to a local variable first",
            )
        case View(_, variable, _, _, is_const) if is_const:
            return ReadOnly(
                f"`{base.name}` is const",
                labels=(Label(span, "assigned"), Label(variable.span, "declared here")),
            )
        case NamedConstant():
            return ReadOnly(
                f"the constant `{base.name}` is assigned", labels=(Label(span, "is constant"),)
            )
        case Variable(is_const=True, span=declared):
            return ReadOnly(
                f"`{base.name}` is const",
                labels=(Label(span, "assigned"), Label(declared, "declared const")),
            )
    return None
