"""C types as declarations spell them: what a structure holds, and how a type is declared.

They are types of the syntax tree: extents are expressions, and a number keeps the name that the
program gives its type. What a circuit makes of them is the reader's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pycparser import c_ast

Keyword: TypeAlias = Literal["struct", "union"]


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """A number, `void`, or a type that is not looked into.

    Members
    -------
    names: the words of its specifier.
    """

    names: tuple[str, ...]
    quals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PointerTo:
    """A pointer."""

    to: Type
    quals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ArrayOf:
    """An array; `extent` is None between empty brackets."""

    of: Type
    extent: c_ast.Node | None


@dataclass(frozen=True, slots=True, eq=False)
class Returning:
    """A function. Parameters that are declared as arrays are pointers."""

    result: Type
    parameters: tuple[Type, ...]


@dataclass(slots=True, eq=False)
class Record:
    """What `struct` or `union` defines.

    Members
    -------
    spelled: how the program names the type; "" where it has no name.
    members: None until the definition has been read.
    """

    keyword: Keyword
    spelled: str
    members: tuple[Member, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member; `name` is None for one that lends its own members, or pads.

    Members
    -------
    bits: the width of a bit-field.
    node: its declaration.
    """

    name: str | None
    type: Type
    bits: c_ast.Node | None
    node: c_ast.Decl


@dataclass(frozen=True, slots=True, eq=False)
class RecordType:
    """A structure or union as the type of something."""

    record: Record
    quals: tuple[str, ...] = ()


Type: TypeAlias = Plain | PointerTo | ArrayOf | Returning | RecordType


def innermost(type_: Type) -> Type:
    """Return what arrays and pointers are of in the end."""
    while isinstance(type_, ArrayOf | PointerTo):
        type_ = type_.of if isinstance(type_, ArrayOf) else type_.to
    return type_


def element_of(type_: Type | None) -> Type | None:
    """Return what an array consists of, or a pointer points to."""
    match type_:
        case ArrayOf(of=inner) | PointerTo(to=inner):
            return inner
    return None


def qualified(type_: Type, quals: tuple[str, ...]) -> Type:
    """Return a type with more qualifiers: those of an array are its elements'."""
    if not quals:
        return type_
    match type_:
        case ArrayOf():
            return replace(type_, of=qualified(type_.of, quals))
        case Returning():
            return type_
    return replace(type_, quals=tuple(dict.fromkeys((*type_.quals, *quals))))


def unqualified(type_: Type) -> Type:
    """Return the type of a variable that may be set."""
    match type_:
        case ArrayOf():
            return replace(type_, of=unqualified(type_.of))
        case Returning():
            return type_
    return replace(type_, quals=())


def rewrapped(type_: Type, inner: Type) -> Type:
    """Return arrays of, and pointers to, another type than before."""
    match type_:
        case ArrayOf(of=of):
            return replace(type_, of=rewrapped(of, inner))
        case PointerTo(to=to):
            return replace(type_, to=rewrapped(to, inner))
        case RecordType(quals=quals):
            return qualified(inner, quals)
    return inner


def ranks(type_: Type) -> int:
    """Return how many subscripts something of the type takes."""
    count = 0
    while isinstance(type_, ArrayOf | PointerTo):
        type_ = type_.of if isinstance(type_, ArrayOf) else type_.to
        count += 1
    return count


def declarator(type_: Type, name: str | None, at: object) -> c_ast.Node:
    """Return the tree of a declaration's type."""
    match type_:
        case PointerTo(to=inner, quals=quals):
            return c_ast.PtrDecl(list(quals), declarator(inner, name, at), at)
        case ArrayOf(of=inner, extent=extent):
            return c_ast.ArrayDecl(declarator(inner, name, at), placed(extent, at), [], at)
        case Plain(names=names, quals=quals):
            specifier = c_ast.IdentifierType(list(names), at)
            if names[:1] and names[0].startswith("enum "):
                specifier = c_ast.Enum(names[0].removeprefix("enum "), None, None, at)
            return c_ast.TypeDecl(name, list(quals), None, specifier, at)
        case RecordType(record=record, quals=quals):
            kind = c_ast.Struct if record.keyword == "struct" else c_ast.Union
            tag = record.spelled.removeprefix(f"{record.keyword} ")
            return c_ast.TypeDecl(name, list(quals), None, kind(tag, None, at), at)
    raise TypeError(f"{type_} is declared in another way")


def name_coord(node: c_ast.Node) -> object:
    """Return the place of the name in a declaration."""
    while isinstance(node, c_ast.Decl | c_ast.PtrDecl | c_ast.ArrayDecl):
        node = node.type
    return node.coord


def placed(node: c_ast.Node | None, at: object) -> c_ast.Node | None:
    """Return a copy of an expression whose text is that of another place."""
    if node is None:
        return None
    made = copied(node)
    for part in _below(made):
        part.coord = at
    return made


def copied(node: c_ast.Node) -> c_ast.Node:
    """Return a copy of a tree, with the places of the original."""
    made = node.__class__.__new__(node.__class__)
    for name in node.__slots__:
        if name == "__weakref__":
            continue
        value = getattr(node, name)
        if isinstance(value, c_ast.Node):
            value = copied(value)
        elif isinstance(value, list):
            value = [copied(part) if isinstance(part, c_ast.Node) else part for part in value]
        setattr(made, name, value)
    return made


def _below(root: c_ast.Node) -> Iterator[c_ast.Node]:
    yield root
    for _, child in root.children():
        yield from _below(child)
