"""The parts of `for` headers: iterator, start, condition, step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import LoopHeader
from rtlgen.frontend.syntax.assigned import below, mentions
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.source import Span

_COMPARISONS = ("<", "<=", ">", ">=", "!=")


@dataclass(frozen=True, slots=True)
class Header:
    """The parts of a `for` header, before they are understood.

    Members
    -------
    declares: the header declares its iterator.
    limits: further conditions, joined to `condition` by `&&`.
    step: read from the third part; not 0.
    """

    iterator: str
    declares: bool
    start: c_ast.Node
    condition: c_ast.BinaryOp
    limits: tuple[c_ast.Node, ...]
    step: c_ast.Node
    step_sign: int
    span: Span


def split_header(node: c_ast.For, locator: Locator) -> Header:
    """Return the parts of a header of the supported form.

    Raises
    ------
    LoopHeader: it is of another form.
    """
    span = locator.start(node)
    match node.init:
        case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=start)]) if start is not None:
            declares = True
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start):
            declares = False
        case None if (name := _stepped(node.next)) is not None:
            # It goes on from the value that was there before.
            declares, start = False, c_ast.ID(name, node.next.coord)
        case _:
            raise _header(node.init, span, locator, "set one iterator: `int i = 0`")
    conditions = list(_conjuncts(node.cond))
    bounds = [part for part in conditions if _compares(part, name)]
    bounds = bounds or [part for part in conditions[:1] if _is_comparison(part)]
    if not bounds:
        raise _header(node.cond, span, locator, "compare the iterator with one bound: `i < N`")
    limits = tuple(part for part in conditions if part is not bounds[0])
    step, sign = _step(node.next, name, span, locator)
    return Header(name, declares, start, bounds[0], limits, step, sign, span)


def counting_from_0(name: str, at: object) -> c_ast.DeclList:
    """Return the first part of a header that declares `int name = 0`.

    Parameters
    ----------
    at: the place in the text that it stands for.
    """
    type_ = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["int"], at), at)
    zero = c_ast.Constant("int", "0", at)
    return c_ast.DeclList([c_ast.Decl(name, [], [], [], [], type_, zero, None, at)], at)


def _stepped(node: c_ast.Node | None) -> str | None:
    """Return the name of the variable that the last part of a header steps."""
    match node:
        case c_ast.UnaryOp(expr=c_ast.ID(name=str(name))):
            return name
        case c_ast.Assignment(lvalue=c_ast.ID(name=str(name))):
            return name
    return None


def _conjuncts(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """Yield what `&&` joins, or `&` between truths: both sides of a header are defined."""
    if isinstance(node, c_ast.BinaryOp) and (
        node.op == "&&" or (node.op == "&" and _is_truth(node.left) and _is_truth(node.right))
    ):
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    elif node is not None:
        yield node


def _compares(node: c_ast.Node, name: str) -> bool:
    """Return whether `node` is a comparison with the iterator in it."""
    return _is_comparison(node) and any(
        isinstance(part, c_ast.ID) and part.name == name for part in below(node)
    )


def _is_comparison(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.BinaryOp) and node.op in _COMPARISONS


def _is_truth(node: c_ast.Node) -> bool:
    """Return whether a value is 0 or 1 by the form of its expression."""
    match node:
        case c_ast.BinaryOp(op="&&" | "||") | c_ast.UnaryOp(op="!"):
            return True
        case c_ast.BinaryOp(op="&" | "|" | "^", left=left, right=right):
            return _is_truth(left) and _is_truth(right)
    return _is_comparison(node)


def _header(part: c_ast.Node | None, span: Span, locator: Locator, help_: str) -> LoopHeader:
    if part is None:
        return LoopHeader("a part of the loop header is missing", labels=(Label(span),), help=help_)
    return LoopHeader(
        "this loop header is not supported", labels=(Label(locator.span(part)),), help=help_
    )


def _step(
    node: c_ast.Node | None, name: str, span: Span, locator: Locator
) -> tuple[c_ast.Node, int]:
    """Return the expression of the step and the sign to give it."""
    one = c_ast.Constant("int", "1", node.coord if node is not None else None)
    match node:
        case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=stepped)) if stepped == name:
            return one, 1
        case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=stepped)) if stepped == name:
            return one, -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=stepped), rvalue=by) if (
            stepped == name and not mentions(by, frozenset((name,)))
        ):
            return by, 1 if op == "+=" else -1
        case c_ast.Assignment(
            op="=",
            lvalue=c_ast.ID(name=stepped),
            rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right),
        ) if stepped == name:
            itself = frozenset((name,))
            if isinstance(left, c_ast.ID) and left.name == name and not mentions(right, itself):
                return right, 1 if op == "+" else -1
            if isinstance(right, c_ast.ID) and right.name == name and op == "+":
                return left, 1
    raise _header(node, span, locator, f"step the iterator by a constant: `{name}++`")
