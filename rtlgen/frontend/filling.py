"""The loops that give local arrays their initial values."""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.declarations import Declarations
from rtlgen.frontend.drafts import Drafts
from rtlgen.frontend.place import Place
from rtlgen.frontend.symbols import Variable
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Constant, Expr, Read
from rtlgen.ir.scop import Access, Loop, LoopNode, Node, Statement


def filled(
    node: c_ast.Node, variable: Variable, place: Place, declarations: Declarations, drafts: Drafts
) -> tuple[Node, ...]:
    """Append the statement that gives an array its values; return the loops around it."""
    loops = []
    for extent in variable.shape:
        name = declarations.scopes.claim(f"{variable.name}_index")
        loops.append(Loop(name, Affine(), Affine((), extent), 1, variable.span))
    position = tuple(Affine.variable(loop.iterator) for loop in loops)
    values = declarations.initial[variable.name]
    expr: Expr = Constant(values[0], variable.element)
    reads: tuple[Access, ...] = ()
    if len(set(values)) > 1:
        table = declarations.table(variable, values)
        expr, reads = Read(0, variable.element), (Access(table, position, variable.span),)
    statement = Statement(
        name="",
        loops=(*place.loops, *loops),
        conditions=place.conditions,
        write=Access(variable.name, position, variable.span),
        reads=reads,
        expr=expr,
        span=variable.span,
        text=f"{variable.name} = {{...}}",
    )
    result: Node = drafts.add(node, None, statement, is_substituted=True)
    for loop in reversed(loops):
        result = LoopNode(loop, (result,))
    return (result,)
