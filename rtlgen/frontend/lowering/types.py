"""C types as declarations spell them, the numbers among them, and how a type is declared.

They are types of the syntax tree: extents are expressions, and a number keeps the name that the
program gives its type. What a circuit makes of them is the reader's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import Place, copied, integer
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import float_type, integer_type
from rtlgen.ir.types import BFLOAT16

Keyword: TypeAlias = Literal["struct", "union"]


@dataclass(frozen=True, slots=True)
class Number:
    """An arithmetic type (C11 6.2.5), `_BitInt` among them (C23).

    Members
    -------
    bits: of its values; a `_Bool` has 8, as it is stored.
    is_precise: it is `_BitInt`, which is not promoted.
    is_short: it is `__bf16`, a `float` without the lower half of it.
    """

    bits: int
    is_signed: bool = True
    is_bool: bool = False
    is_precise: bool = False
    is_floating: bool = False
    is_short: bool = False

    @property
    def bytes(self) -> int:
        """The size of something of the type."""
        return max(8, 1 << (self.bits - 1).bit_length()) // 8

    @property
    def promoted(self) -> Number:
        """The type of its values in expressions (C11 6.3.1.1)."""
        return self if self.bits >= 32 or self.is_precise or self.is_floating else INT

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value of an integer type."""
        low = -(1 << (self.bits - 1)) if self.is_signed else 0
        return low, 1 if self.is_bool else low + (1 << self.bits) - 1

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its specifier."""
        if self.is_floating:
            return ("__bf16",) if self.is_short else _FLOATING[self.bits]
        if self.is_bool:
            return ("_Bool",)
        sign = () if self.is_signed else ("unsigned",)
        if self.is_precise:
            return (*sign, "_BitInt", str(self.bits))
        return ("signed", "char") if self == SIGNED_CHAR else (*sign, _WORDS[self.bits])

    def wrapped(self, value: int) -> int:
        """Return what an integer of the type holds that is set to a number."""
        low, high = self.limits
        return int(value != 0) if self.is_bool else low + (value - low) % (high - low + 1)


_FLOATING = {16: ("_Float16",), 32: ("float",), 64: ("double",), 128: ("long", "double")}
_WORDS = {8: "char", 16: "short", 32: "int", 64: "long"}
INT = Number(32)
LONG = Number(64)
SIZE = Number(64, is_signed=False)
SIGNED_CHAR = Number(8)


def number_of(words: Sequence[str]) -> Number | None:
    """Return the number that the words of a specifier spell; None if they spell none."""
    if sorted(words) == ["double", "long"]:
        return Number(128, is_floating=True)
    known_float = float_type(words)
    if known_float is not None:
        is_short = known_float == BFLOAT16
        return Number(known_float.width_bits, is_floating=True, is_short=is_short)
    known = integer_type(words)
    return None if known is None else Number(known.width_bits, known.signed, known.is_bool)


def common_number(a: Number, b: Number) -> Number:
    """Return the type of an operation on two numbers (C11 6.3.1.8, for `_BitInt` C23's)."""
    a, b = a.promoted, b.promoted
    if a.is_floating or b.is_floating:
        return max((n for n in (a, b) if n.is_floating), key=lambda number: number.bits)
    high = max(a, b, key=lambda number: (number.bits, not number.is_precise))
    # The unsigned operand wins unless the signed one is wider and so holds all its values.
    is_signed = all(number.is_signed for number in (a, b) if number.bits == high.bits)
    return replace(high, is_signed=is_signed)


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """A number, `void`, or a type that is not looked into.

    Members
    -------
    names: the words of its specifier. number: what it is, if it is one.
    """

    names: tuple[str, ...]
    quals: tuple[str, ...] = ()
    number: Number | None = None


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
    node: its definition. members: None until that has been read.
    """

    keyword: Keyword
    spelled: str
    node: c_ast.Node
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


def plain(number: Number) -> Plain:
    """Return a number as the type of something."""
    return Plain(number.words, (), number)


def number_type(type_: Type | None) -> Number | None:
    """Return which number a type is; None if it is none, or is not known."""
    return type_.number if isinstance(type_, Plain) else None


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


def as_value(type_: Type) -> Type:
    """Return the type of a value: an array or a function is a pointer (C11 6.3.2.1)."""
    if isinstance(type_, Returning):
        return PointerTo(type_)
    return PointerTo(type_.of) if isinstance(type_, ArrayOf) else type_


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
    inner = element_of(type_)
    return 0 if inner is None else 1 + ranks(inner)


def find_member(record: Record, name: str) -> Member | None:
    """Return the member of that name, of a nameless member's too."""
    for member in record.members or ():
        if member.name == name:
            return member
        if member.name is None and isinstance(member.type, RecordType):
            found = find_member(member.type.record, name)
            if found is not None:
                return found
    return None


# Types in the tree.


def declarator(type_: Type, name: str | None, at: Place) -> c_ast.Node:
    """Return the tree of a declaration's type."""
    match type_:
        case PointerTo(to=inner, quals=quals):
            return c_ast.PtrDecl(list(quals), declarator(inner, name, at), at)
        case ArrayOf(of=inner, extent=extent):
            return c_ast.ArrayDecl(declarator(inner, name, at), placed(extent, at), [], at)
        case Returning(result=result, parameters=parameters):
            taken = c_ast.ParamList([type_name(each, at) for each in parameters], at)
            return c_ast.FuncDecl(taken if parameters else None, declarator(result, name, at), at)
        case Plain(quals=quals) | RecordType(quals=quals):
            return c_ast.TypeDecl(name, list(quals), None, _specifier(type_, at), at)


def _specifier(type_: Plain | RecordType, at: Place) -> c_ast.Node:
    match type_:
        case Plain(names=[*sign, "_BitInt", bits]):
            width = c_ast.Constant("int", bits, at)
            return c_ast.BitIntType(width, "".join(sign) or None, at)
        case Plain(names=names):
            return c_ast.IdentifierType(list(names), at)
        case RecordType(record=record):
            keyword, _, tag = record.spelled.partition(" ")
            if tag:
                kind = c_ast.Struct if keyword == "struct" else c_ast.Union
                return kind(tag, None, at)
            # A name of its own, or the one definition that it has.
            return c_ast.IdentifierType([keyword], at) if keyword else record.node


def type_name(type_: Type, at: Place) -> c_ast.Typename:
    """Return a type without a name that has it, as casts spell it."""
    return c_ast.Typename(None, [], None, declarator(type_, None, at), at)


def cast(type_: Type, value: c_ast.Node, at: Place = None) -> c_ast.Cast:
    """Return `(type) value`, at the place of the value or another one."""
    at = at or value.coord
    return c_ast.Cast(type_name(type_, at), value, at)


def declaration(
    name: str,
    type_: Type,
    value: c_ast.Node | None,
    at: Place,
    quals: Sequence[str] = (),
    storage: Sequence[str] = (),
) -> c_ast.Decl:
    """Return the declaration of a variable."""
    type_node = declarator(type_, name, at)
    return c_ast.Decl(name, list(quals), [], list(storage), [], type_node, value, None, at)


def counting(
    name: str, count: c_ast.Node, body: c_ast.Node, at: Place, *, last: int | None = None
) -> c_ast.For:
    """Return `for (int name = 0; name < count; name++) body`, or one down from the last number."""
    first, op, end, step = integer(0, at), "<", count, "p++"
    if last is not None:
        first, op, end, step = integer(last, at), ">=", integer(0, at), "p--"
    return c_ast.For(
        c_ast.DeclList([declaration(name, plain(INT), first, at)], at),
        c_ast.BinaryOp(op, c_ast.ID(name, at), end, at),
        c_ast.UnaryOp(step, c_ast.ID(name, at), at),
        body,
        at,
    )


def size_constant(size: int, at: Place) -> c_ast.Constant:
    """Return a number of bytes, as `sizeof` has it."""
    return c_ast.Constant("unsigned long int", f"{size}UL", at)


def name_coord(node: c_ast.Node) -> Place:
    """Return the place of the name in a declaration."""
    while isinstance(node, c_ast.Decl | c_ast.PtrDecl | c_ast.ArrayDecl):
        node = node.type
    return node.coord


def placed(node: c_ast.Node | None, at: Place) -> c_ast.Node | None:
    """Return a copy of an expression whose text is that of another place."""
    if node is None:
        return None
    made = copied(node)
    for part in below(made):
        part.coord = at
    return made
