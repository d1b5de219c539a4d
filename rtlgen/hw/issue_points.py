"""Where a circuit shows that the streams of its plan issue: what the readers of waves look at."""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.hw.groups import Group, groups_of
from rtlgen.hw.names import Namer
from rtlgen.ir.instance_map import IssuePoint
from rtlgen.ir.plan import KernelPlan

OWN_NAMES = ("sequencer", "checksum_unit")
"""Modules that every kernel may have."""


@dataclass(frozen=True, slots=True)
class RegionNames:
    """Names of the modules of a region: of its streams, and of the controls of its groups."""

    streams: tuple[str, ...]
    controls: tuple[str, ...]


def region_names(plan: KernelPlan, names: Namer) -> tuple[RegionNames, ...]:
    """Name the modules of the regions of a plan."""
    found = []
    for region in plan.regions:
        streams = tuple(names.name(stream.name) for stream in region.streams)
        controls = tuple(
            names.name(f"{'_'.join(streams[member] for member in group.members)}_control")
            for group in groups_of(region)
        )
        found.append(RegionNames(streams, controls))
    return tuple(found)


def begin_cycle(plan: KernelPlan, group: Group) -> int:
    """Return the region cycle that the index unit of a group starts from."""
    return group.offset_cycles + plan.index_latency_cycles - _early_cycles(plan)


def _early_cycles(plan: KernelPlan) -> int:
    """Return how long before its first iteration an index unit starts."""
    return plan.index_latency_cycles if plan.index_style == "divide" else 0


def issue_points(plan: KernelPlan) -> tuple[IssuePoint, ...]:
    """Return where each stream of a plan issues, in order."""
    found = []
    for region, names in zip(plan.regions, region_names(plan, Namer(OWN_NAMES)), strict=True):
        points = {}
        for group, control in zip(groups_of(region), names.controls, strict=True):
            for member in group.members:
                stream = region.streams[member]
                late = stream.offset_cycles - group.offset_cycles
                extents = [level.extent for level in stream.levels]
                counted = tuple(n for n, extent in enumerate(extents) if extent > 1)
                points[member] = IssuePoint(
                    names.streams[member], control, 1 + _early_cycles(plan) + late, late, counted
                )
        found += [points[member] for member in range(len(region.streams))]
    return tuple(found)
