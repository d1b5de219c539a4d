"""Which streams of a region share one control."""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.hw.levels import active_levels
from rtlgen.ir.plan import Region, Stream

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
