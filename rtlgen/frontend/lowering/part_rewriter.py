"""The walk of passes that replace parts of expressions and declarations, wherever they stand."""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import map_children, parameters_of


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
                    for parameter in parameters_of(node):
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
