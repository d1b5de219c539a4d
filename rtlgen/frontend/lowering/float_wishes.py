"""Sums and products of floats in another order, where the user asks for it.

Rewrite
-------
    y = a * b + c;                              y = fma(a, b, c);

    for (i = 0; i < n; i++)                     float s_sums[8];
      s += a[i] * b[i];                         for (int k = 0; k < 8; k++) s_sums[k] = 0;
                                                for (i = 0; i < n; i++)
                                                  s_sums[i % 8] += a[i] * b[i];
                                                s += ((s_sums[0] + s_sums[1]) + ...) + ...;

C keeps the order of a sum: each addition waits for the one before. As many partial sums as the
adder takes cycles wait for nothing. Neither computes what the program says; what is built, and what
it is compared with, is the program as rewritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import alike, copied, integer, items_of, number, step_of
from rtlgen.frontend.lowering.rewriter import PartRewriter
from rtlgen.frontend.lowering.types import INT, ArrayOf, Number, cast, declaration, plain
from rtlgen.frontend.syntax.assigned import assigned, below, declared, mentions, setting_of
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.source import Span

_FMA = {32: "fmaf", 64: "fma", 16: "fmaf16"}


@dataclass(frozen=True, slots=True)
class FloatRewriting:
    """What is asked for.

    Members
    -------
    contract: products that are added to something are not rounded.
    flush: subnormal operands and results of operations are zeros; see `ir.float_flushing`.
    sums: the statements whose sums are cut into parts, and into how many.
    """

    contract: bool = False
    flush: bool = False
    sums: tuple[tuple[Span, int], ...] = ()


def rewrite_floats(tree: c_ast.FileAST, locator: Locator, wish: FloatRewriting) -> None:
    """Rewrite a file in place."""
    if wish.sums:
        _PartialSums(locator, dict(wish.sums)).visit(tree)
    if wish.contract:
        _Contraction().visit(tree)


class _Contraction(PartRewriter):
    """Makes fused multiply-adds of products that are added."""

    def visit(self, node: c_ast.Node) -> None:
        super().visit(node)
        if isinstance(node, c_ast.Assignment) and node.op in ("+=", "-="):
            summed = c_ast.BinaryOp(node.op[0], copied(node.lvalue), node.rvalue, node.coord)
            found = self.rewritten(summed)
            if found is not summed:
                node.op, node.rvalue = "=", found

    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        if not isinstance(part, c_ast.BinaryOp) or part.op not in ("+", "-"):
            return part
        number = self.names.number(part)
        if number is None or not number.is_floating or number.bits not in _FMA:
            return part
        minus = part.op == "-"
        if self._is_product(part.left, number):
            return self._fused(part.left, _signed(part.right, minus), number)
        if self._is_product(part.right, number):
            product = part.right
            product.left = _signed(product.left, minus)
            return self._fused(product, part.left, number)
        return part

    def _is_product(self, node: c_ast.Node, number: Number) -> bool:
        """Tell whether a product is rounded to the type of the sum."""
        is_product = isinstance(node, c_ast.BinaryOp) and node.op == "*"
        return is_product and self.names.number(node) == number

    def _fused(self, product: c_ast.BinaryOp, other: c_ast.Node, number: Number) -> c_ast.Node:
        at = product.coord
        given = c_ast.ExprList([product.left, product.right, other], at)
        call = c_ast.FuncCall(c_ast.ID(_FMA[number.bits], at), given, at)
        return cast(plain(number), call, at)


def _signed(node: c_ast.Node, minus: bool) -> c_ast.Node:
    return c_ast.UnaryOp("-", node, node.coord) if minus else node


class _PartialSums(PartRewriter):
    """Cuts sums into parts, in the innermost loop around them.

    Parameters
    ----------
    counts: into how many parts, by the place of the statement.
    """

    def __init__(self, locator: Locator, counts: dict[Span, int]) -> None:
        super().__init__()
        self._locator = locator
        self._counts = counts
        self._made = 0

    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        if not isinstance(part, c_ast.For):
            return part
        inner = [node for node in below(part.stmt) if isinstance(node, c_ast.For)]
        if inner or part.stmt is None:
            return part
        at, known = part.coord, _position(part)
        counter = f"partial_at_{self._made}"
        position = c_ast.ID(counter, at) if known is None else known
        before: list[c_ast.Node] = []
        after: list[c_ast.Node] = []
        for node in [part.stmt, *below(part.stmt)]:
            if isinstance(node, c_ast.Assignment):
                self._cut(node, part, position, before, after)
        if not before:
            return part
        if known is None:
            before.append(declaration(counter, plain(INT), integer(0, at), at))
            step = c_ast.UnaryOp("p++", c_ast.ID(counter, at), at)
            part.stmt = c_ast.Compound([*items_of(part.stmt), step], at)
        return c_ast.Compound([*before, part, *after], at)

    def _cut(
        self,
        node: c_ast.Assignment,
        loop: c_ast.For,
        position: c_ast.Node,
        before: list[c_ast.Node],
        after: list[c_ast.Node],
    ) -> None:
        count = self._counts.get(self._locator.span(node)) or self._counts.get(
            self._locator.span(node.lvalue)
        )
        term = _added(node)
        target = node.lvalue
        number = self.names.number(target)
        if count is None or term is None or number is None or not number.is_floating:
            return
        if not _stands_alone(target, node, loop):
            return
        at = node.coord
        name = f"partial_sums_{self._made}"
        self._made += 1
        type_ = plain(number)
        before.append(declaration(name, ArrayOf(type_, integer(count, at)), None, at))
        zeros = [
            c_ast.Assignment("=", _element(name, integer(k, at)), integer(0, at), at)
            for k in range(count)
        ]
        before += zeros
        node.lvalue = _element(name, c_ast.BinaryOp("%", copied(position), integer(count, at), at))
        node.op, node.rvalue = "+=", term
        total = _tree([_element(name, integer(k, at)) for k in range(count)])
        after.append(c_ast.Assignment("+=", copied(target), total, at))


def _element(name: str, place: c_ast.Node) -> c_ast.ArrayRef:
    return c_ast.ArrayRef(c_ast.ID(name, place.coord), place, place.coord)


def _tree(terms: Sequence[c_ast.Node]) -> c_ast.Node:
    """Return the sum of terms, as few additions deep as can be."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    left, right = _tree(terms[:middle]), _tree(terms[middle:])
    return c_ast.BinaryOp("+", left, right, terms[0].coord)


