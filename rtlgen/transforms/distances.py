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
from rtlgen.transforms.precedence import ClosedPairs, Precedence

IntArray = NDArray[np.int64]

GAPS_AT_ONCE = 1 << 20
"""Distances of related instances that are computed in one step."""


FEW_POINTS = 16
"""Points up to which all gaps at one of them are computed in one step."""


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
    related = precedence.related
    if isinstance(related, ClosedPairs) or (isinstance(related, PairExtrema) and related.others):
        table = np.empty((len(sources), len(sinks)), dtype=np.int64)
        for a, source in enumerate(sources):
            for b, sink in enumerate(sinks):
                table[a, b] = _required(precedence, source, sink)
        return table
    largest, least = _extreme_gaps(sources, sinks, precedence)
    table = largest + precedence.lag
    if precedence.uniform_lag is not None:
        table = np.where(least == largest, largest + precedence.uniform_lag, table)
    source_shifts = np.array([c.shifts[precedence.source] for c in sources], dtype=np.int64)
    sink_shifts = np.array([c.shifts[precedence.sink] for c in sinks], dtype=np.int64)
    return table + source_shifts[:, None] - sink_shifts[None, :]


def _extreme_gaps(
    sources: Sequence[Candidate], sinks: Sequence[Candidate], precedence: Precedence
) -> tuple[IntArray, IntArray]:
    """Return the largest and the least time from a sink to its source, for all candidates."""
    name, other, related = precedence.source, precedence.sink, precedence.related
    assert not isinstance(related, ClosedPairs), "these are asked for one by one"
    if isinstance(related, Pairs):
        return _extremes(
            np.stack([c.placements[name].ranks(related.sources) * c.ii for c in sources]),
            np.stack([c.placements[other].ranks(related.sinks) * c.ii for c in sinks]),
        )
    # Where ranks are affine the vertices stand for all pairs, and each factor adds its own.
    early, start = _affine_times(sources, name)
    late, end = _affine_times(sinks, other)
    largest = start[:, None] - end[None, :]
    least = largest.copy()
    for dims, points in related.factors:
        own = [k for k in dims if k < early.shape[1]]
        others = [k - early.shape[1] for k in dims[len(own) :]]
        most, fewest = _extremes(
            early[:, own] @ points[:, : len(own)].T, late[:, others] @ points[:, len(own) :].T
        )
        largest += most
        least += fewest
    return largest, least


def _affine_times(candidates: Sequence[Candidate], name: str) -> tuple[IntArray, IntArray]:
    """Return the coefficients, (candidates, iterators), and constants of ii * rank."""
    rows = []
    for candidate in candidates:
        rank = candidate.placements[name].rank
        assert rank is not None, "ragged nests have listed pairs"
        rows.append([candidate.ii * c for c in (*rank[0], rank[1])])
    table = np.array(rows, dtype=np.int64)
    return table[:, :-1], table[:, -1]


def _extremes(early: IntArray, late: IntArray) -> tuple[IntArray, IntArray]:
    """Return the largest and the least early - late over all points, for each two rows.

    Parameters
    ----------
    early, late: (rows, points).
    """
    largest = np.empty((len(early), len(late)), dtype=np.int64)
    least = np.empty_like(largest)
    step = max(1, GAPS_AT_ONCE // late.size)
    for first in range(0, len(early), step):
        keep_going(work=min(step, len(early)) * late.size // 100)
        rows = slice(first, first + step)
        if late.shape[1] > FEW_POINTS:
            gaps = early[rows, None, :] - late[None, :, :]
            largest[rows], least[rows] = gaps.max(axis=2), gaps.min(axis=2)
            continue
        # Few at a time, NumPy would spend the time on going from row to row.
        np.subtract.outer(early[rows, 0], late[:, 0], out=largest[rows])
        least[rows] = largest[rows]
        for k in range(1, late.shape[1]):
            gap = np.subtract.outer(early[rows, k], late[:, k])
            np.maximum(largest[rows], gap, out=largest[rows])
            np.minimum(least[rows], gap, out=least[rows])
    return largest, least


def _required(precedence: Precedence, source: Candidate, sink: Candidate) -> int:
    name, other = precedence.source, precedence.sink
    required = precedence.required(
        source.placements[name], sink.placements[other], source.ii, sink.ii
    )
    return required + source.shifts[name] - sink.shifts[other]
