"""What pointers point to: a variable, and the way into it.

    a + 3        a: [3]              &m[i][0]     m: [i][0]
    p->v         p: [0].v[0]         &s           s: itself

The last step of the way is the one that a pointer moves along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.lowering.bits import are_alike
from rtlgen.frontend.lowering.names import Names, Symbol
from rtlgen.frontend.lowering.nodes import integer, number
from rtlgen.frontend.lowering.types import (
    INT,
    ArrayOf,
    Number,
    Plain,
    PointerTo,
    RecordType,
    Type,
    cast,
    element_of,
    number_type,
    plain,
)

STEP_OPS = {"p++": "+", "++": "+", "p--": "-", "--": "-"}


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A subscript.

    Members
    -------
    inner: extents of the dimensions behind this one that it runs through, too: the subscript
        counts the elements of all of them.
    """

    value: c_ast.Node
    inner: tuple[c_ast.Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A member."""

    name: str


Step: TypeAlias = Index | Choice
Pattern: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What an expression points to, or names.

    Members
    -------
    base: an array, a structure, a number, or a pointer.
    """

    base: Symbol
    steps: tuple[Step, ...]

    @property
    def pattern(self) -> Pattern:
        """The kinds of the steps."""
        return tuple("[]" if isinstance(step, Index) else step.name for step in self.steps)

    def moved(self, step: c_ast.Node, op: str = "+") -> Target | None:
        """Return what is so many elements further on."""
        if not self.steps or not isinstance(self.steps[-1], Index):
            return None
        last = self.steps[-1]
        return self.with_last(replace(last, value=combined(op, last.value, step)))

    def with_last(self, step: Step) -> Target:
        """Return the target with another last step."""
        return Target(self.base, (*self.steps[:-1], step))

    def inside(self, *steps: Step) -> Target:
        """Return a part of the target."""
        return Target(self.base, (*self.steps, *steps))


class Targets:
    """Finds what expressions point to."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def pointed_to(self, node: c_ast.Node) -> Target | None:
        """Return what the value of a pointer points to."""
        names = self._names
        match node:
            case c_ast.ID(name=name):
                symbol = names.lookup(name)
                if symbol is None or not isinstance(symbol.type, ArrayOf | PointerTo):
                    return None
                return Target(symbol, (Index(integer(0, node.coord)),))
            case c_ast.UnaryOp(op="&", expr=inner):
                # What points to a pointer changes with it.
                is_pointer = isinstance(names.type_of(inner), PointerTo)
                return None if is_pointer else self.named(inner)
            case c_ast.UnaryOp(op=op, expr=c_ast.ID() as pointer) if op in STEP_OPS:
                return self.pointed_to(pointer)
            case c_ast.BinaryOp(op="+" | "-" as op):
                side = pointer_side(names, node)
                if side is None:
                    return None
                found = self.pointed_to(side)
                other = node.right if side is node.left else node.left
                return None if found is None else found.moved(as_int(names, other), op)
            case c_ast.Cast(to_type=to, expr=inner):
                return self._converted(names.read(to), inner)
        found = self.named(node)
        if found is None or not isinstance(names.type_of(node), ArrayOf):
            return None
        return found.inside(Index(integer(0, node.coord)))

    def named(self, node: c_ast.Node) -> Target | None:
        """Return the variable, or the part of one, that an expression names."""
        names = self._names
        match node:
            case c_ast.ID(name=name):
                symbol = names.lookup(name)
                return None if symbol is None or symbol.is_type else Target(symbol, ())
            case c_ast.ArrayRef(name=base, subscript=index):
                found = self.pointed_to(base)
                return None if found is None else found.moved(as_int(names, index))
            case c_ast.UnaryOp(op="*", expr=inner):
                return self.pointed_to(inner)
            case c_ast.StructRef(name=inner, type=kind, field=member):
                found = self.named(inner) if kind == "." else self.pointed_to(inner)
                return None if found is None else found.inside(Choice(member.name))
        return None

    def _converted(self, to: Type, node: c_ast.Node) -> Target | None:
        """Return what a converted pointer points to: the same, or the first number in it."""
        wanted, found = element_of(to), self.pointed_to(node)
        if is_void(wanted):
            return found
        given = element_of(self._names.decayed(past_void(self._names, node)))
        while found is not None and isinstance(given, ArrayOf) and not isinstance(wanted, ArrayOf):
            found, given = found.inside(Index(integer(0, node.coord))), given.of
        is_seen = self._is_same(wanted, given) or is_look_alike(wanted, given)
        return found if is_seen else None

    def element(self, target: Target) -> Type | None:
        """Return the type of what a target names."""
        type_: Type | None = target.base.type
        for step in target.steps:
            for _ in range(1 + len(step.inner)) if isinstance(step, Index) else ():
                type_ = element_of(type_)
            if isinstance(step, Choice):
                member = self._names.member_of(type_, step.name)
                type_ = None if member is None else member.type
        return type_

    def is_converted_to_itself(self, node: c_ast.Cast) -> bool:
        """Return whether a pointer is converted to a pointer to what it points to, anyway."""
        wanted, given = self._conversion(node)
        return wanted is not None and self._is_same(wanted, given)

    def is_seen_otherwise(self, node: c_ast.Node) -> bool:
        """Return whether the way that an expression goes converts a pointer to numbers."""
        return any(
            isinstance(part, c_ast.Cast) and is_look_alike(*self._conversion(part))
            for part in _way(self._names, node)
        )

    def _conversion(self, node: c_ast.Cast) -> tuple[Type | None, Type | None]:
        """Return what a pointer is to point to, and what it did."""
        given = element_of(self._names.decayed(past_void(self._names, node.expr)))
        return element_of(self._names.read(node.to_type)), given

    def _is_same(self, a: Type | None, b: Type | None) -> bool:
        if isinstance(a, RecordType) and isinstance(b, RecordType):
            return a.record is b.record
        if isinstance(a, ArrayOf) and isinstance(b, ArrayOf):
            return self._is_same(a.of, b.of)
        number_a, number_b = number_type(a), number_type(b)
        return number_a is not None and number_a == number_b

    def extents(self, symbol: Symbol, pattern: Sequence[str]) -> list[c_ast.Node | None]:
        """Return the extent of each step of a pattern; None of a member, or an open one."""
        found: list[c_ast.Node | None] = []
        type_: Type | None = symbol.type
        for step in pattern:
            if step == "[]":
                found.append(type_.extent if isinstance(type_, ArrayOf) else None)
                type_ = element_of(type_)
            else:
                found.append(None)
                member = self._names.member_of(type_, step)
                type_ = None if member is None else member.type
        return found


def is_look_alike(a: Type | None, b: Type | None) -> bool:
    """Return whether two types are of numbers that are seen as each other's bits."""
    first, second = number_type(a), number_type(b)
    return first is not None and second is not None and are_look_alike(first, second)


def are_look_alike(a: Number, b: Number) -> bool:
    """Return whether two types are other numbers of the same bits."""
    if a.is_floating or b.is_floating:
        return are_alike(a, b)
    return a != b and a.bits == b.bits and not any(x.is_bool or x.is_precise for x in (a, b))


def pointer_side(names: Names, node: c_ast.BinaryOp) -> c_ast.Node | None:
    """Return the pointer in `p + n`, `n + p` or `p - n`; None if there is none, or two."""
    sides = [s for s in (node.left, node.right) if isinstance(names.decayed(s), PointerTo)]
    return sides[0] if len(sides) == 1 else None


def is_void(type_: Type | None) -> bool:
    """Return whether a pointer to a type does not say what it points to."""
    return isinstance(type_, Plain) and type_.names == ("void",)


def past_void(names: Names, node: c_ast.Node) -> c_ast.Node:
    """Return what is converted to `void *`."""
    while isinstance(node, c_ast.Cast) and is_void(element_of(names.read(node.to_type))):
        node = node.expr
    return node


def is_null(names: Names, node: c_ast.Node) -> bool:
    """Return whether an expression is a null pointer, as `0` or `NULL` spell it."""
    while isinstance(node, c_ast.Cast) and isinstance(names.read(node.to_type), PointerTo):
        node = node.expr
    return names.constant(node) == 0


def way_root(names: Names, node: c_ast.Node) -> c_ast.Node:
    """Return what the way that an expression goes begins with."""
    *_, last = _way(names, node)
    return last


def _way(names: Names, node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield an expression and the ones inside of it up to what its way begins with."""
    while True:
        yield node
        match node:
            case c_ast.ArrayRef(name=base, subscript=index):
                node = base if isinstance(names.decayed(base), PointerTo) else index
            case c_ast.StructRef(name=inner):
                node = inner
            case c_ast.UnaryOp(op=op, expr=inner) if op in ("*", "&", *STEP_OPS):
                node = inner
            case c_ast.BinaryOp(op="+" | "-"):
                side = pointer_side(names, node)
                if side is None:
                    return
                node = side
            case c_ast.Cast(expr=inner):
                node = inner
            case c_ast.TernaryOp(iftrue=inner):
                node = inner
            case c_ast.Assignment(lvalue=inner):
                node = inner
            case _:
                return


# Numbers.


def combined(op: str, a: c_ast.Node, b: c_ast.Node) -> c_ast.Node:
    """Return a sum, difference, product, quotient or remainder, without what does nothing."""
    first, second = number(a), number(b)
    if first is not None and second is not None:
        match op:
            case "+" | "-" | "*":
                results = {"+": first + second, "-": first - second, "*": first * second}
                return integer(results[op], b.coord)
            case "/" | "%" if first >= 0 and second > 0:
                return integer(first // second if op == "/" else first % second, b.coord)
    if second == 0 and op in ("+", "-"):
        return a
    if first == 0 and op == "+":
        return b
    if op == "*" and (first == 1 or second == 1):
        return b if first == 1 else a
    return c_ast.BinaryOp(op, a, b, b.coord if first is not None else a.coord)


def as_int(names: Names, node: c_ast.Node) -> c_ast.Node:
    """Return a distance as an int: no array has more elements than one counts."""
    known = names.constant(node)
    if known is not None:
        return integer(known, node.coord)
    found = names.number(node)
    is_held = found is not None and (found.bits < INT.bits or found == INT)
    return node if is_held else cast(plain(INT), node)
