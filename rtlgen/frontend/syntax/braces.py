"""Values in braces, each by the part of an array or structure that it is for (C11 6.7.9).

int w[2][2] = {1, 2, [1][1] = 9};                     w[0][0] = 1, w[0][1] = 2, w[1][1] = 9
struct { int x, y; } t[3] = {{1, 2}, [2].y = 5};      t[0].x = 1, t[0].y = 2, t[2].y = 5
int r[5] = {[1 ... 3] = 7};                           r[1] = 7, r[2] = 7, r[3] = 7

Designators, nested braces that are left out, and texts and whole structures among the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.errors import InitialiserUnsupported
from rtlgen.frontend.text.tokens import THROUGH

Step: TypeAlias = int | str
Way: TypeAlias = tuple[Step, ...]
"""The subscripts and members that lead to a part."""

NAMELESS = "#"
"""What the names of members begin with that have none, and lend their own members."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What something consists of that is no number; None stands for one.

    Members
    -------
    element: of an array; extent: how many, None where the values tell.
    members: of a structure or union, which has no elements. record: what tells it from others.
    """

    element: Parts | None = None
    extent: int | None = None
    members: Mapping[str, Parts | None] | None = None
    is_union: bool = False
    record: object = None

    def first(self) -> Step | None:
        """Return the first step into it."""
        return 0 if self.members is None else next(iter(self.members), None)

    def following(self, step: Step) -> Step | None:
        """Return the step behind another one; None behind the last one."""
        if isinstance(step, int):
            return step + 1 if self.extent is None or step + 1 < self.extent else None
        names = list(self.members or ())
        rest = names[names.index(step) + 1 :]
        return rest[0] if rest and not self.is_union else None

    def at(self, step: Step) -> Parts | None:
        """Return a part."""
        return self.element if self.members is None else self.members[str(step)]

    def way_to(self, name: str) -> Way | None:
        """Return the way to a member, which may be one of a member without a name."""
        for step, inner in (self.members or {}).items():
            inside = inner.way_to(name) if step.startswith(NAMELESS) and inner else None
            if step == name or inside is not None:
                return (step, *(inside or ()))
        return None


class Braces:
    """The values of one pair of braces. Who knows the names in them says what they mean.

    Members
    -------
    values: what each part is set to, in the order of the text.
    count: how many elements of an outermost array have values.
    """

    too_many = "there are more values than members"
    unfit = "a designator does not fit"

    def __init__(self, parts: Parts | None, node: c_ast.InitList) -> None:
        self._parts = parts
        self.values: dict[Way, c_ast.Node] = {}
        self.count = 0
        self._is_designated = False
        self._braces((), node)

    def place(self, expr: c_ast.Node, extent: int | None) -> int:
        """Return the number of the element that a designator names; refuse what is none."""
        raise NotImplementedError

    def record_of(self, value: c_ast.Node) -> object:
        """Return which structure an expression is; None if it is none."""
        return None

    def refused(self, message: str, node: c_ast.Node) -> InitialiserUnsupported:
        """Return what is wrong."""
        raise NotImplementedError

    def _part(self, way: Way) -> Parts | None:
        part = self._parts
        for step in way:
            assert part is not None, "a number has no parts"
            part = part.at(step)
        return part

    def _braces(self, at: Way, node: c_ast.InitList) -> None:
        values, part = list(node.exprs or ()), self._part(at)
        step = None if part is None else part.first()
        is_text = len(values) == 1 and part is not None and _is_text_in(part, values[0])
        if part is None or is_text:
            if len(values) != 1 or isinstance(values[0], c_ast.NamedInitializer):
                raise self.refused(self.unfit, node)
            self._put(at, values[0])
            return
        following: Way | None = None if step is None else (*at, step)
        for value in values:
            ways = [following]
            if isinstance(value, c_ast.NamedInitializer):
                ways, value = [*self._designated(at, value, value.name)], value.expr
            for each in ways:
                if each is None:
                    raise self.refused(self.too_many, value)
                way = self._filled(each, value)
                self._put(way, value)
                following = self._behind(way, len(at))

    def _designated(
        self, way: Way, node: c_ast.NamedInitializer, designators: Sequence[c_ast.Node]
    ) -> Iterator[Way]:
        """Yield the parts that designators name: one, or those of a range."""
        self._is_designated = True
        if not designators:
            yield way
            return
        first, *rest = designators
        part = self._part(way)
        is_array = part is not None and part.members is None
        match first:
            case c_ast.ID(name=name) if part is not None and not is_array:
                found = part.way_to(name)
                if found is None:
                    raise self.refused(f"there is no member `{name}`", node)
                yield from self._designated((*way, *found), node, rest)
            case c_ast.ArrayDesignator(expr=expr) if part is not None and is_array:
                low, high = (self.place(end, part.extent) for end in range_of(expr))
                for place in range(low, high + 1):
                    yield from self._designated((*way, place), node, rest)
            case _:
                raise self.refused(self.unfit, node)

    def _filled(self, way: Way, value: c_ast.Node) -> Way:
        """Return the part at `way`, or the first part of it that a value is for."""
        while not isinstance(value, c_ast.InitList):
            part = self._part(way)
            step = None if part is None else part.first()
            if part is None or step is None or _is_text_in(part, value):
                break
            if part.record is not None and self.record_of(value) is part.record:
                break
            way = (*way, step)
        return way

    def _behind(self, way: Way, depth: int) -> Way | None:
        """Return the part behind one, inside of what has so many steps to it."""
        while len(way) > depth:
            part = self._part(way[:-1])
            step = None if part is None else part.following(way[-1])
            way = way[:-1]
            if step is not None:
                return (*way, step)
        return None

    def _put(self, at: Way, value: c_ast.Node) -> None:
        if at and isinstance(at[0], int):
            self.count = max(self.count, at[0] + 1)
        if self._is_designated:
            # A later value takes the place of an earlier one.
            for known in [k for k in self.values if k[: len(at)] == at]:
                del self.values[known]
        if isinstance(value, c_ast.InitList):
            self._braces(at, value)
        else:
            self.values[at] = value


def range_of(node: c_ast.Node) -> tuple[c_ast.Node, c_ast.Node]:
    """Return the ends of GNU C's `first ... last`, or a value as both of them."""
    match node:
        case c_ast.TernaryOp(cond=first, iftrue=c_ast.ID(name=name), iffalse=last):
            if name == THROUGH:
                return first, last
    return node, node


def is_string(node: c_ast.Node | None) -> bool:
    """Return whether an expression is a text, of characters of any kind."""
    return isinstance(node, c_ast.Constant) and node.type == "string"


def _is_text_in(part: Parts, value: c_ast.Node) -> bool:
    """Return whether an expression is the text in an array of characters."""
    return part.members is None and part.element is None and is_string(value)
