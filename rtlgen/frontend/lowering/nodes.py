"""Pieces of the syntax tree: made, copied, and with names replaced.

What is made stands, for whoever reads the text of it, at the place that it is made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

from pycparser import c_ast

from rtlgen.frontend.syntax.assigned import STEPS, below, mentions, stepped
from rtlgen.frontend.text.constants import integer_constant, result_of

Place: TypeAlias = Any
"""pycparser's coordinate of a node."""

ORDERED = ("<", "<=", ">", ">=")
COMPARISONS = (*ORDERED, "==", "!=")
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


class FreshNames:
    """Makes names that a file does not use."""

    def __init__(self, tree: c_ast.Node) -> None:
        self._taken = {
            name
            for node in below(tree)
            for attribute in ("name", "declname")
            if isinstance(name := getattr(node, attribute, None), str)
        }

    def fresh(self, name: str) -> str:
        """Return `name`, or one like it."""
        found, number = name, 2
        while found in self._taken:
            found, number = f"{name}_{number}", number + 1
        self._taken.add(found)
        return found


def integer(value: int, at: Place) -> c_ast.Node:
    """Return a number."""
    if value < 0:
        return c_ast.UnaryOp("-", integer(-value, at), at)
    return c_ast.Constant("int", str(value), at)


def named(name: str, at: Place) -> c_ast.ID:
    """Return a use of a variable."""
    return c_ast.ID(name, at)


def assign(name: str, value: c_ast.Node, at: Place) -> c_ast.Assignment:
    """Return `name = value;`."""
    return c_ast.Assignment("=", named(name, at), value, at)


def block(items: Sequence[c_ast.Node], at: Place) -> c_ast.Compound:
    """Return `{ items }`."""
    return c_ast.Compound(list(items), at)


def items_of(node: c_ast.Node | None) -> list[c_ast.Node]:
    """Return the statements of a body."""
    if node is None:
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def statement_fields(node: c_ast.Node) -> tuple[str, ...]:
    """Return the fields of a node that hold a statement, or a list of them."""
    match node:
        case c_ast.Compound(block_items=list()):
            return ("block_items",)
        case c_ast.Case(stmts=list()) | c_ast.Default(stmts=list()):
            return ("stmts",)
        case c_ast.If():
            arms = ("iftrue", "iffalse")
            return tuple(arm for arm in arms if getattr(node, arm) is not None)
        case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Label() | c_ast.Switch():
            return ("stmt",)
    return ()


def looped(node: c_ast.Node) -> list[c_ast.Node]:
    """Return the statements of a loop's body, before what the loop does or asks behind them.

    They stay one block where they declare a name that stands for something else there.
    """
    match node:
        case c_ast.DoWhile(cond=behind) | c_ast.For(next=behind) if behind is not None:
            items = items_of(node.stmt)
            own = frozenset(x.name for x in items if isinstance(x, c_ast.Decl) and x.name)
            return [node.stmt] if mentions(behind, own) else items
    return items_of(node.stmt)


def is_void(type_: c_ast.Node) -> bool:
    """Return whether a declarator is that of nothing."""
    inner = type_.type if isinstance(type_, c_ast.TypeDecl) else None
    return isinstance(inner, c_ast.IdentifierType) and inner.names == ["void"]


def specified(type_: c_ast.Node) -> c_ast.Node:
    """Return the innermost part of a declarator, with the name and the type's specifier."""
    while not isinstance(type_, c_ast.TypeDecl):
        type_ = type_.type
    return type_


def opposite(condition: c_ast.Node, *, may_be_nan: bool) -> c_ast.Node:
    """Return a condition that holds where this one does not.

    Parameters
    ----------
    may_be_nan: it may compare floats, of which neither `a < b` nor `a >= b` has to hold.
    """
    match condition:
        case c_ast.BinaryOp(op=op) if op in _OPPOSITE and not (may_be_nan and op in ORDERED):
            return c_ast.BinaryOp(_OPPOSITE[op], condition.left, condition.right, condition.coord)
        case c_ast.UnaryOp(op="!"):
            return condition.expr
    return c_ast.UnaryOp("!", condition, condition.coord)


