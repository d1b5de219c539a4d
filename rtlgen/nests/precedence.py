"""Precedences between statements, and the smallest shifts: longest paths in a graph of lags.

Longest paths in a graph whose edges stay and whose lengths change: the shifts of statements.

Precedences between statements, and the smallest shifts that satisfy them.

A precedence says: whenever instance p of the source and q of the sink are related,
time(q) >= time(p) + lag. With time = ii * rank + shift this bounds the difference of two shifts,

    shift_sink - shift_source >= max over (p, q) of (ii_source * rank(p) - ii_sink * rank(q)) + lag

whose right-hand side is an exact integer maximum (MF3, section 3: the smallest legal shift).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets, equal_outer
from rtlgen.nests.candidates import Placement
from rtlgen.poly.closed_extrema import Distance, corner_pairs
from rtlgen.poly.dependences import Dependence, Flow
from rtlgen.poly.extrema import PairExtrema, known_extrema
from rtlgen.poly.instances import Pairs, dependent_pairs

NOWHERE = -1
"""No node."""


@dataclass(frozen=True, slots=True, eq=False)
class LongestPaths:
    """The edges of a graph, those between the same two nodes as one.

    They are followed one by one, those out of early nodes first, and again as long as a path gets
    longer: the longest-path form of Bellman and Ford's algorithm. Graphs are small, a few dozens of
    edges, and most of them run forward, so that a few rounds do.

    Members
    -------
    order: of the edges as they were given, those between the same nodes next to each other.
    starts: where each such group begins. ends: its source and its sink, sources first.
    """

    order: Ints
    starts: Ints
    ends: tuple[tuple[int, int], ...]

    @staticmethod
    def along(edges: Sequence[tuple[int, int]]) -> LongestPaths:
        """Return the graph of edges from a node to a node."""
        ordered = sorted(range(len(edges)), key=edges.__getitem__)
        ends = [edges[k] for k in ordered]
        starts = [n for n, end in enumerate(ends) if n == 0 or end != ends[n - 1]]
        return LongestPaths(
            np.array(ordered, dtype=np.int64),
            np.array(starts, dtype=np.int64),
            tuple(ends[n] for n in starts),
        )

    def lengths(self, distances: Ints, begin: Ints) -> Ints | None:
        """Return the length of the longest path to every node; None: some cycle is longer than 0.

        Parameters
        ----------
        distances: (edges,) lengths, in the order in which the edges were given.
        begin: (nodes,) lengths with which paths begin at each of them.
        """
        if not self.ends:
            return begin.copy()
        longest = np.maximum.reduceat(distances[self.order], self.starts).tolist()
        edges = [(a, b, length) for (a, b), length in zip(self.ends, longest, strict=True)]
        found: list[int] = begin.tolist()
        before = [NOWHERE] * len(found)
        for _ in range(len(found) + 1):
            is_longer = False
            for source, sink, length in edges:
                reached = found[source] + length
                if reached > found[sink]:
                    found[sink] = reached
                    before[sink] = source
                    is_longer = True
            if not is_longer:
                return np.array(found, dtype=np.int64)
            if _comes_back(before):
                return None
        return None


def _comes_back(before: Sequence[int]) -> bool:
    """Tell whether the last edges of the longest paths form a cycle, which is longer than 0 then.

    Parameters
    ----------
    before: the node in front of every node on the longest path to it, or `NOWHERE`.
    """
    walked = [NOWHERE] * len(before)
    for start in range(len(before)):
        node = start
        while node != NOWHERE and walked[node] == NOWHERE:
            walked[node] = start
            node = before[node]
        if node != NOWHERE and walked[node] == start:
            return True
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Precedence:
    """One constraint on the distance between related instances.

    Members
    -------
    lag: smallest distance in time units (iterations for MF3, cycles for a circuit).
    uniform_lag: smaller distance that suffices where all pairs are equally far apart, or None.
    related: the related pairs: extrema of affine functions over them, or all of them.
    origin: the dependence or flow behind it.
    """

    source: str
    sink: str
    lag: int
    related: PairExtrema | Pairs | ClosedPairs
    origin: Dependence | Flow
    uniform_lag: int | None = None

    def required(self, source: Placement, sink: Placement, source_ii: int, sink_ii: int) -> int:
        """Return the smallest legal shift_sink - shift_source."""
        if self.uniform_lag is None:
            return self.largest_gap(source, sink, source_ii, sink_ii) + self.lag
        return self.required_between(*self.gaps(source, sink, source_ii, sink_ii))

    def largest_gap(self, source: Placement, sink: Placement, source_ii: int, sink_ii: int) -> int:
        """Return the largest ii_source * rank(p) - ii_sink * rank(q) over the pairs."""
        if not isinstance(self.related, PairExtrema):
            return self.gaps(source, sink, source_ii, sink_ii)[1]
        keep_going()
        return self.related.maximum(*_gap(source, sink, source_ii, sink_ii))

    def required_between(self, smallest: int, largest: int) -> int:
        """Return the same for pairs whose gaps, as `gaps` gives them, lie between these."""
        if self.uniform_lag is None or smallest != largest:
            return largest + self.lag
        return largest + self.uniform_lag

    def binds(self, source: Placement, sink: Placement) -> bool:
        """Tell whether it concerns these placements.

        Pairs that are known by their extrema alone are none of a nest of another shape than a box.
        Only statements that are kept apart for their stores' sake have such pairs there, and a
        common nest is chosen so that its stores do not meet.
        """
        if not isinstance(self.related, PairExtrema):
            return True
        return source.rank is not None and sink.rank is not None

    def gaps(
        self, source: Placement, sink: Placement, source_ii: int, sink_ii: int
    ) -> tuple[int, int]:
        """Return (smallest, largest) ii_source * rank(p) - ii_sink * rank(q) over the pairs."""
        keep_going()
        if isinstance(self.related, ClosedPairs):
            return self.related.gaps(source, sink, source_ii, sink_ii)
        if isinstance(self.related, Pairs):
            early = source_ii * source.ranks(self.related.sources)
            gaps = early - sink_ii * sink.ranks(self.related.sinks)
            return int(gaps.min()), int(gaps.max())
        coefficients, constant = _gap(source, sink, source_ii, sink_ii)
        return (
            self.related.minimum(coefficients, constant),
            self.related.maximum(coefficients, constant),
        )


_Question: TypeAlias = tuple[int, int, int, int]
"""The ids of the placements of source and sink, and their intervals."""


@dataclass(frozen=True, slots=True, eq=False)
class ClosedPairs:
    """Related pairs of which there are too many to be listed.

    Members
    -------
    extrema: those of affine functions over the pairs, found when they are first asked for.
    """

    relation: isl.Map
    extrema: Callable[[], PairExtrema]
    _samples: list[Pairs] = field(default_factory=list)
    _distances: dict[_Question, tuple[Placement, Placement, Distance]] = field(default_factory=dict)
    _extrema: dict[_Question, tuple[int, int]] = field(default_factory=dict)

    def samples(self) -> Pairs:
        """Return some of the pairs: see `corner_pairs`."""
        if not self._samples:
            self._samples.append(corner_pairs(self.relation))
        return self._samples[0]

    def gaps(
        self, source: Placement, sink: Placement, source_ii: int, sink_ii: int
    ) -> tuple[int, int]:
        """Return (smallest, largest) ii_source * rank(p) - ii_sink * rank(q) over the pairs.

        Raises
        ------
        NoClosedForm
        """
        if source.rank is not None and sink.rank is not None:
            coefficients, constant = _gap(source, sink, source_ii, sink_ii)
            extrema = self.extrema()
            return (
                extrema.minimum(coefficients, constant),
                extrema.maximum(coefficients, constant),
            )
        key = id(source), id(sink), source_ii, sink_ii
        if key not in self._extrema:
            self._extrema[key] = self.distance(source, sink, source_ii, sink_ii).extrema()
        return self._extrema[key]

    def distance(
        self, source: Placement, sink: Placement, source_ii: int, sink_ii: int
    ) -> Distance:
        """Return ii_source * rank(p) - ii_sink * rank(q) as a function of the pairs."""
        key = id(source), id(sink), source_ii, sink_ii
        if key not in self._distances:
            context = self.relation.get_ctx()
            found = Distance.between(
                self.relation,
                source.rank_function(context),
                sink.rank_function(context),
                source_ii,
                sink_ii,
            )
            # The placements are kept with what belongs to them, so that their ids stay their own.
            self._distances[key] = source, sink, found
        return self._distances[key][2]


def _gap(source: Placement, sink: Placement, source_ii: int, sink_ii: int) -> tuple[list[int], int]:
    """Return coefficients and constant of ii_source * rank(p) - ii_sink * rank(q)."""
    assert source.rank is not None and sink.rank is not None, "ragged nests have listed pairs"
    (a, a0), (b, b0) = source.rank, sink.rank
    coefficients = [source_ii * c for c in a] + [-sink_ii * c for c in b]
    return coefficients, source_ii * a0 - sink_ii * b0


class Related:
    """The related pairs of dependences, in the form that the statements' nests allow.

    Ranks in ragged nests are no affine functions, so pairs with an instance of one are listed, or
    of a program that is too large for that (`is_listed`) related in closed form.
    """

    def __init__(self, sets: ScopSets, ragged: frozenset[str], is_listed: bool = True) -> None:
        self.sets = sets
        self.ragged = ragged
        self.is_listed = is_listed
        self._pairs = dependent_pairs(sets.scop) if ragged and is_listed else {}
        # The origin is kept with what belongs to it, so that its id stays its own.
        self._extrema: dict[tuple[int, int], tuple[Dependence | Flow, PairExtrema | None]] = {}
        self._closed_pairs: dict[int, tuple[Dependence | Flow, ClosedPairs]] = {}
        self._apart: dict[tuple[str, str], Sequence[Dependence]] = {}

    def listed(self, origin: Dependence | Flow) -> Pairs | None:
        """Return the pairs behind `origin`, or None where they follow from those of others."""
        read = None if isinstance(origin, Flow) else origin.source_read
        return self._pairs.get((origin.source, origin.sink, read, origin.sink_read))

    def of(self, origin: Dependence | Flow) -> PairExtrema | Pairs | ClosedPairs | None:
        """Return what a precedence needs to know of the pairs; None: nothing, see `listed`."""
        if not self._is_ragged(origin):
            return self._within(origin, 0)
        return self.listed(origin) if self.is_listed else self._closed(origin)

    def is_by_pairs(self, origin: Dependence | Flow) -> bool:
        """Return whether all pairs behind `origin` are listed, for a precedence to ask."""
        return self.is_listed and self._is_ragged(origin) and self.listed(origin) is not None

    def _is_ragged(self, origin: Dependence | Flow) -> bool:
        return origin.source in self.ragged or origin.sink in self.ragged

    def apart(
        self, pair: tuple[str, str], order: Callable[[str, str], Sequence[Dependence]]
    ) -> Sequence[Dependence]:
        """Return the order of two statements that are kept apart, found when it is first asked."""
        if pair not in self._apart:
            self._apart[pair] = order(*pair)
        return self._apart[pair]

    def restricted(self, precedence: Precedence, level: int) -> Precedence | None:
        """Restrict a precedence to pairs in the same iteration of the `level` outermost loops.

        None: there is no such pair. The statements must not be ragged.
        """
        p, pairs = precedence, self._within(precedence.origin, level)
        if pairs is None:
            return None
        # Several times faster than `replace`, for thousands of precedences.
        return Precedence(p.source, p.sink, p.lag, pairs, p.origin, p.uniform_lag)

    def extrema(self, origin: Dependence | Flow) -> PairExtrema:
        """Return the extrema of affine functions over the pairs, whatever the statements' nests."""
        found = self._within(origin, 0)
        assert found is not None, "a dependence relates some instances"
        return found

    def _closed(self, origin: Dependence | Flow) -> ClosedPairs:
        if id(origin) not in self._closed_pairs:
            pairs = ClosedPairs(origin.relation, partial(self.extrema, origin))
            self._closed_pairs[id(origin)] = origin, pairs
        return self._closed_pairs[id(origin)][1]

    def _within(self, origin: Dependence | Flow, level: int) -> PairExtrema | None:
        key = (id(origin), level)
        if key not in self._extrema:
            found = known_extrema(self.sets, equal_outer(origin.relation, level))
            self._extrema[key] = origin, found
        return self._extrema[key][1]


