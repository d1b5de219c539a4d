"""How a structure is stored: one variable for each of its innermost members.

    struct { struct { int x, y; } at; short v[4]; }      at.x, at.y, v[]

Members of a union are one variable, which they see in types of their own. A bit-field is a variable
that holds no other values than its width allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import AggregateUnsupported
from rtlgen.frontend.lowering.bits import are_alike, reinterpreted
from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import integer
from rtlgen.frontend.lowering.types import (
    INT,
    LONG,
    ArrayOf,
    Member,
    Number,
    Plain,
    Record,
    RecordType,
    Type,
    cast,
    innermost,
    number_type,
    plain,
    qualified,
)
from rtlgen.frontend.syntax.assigned import below, functions
from rtlgen.frontend.syntax.locate import Locator

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A variable that a structure is stored in.

    Members
    -------
    path: the names of the members on the way to it. type: of one element of it.
    extents: of the arrays on the way. ranks: how many of them each name has.
    bits: the width of a bit-field.
    """

    path: Path
    type: Type
    extents: tuple[c_ast.Node | None, ...]
    ranks: tuple[int, ...]
    bits: int | None = None

    @property
    def accessor(self) -> str:
        """How C names an element, with a `{}` for each subscript."""
        steps = zip(self.path, self.ranks, strict=True)
        return "".join(f".{name}" + "[{}]" * rank for name, rank in steps)


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """What a path names: a leaf, seen in a type of its own if it is another member of a union."""

    leaf: Leaf
    seen: Type | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """All leaves, and what each path to one names."""

    leaves: tuple[Leaf, ...]
    entries: Mapping[Path, Entry]


class Layouts:
    """Finds the layouts of structures."""

    def __init__(self, names: Names, locator: Locator, used: frozenset[str]) -> None:
        """Begin with the names of the members that the program uses."""
        self._used = used
        self._names = names
        self._locator = locator
        self._known: dict[int, tuple[Record, Layout]] = {}

    def exists(self, type_: Type, node: c_ast.Node) -> bool:
        """Return whether something is made of structures that have a layout."""
        inner = innermost(type_)
        if not isinstance(inner, RecordType):
            return False
        try:
            self.of(inner.record, node)
        except AggregateUnsupported:
            # It is refused where it is used, if it is.
            return False
        return True

    def of(self, record: Record, node: c_ast.Node) -> Layout:
        """Return the layout of what `node` uses.

        Raises
        ------
        AggregateUnsupported: there is none.
        """
        known = self._known.get(id(record))
        if known is not None:
            return known[1]
        if record.members is None:
            raise AggregateUnsupported(
                f"`{record.spelled}` is not defined",
                labels=(Label(self._locator.span(node), "its members are needed"),),
            )
        parts = [
            self._member(member, node)
            for member in record.members
            if member.name is not None or isinstance(member.type, RecordType)
        ]
        if record.keyword == "union":
            layout = self._overlaid(parts, record, node)
        else:
            leaves = tuple(leaf for part in parts for leaf in part.leaves)
            layout = Layout(leaves, {k: e for part in parts for k, e in part.entries.items()})
        self._known[id(record)] = record, layout
        return layout

    def _member(self, member: Member, node: c_ast.Node) -> Layout:
        inner, extents = member.type, []
        while isinstance(inner, ArrayOf):
            extents.append(inner.extent)
            inner = inner.of
        path = () if member.name is None else (member.name,)
        own = () if member.name is None else (len(extents),)
        if not isinstance(inner, RecordType):
            if member.bits is not None:
                return self._bit_field(member, path)
            leaf = Leaf(path, inner, tuple(extents), own)
            # What no circuit can hold, such as the address of a function, is there for others.
            number = number_type(inner)
            is_number = number is not None and number.bits <= LONG.bits
            is_held = is_number or member.name in self._used
            return Layout((leaf,) if is_held else (), {path: Entry(leaf)})
        inside = self.of(inner.record, node)
        moved = {
            id(leaf): replace(
                leaf,
                path=path + leaf.path,
                type=qualified(leaf.type, inner.quals),
                extents=(*extents, *leaf.extents),
                ranks=own + leaf.ranks,
            )
            for leaf in (*inside.leaves, *(entry.leaf for entry in inside.entries.values()))
        }
        entries = {
            path + way: replace(entry, leaf=moved[id(entry.leaf)])
            for way, entry in inside.entries.items()
        }
        return Layout(tuple(moved[id(leaf)] for leaf in inside.leaves), entries)

    def _bit_field(self, member: Member, path: Path) -> Layout:
        number = number_type(member.type)
        bits = self._names.constant(member.bits)
        most = 0 if number is None or number.is_floating else min(INT.bits, number.bits)
        if number is None or bits is None or not 0 < bits <= most:
            raise AggregateUnsupported(
                f"the bit-field `{member.name}` is not supported",
                labels=(Label(self._locator.name_span(member.node, member.name or ""), "here"),),
                help="give it 1 to 32 bits of an integer type, or make it a member of that type",
            )
        assert isinstance(member.type, Plain)
        type_: Type = member.type
        if not number.is_bool:
            size = next(most for most in (8, 16, INT.bits) if bits <= most)
            type_ = qualified(plain(Number(size, number.is_signed)), member.type.quals)
        leaf = Leaf(path, type_, (), (0,), bits)
        return Layout((leaf,), {path: Entry(leaf)})

    def _overlaid(self, parts: list[Layout], record: Record, node: c_ast.Node) -> Layout:
        """Return the layout of a union: its first member's, if all others have just the same."""
        entries = {k: entry for part in parts for k, entry in part.entries.items()}
        # What has no variable is in nobody's way.
        parts = [part for part in parts if part.leaves] or parts[:1]
        first = parts[0]
        shape = [self._shape(leaf) for leaf in first.leaves]
        for part in parts[1:]:
            if [self._shape(leaf) for leaf in part.leaves] != shape or None in shape:
                raise AggregateUnsupported(
                    f"the members of {_called(record)} are not numbers of one size",
                    labels=(
                        Label(self._locator.span(node), "used here"),
                        *(
                            Label(self._locator.name_span(member.node, member.name), "a member")
                            for member in record.members or ()
                            if member.name is not None
                        ),
                    ),
                    help="use a structure, and convert between its members by shifts and masks",
                )
            own = {id(b): a for a, b in zip(first.leaves, part.leaves, strict=True)}
            for path, entry in part.entries.items():
                entries[path] = Entry(own[id(entry.leaf)], entry.seen or entry.leaf.type)
        return Layout(first.leaves, entries)

    def _shape(self, leaf: Leaf) -> tuple[int | None, ...] | None:
        """Return size and extents of a leaf that a member of a union may be."""
        number = number_type(leaf.type)
        if number is None or number.is_bool or leaf.bits is not None:
            return None
        if number.is_floating and not are_alike(number, Number(number.bits)):
            return None
        extents = [self._names.constant(extent) for extent in leaf.extents]
        return None if None in extents else (number.bytes, *extents)


