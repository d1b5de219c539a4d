"""How far apart the units of a program must start, for every pair of their candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.poly.extrema import PairExtrema
from rtlgen.poly.instances import Pairs
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.precedence import Precedence

IntArray = NDArray[np.int64]

GAPS_AT_ONCE = 1 << 20
"""Distances of related instances that are computed in one step."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One placement of all statements of a unit.

    Members
    -------
    placements: by statement; ii: initiation interval of them all.
    shifts: of the statements relative to the unit's own shift.
    length: time from the unit's shift to the end of its last instance.
    changes: see `Placement.changes`.
    """

    placements: Mapping[str, Placement]
    ii: int
    shifts: Mapping[str, int]
    length: int
    changes: int


def least_tails(
    units: Sequence[Sequence[Candidate]], distances: Mapping[tuple[int, int], IntArray]
) -> list[IntArray]:
    """Return for every candidate the least time from its start to the end of what depends on it."""
    tails = [np.array([c.length for c in unit], dtype=np.int64) for unit in units]
    for a, b in sorted(distances, reverse=True):
        tails[a] = np.maximum(tails[a], (distances[a, b] + tails[b]).min(axis=1))
    return tails


def required_distances(
    units: Sequence[Sequence[Candidate]], precedences: Sequence[Precedence]
) -> dict[tuple[int, int], IntArray]:
    """Return, for dependent units a and b, the required start_b - start_a of all candidates."""
    home = {name: n for n, unit in enumerate(units) for name in unit[0].placements}
    distances: dict[tuple[int, int], IntArray] = {}
    for precedence in precedences:
        key = (home[precedence.source], home[precedence.sink])
        if key[0] == key[1]:
            continue
        table = distance_table(units[key[0]], units[key[1]], precedence)
        distances[key] = np.maximum(distances[key], table) if key in distances else table
    return distances


def distance_table(
    sources: Sequence[Candidate], sinks: Sequence[Candidate], precedence: Precedence
) -> IntArray:
    """Return the required start of each sink after each source, for one precedence."""
    table = np.empty((len(sources), len(sinks)), dtype=np.int64)
    related = precedence.related
    if isinstance(related, PairExtrema) and related.others:
        for a, source in enumerate(sources):
            for b, sink in enumerate(sinks):
                table[a, b] = _required(precedence, source, sink)
        return table
    if isinstance(related, Pairs):
        points = related
    else:
        # Where ranks are affine the vertices stand for all pairs.
        dims = len(sources[0].placements[precedence.source].iterators)
        points = Pairs(related.vertices[:, :dims], related.vertices[:, dims:])
    source_times = np.stack([_times(points.sources, c, precedence.source) for c in sources])
    sink_times = np.stack([_times(points.sinks, c, precedence.sink) for c in sinks])
    step = max(1, GAPS_AT_ONCE // sink_times.size)
    for first in range(0, len(sources), step):
        keep_going(work=min(step, len(sources)) * sink_times.size // 100)
        rows = slice(first, first + step)
        gaps = source_times[rows, None, :] - sink_times[None, :, :]
        largest = gaps.max(axis=2)
        table[rows] = largest + precedence.lag
        if precedence.uniform_lag is not None:
            uniform = gaps.min(axis=2) == largest
            table[rows][uniform] = largest[uniform] + precedence.uniform_lag
    source_shifts = np.array([c.shifts[precedence.source] for c in sources], dtype=np.int64)
    sink_shifts = np.array([c.shifts[precedence.sink] for c in sinks], dtype=np.int64)
    return table + source_shifts[:, None] - sink_shifts[None, :]


def _times(points: IntArray, candidate: Candidate, name: str) -> IntArray:
    """Return ii * rank of every point."""
    return candidate.placements[name].ranks(points) * candidate.ii


def _required(precedence: Precedence, source: Candidate, sink: Candidate) -> int:
    name, other = precedence.source, precedence.sink
    required = precedence.required(
        source.placements[name], sink.placements[other], source.ii, sink.ii
    )
    return required + source.shifts[name] - sink.shifts[other]