def _position(loop: c_ast.For) -> c_ast.Node | None:
    """Return the number of an iteration, from 0, of a loop that counts by one."""
    setting = setting_of(loop.init)
    if setting is None:
        return None
    name, start = setting
    changed = {target for target, _ in assigned(loop.stmt)}
    if name in changed or mentions(start, frozenset((*changed, name))):
        return None
    counter = c_ast.ID(name, loop.coord)
    step = step_of(loop.next)
    by = number(step[1]) if step is not None and step[0] == name else None
    if by == 1 and number(start) == 0:
        return counter
    ends = {1: (counter, start), -1: (start, counter)}.get(by or 0)
    return None if ends is None else c_ast.BinaryOp("-", *map(copied, ends), loop.coord)


def _added(node: c_ast.Assignment) -> c_ast.Node | None:
    """Return what a statement adds to its target, if that is all it does."""
    match node:
        case c_ast.Assignment(op="+=", rvalue=term):
            return term
        case c_ast.Assignment(op="-=", rvalue=term):
            return c_ast.UnaryOp("-", term, term.coord)
        case c_ast.Assignment(op="=", lvalue=target, rvalue=c_ast.BinaryOp() as total):
            sides = total.left, total.right
            same = [alike(side, target) for side in sides]
            if total.op == "+" and same[0] != same[1]:
                return sides[1] if same[0] else sides[0]
            if total.op == "-" and same == [True, False]:
                return c_ast.UnaryOp("-", total.right, total.coord)
    return None


def _stands_alone(target: c_ast.Node, node: c_ast.Assignment, loop: c_ast.For) -> bool:
    """Tell whether a loop only adds to a place, which is the same one in all iterations."""
    base = target
    while isinstance(base, c_ast.ArrayRef):
        base = base.name
    if not isinstance(base, c_ast.ID):
        return False
    changed = {name for name, _ in assigned(loop)} - {base.name}
    # What is declared inside is another variable each time.
    if mentions(target, declared(loop) | changed):
        return False
    own = {id(part) for part in [target, *below(target)]}
    if node.op == "=":
        sides = node.rvalue.left, node.rvalue.right
        old = next(side for side in sides if alike(side, target))
        own |= {id(part) for part in [old, *below(old)]}
    used = (part for part in below(loop) if isinstance(part, c_ast.ID) and part.name == base.name)
    return all(id(part) in own for part in used)