def joined(conditions: Sequence[c_ast.Node]) -> c_ast.Node | None:
    """Return what holds where all of the conditions hold, asked in their order."""
    found: c_ast.Node | None = None
    for condition in conditions:
        found = condition if found is None else c_ast.BinaryOp("&&", found, condition, found.coord)
    return found


def parts_of(condition: c_ast.Node | None, operator: str) -> Iterator[c_ast.Node]:
    """Yield what `&&`, or `||`, joins."""
    if isinstance(condition, c_ast.BinaryOp) and condition.op == operator:
        yield from parts_of(condition.left, operator)
        yield from parts_of(condition.right, operator)
    elif condition is not None:
        yield condition


def mapped(node: c_ast.Node, made: Callable[[c_ast.Node], c_ast.Node]) -> c_ast.Node:
    """Return a copy of a node with `made(child)` in the place of each child."""
    found = copy(node)
    map_children(found, made)
    return found


def map_children(node: c_ast.Node, made: Callable[[c_ast.Node], c_ast.Node]) -> None:
    """Put `made(child)` in the place of each child of a node."""
    for name in node.__slots__:
        value = getattr(node, name, None)
        if isinstance(value, c_ast.Node):
            setattr(node, name, made(value))
        elif isinstance(value, list):
            setattr(node, name, [made(x) if isinstance(x, c_ast.Node) else x for x in value])


def copied(node: c_ast.Node) -> c_ast.Node:
    """Return a copy of a piece of the tree; the places are those of the original."""
    return mapped(node, copied)


def replaced(node: c_ast.Node, values: Mapping[str, c_ast.Node]) -> c_ast.Node:
    """Return a piece of the tree with expressions in the place of variables.

    Those that it declares itself stay; what mentions none of them is not copied.
    """
    if isinstance(node, c_ast.ID):
        return copied(values[node.name]) if node.name in values else node
    if not mentions(node, frozenset(values)):
        return node
    hidden = values

    def part(child: c_ast.Node) -> c_ast.Node:
        nonlocal hidden
        made = replaced(child, hidden)
        hidden = _without(hidden, child)
        return made

    return mapped(node, part)


