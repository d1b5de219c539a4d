"""Are the elements of a stream accessed once each, and one behind the other?

What comes in over a stream is there once, in row-major order, and so is what goes out. The proof is
about the program as written: the dependences between neighbours (`poly.dependences`) keep its order
from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.effort import keep_going, limited_effort
from rtlgen.ir.scop import Access, Array, Scop, Statement
from rtlgen.ir.sets import ScopSets, earliest, first_point, latest
from rtlgen.poly.errors import StreamOutOfOrder

Point = tuple[int, ...]


def require_in_order(sets: ScopSets) -> None:
    """Require that the streams of a program can be streams.

    Raises
    ------
    StreamOutOfOrder: with the first access that is out of order, or an element without one.
    TooComplex
    """
    streams = [array for array in sets.scop.arrays if array.is_stream]
    if not streams:
        return
    with limited_effort("the order of its streams"):
        times = sets.schedule_maps(sets.scop.schedule)
        for array in streams:
            _Stream(sets, times, array).require_in_order()


@dataclass(frozen=True, slots=True)
class Touched:
    """One access of one instance, and the index of its element."""

    statement: Statement
    point: Point
    access: Access
    index: Sequence[int]

    @property
    def element(self) -> str:
        """The element as C names it."""
        return self.access.array + "".join(f"[{k}]" for k in self.index)

    def label(self, is_read: bool, behind: str = "") -> Label:
        """Return what it does, where it stands in C."""
        did = "reads" if is_read else "writes"
        said = f"{self.statement.instance_text(self.point)} {did} {self.element}{behind}"
        return Label(self.access.span, said)


def disorder(scop: Scop, early: Touched, late: Touched, at_once: bool = False) -> StreamOutOfOrder:
    """Return the error for an access that cannot be the next one.

    Parameters
    ----------
    early: the one before it. at_once: they are made in one cycle.
    """
    array = scop.array(late.access.array)
    is_read, again = array.role == "in", early.element == late.element
    did = "read" if is_read else "written"
    how = "a second time" if again else f"{'with' if at_once else 'after'} {early.element}"
    return StreamOutOfOrder(
        f"{array.name} is no stream: {late.element} is {did} {how}",
        labels=(late.label(is_read), early.label(is_read, "" if at_once else " before")),
        notes=(_rule(array),),
        help=_remedy(array),
    )


def _rule(array: Array) -> str:
    return f"a stream has each element of {array.name} once, one at a time, in row-major order"


def _remedy(array: Array) -> str:
    name = array.name
    if array.role == "in":
        return (
            f"copy {name} to a local array, an element at a time, and read that; or keep what is "
            "needed again in local variables"
        )
    return f"write to a local array, and copy that to {name} at the end, an element at a time"


@dataclass(frozen=True, slots=True, eq=False)
class _Touch:
    """All accesses of a statement to one element: {instance -> element}."""

    statement: Statement
    access: Access
    elements: isl.Map


class _Stream:
    """The accesses to one array."""

    def __init__(self, sets: ScopSets, times: dict[str, isl.Map], array: Array) -> None:
        self._sets = sets
        self._array = array
        self._touches = [t for s in sets.scop.statements for t in self._touches_of(s)]
        self._times = [
            times[t.statement.name].intersect_domain(t.elements.domain()) for t in self._touches
        ]

    def _touches_of(self, statement: Statement) -> list[_Touch]:
        """Return what a statement touches; reads of one element are one, and made once."""
        array, found = self._array, dict[tuple[object, ...], _Touch]()
        for access in (statement.write, *statement.reads):
            if access.array != array.name:
                continue
            if access.is_lookup:
                raise StreamOutOfOrder(
                    f"{array.name} is no stream: which element comes next is computed",
                    labels=(Label(access.span, "this subscript is no sum of loop counters"),),
                    notes=(_rule(array),),
                    help=_remedy(array),
                )
            elements, known = self._sets.access_map(statement, access), found.get(access.subscripts)
            if known is not None:
                elements = elements.union(known.elements)
            found[access.subscripts] = _Touch(statement, access, elements)
        return list(found.values())

    def require_in_order(self) -> None:
        """Raise StreamOutOfOrder with the first access that is out of order, or none at all."""
        self._require_apart()
        self._require_behind()
        array, left = self._array, self._sets.element_set(self._array)
        for touch in self._touches:
            left = left.subtract(touch.elements.range())
        if not left.is_empty():
            did = "read" if array.role == "in" else "written"
            element = array.name + "".join(f"[{k}]" for k in first_point(left))
            raise StreamOutOfOrder(
                f"{array.name} is no stream: {element} is never {did}",
                labels=(Label(array.span),),
                notes=(_rule(array),),
                help=f"declare {array.name} with as many elements as are {did}",
            )

    def _require_apart(self) -> None:
        """Raise StreamOutOfOrder where an instance touches two elements."""
        for n, touch in enumerate(self._touches):
            for other in self._touches[:n]:
                if touch.statement is not other.statement:
                    continue
                both = touch.elements.domain().intersect(other.elements.domain())
                if not both.is_empty():
                    point = first_point(both)
                    pair = (self._touched(each, point) for each in (other, touch))
                    early, late = sorted(pair, key=lambda each: tuple(each.index))
                    raise disorder(self._sets.scop, early, late, at_once=True)

    def _require_behind(self) -> None:
        """Raise StreamOutOfOrder with the first access to no later element than one before."""
        bad: list[tuple[Point, int]] = []
        for late, (touch, time) in enumerate(zip(self._touches, self._times, strict=True)):
            for other, earlier in zip(self._touches, self._times, strict=True):
                keep_going(self._sets.context)
                pairs = earlier.lex_lt_map(time)
                pairs = pairs.intersect(other.elements.lex_ge_map(touch.elements))
                if not pairs.is_empty():
                    bad.append((first_point(pairs.range().apply(time)), late))
        if not bad:
            return
        when, late = min(bad)
        # Until then all were in order, so the last one before is the one that it should follow.
        before: list[tuple[Point, int]] = []
        for number, time in enumerate(self._times):
            done = time.range().lex_lt_set(self._moment(when)).domain()
            if not done.is_empty():
                before.append((first_point(latest(done)), number))
        last, early = max(before)
        raise disorder(self._sets.scop, self._at(early, last), self._at(late, when))

    def _moment(self, when: Point) -> isl.Set:
        found = isl.Set.universe(self._times[0].range().get_space())
        for k, value in enumerate(when):
            found = found.fix_val(isl.dim_type.set, k, isl.Val(value, self._sets.context))
        return found

    def _at(self, number: int, when: Point) -> Touched:
        instances = self._times[number].intersect_range(self._moment(when)).domain()
        return self._touched(self._touches[number], first_point(instances))

    def _touched(self, touch: _Touch, point: Point) -> Touched:
        instance = self._sets.instance_set(touch.statement, point)
        element = first_point(earliest(instance.apply(touch.elements)))
        return Touched(touch.statement, point, touch.access, element)
