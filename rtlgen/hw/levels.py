"""The levels of a stream that count anything, and which streams share one control.

A level of one iteration has a counter that is always 0: no hardware knows of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.plan import IndexForm, Level, Region, Stream


def active_extents(stream: Stream) -> tuple[int, ...]:
    """Return the extents of the levels that count anything."""
    return tuple(level.extent for level in stream.levels if level.extent > 1)


def active_form(form: IndexForm, levels: Sequence[Level]) -> IndexForm:
    """Return `form` over the active levels; the counter of any other level is always 0."""
    kept = zip(form.coefficients, levels, strict=True)
    return IndexForm(tuple(c for c, level in kept if level.extent > 1), form.constant)


def active_levels(levels: Sequence[Level]) -> tuple[Level, ...]:
    """Return the levels that count anything, their bounds over each other, without C names."""
    return tuple(
        replace(level.with_forms(lambda form: active_form(form, levels)), name=None)
        for level in levels
        if level.extent > 1
    )


SHARED_ISSUE_CYCLES = 3
"""Streams with equal loops that issue at most this much apart share one control."""


@dataclass(frozen=True, slots=True)
class Group:
    """Streams of one region that share a control; `offset_cycles` is the first one's."""

    offset_cycles: int
    members: tuple[int, ...]


def groups_of(region: Region) -> tuple[Group, ...]:
    """Return the streams of a region grouped by loops, II and nearness, by number."""
    groups: list[Group] = []
    order = sorted(range(len(region.streams)), key=lambda n: region.streams[n].offset_cycles)
    for number in order:
        stream = region.streams[number]
        for place, group in enumerate(groups):
            first = region.streams[group.members[0]]
            late = stream.offset_cycles - group.offset_cycles
            if late <= SHARED_ISSUE_CYCLES and _same_loops(stream, first):
                groups[place] = Group(group.offset_cycles, (*group.members, number))
                break
        else:
            groups.append(Group(stream.offset_cycles, (number,)))
    return tuple(groups)


def _same_loops(a: Stream, b: Stream) -> bool:
    return active_levels(a.levels) == active_levels(b.levels) and (a.ii == b.ii or a.count == 1)
