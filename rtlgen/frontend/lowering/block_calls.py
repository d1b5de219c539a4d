"""`memcpy` and its like as loops, where how much they move is no constant.

Rewrite
-------
    memcpy(to + 4, from, n);                     for (k = 0; k < n; k++) (to + 4)[k] = from[k];
    memset(w, 0, n * sizeof(int));               for (k = 0; k < n; k++) w[k] = 0;
    memmove(to, from, sizeof *to * (n + 1));     the same as memcpy, from one array to another one

So the arrays say how much it can be, as for a loop that is written out; C gives a call that goes
beyond them no meaning. What constants bound, and what stays within one array, is left to the reader
of calls.
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.lowering.bits import are_alike, reinterpreted
from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import (
    block,
    copied,
    has_effect,
    integer,
    is_set,
    joined,
    named,
    reads_memory,
)
from rtlgen.frontend.lowering.pointer_values import combined, way_root
from rtlgen.frontend.lowering.rewriter import Rewriter
from rtlgen.frontend.lowering.types import (
    INT,
    LONG,
    ArrayOf,
    Number,
    PointerTo,
    counting,
    number_type,
    plain,
)
from rtlgen.frontend.syntax.assigned import below, called_below, functions
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import BLOCK_CALLS


def loop_block_calls(tree: c_ast.FileAST, locator: Locator, kernel: str) -> None:
    """Rewrite all functions of a file in place.

    Parameters
    ----------
    kernel: the name of the function whose parameters are arrays of their own.
    """
    if not (BLOCK_CALLS - functions(tree).keys()).isdisjoint(called_below(tree)):
        _Looper(tree, locator, kernel).file()


class _Looper(Rewriter):
    def __init__(self, tree: c_ast.FileAST, locator: Locator, kernel: str) -> None:
        super().__init__(tree, locator)
        self._kernel = kernel
        self._body: c_ast.Node = tree

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        self._body = node.body
        return super().parameters(node)

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        match node:
            case c_ast.FuncCall(
                name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[target, source, size])
            ) if name in BLOCK_CALLS and self.names.constant(size) is None:
                if not any(map(has_effect, (target, source, size))):
                    return self._written(name, target, source, size, node) or [node]
        return super().effect(node)

    def _written(
        self, name: str, target: c_ast.Node, source: c_ast.Node, size: c_ast.Node, call: c_ast.Node
    ) -> list[c_ast.Node]:
        """Return the loop that does what a call does; nothing if it is none over numbers."""
        at, to, value = call.coord, _uncast(target), _uncast(source)
        element = _element_type(self.names, to)
        count = None if element is None else _count(self.names, size, element.bytes)
        if element is None or count is None:
            return []
        index = self.fresh(f"{name}_index")
        given = _element_type(self.names, value)
        if name != "memset":
            if name == "memmove" and not self._are_apart(to, value):
                return []
            if given is None or not (_holds_bytes(element, given) or are_alike(element, given)):
                return []
        elif element.bytes > 1 and self.names.constant(value) != 0:
            return []
        made: list[c_ast.Node] = []
        body: list[c_ast.Node] = []
        place = self._element(to, index, made, body)
        if name != "memset":
            value = self._element(value, index, made, body)
            if given is not None and are_alike(element, given):
                value = reinterpreted(value, given, element)
        if reads_memory(count):
            count = self.kept(f"{name}_size", plain(INT), count, at, made)
        body.append(c_ast.Assignment("=", place, value, at))
        set_ = body[0] if len(body) == 1 else block(body, at)
        made.append(counting(index, count, set_, at))
        return made if len(made) == 1 else [block(made, at)]

    def _are_apart(self, a: c_ast.Node, b: c_ast.Node) -> bool:
        """Return whether two pointers surely point into different variables."""
        bases = [self._base(x) for x in (a, b)]
        return None not in bases and bases[0] is not bases[1]

    def _base(self, node: c_ast.Node) -> c_ast.Node | None:
        """Return the declaration of what a pointer points into, if it always does."""
        if any(isinstance(x, c_ast.TernaryOp) for x in below(node)):
            return None
        root = way_root(self.names, node)
        symbol = self.names.lookup(root.name) if isinstance(root, c_ast.ID) else None
        if symbol is None or (symbol.is_parameter and self.function != self._kernel):
            return None
        if not isinstance(symbol.type, PointerTo) or symbol.is_parameter:
            return symbol.node
        init = None if is_set(self._body, symbol.name) else getattr(symbol.node, "init", None)
        return None if init is None else self._base(init)

    def _element(
        self, pointer: c_ast.Node, index: str, before: list[c_ast.Node], body: list[c_ast.Node]
    ) -> c_ast.Node:
        """Return the element that is so far behind a pointer; where data says where, it is inside.

        Parameters
        ----------
        before, body: take what is done before the loop, and at the start of its body.
        """
        at = pointer.coord
        match pointer:
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=array, subscript=first)) if (
                self.names.constant(first) is None
            ):
                # The sum is one of addresses, which does not come round.
                start = self.kept("start", plain(LONG), first, at, before)
                place = self.kept(
                    "place", plain(LONG), combined("+", start, named(index, at)), at, body
                )
                type_ = self.names.type_of(array)
                extent = type_.extent if isinstance(type_, ArrayOf) else None
                ends = [c_ast.BinaryOp(">=", named(place.name, at), integer(0, at), at)]
                if self.names.constant(extent) is not None:
                    ends.append(c_ast.BinaryOp("<", named(place.name, at), copied(extent), at))
                said = c_ast.ExprList([joined(ends)], at)
                body.append(c_ast.FuncCall(named("__builtin_assume", at), said, at))
                return c_ast.ArrayRef(array, named(place.name, at), at)
        return c_ast.ArrayRef(pointer, named(index, at), at)


def _uncast(node: c_ast.Node) -> c_ast.Node:
    """Return a pointer as it is before conversions: bytes are moved, of whatever they are."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return node


def _element_type(names: Names, node: c_ast.Node) -> Number | None:
    """Return the type of the numbers that a pointer points to; None if it points to others."""
    type_ = names.decayed(node)
    return number_type(type_.to) if isinstance(type_, PointerTo) else None


def _holds_bytes(to: Number, of: Number) -> bool:
    """Return whether a number that is converted to another type keeps the bytes that it has."""
    if to.is_floating or of.is_floating:
        return to == of
    return to.bytes == of.bytes and (of.is_bool or not to.is_bool)


def _count(names: Names, size: c_ast.Node, element: int) -> c_ast.Node | None:
    """Return how many elements are as large as `size`; None if that may be no whole number."""
    known, rest = 1, []
    pending = [size]
    while pending:
        node = pending.pop()
        value = names.constant(node)
        if value is not None:
            known *= value
        elif isinstance(node, c_ast.BinaryOp) and node.op == "*":
            pending += [node.right, node.left]
        else:
            rest.append(node)
    if known % element:
        return None
    found = rest[0]
    for node in rest[1:]:
        found = combined("*", found, node)
    return combined("*", found, integer(known // element, size.coord))
