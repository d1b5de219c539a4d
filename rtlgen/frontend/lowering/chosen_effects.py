"""What an expression does in one case only, one after the other, or in a call, as statements.

Rewrite
-------
    x = c ? a[i++] : b[j--];         int chosen = 0; if (c) chosen = a[i++]; else chosen = b[j--];
                                     x = chosen;
    if (c && n-- > 0) S              if (c) { if (n-- > 0) S }
    if (c || n-- > 0) S              int chosen = 0; if (c) chosen = 1; else if (n-- > 0)
                                     chosen = 1; if (chosen) S
    y = (t = a[i], t * t) + 1;       t = a[i]; y = t * t + 1;
    s = 0, t = 1;                    s = 0; t = 1;
    y = x + (w[i] = e);              w[i] = e; y = x + w[i];
    while (i < 9 && (c || n--)) S    for (;;) { if (!(i < 9)) break; if (!(c || n--)) break; S }
    do { if (x) continue; S }        for (;;) { { if (x) goto asking; S }
    while (c || n--);                asking: if (!(c || n--)) break; }
    return ++*p;                     int result = ++*p; return result;
    y = next(&s) >> 3;               int next_value = next(&s); y = next_value >> 3;

C says what is done first, and in which case; of the operands beside it, C leaves that open. So it
goes before the statement where nothing beside it can tell, and stays elsewhere, to be refused. A
call goes where the reader of calls asks for that; any other one stays in its expression.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from rtlgen.frontend.lowering.jumps import CONTINUE, outcome
from rtlgen.frontend.lowering.nodes import (
    LOOPS,
    assign,
    block,
    changed,
    copied,
    has_effect,
    integer,
    looped,
    mapped,
    parts_of,
    reads_memory,
    replaced_part,
    surely,
    variable_of,
)
from rtlgen.frontend.lowering.order import Order
from rtlgen.frontend.lowering.rewriter import Before, Rewriter
from rtlgen.frontend.lowering.types import (
    Returning,
    number_type,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import below, called_by
from rtlgen.frontend.syntax.locate import Locator


def lift_chosen_effects(
    tree: c_ast.FileAST, locator: Locator, changing: frozenset[str], asked: frozenset[int]
) -> None:
    """Rewrite all functions of a file in place.

    Parameters
    ----------
    changing: functions that change what outlives their calls.
    asked: the calls that cannot stay where they are, by the lines of their places.
    """
    _Lifter(tree, locator, changing, asked).file()


class _Lifter(Rewriter):
    def __init__(
        self,
        tree: c_ast.FileAST,
        locator: Locator,
        changing: frozenset[str],
        asked: frozenset[int],
    ) -> None:
        super().__init__(tree, locator)
        self._asked = asked
        self._order = Order(self.names, tree, changing)

    # Statements.

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        if isinstance(node, LOOPS):
            loop = self._asking_inside(node)
            if loop is not None:
                node = loop
        match node:
            case c_ast.If(cond=c_ast.BinaryOp(op="&&") as both, iffalse=None) if self._is_lifted(
                both
            ):
                inner = c_ast.If(both.right, node.iftrue, None, both.right.coord)
                node.iftrue = block([inner], both.right.coord)
                node.cond = both.left
        return super()._statement(node)

    def _asking_inside(self, node: c_ast.Node) -> c_ast.For | None:
        """Return a loop that asks in its body, if its condition is more than effects in turn."""
        asked = list(parts_of(node.cond, "&&"))
        parts = [x for part in asked for x in (part.exprs if _is_comma(part) else [part])]
        if not any(
            self._is_lifted(x) or self._order.is_changing_call(x)
            for part in parts
            for x in surely(part)
        ):
            return None
        leaving = self._leaving(node, asked)
        items = looped(node)
        if isinstance(node, c_ast.DoWhile) and CONTINUE in outcome(node.stmt).targets:
            # Where it is continued, it is asked.
            asking, first = self.fresh("asking"), leaving[0]
            body = _going_to(node.stmt, asking)
            items = [body, c_ast.Label(asking, first, first.coord), *leaving[1:]]
        elif isinstance(node, c_ast.DoWhile):
            items = [*items, *leaving]
        else:
            items = [*leaving, *items]
        body = block(items, node.coord)
        if isinstance(node, c_ast.For):
            node.cond, node.stmt = None, body
            return node
        return c_ast.For(None, None, None, body, node.coord)

    def _leaving(self, loop: c_ast.Node, asked: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """Return the statements that leave a loop where what it asks for does not hold."""
        init = loop.init if isinstance(loop, c_ast.For) else None
        with self.names.block():
            for each in init.decls if isinstance(init, c_ast.DeclList) else ():
                self.names.declare(each)
            return [
                c_ast.If(self.names.opposite(x), c_ast.Break(x.coord), None, x.coord) for x in asked
            ]

    def listed(self, node: c_ast.Node) -> c_ast.Node | None:
        """Leave the parts of a header as they are: an `if` is none."""
        return node

    def result(self, node: c_ast.Return) -> list[c_ast.Node]:
        """Return the value that an expression has, behind what it changes."""
        parts = super().result(node)
        if node.expr is None or not any(changed(x) is not None for x in below(node.expr)):
            return parts
        symbol = self.names.lookup(self.function)
        type_ = symbol.type.result if symbol and isinstance(symbol.type, Returning) else None
        value = node.expr
        is_plain = isinstance(value, c_ast.Assignment) and not any(
            changed(x) is not None for x in below(value.lvalue)
        )
        if number_type(type_) is None or type_ is None or is_plain:
            return parts
        before = parts[:-1]
        node.expr = self.kept("result", unqualified(type_), node.expr, node.coord, before)
        return [*before, node]

    # Expressions.

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Return an expression in which nothing is changed in one case only."""
        while before is not None:
            parts = list(surely(node))
            lifted = (x for x in parts if self._is_lifted(x) or _is_set_inside(x, node))
            found = next((x for x in lifted if not self._order.is_seen(x, node)), None)
            if found is None:
                break
            value = self._value(found, before)
            if value is None:
                break
            node = replaced_part(node, found, value)
        return node

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return the statements in place of an expression that is one."""
        if not self._is_lifted(node):
            return super().effect(node)
        if _is_comma(node):
            return self._each([x for x in node.exprs if has_effect(x)])
        match node:
            case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second):
                if not has_effect(first):
                    condition, first, second = self.names.opposite(condition), second, first
                other = second if has_effect(second) else None
                made = c_ast.If(condition, first, other, node.coord)
            case _:
                condition = node.left if node.op == "&&" else self.names.opposite(node.left)
                made = c_ast.If(condition, node.right, None, node.coord)
        return self.statement(made)

    def _is_lifted(self, node: c_ast.Node) -> bool:
        """Return whether a node decides whether something is changed, or changes it first."""
        match node:
            case c_ast.TernaryOp(iftrue=first, iffalse=second):
                return self._order.has_effect(first) or self._order.has_effect(second)
            case c_ast.BinaryOp(op="&&" | "||", right=second):
                return self._order.has_effect(second)
            case c_ast.FuncCall():
                return node.coord.line in self._asked
        return _is_comma(node)

    def _value(self, node: c_ast.Node, before: list[c_ast.Node]) -> c_ast.Node | None:
        """Return the value of what is done before; None if it has no type that is known."""
        at = node.coord
        if isinstance(node, c_ast.Assignment):
            before += self.effect(node)
            return copied(node.lvalue)
        if _is_comma(node):
            *first, last = node.exprs
            before += self._each([x for x in first if has_effect(x)])
            return last
        type_ = self.names.value_type(node)
        if type_ is None or number_type(type_) is None:
            return None
        if isinstance(node, c_ast.FuncCall):
            return self.kept(f"{called_by(node)}_value", type_, node, at, before)
        chosen = self.kept("chosen", type_, integer(0, at), at, before)

        def known(value: c_ast.Node) -> c_ast.Node:
            return assign(chosen.name, value, at)

        match node:
            case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second):
                made = c_ast.If(condition, known(first), known(second), at)
            case _:
                one = known(integer(1, at))
                second = block([c_ast.If(node.right, copied(one), None, at)], at)
                arms = (second, None) if node.op == "&&" else (one, second)
                made = c_ast.If(node.left, *arms, at)
        before += self.statement(made)
        return chosen


def _going_to(node: c_ast.Node, label: str) -> c_ast.Node:
    """Return the body of a loop that goes to a label where it is continued."""
    if isinstance(node, c_ast.Continue):
        return c_ast.Goto(label, node.coord)
    return node if isinstance(node, LOOPS) else mapped(node, lambda x: _going_to(x, label))


def _is_set_inside(node: c_ast.Node, root: c_ast.Node) -> bool:
    """Return whether a part of an expression sets something that is named again as its value.

    What conditions set to a value, and what is set to one value, stays for who takes these apart.
    """
    if not isinstance(node, c_ast.Assignment) or has_effect(node.lvalue):
        return False
    chain = root
    while isinstance(chain, c_ast.Assignment):
        if chain is node:
            return False
        chain = chain.rvalue
    name = variable_of(node.lvalue)
    if isinstance(node.lvalue, c_ast.ID):
        return isinstance(root, c_ast.Assignment)
    inner = node.lvalue
    while isinstance(inner, c_ast.ArrayRef | c_ast.StructRef):
        if isinstance(inner, c_ast.ArrayRef) and reads_memory(inner.subscript):
            return False
        inner = inner.name
    return name is not None


def _is_comma(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.ExprList)
