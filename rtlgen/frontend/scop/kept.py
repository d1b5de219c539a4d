"""Values that are computed before the statements that use them, in variables of their own.

void add(int *p, int n) { while (n--) *p++ += 1; }

add(&h[x[i]], k);         p_at = x[i];  n = k;  and p is h + p_at
int *q = &h[x[i]];        q_at = x[i];          and q is h + q_at
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from rtlgen.frontend.analysis.guards import with_own_reads
from rtlgen.frontend.analysis.values import Value
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.symbols import Held, Index, LookedUp, Variable, View
from rtlgen.frontend.reading.writes import written
from rtlgen.frontend.scop.place import Place, StatementReader
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.types import CType
from rtlgen.ir.scop import Access, Node
from rtlgen.ir.types import NumberType


class Keeper:
    """Reads what parameters and pointers are set to."""

    def __init__(self, body: StatementReader, declarations: Declarations, locator: Locator) -> None:
        self._body = body
        self._declarations = declarations
        self._locator = locator

    def value(
        self, node: c_ast.Node, name: str, type_: NumberType, place: Place
    ) -> tuple[Variable, list[Node]]:
        """Return a variable that holds the value of an expression, and the statements that set it.

        Parameters
        ----------
        name: of what is set to it.
        """
        nodes: list[Node] = []
        reader = self._body.reader(place, nodes)
        value = reader.value(node)
        variable = self._declarations.temporary(name, type_, self._locator.span(node))
        # A loop that counts with it begins with what it holds.
        self._body.note_used_after(variable)
        nodes.append(self._set(variable, value, node, reader, place))
        return variable, nodes

    def view(
        self, node: c_ast.Node, name: str, type_: CType, place: Place
    ) -> tuple[View, list[Node]]:
        """Return what a pointer is, and the statements that keep where it points to.

        Iterators keep it where it follows from them.
        """
        nodes: list[Node] = []
        reader = self._body.reader(place, nodes)
        view = reader.elements.view(node, name, type_)

        def kept(index: Index | Held) -> Index | Held:
            if not isinstance(index, LookedUp):
                return index
            element = index.value.expr.type
            span = self._locator.span(node)
            held = self._declarations.temporary(f"{name}_at", element, span, is_position=True)
            value, own = self._alone(index.value, reader.reads, place)
            nodes.append(self._set(held, value, node, own, place))
            return Held(held)

        fixed = tuple(kept(index) for index in view.fixed)
        return replace(view, fixed=fixed, offset=kept(view.offset)), nodes

    def _alone(
        self, value: Value, reads: Sequence[Access], place: Place
    ) -> tuple[Value, ExpressionReader]:
        """Return a part of what a statement computes, and a reader that has read it alone."""
        reader = self._body.reader(place)
        expr, own = with_own_reads(value.expr, reads)
        reader.reads.extend(own)
        reader.may_leave = any(read.is_conditional for read in reader.reads)
        return replace(value, expr=expr), reader

    def _set(
        self,
        variable: Variable,
        value: Value,
        node: c_ast.Node,
        reader: ExpressionReader,
        place: Place,
    ) -> Node:
        self._body.reaching.declare(variable)
        text = f"{variable.name} = {self._locator.text(node)}"
        assignment = written(variable, self._locator.span(node), value, reader, text)
        return self._body.assign(node, assignment, place, reader)