def surely(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield what is surely evaluated with an expression, and once."""
    yield node
    match node:
        case c_ast.TernaryOp(cond=first) | c_ast.BinaryOp(op="&&" | "||", left=first):
            yield from surely(first)
        case c_ast.ExprList() | c_ast.UnaryOp(op="sizeof"):
            return
        case c_ast.FuncCall(args=c_ast.ExprList(exprs=arguments)):
            for part in arguments:
                yield from surely(part)
        case _:
            for _, child in node.children():
                yield from surely(child)


def replaced_part(node: c_ast.Node, old: c_ast.Node, new: c_ast.Node) -> c_ast.Node:
    """Put an expression in the place of a part of another one."""
    if node is old:
        return new
    map_children(node, lambda child: replaced_part(child, old, new))
    return node


def with_parts(node: c_ast.Node, parts: Mapping[int, c_ast.Node]) -> c_ast.Node:
    """Return a copy of an expression with others in the place of parts of some identities."""
    if id(node) in parts:
        return parts[id(node)]
    return mapped(node, lambda child: with_parts(child, parts))


def alike(a: c_ast.Node, b: c_ast.Node) -> bool:
    """Return whether two pieces of the tree are the same text."""
    names = [name for name in a.__slots__ if name not in ("coord", "__weakref__")]
    given = [(getattr(a, name), getattr(b, name)) for name in names if type(a) is type(b)]
    return type(a) is type(b) and all(_are_alike(x, y) for x, y in given)


def _are_alike(a: object, b: object) -> bool:
    if isinstance(a, c_ast.Node) and isinstance(b, c_ast.Node):
        return alike(a, b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_are_alike, a, b))
    return a == b


def _without(values: Mapping[str, c_ast.Node], node: c_ast.Node) -> Mapping[str, c_ast.Node]:
    """Return the values of variables that a declaration does not hide from what follows it."""
    parts = node.decls if isinstance(node, c_ast.DeclList) else [node]
    names = {part.name for part in parts if isinstance(part, c_ast.Decl)}
    return {k: v for k, v in values.items() if k not in names} if names & values.keys() else values


def changed(node: c_ast.Node, *others: str) -> c_ast.Node | None:
    """Return what a node itself sets, or does what one of some other operators does to."""
    match node:
        case c_ast.Assignment(lvalue=target):
            return target
        case c_ast.UnaryOp(op=op, expr=target) if op in (*STEPS, *others):
            return target
    return None


def is_set(root: c_ast.Node, name: str, depth: int = 0) -> bool:
    """Return whether a variable, or an element of it, is set below a node, or its address taken.

    Parameters
    ----------
    depth: how many subscripts lead to what may be set.
    """
    for node in below(root):
        target = changed(node, "&")
        subscripts = 0
        while isinstance(target, c_ast.ArrayRef):
            target, subscripts = target.name, subscripts + 1
        if isinstance(target, c_ast.ID) and target.name == name and subscripts <= depth:
            return True
    return False


def variable_of(node: c_ast.Node | None) -> str | None:
    """Return the name of the variable that an element, or a member, is a part of."""
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        node = node.name
    return str(node.name) if isinstance(node, c_ast.ID) else None


def has_effect(node: c_ast.Node) -> bool:
    """Return whether something is set, or a function called, at or below a node."""
    parts = below(node)
    return any(changed(x) is not None or isinstance(x, c_ast.FuncCall) for x in parts)


def reads_memory(node: c_ast.Node) -> bool:
    """Return whether memory is read at or below a node."""
    return any(map(reads_memory_itself, below(node)))


def reads_memory_itself(node: c_ast.Node) -> bool:
    """Return whether a node reads memory, whatever stands below it."""
    is_pointed_to = isinstance(node, c_ast.UnaryOp) and node.op == "*"
    return is_pointed_to or isinstance(node, c_ast.StructRef | c_ast.ArrayRef)


def step_of(node: c_ast.Node | None) -> tuple[str, c_ast.Node] | None:
    """Return the variable that a statement steps, and by what it does."""
    found = stepped(node)
    if found is None:
        return None
    name, by, sign = found
    return name, by if sign > 0 else Less("-", by, by.coord)


class Less(c_ast.UnaryOp):  # type: ignore[misc]
    """The step of `n -= by`: the number -by, which `n += -by` adds only where `by` has a sign."""


def moved_by(value: c_ast.Node, by: c_ast.Node, at: Place) -> c_ast.BinaryOp:
    """Return a value behind a step."""
    if isinstance(by, Less):
        return c_ast.BinaryOp("-", value, copied(by.expr), at)
    return c_ast.BinaryOp("+", value, copied(by), at)


def number(node: c_ast.Node | None) -> int | None:
    """Return the value of an expression of small literals; None of anything else."""
    match node:
        case c_ast.Constant(type="int" | "unsigned int" | "long int", value=text):
            try:
                return integer_constant(text)[0]
            except ValueError:
                return None
        case c_ast.UnaryOp(op="-" | "+" as op, expr=inner):
            value = number(inner)
            return None if value is None else -value if op == "-" else value
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%" | "<<" | ">>" as op):
            a, b = number(node.left), number(node.right)
            if a is None or b is None or (op in "/%" and b == 0):
                return None
            if op in ("<<", ">>") and not (a >= 0 and 0 <= b < _SMALL.bit_length()):
                return None
            value = result_of(op, a, b)
            return value if abs(value) < _SMALL else None
    return None


_SMALL = 1 << 31


def without(items: Iterable[c_ast.Node], dropped: frozenset[int]) -> list[c_ast.Node]:
    """Return statements without those of some identities, at any depth."""
    found = []
    for item in items:
        if id(item) in dropped:
            continue
        for node in below(item):
            if isinstance(node, c_ast.Compound) and node.block_items:
                node.block_items = [x for x in node.block_items if id(x) not in dropped]
        found.append(item)
    return found
