"""Precedences between statements, and the smallest shifts that satisfy them.

A precedence says: whenever instance p of the source and q of the sink are related,
time(q) >= time(p) + lag. With time = ii * rank + shift this bounds the difference of two shifts,

    shift_sink - shift_source >= max over (p, q) of (ii_source * rank(p) - ii_sink * rank(q)) + lag

whose right-hand side is an exact integer maximum (MF3, section 3: the smallest legal shift).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtlgen.ir.scop import Scop
from rtlgen.poly.dependences import Dependence, Flow
from rtlgen.poly.extrema import PairExtrema, pair_extrema
from rtlgen.transforms.candidates import Placement


@dataclass(frozen=True, slots=True, eq=False)
class Precedence:
    """One constraint on the distance between related instances.

    Members
    -------
    lag: smallest distance in time units (iterations for MF3, cycles for a circuit).
    uniform_lag: smaller distance that suffices where all pairs are equally far apart, or None.
    extrema: of affine functions over the related pairs.
    origin: the dependence or flow behind it.
    """

    source: str
    sink: str
    lag: int
    extrema: PairExtrema
    origin: Dependence | Flow
    uniform_lag: int | None = None

    def required(self, source: Placement, sink: Placement, source_ii: int, sink_ii: int) -> int:
        """Return the smallest legal shift_sink - shift_source."""
        coefficients, constant = difference(source, sink, source_ii, sink_ii)
        largest = self.extrema.maximum(coefficients, constant)
        if self.uniform_lag is None or self.extrema.minimum(coefficients, constant) != largest:
            return largest + self.lag
        return largest + self.uniform_lag


def difference(
    source: Placement, sink: Placement, source_ii: int, sink_ii: int
) -> tuple[list[int], int]:
    """Return ii_source * rank_source - ii_sink * rank_sink as (coefficients over both, constant)."""
    (a, a0), (b, b0) = source.rank, sink.rank
    coefficients = [source_ii * c for c in a] + [-sink_ii * c for c in b]
    return coefficients, source_ii * a0 - sink_ii * b0


def iteration_precedences(scop: Scop, dependences: Sequence[Dependence]) -> tuple[Precedence, ...]:
    """Return MF3's legality conditions: latencies do not count.

    Source and sink may share a fused iteration when the source stands before the sink in the text
    (methods of MF3, legality).
    """
    order = {statement.name: n for n, statement in enumerate(scop.statements)}
    return tuple(
        Precedence(
            d.source,
            d.sink,
            0 if order[d.source] < order[d.sink] else 1,
            pair_extrema(d.relation),
            d,
        )
        for d in dependences
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


def requirements(
    precedences: Sequence[Precedence],
    placements: Mapping[str, Placement],
    iis: Mapping[str, int],
) -> dict[tuple[str, str], int]:
    """Return the largest required distance of every ordered pair of statements."""
    required: dict[tuple[str, str], int] = {}
    for p in precedences:
        distance = p.required(placements[p.source], placements[p.sink], iis[p.source], iis[p.sink])
        key = (p.source, p.sink)
        required[key] = max(distance, required.get(key, distance))
    return required
