"""Initial values between braces, by the member or element that each of them is for.

    struct { int x, y; } t[3] = {{1, 2}, [2].y = 5};      t[0].x = 1, t[0].y = 2, t[2].y = 5

C11 6.7.9: designators, nested braces that are left out, whole structures among the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.errors import InitialiserUnsupported
from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.rewriter import refusal
from rtlgen.frontend.lowering.types import ArrayOf, Member, RecordType, Type
from rtlgen.frontend.syntax.locate import Locator

Step: TypeAlias = int | str
Way: TypeAlias = tuple[Step, ...]

_NAMELESS = "#"


class Initialiser:
    """The values of one pair of braces.

    Members
    -------
    values: what each part, named by subscripts and members, is set to.
    """

    def __init__(self, names: Names, locator: Locator, type_: Type, node: c_ast.InitList) -> None:
        self._names = names
        self._locator = locator
        self._type = type_
        self.values: dict[Way, c_ast.Node] = {}
        self._braces((), type_, node)
        # Who looks for members does not care which nameless ones they are in.
        self.values = {_plain(way): value for way, value in self.values.items()}

    @property
    def count(self) -> int:
        """How many elements of an outermost array have values."""
        return 1 + max((way[0] for way in self.values if isinstance(way[0], int)), default=0)

    def below(self, way: Way) -> dict[Way, c_ast.Node]:
        """Return the values of the parts of something, by their ways from there."""
        return {k[len(way) :]: v for k, v in self.values.items() if k[: len(way)] == way}

    def around(self, way: Way) -> tuple[Way, c_ast.Node] | None:
        """Return the value of the whole that a part belongs to, and the way to the whole."""
        for end in range(len(way), -1, -1):
            if way[:end] in self.values:
                return way[:end], self.values[way[:end]]
        return None

    def _braces(self, at: Way, type_: Type, node: c_ast.InitList) -> None:
        parts = list(node.exprs)
        if not isinstance(type_, ArrayOf | RecordType):
            if len(parts) != 1:
                raise self._refused("a number has several values", node)
            self._put(at, type_, parts[0])
            return
        following: Way | None = self._first((), type_)
        for part in parts:
            if isinstance(part, c_ast.NamedInitializer):
                following = self._designated(type_, part.name, part)
                value = part.expr
            else:
                value = part
            if following is None:
                raise self._refused("there are more values than members", value)
            way = self._put_from(at, type_, following, value)
            following = self._next(way, type_)

    def _put_from(self, at: Way, outer: Type, way: Way, value: c_ast.Node) -> Way:
        """Set the part at `way`, or the first number in it; return which it was."""
        while True:
            inner = self._type_at(outer, way)
            if isinstance(value, c_ast.InitList) or not isinstance(inner, ArrayOf | RecordType):
                break
            if isinstance(inner, RecordType):
                type_ = self._names.type_of(value)
                if isinstance(type_, RecordType) and type_.record is inner.record:
                    break
            elif isinstance(value, c_ast.Constant) and value.type == "string":
                break
            first = self._first(way, outer)
            if first is None:
                raise self._refused("this has no members", value)
            way = first
        self._put((*at, *way), inner, value)
        return way

    def _put(self, at: Way, type_: Type, value: c_ast.Node) -> None:
        for known in [k for k in self.values if k[: len(at)] == at]:
            # A later value takes the place of an earlier one.
            del self.values[known]
        if isinstance(value, c_ast.InitList):
            self._braces(at, type_, value)
        else:
            self.values[at] = value

    def _first(self, way: Way, outer: Type) -> Way | None:
        """Return the first part of the part at `way`."""
        match self._type_at(outer, way):
            case ArrayOf():
                return (*way, 0)
            case RecordType() as inner:
                named = list(_members(inner))
                return (*way, named[0]) if named else None
        return None

    def _next(self, way: Way, outer: Type) -> Way | None:
        """Return the part behind the one at `way`."""
        while way:
            around, last = way[:-1], way[-1]
            match self._type_at(outer, around):
                case ArrayOf(extent=extent):
                    count = self._names.constant(extent)
                    if extent is not None and count is None:
                        raise self._refused("the size of an array is not known", extent)
                    assert isinstance(last, int)
                    if count is None or last + 1 < count:
                        return (*around, last + 1)
                case RecordType() as inner:
                    named = list(_members(inner))
                    place = named.index(last) + 1 if last in named else len(named)
                    if inner.record.keyword == "struct" and place < len(named):
                        return (*around, named[place])
            way = around
        return None

    def _type_at(self, outer: Type, way: Way) -> Type:
        type_ = outer
        for step in way:
            if isinstance(type_, ArrayOf):
                type_ = type_.of
            elif isinstance(type_, RecordType):
                type_ = _members(type_)[str(step)].type
        return type_

    def _designated(
        self, outer: Type, designators: Sequence[c_ast.Node], node: c_ast.NamedInitializer
    ) -> Way:
        way: Way = ()
        for designator in designators:
            type_ = self._type_at(outer, way)
            match designator:
                case c_ast.ID(name=name) if isinstance(type_, RecordType):
                    inside = _way_to(type_, name)
                    if inside is None:
                        raise self._refused(f"there is no member `{name}`", node)
                    way = (*way, *inside)
                case c_ast.ArrayDesignator(expr=expr) | expr if isinstance(type_, ArrayOf):
                    place = self._names.constant(expr)
                    if place is None or place < 0:
                        raise self._refused("a designator is no known number", node)
                    way = (*way, place)
                case _:
                    raise self._refused("a designator does not fit", node)
        return way

    def _refused(self, message: str, node: c_ast.Node) -> InitialiserUnsupported:
        remedy = "give each member its value, in braces of its own"
        return refusal(InitialiserUnsupported, message, self._locator, node, remedy)


def _members(type_: RecordType) -> dict[str, Member]:
    """Return all members but padding; those without a name are called by their numbers."""
    return {
        member.name or f"{_NAMELESS}{place}": member
        for place, member in enumerate(type_.record.members or ())
        if member.name is not None or isinstance(member.type, RecordType)
    }


def _way_to(type_: RecordType, name: str) -> Way | None:
    """Return the way to a member, which may be one of a member without a name."""
    for step, member in _members(type_).items():
        if step == name:
            return (step,)
        if member.name is None and isinstance(member.type, RecordType):
            inside = _way_to(member.type, name)
            if inside is not None:
                return (step, *inside)
    return None


def _plain(way: Way) -> Way:
    return tuple(step for step in way if not str(step).startswith(_NAMELESS))
