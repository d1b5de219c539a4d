"""Loops in the place of one loop: those that split it in two, and the one that counts its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.quotients import Division
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node
from rtlgen.ir.value_ranges import Range

MAX_COPIES = 16
"""Values of an iterator for each of which a statement may be written out."""


@dataclass(frozen=True, slots=True)
class Split:
    """What a loop is replaced by.

    Members
    -------
    loops: in its place. values: of its iterator. outer, inner: forms that are >= 0 in the body of
        the first of the loops, and of the second one.
    """

    loops: tuple[Loop, ...]
    values: Mapping[str, Affine]
    outer: tuple[Affine, ...]
    inner: tuple[Affine, ...]

    def around(self, body: tuple[Node, ...]) -> LoopNode:
        """Return the new loops around a body."""
        for loop, held in zip(reversed(self.loops), (self.inner, self.outer), strict=False):
            conditions = held if len(self.loops) > 1 else ()
            body = (LoopNode(loop, (ConditionNode(conditions, body),) if conditions else body),)
        (node,) = body
        assert isinstance(node, LoopNode), "there is a loop to replace one by"
        return node


def counted(loop: Loop) -> Split:
    """Return a loop that counts the iterations of one of larger steps."""
    values = {loop.iterator: loop.start + Affine.variable(loop.iterator) * loop.step}
    return Split((loop.counted().limited(values),), values, (), ())


def offset_of(division: Division, iterator: str) -> Affine:
    """Return what to add to an iterator so that its quotient is that of the division."""
    coefficient = division.dividend.coefficient(iterator)
    rest = division.dividend - Affine.variable(iterator) * coefficient
    if abs(coefficient) != 1:
        return Affine()
    return rest if coefficient > 0 else -rest + (division.divisor - 1)


def few_values(loop: Loop, period: int) -> Sequence[int]:
    """Return all values of an iterator, if they are constant and no more than a period."""
    if not (loop.start.is_constant and loop.stop.is_constant and loop.step == loop.scale == 1):
        return ()
    values = range(loop.start.constant, loop.stop.constant)
    return values if len(values) <= min(period, MAX_COPIES) else ()


def split_in_two(
    loop: Loop,
    divisor: int,
    offset: Affine,
    boxes: Mapping[str, Range],
    claim: Callable[[str], str],
) -> Split:
    """Return two loops for one that counts up by 1, with value == divisor * q + r - offset."""
    name = loop.iterator
    outer_name, inner_name = claim(f"{name}_div{divisor}"), claim(f"{name}_mod{divisor}")
    tile = Affine.variable(outer_name) * divisor - offset
    value = tile + Affine.variable(inner_name)
    first, end = loop.start + offset, loop.stop + offset * loop.scale
    outer: list[Affine] = []
    inner: list[Affine] = []
    start = Affine((), first.range(dict(boxes))[0] // divisor)
    if not first.is_constant:
        outer.append(tile + (divisor - 1) - loop.start)
    if not first.is_constant or first.constant % divisor:
        inner.append(value - loop.start)
    scale = loop.scale * divisor
    stop, stop_scale = end, scale
    if end.is_constant:
        stop, stop_scale = Affine((), max(0, -(-end.constant // scale))), 1
    if not end.is_constant or end.constant % scale:
        inner.append(loop.stop - value * loop.scale - 1)
    change = {name: value}
    quotients = replace(
        loop, iterator=outer_name, start=start, stop=stop, scale=stop_scale, limits=tuple(outer)
    )
    rest = Loop(
        inner_name,
        Affine(),
        Affine((), divisor),
        1,
        loop.span,
        limits=(*inner, *loop.limited(change).limits),
        is_guarded=loop.is_guarded,
    )
    return Split((quotients, rest), change, tuple(outer), tuple(inner))


def boxes_of(loops: Sequence[Loop]) -> dict[str, Range]:
    """Return a range of every iterator that holds all its values."""
    boxes: dict[str, Range] = {}
    for loop in loops:
        starts, stops = loop.start.range(boxes), loop.stop.range(boxes)
        if loop.step > 0:
            low, high = starts[0], -(-stops[1] // loop.scale) - 1
        else:
            low, high = stops[0] // loop.scale + 1, starts[1]
        boxes[loop.iterator] = (low, max(low, high))
    return boxes
