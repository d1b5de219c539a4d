"""The walks of passes: over statements, with their scopes, and over parts of expressions.

The walk that passes over statements have in common: scopes, and where statements may be put.

The walk of passes that replace parts of expressions and declarations, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import FrontendError
from rtlgen.frontend.lowering.names import Names, Symbol
from rtlgen.frontend.lowering.nodes import FreshNames, Place, map_children, named
from rtlgen.frontend.lowering.types import Type, declaration
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import parameters

Before = list[c_ast.Node] | None
"""Takes statements that have to run before an expression; None where there is no such place."""

Refused = Mapping[str, Sequence[FrontendError]]
"""What is refused, by the name of the function in which it stands."""


Error = TypeVar("Error", bound=FrontendError)


class Rewriter:
    """Walks a file with the names in sight. A pass overrides what it rewrites.

    Parameters
    ----------
    tree: the file.

    Members
    -------
    names: the names in sight.
    refusing: what is wrong with what a pass refuses.
    function: the name of the function that is being walked.
    root: the expression of the statement that is being walked, or a statement of another kind.
    refused: what is refused, by the function in which it stands. It is left as it was, since
        nobody may ever call the function.
    """

    refusing: type[FrontendError] = FrontendError

    def __init__(self, tree: c_ast.FileAST, locator: Locator) -> None:
        self.names = Names()
        self._tree = tree
        self._locator = locator
        self._taken: FreshNames | None = None
        self.function = ""
        self.root: c_ast.Node | None = None
        self.refused: dict[str, list[FrontendError]] = {}

    def file(self) -> None:
        """Rewrite the file in place."""
        self._tree.ext = [part for node in self._tree.ext for part in self._external(node)]

    def fresh(self, name: str) -> str:
        """Return `name`, or one like it, that the file does not use."""
        if self._taken is None:
            self._taken = FreshNames(self._tree)
        return self._taken.fresh(name)

    def kept(
        self, name: str, type_: Type, value: c_ast.Node | None, at: Place, before: list[c_ast.Node]
    ) -> c_ast.ID:
        """Return a new variable, which is declared before, with a value or without."""
        made = declaration(self.fresh(name), type_, value, at)
        before.append(made)
        self.names.bind(Symbol(made.name, type_, made))
        return named(made.name, at)

    def _external(self, node: c_ast.Node) -> list[c_ast.Node]:
        match node:
            case c_ast.FuncDef() if isinstance(node.decl.type, c_ast.FuncDecl):
                return self._function(node)
            case c_ast.Decl() | c_ast.Typedef():
                try:
                    return self.declaration(node)
                except FrontendError as error:
                    # It is refused where it is used, if it is.
                    self.refuse("", error)
        return [node]

    def _refused(
        self, message: str, node: c_ast.Node, remedy: str, why: str = "here"
    ) -> FrontendError:
        """Return what is wrong with a node, why, and what to write."""
        return refusal(self.refusing, message, self._locator, node, remedy, why)

    def refuse(self, function: str, error: FrontendError) -> None:
        """Note what is refused in a function."""
        self.refused.setdefault(function, []).append(error)

    def _function(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        self.names.declare(node.decl)
        self.function = node.decl.name
        with self.names.block():
            try:
                entry = self.parameters(node)
            except FrontendError as error:
                self.refuse(self.function, error)
                return [node]
            items = node.body.block_items or []
            node.body.block_items = [*entry, *self._each(items)]
            self.leave(node)
        return [node]

    def _each(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        return [part for item in items for part in self.statement(item)]

    def statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return what stands in place of a statement or declaration."""
        around, self.root = self.root, _expression_of(node)
        try:
            return self._statement(node)
        except FrontendError as error:
            self.refuse(self.function, error)
            return [node]
        finally:
            self.root = around

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        before: list[c_ast.Node] = []
        match node:
            case c_ast.Compound():
                with self.names.block():
                    node.block_items = self._each(node.block_items or [])
            case c_ast.If():
                node.cond = self.expression(node.cond, before)
                node.iftrue, node.iffalse = self._arm(node.iftrue), self._arm(node.iffalse)
            case c_ast.For():
                with self.names.block():
                    before = self._loop(node)
                if any(isinstance(part, c_ast.Decl) for part in before):
                    return [c_ast.Compound([*before, node], node.coord)]
            case c_ast.While() | c_ast.DoWhile():
                node.cond = self.expression(node.cond, None)
                node.stmt = self._arm(node.stmt)
            case c_ast.Switch():
                node.cond = self.expression(node.cond, before)
                node.stmt = self._arm(node.stmt)
            case c_ast.Case() | c_ast.Default():
                if isinstance(node, c_ast.Case):
                    node.expr = self.expression(node.expr, None)
                node.stmts = self._each(node.stmts or [])
            case c_ast.Label():
                parts = self.statement(node.stmt)
                return [c_ast.Label(node.name, gathered(parts, node), node.coord)]
            case c_ast.Return():
                return self.result(node)
            case c_ast.Decl() | c_ast.Typedef():
                return self.declaration(node)
            case (
                c_ast.EmptyStatement()
                | c_ast.Pragma()
                | c_ast.Break()
                | c_ast.Continue()
                | c_ast.Goto()
                | c_ast.StaticAssert()
            ):
                return [node]
            case _:
                return self.effect(node)
        return [*before, node]

    def _arm(self, node: c_ast.Node | None) -> c_ast.Node | None:
        """Rewrite the statement under a loop or `if`."""
        if node is None:
            return None
        with self.names.block():
            parts = self.statement(node)
        return gathered(parts, node)

    def _loop(self, node: c_ast.For) -> list[c_ast.Node]:
        """Rewrite a `for`; return what has to run before it."""
        before: list[c_ast.Node] = []
        if isinstance(node.init, c_ast.DeclList):
            parts = self._each(node.init.decls)
            if any(not isinstance(part, c_ast.Decl) for part in parts):
                before, node.init = parts, None
            else:
                node.init = c_ast.DeclList(parts, node.init.coord) if parts else None
        elif node.init is not None:
            node.init = self.listed(node.init)
        node.cond = None if node.cond is None else self.expression(node.cond, None)
        node.next = None if node.next is None else self.listed(node.next)
        node.stmt = self._arm(node.stmt)
        return before

    def sequence(self, parts: Sequence[c_ast.Node], node: c_ast.Node) -> c_ast.Node | None:
        """Return effects, one after the other, as a part of a header."""
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else c_ast.ExprList(list(parts), node.coord)

    # What a pass rewrites.

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        """Declare a name, and return what stands in place of its declaration."""
        self.names.declare(node)
        if isinstance(node, c_ast.Typedef) or node.init is None:
            return [node]
        before: list[c_ast.Node] = []
        node.init = self.expression(node.init, None if self.names.is_outermost else before)
        return [*before, node]

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        """Declare the parameters of a function; return what its body has to begin with."""
        for parameter in parameters(node):
            self.names.declare(parameter, is_parameter=True)
        return []

    def leave(self, node: c_ast.FuncDef) -> None:
        """End a function."""

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return the statements in place of an expression that is one."""
        before: list[c_ast.Node] = []
        made = self.expression(node, before)
        return [*before, made]

    def listed(self, node: c_ast.Node) -> c_ast.Node | None:
        """Return what stands in place of the first or the last part of a header."""
        return self.sequence(self.effect(node), node)

    def result(self, node: c_ast.Return) -> list[c_ast.Node]:
        """Return the statements in place of a `return`."""
        before: list[c_ast.Node] = []
        node.expr = None if node.expr is None else self.expression(node.expr, before)
        return [*before, node]

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Return what stands in place of an expression."""
        return self.inside(node, before)

    def inside(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Rewrite the operands of an expression in place."""
        match node:
            case c_ast.BinaryOp(op="&&" | "||"):
                node.left = self.expression(node.left, before)
                node.right = self.expression(node.right, None)
            case c_ast.TernaryOp():
                node.cond = self.expression(node.cond, before)
                node.iftrue = self.expression(node.iftrue, None)
                node.iffalse = self.expression(node.iffalse, None)
            case c_ast.ExprList() | c_ast.InitList():
                node.exprs = [self.expression(part, before) for part in node.exprs]
            case c_ast.NamedInitializer():
                node.expr = self.expression(node.expr, before)
            case c_ast.StructRef():
                node.name = self.expression(node.name, before)
            case c_ast.FuncCall():
                if node.args is not None:
                    node.args.exprs = [self.expression(part, before) for part in node.args.exprs]
            case c_ast.Typename() | c_ast.UnaryOp(op="sizeof"):
                # Nothing of it is evaluated.
                pass
            case _:
                for name in node.__slots__:
                    value = getattr(node, name, None)
                    if isinstance(value, c_ast.Node):
                        setattr(node, name, self.expression(value, before))
        return node


def _expression_of(node: c_ast.Node) -> c_ast.Node | None:
    """Return the expression of a statement that has one."""
    match node:
        case c_ast.If() | c_ast.Switch() | c_ast.While() | c_ast.DoWhile():
            return node.cond
        case c_ast.Return():
            return node.expr
        case c_ast.Decl():
            return node.init
    return node


def refusal(
    kind: type[Error],
    message: str,
    locator: Locator,
    node: c_ast.Node,
    remedy: str,
    why: str = "here",
) -> Error:
    """Return what is wrong with a node, why, and what to write."""
    return kind(message, labels=(Label(locator.span(node), why),), help=remedy)


def gathered(parts: Sequence[c_ast.Node], like: c_ast.Node) -> c_ast.Node:
    """Return some statements as one."""
    return parts[0] if len(parts) == 1 else c_ast.Compound(list(parts), like.coord)


class PartRewriter:
    """Walks a file in order, with the names in sight. A pass says what stands in place of a part.

    Unlike a `Rewriter`, it adds no statements, and what is refused ends it.

    Members
    -------
    names: the names in sight.
    """

    def __init__(self) -> None:
        self.names = Names()

    def visit(self, node: c_ast.Node) -> None:
        """Rewrite what is below a node, and declare what it declares."""
        match node:
            case c_ast.Compound() | c_ast.For() | c_ast.FuncDecl() | c_ast.Struct() | c_ast.Union():
                with self.names.block():
                    self.children(node)
            case c_ast.FuncDef():
                self.visit(node.decl)
                with self.names.block():
                    for parameter in parameters(node):
                        self.names.declare(parameter, is_parameter=True)
                    self.visit(node.body)
            case c_ast.Decl() | c_ast.Typedef():
                self.names.declare(node)
                self.children(node)
            case _:
                self.children(node)

    def children(self, node: c_ast.Node) -> None:
        """Rewrite what is below a node, then its parts."""
        for _, child in node.children():
            self.visit(child)
        map_children(node, self.rewritten)

    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        """Return what stands in place of a part of a node, which has been visited."""
        raise NotImplementedError