def iteration_precedences(
    scop: Scop, dependences: Sequence[Dependence], related: Related
) -> tuple[Precedence, ...]:
    """Return MF3's legality conditions: latencies do not count.

    Source and sink may share a fused iteration when the source stands before the sink in the text
    (methods of MF3, legality).
    """
    order = {statement.name: n for n, statement in enumerate(scop.statements)}
    return tuple(
        Precedence(d.source, d.sink, 0 if order[d.source] < order[d.sink] else 1, pairs, d)
        for d in dependences
        if (pairs := related.of(d)) is not None
    )


def smallest_shifts(
    names: Sequence[str], required: Mapping[tuple[str, str], int], least: Mapping[str, int]
) -> dict[str, int] | None:
    """Return the smallest shifts with shift[b] - shift[a] >= required[a, b], or None.

    None means that the constraints contradict each other (a cycle of positive length).

    Parameters
    ----------
    least: lower bounds of single shifts; 0 where there is none.
    """
    number = {name: n for n, name in enumerate(names)}
    paths = LongestPaths.along([(number[a], number[b]) for a, b in required])
    begin = np.array([max(0, least.get(name, 0)) for name in names], dtype=np.int64)
    found = paths.lengths(np.array(list(required.values()), dtype=np.int64), begin)
    return None if found is None else dict(zip(names, found.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Feasibility:
    """Precedences of which it is asked again and again, for other gaps, what shifts keep them.

    Members
    -------
    statements: how many there are. paths: along the precedences, between statement numbers.
    lags, uniform_lags: see `Precedence`.
    """

    statements: int
    paths: LongestPaths
    lags: Ints
    uniform_lags: Ints

    @staticmethod
    def of(
        names: Sequence[str],
        precedences: Sequence[Precedence],
        fixed: Mapping[tuple[str, str], int] = MappingProxyType({}),
    ) -> Feasibility:
        """Return those of some statements.

        Parameters
        ----------
        fixed: distances that are required of pairs of statements besides, whatever the gaps.
        """
        number = {name: n for n, name in enumerate(names)}
        pairs = [*((p.source, p.sink) for p in precedences), *fixed]
        lags = [*(p.lag for p in precedences), *fixed.values()]
        uniform = [p.lag if p.uniform_lag is None else p.uniform_lag for p in precedences]
        return Feasibility(
            len(names),
            LongestPaths.along([(number[a], number[b]) for a, b in pairs]),
            np.array(lags, dtype=np.int64),
            np.array([*uniform, *fixed.values()], dtype=np.int64),
        )

    def shifts(self, smallest: Sequence[int], largest: Sequence[int], ii: int) -> Ints | None:
        """Return what `smallest_shifts` finds, in the order of the statements.

        Parameters
        ----------
        smallest, largest: the gaps of every precedence, in iterations that are `ii` apart.
        """
        distances = self.lags.copy()
        least, most = np.array([smallest, largest], dtype=np.int64)
        gapped = slice(len(most))
        distances[gapped] = np.where(least == most, self.uniform_lags[gapped], self.lags[gapped])
        distances[gapped] += ii * most
        return self.paths.lengths(distances, np.zeros(self.statements, dtype=np.int64))


def among(precedences: Iterable[Precedence], names: Collection[str]) -> list[Precedence]:
    """Return the precedences between some statements."""
    return [p for p in precedences if p.source in names and p.sink in names]


def strongest(found: Iterable[tuple[tuple[str, str], int]]) -> dict[tuple[str, str], int]:
    """Return the largest of the distances that are required of every ordered pair."""
    required: dict[tuple[str, str], int] = {}
    for pair, distance in found:
        required[pair] = max(distance, required.get(pair, distance))
    return required


def requirements(
    precedences: Sequence[Precedence],
    placements: Mapping[str, Placement],
    iis: Mapping[str, int],
) -> dict[tuple[str, str], int]:
    """Return the largest required distance of every ordered pair of statements."""
    return Requirements(precedences).between(placements, iis)


class Requirements:
    """The distances that precedences require, for one choice of placements after another.

    Those that integer vertices decide are asked for all at once.
    """

    def __init__(self, precedences: Sequence[Precedence]) -> None:
        self._others = [p for p in precedences if not _has_vertices(p)]
        ordered = sorted(filter(_has_vertices, precedences), key=lambda p: (p.source, p.sink))
        pairs = [(p.source, p.sink) for p in ordered]
        firsts = [n for n, pair in enumerate(pairs) if n == 0 or pair != pairs[n - 1]]
        self._pairs = [pairs[n] for n in firsts]
        self._pair_starts = np.array(firsts, dtype=np.int64)
        self._names = list(dict.fromkeys(chain.from_iterable(self._pairs)))
        self._lags = np.array([p.lag for p in ordered], dtype=np.int64)
        self._uniform = np.array(
            [p.lag if p.uniform_lag is None else p.uniform_lag for p in ordered], dtype=np.int64
        )
        self._sources, self._sinks, rows, counts = _gathered(ordered)
        self._rows, self._starts = rows, np.cumsum(counts) - counts
        number = {name: n for n, name in enumerate(self._names)}
        self._ends = [
            np.repeat(np.array([number[name] for name in column], dtype=np.int64), counts)
            for column in zip(*pairs, strict=True)
        ]

    def between(
        self, placements: Mapping[str, Placement], iis: Mapping[str, int]
    ) -> dict[tuple[str, str], int]:
        """Return the largest required distance of every ordered pair of statements."""
        keep_going(work=len(self._lags) + len(self._rows) // 16)
        known = self._at_once(placements, iis)
        for p in self._others:
            source, sink = placements[p.source], placements[p.sink]
            if p.binds(source, sink):
                distance = p.required(source, sink, iis[p.source], iis[p.sink])
                pair = p.source, p.sink
                known[pair] = max(distance, known.get(pair, distance))
        return known

    def _at_once(
        self, placements: Mapping[str, Placement], iis: Mapping[str, int]
    ) -> dict[tuple[str, str], int]:
        if not self._pairs:
            return {}
        width = self._sources.shape[1]
        ranks = np.zeros((len(self._names), width), dtype=np.int64)
        constants = np.zeros(len(self._names), dtype=np.int64)
        boxes = set()
        for n, name in enumerate(self._names):
            rank = placements[name].rank
            if rank is not None:
                boxes.add(name)
                ranks[n, : len(rank[0])] = rank[0]
                ranks[n] *= iis[name]
                constants[n] = iis[name] * rank[1]
        source, sink = self._ends
        gaps = constants[source] - constants[sink]
        gaps += (self._sources[self._rows] * ranks[source]).sum(axis=1)
        gaps -= (self._sinks[self._rows] * ranks[sink]).sum(axis=1)
        largest = np.maximum.reduceat(gaps, self._starts)
        is_uniform = np.minimum.reduceat(gaps, self._starts) == largest
        distances = largest + np.where(is_uniform, self._uniform, self._lags)
        strong = np.maximum.reduceat(distances, self._pair_starts)
        found = dict(zip(self._pairs, strong.tolist(), strict=True))
        if len(boxes) == len(self._names):
            return found
        # See `Precedence.binds`.
        return {pair: distance for pair, distance in found.items() if boxes.issuperset(pair)}


def _has_vertices(precedence: Precedence) -> bool:
    """Tell whether vertices of the related pairs say all that there is to know of them."""
    return isinstance(precedence.related, PairExtrema) and not precedence.related.others


def _gathered(precedences: Sequence[Precedence]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the vertices of all related pairs.

    The first two arrays hold source and sink of each different vertex, with zeros for dimensions
    that a statement has not; the third the row of every vertex of every precedence, one after
    another; the fourth how many each precedence has.
    """
    dims: dict[str, int] = {}
    first: dict[tuple[int, int], int] = {}
    parts: list[tuple[Ints, int]] = []
    starts, counts, total = [], [], 0
    for p in precedences:
        assert isinstance(p.related, PairExtrema), "only these have vertices"
        if p.source not in dims:
            dims[p.source] = p.origin.relation.dim(isl.dim_type.in_)
        vertices, own = p.related.vertices, dims[p.source]
        key = id(p.related), own
        if key not in first:
            first[key] = total
            parts.append((vertices, own))
            total += len(vertices)
        starts.append(first[key])
        counts.append(len(vertices))
    width = max((max(own, rows.shape[1] - own) for rows, own in parts), default=0)
    sources, sinks = np.zeros((2, total, width), dtype=np.int64)
    place = 0
    for rows, own in parts:
        here = slice(place, place + len(rows))
        sources[here, :own] = rows[:, :own]
        sinks[here, : rows.shape[1] - own] = rows[:, own:]
        place += len(rows)
    sizes = np.array(counts, dtype=np.int64)
    offsets = np.array(starts, dtype=np.int64) - (np.cumsum(sizes) - sizes)
    return sources, sinks, np.repeat(offsets, sizes) + np.arange(sizes.sum()), sizes
