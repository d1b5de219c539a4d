"""Precedences between statements, and the smallest shifts that satisfy them.

A precedence says: whenever instance p of the source and q of the sink are related,
time(q) >= time(p) + lag. With time = ii * rank + shift this bounds the difference of two shifts,

    shift_sink - shift_source >= max over (p, q) of (ii_source * rank(p) - ii_sink * rank(q)) + lag

whose right-hand side is an exact integer maximum (MF3, section 3: the smallest legal shift).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import equal_outer
from rtlgen.poly.dependences import Dependence, Flow
from rtlgen.poly.extrema import PairExtrema, pair_extrema
from rtlgen.poly.instances import Pairs, dependent_pairs
from rtlgen.transforms.candidates import Placement


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
    related: PairExtrema | Pairs
    origin: Dependence | Flow
    uniform_lag: int | None = None

    def required(self, source: Placement, sink: Placement, source_ii: int, sink_ii: int) -> int:
        """Return the smallest legal shift_sink - shift_source."""
        if self.uniform_lag is None and isinstance(self.related, PairExtrema):
            return self._largest_gap(self.related, source, sink, source_ii, sink_ii) + self.lag
        return self.required_between(*self.gaps(source, sink, source_ii, sink_ii))

    def _largest_gap(
        self,
        related: PairExtrema,
        source: Placement,
        sink: Placement,
        source_ii: int,
        sink_ii: int,
    ) -> int:
        keep_going()
        return related.maximum(*_gap(source, sink, source_ii, sink_ii))

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
        return isinstance(self.related, Pairs) or (source.table is None and sink.table is None)

    def gaps(
        self, source: Placement, sink: Placement, source_ii: int, sink_ii: int
    ) -> tuple[int, int]:
        """Return (smallest, largest) ii_source * rank(p) - ii_sink * rank(q) over the pairs."""
        keep_going()
        if isinstance(self.related, Pairs):
            early = source_ii * source.ranks(self.related.sources)
            gaps = early - sink_ii * sink.ranks(self.related.sinks)
            return int(gaps.min()), int(gaps.max())
        coefficients, constant = _gap(source, sink, source_ii, sink_ii)
        return (
            self.related.minimum(coefficients, constant),
            self.related.maximum(coefficients, constant),
        )


def _gap(source: Placement, sink: Placement, source_ii: int, sink_ii: int) -> tuple[list[int], int]:
    """Return coefficients and constant of ii_source * rank(p) - ii_sink * rank(q)."""
    assert source.rank is not None and sink.rank is not None, "ragged nests have listed pairs"
    (a, a0), (b, b0) = source.rank, sink.rank
    coefficients = [source_ii * c for c in a] + [-sink_ii * c for c in b]
    return coefficients, source_ii * a0 - sink_ii * b0


class Related:
    """The related pairs of dependences, in the form that the statements' nests allow.

    Ranks in ragged nests are no affine functions, so pairs with an instance of one are listed.
    """

    def __init__(self, scop: Scop, ragged: frozenset[str]) -> None:
        self.ragged = ragged
        self._pairs = dependent_pairs(scop) if ragged else {}
        # The origin is kept with what belongs to it, so that its id stays its own.
        self._extrema: dict[tuple[int, int], tuple[Dependence | Flow, PairExtrema | None]] = {}
        self._alike: dict[tuple[int, bytes], PairExtrema] = {}

    def listed(self, origin: Dependence | Flow) -> Pairs | None:
        """Return the pairs behind `origin`, or None where they follow from those of others."""
        read = None if isinstance(origin, Flow) else origin.source_read
        return self._pairs.get((origin.source, origin.sink, read, origin.sink_read))

    def of(self, origin: Dependence | Flow) -> PairExtrema | Pairs | None:
        """Return what a precedence needs to know of the pairs; None: nothing, see `listed`."""
        if origin.source in self.ragged or origin.sink in self.ragged:
            return self.listed(origin)
        return self._within(origin, 0)

    def restricted(self, precedence: Precedence, level: int) -> Precedence | None:
        """Restrict a precedence to pairs in the same iteration of the `level` outermost loops.

        None: there is no such pair. The statements must not be ragged.
        """
        pairs = self._within(precedence.origin, level)
        return None if pairs is None else replace(precedence, related=pairs)

    def _within(self, origin: Dependence | Flow, level: int) -> PairExtrema | None:
        key = (id(origin), level)
        if key not in self._extrema:
            relation = equal_outer(origin.relation, level)
            found = None if relation.is_empty() else self._shared(pair_extrema(relation))
            self._extrema[key] = origin, found
        return self._extrema[key][1]

    def _shared(self, found: PairExtrema) -> PairExtrema:
        """Return one object for all relations with the same vertices."""
        if found.others:
            return found
        key = found.vertices.shape[1], found.vertices.tobytes()
        return self._alike.setdefault(key, found)


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

    None means that the constraints contradict each other (a cycle of positive length). This is
    the longest-path form of Bellman and Ford's algorithm.

    Parameters
    ----------
    least: lower bounds of single shifts; 0 where there is none.
    """
    shifts = {name: max(0, least.get(name, 0)) for name in names}
    for _ in range(len(names) + 1):
        changed = False
        for (a, b), distance in required.items():
            if shifts[b] < shifts[a] + distance:
                shifts[b] = shifts[a] + distance
                changed = True
        if not changed:
            return shifts
    return None


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

    def distance(p: Precedence) -> int:
        return p.required(placements[p.source], placements[p.sink], iis[p.source], iis[p.sink])

    return strongest(
        ((p.source, p.sink), distance(p))
        for p in precedences
        if p.binds(placements[p.source], placements[p.sink])
    )