def members_used(tree: c_ast.FileAST, kernel: str) -> frozenset[str]:
    """Return the names of the members that a function, and those that it calls, use."""
    bodies = {name: x.body for name, x in functions(tree).items()}
    pending, seen = [kernel], {kernel}
    found: set[str] = set()
    while pending:
        for node in below(bodies[pending.pop()]):
            if isinstance(node, c_ast.StructRef):
                found.add(node.field.name)
            elif isinstance(node, c_ast.ID) and node.name in bodies and node.name not in seen:
                seen.add(node.name)
                pending.append(node.name)
    return frozenset(found)


def _called(record: Record) -> str:
    return f"`{record.spelled}`" if record.spelled else f"a {record.keyword}"


def as_read(entry: Entry, stored: c_ast.Node) -> c_ast.Node:
    """Return the value of a member, given what is stored of it."""
    if entry.seen is not None:
        own, seen = number_type(entry.leaf.type), number_type(entry.seen)
        if own is not None and seen is not None and are_alike(own, seen):
            return reinterpreted(stored, own, seen)
        return cast(entry.seen, stored)
    bits = entry.leaf.bits
    # An int holds all its values, so that it is promoted to one.
    return cast(plain(INT), stored) if bits is not None and 16 < bits < INT.bits else stored


def as_stored(entry: Entry, value: c_ast.Node) -> c_ast.Node:
    """Return what is stored of a value that a member is set to."""
    if entry.seen is not None:
        own, seen = number_type(entry.leaf.type), number_type(entry.seen)
        if own is not None and seen is not None and are_alike(own, seen):
            return reinterpreted(cast(entry.seen, value), seen, own)
        return cast(entry.seen, value)
    leaf, at = entry.leaf, value.coord
    if leaf.bits is None or leaf.bits in (8, 16, INT.bits) or _is_bool(leaf):
        return value
    if not _is_signed(leaf):
        return c_ast.BinaryOp("&", value, integer((1 << leaf.bits) - 1, at), at)
    up = integer(INT.bits - leaf.bits, at)
    raised = c_ast.BinaryOp("<<", cast(plain(replace(INT, is_signed=False)), value), up, at)
    return c_ast.BinaryOp(">>", cast(plain(INT), raised), up, at)


def is_converted(entry: Entry) -> bool:
    """Return whether a member is read or stored by way of a conversion."""
    return entry.seen is not None or (entry.leaf.bits is not None and not _is_bool(entry.leaf))


def limits(leaf: Leaf) -> tuple[int, int] | None:
    """Return the smallest and largest value of a bit-field."""
    if leaf.bits is None:
        return None
    return (0, 1) if _is_bool(leaf) else Number(leaf.bits, _is_signed(leaf)).limits


def _is_signed(leaf: Leaf) -> bool:
    number = number_type(leaf.type)
    return number is not None and number.is_signed


def _is_bool(leaf: Leaf) -> bool:
    number = number_type(leaf.type)
    return number is not None and number.is_bool
