"""What is not supported, and what to write instead."""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.cases import MAX_RESIDUES
from rtlgen.frontend.analysis.values import ObstacleKind, Value
from rtlgen.frontend.errors import (
    AggregateUnsupported,
    CommaOperator,
    FrontendError,
    IndexWraps,
    Jump,
    LoopHeader,
    NonAffineBound,
    ParameterInControl,
    SideEffect,
    SwitchUnsupported,
    UnboundedLoop,
    UnknownIdentifier,
    UnsupportedExpression,
    UnsupportedStatement,
)
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.types import OPEN
from rtlgen.frontend.text.headers import header_of
from rtlgen.source import Span


def statement_refusal(node: c_ast.Node, locator: Locator) -> FrontendError:
    """Return the error of a statement that is none of the supported ones."""
    start = (Label(locator.start(node)),)
    match node:
        case c_ast.While() | c_ast.DoWhile():
            unbounded = UnboundedLoop(
                "the most iterations of this loop are not known",
                labels=start,
                help="state them on the line before it, `#pragma rtlgen bound 100`, or count them "
                "in its condition: `k < 100 && ...; k++`",
            )
            unbounded.loop = node.coord.line
            return unbounded
        case c_ast.Goto():
            return Jump(
                f"`goto {node.name}` does not lead forward to a statement of a block around it",
                labels=start,
                help="write a loop, or an `if` around the statements",
            )
        case c_ast.Break() | c_ast.Continue():
            word = type(node).__name__.lower()
            return Jump(f"`{word}` stands in no loop", labels=start)
        case c_ast.Return():
            return Jump(
                "`return` leaves the #pragma scop region from the middle",
                labels=start,
                help="assign the value to a variable, and return it at the end",
            )
        case c_ast.Switch():
            return SwitchUnsupported(
                "a label of this `switch` stands inside of a statement or behind a declaration, "
                "or is negative where what is chosen by changes",
                labels=start,
                help="put the cases directly into its braces, declarations into their own, and "
                "what is chosen by into a variable that the cases leave alone",
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


def with_bound_stated(error: FrontendError) -> FrontendError:
    """Return a refusal of a loop's header with what helps whatever the header is."""
    known = error.diagnostic
    if isinstance(error, LoopHeader | NonAffineBound | ParameterInControl) and error.loop:
        stated = "state the most iterations on the line before the loop: #pragma rtlgen bound 100"
        help_ = stated if known.help is None else f"{known.help}; or {stated}"
        return error.telling(help=help_)
    return error


def subscript_refusal(value: Value, text: str, extent: int) -> ParameterInControl | IndexWraps:
    """Return why `value`, written `text`, of which no more will be known, is no subscript."""
    obstacle = value.obstacle
    assert obstacle is not None, "an affine value needs no refusal"
    label = Label(obstacle.span, obstacle.reason)
    if obstacle.kind is ObstacleKind.ARGUMENT:
        name = obstacle.parameter
        return ParameterInControl(
            f"the subscript `{text}` depends on a scalar parameter",
            labels=(label,),
            help=f"{obstacle.fix}, or say before where it lies: `assert({name} >= 0 && "
            f"{name} < {64 if extent == OPEN else extent});`",
        )
    return IndexWraps(
        f"the subscript `{text}` wraps round", labels=(label,), help="use a signed iterator"
    )


def factor_help(reason: str) -> str | None:
    """Return what to do about an obstacle, if a product is what it is."""
    if reason.startswith(("a product", "a shift by")):
        return f"give one of the factors no more than {MAX_RESIDUES} values"
    return None


def unknown_name(name: str, span: Span) -> UnknownIdentifier:
    """Return the error of a name that nothing declares."""
    header = header_of(name)
    return UnknownIdentifier(
        f"`{name}` is not declared",
        labels=(Label(span),),
        help=f"if it is a size, give it with -D {name}=VALUE"
        if header is None
        else f"include the header that declares it: #include <{header}>",
    )


def expression_refusal(
    node: c_ast.Node, span: Span
) -> SideEffect | CommaOperator | AggregateUnsupported | UnsupportedExpression:
    """Return the error of an expression that is no value."""
    label = (Label(span),)
    match node:
        case c_ast.Assignment():
            return SideEffect(
                "an assignment inside an expression",
                labels=label,
                help="make it a statement of its own",
            )
        case c_ast.ExprList():
            return CommaOperator("the comma operator is not supported", labels=label)
        case c_ast.StructRef():
            return AggregateUnsupported(
                "structures are not supported", labels=label, help="use one array for each member"
            )
        case c_ast.UnaryOp(op="&" as op):
            return UnsupportedExpression(
                f"the operator `{op}` is not supported",
                labels=label,
                notes=("there are no pointers",),
            )
        case c_ast.TernaryOp():
            return UnsupportedExpression(
                "a choice of two places is not supported",
                labels=label,
                help="choose the subscript: `&a[c ? i : j]`",
            )
        case _:
            return UnsupportedExpression("this expression is not supported", labels=label)
