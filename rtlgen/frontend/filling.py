"""What gives local arrays their initial values: loops over constants, and assignments.

Rewrite
-------
    int t[4] = {5, 6, x};        for (k = 0; k < 2; k++) t[k] = t_initial[k];
                                 t[2] = x;
                                 t[3] = 0;
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from pycparser import c_ast

from rtlgen.frontend.declarations import Declarations
from rtlgen.frontend.drafts import Drafts
from rtlgen.frontend.place import Place
from rtlgen.frontend.symbols import Variable
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Constant, Expr, Read
from rtlgen.ir.scop import Access, Loop, LoopNode, Node, Statement


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring elements of an array that are set in one way.

    Members
    -------
    fixed: the leading subscripts.
    first, count: of the subscript behind them; the whole of what lies below is set.
    """

    fixed: tuple[int, ...]
    first: int
    count: int


def parts(shape: Sequence[int], computed: Collection[int]) -> Iterator[Part]:
    """Yield what sets an array, in the order in which it is stored.

    Parameters
    ----------
    computed: the numbers of elements that are no constants: each is a part of its own.
    """
    yield from _parts(tuple(shape), frozenset(computed), (), 0)


def _parts(
    shape: tuple[int, ...], computed: frozenset[int], fixed: tuple[int, ...], base: int
) -> Iterator[Part]:
    size = prod(shape[1:])

    def holds_computed(index: int) -> bool:
        start = base + index * size
        return any(start <= number < start + size for number in computed)

    for is_mixed, group in groupby(range(shape[0]), holds_computed):
        indices = list(group)
        if not is_mixed:
            yield Part(fixed, indices[0], len(indices))
            continue
        for index in indices:
            if len(shape) == 1:
                yield Part(fixed, index, 1)
            else:
                yield from _parts(shape[1:], computed, (*fixed, index), base + index * size)


def number_of(shape: Sequence[int], position: Sequence[int]) -> int:
    """Return the number of the first element that a position names."""
    return sum(index * prod(shape[k + 1 :]) for k, index in enumerate(position))


class Filler:
    """Sets the constant elements of one array.

    Parameters
    ----------
    node: the declaration of the array.
    """

    def __init__(
        self, node: c_ast.Decl, variable: Variable, declarations: Declarations, drafts: Drafts
    ) -> None:
        self._node = node
        self._variable = variable
        self._declarations = declarations
        self._drafts = drafts
        self._table = ""

    def constants(self, part: Part, place: Place) -> tuple[Node, ...]:
        """Append the statement that sets a part to constants; return the loops around it."""
        variable = self._variable
        shape, values = variable.shape, self._declarations.initial[variable.name].constants
        depth = len(part.fixed)
        bounds = [(part.first, part.count), *((0, extent) for extent in shape[depth + 1 :])]
        is_one = part.count == 1 < shape[depth]
        loops, position = [], [Affine((), index) for index in part.fixed]
        for level, (first, count) in enumerate(bounds):
            if level or not is_one:
                name = self._declarations.scopes.claim(f"{variable.name}_index")
                end = Affine((), first + count)
                loops.append(Loop(name, Affine((), first), end, 1, variable.span))
                position.append(Affine.variable(name))
            else:
                position.append(Affine((), first))
        start = number_of(shape, (*part.fixed, part.first))
        mine = values[start : start + part.count * prod(shape[depth + 1 :])]
        expr: Expr = Constant(mine[0], variable.element)
        reads: tuple[Access, ...] = ()
        if len(set(mine)) > 1:
            self._table = self._table or self._declarations.table(variable, values)
            expr = Read(0, variable.element)
            reads = (Access(self._table, tuple(position), variable.span),)
        statement = Statement(
            name="",
            loops=(*place.loops, *loops),
            conditions=place.conditions,
            write=Access(variable.name, tuple(position), variable.span),
            reads=reads,
            expr=expr,
            span=variable.span,
            text=_text(variable, part),
        )
        result: Node = self._drafts.add(self._node, None, statement, is_substituted=True)
        for loop in reversed(loops):
            result = LoopNode(loop, (result,))
        return (result,)


def _text(variable: Variable, part: Part) -> str:
    fixed = "".join(f"[{index}]" for index in part.fixed)
    extent = variable.shape[len(part.fixed)]
    if part.count == 1 < extent:
        fixed += f"[{part.first}]"
    elif part.count < extent:
        fixed += f"[{part.first}..{part.first + part.count - 1}]"
    return f"{variable.name}{fixed} = {{...}}"
