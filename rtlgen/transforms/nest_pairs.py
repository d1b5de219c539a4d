"""Dependent pairs of instances, at their places in a nest that several statements share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.poly.instances import Pairs
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.period import Member
from rtlgen.transforms.precedence import Feasibility, Precedence, strongest
from rtlgen.transforms.row_pads import Gaps, PairTable
from rtlgen.transforms.sink import CommonNest

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class NestPairs:
    """Precedences between places in the common nest, all pairs in one table.

    Members
    -------
    origins: the precedences. sources, sinks: (pairs, dims), those of one precedence after those of
        the one before; starts: where each begins. feasibility: of the origins.
    """

    origins: tuple[Precedence, ...]
    feasibility: Feasibility
    sources: Ints
    sinks: Ints
    starts: Ints

    @staticmethod
    def of(
        nest: CommonNest, members: Sequence[Member], precedences: Sequence[Precedence]
    ) -> NestPairs:
        related = []
        for p in precedences:
            assert isinstance(p.related, Pairs), "ragged statements have listed pairs"
            related.append(p.related)
        sources = [(p.source, pairs.sources) for p, pairs in zip(precedences, related, strict=True)]
        sinks = [(p.sink, pairs.sinks) for p, pairs in zip(precedences, related, strict=True)]
        ends = np.cumsum([0, *(len(points) for _, points in sources)])
        return NestPairs(
            tuple(precedences),
            Feasibility.of([member.name for member in members], precedences),
            _places(nest, members, sources),
            _places(nest, members, sinks),
            ends[:-1],
        )

    def table(self, nest: CommonNest) -> PairTable:
        """Return the pairs in the order of the loops of the nest."""
        return PairTable(self.sources[:, nest.order], self.sinks[:, nest.order], self.starts)

    def however_padded(self, nest: CommonNest) -> dict[tuple[str, str], int]:
        """Return what every ordered pair of statements requires at least, whatever the minima."""
        gaps = self.table(nest).gaps_at_least()
        return strongest(
            ((p.source, p.sink), p.required_between(gap, gap))
            for p, gap in zip(self.origins, gaps, strict=True)
            if gap is not None
        )

    def gaps(self, common: Placement) -> Gaps:
        """Return the smallest and the largest rank(source) - rank(sink) of every precedence."""
        if not self.origins:
            return [], []
        gaps = common.ranks(self.sources) - common.ranks(self.sinks)
        return (
            np.minimum.reduceat(gaps, self.starts).tolist(),
            np.maximum.reduceat(gaps, self.starts).tolist(),
        )

    def required(self, gaps: Gaps, ii: int) -> dict[tuple[str, str], int]:
        """Return the largest required distance of every ordered pair of statements."""
        return strongest(
            ((p.source, p.sink), p.required_between(ii * smallest, ii * largest))
            for p, smallest, largest in zip(self.origins, *gaps, strict=True)
        )

    def can_be_kept(self, gaps: Gaps, ii: int) -> bool:
        """Tell whether some shifts keep all precedences."""
        return self.feasibility.holds(*gaps, ii)

    def initiation_interval(self, gaps: Gaps) -> int | None:
        """Return the smallest II of all members, or None where a statement runs backward."""
        ii = 1
        for p, _, largest in zip(self.origins, *gaps, strict=True):
            if p.source == p.sink:
                if largest >= 0:
                    return None
                ii = max(ii, -(p.lag // largest))
        return ii


def _places(
    nest: CommonNest, members: Sequence[Member], points: Sequence[tuple[str, Ints]]
) -> Ints:
    """Return the places in a nest of instances of members, given by name, one after another."""
    rows = np.cumsum([0, *(len(each) for _, each in points)])
    found = np.zeros((int(rows[-1]), len(nest.dims)), dtype=np.int64)
    numbers: dict[str, list[int]] = {}
    for n, (name, _) in enumerate(points):
        numbers.setdefault(name, []).append(n)
    for member in members:
        own = numbers.get(member.name)
        if own:
            places = nest.coordinates(member, np.concatenate([points[n][1] for n in own]))
            found[np.concatenate([np.arange(rows[n], rows[n + 1]) for n in own])] = places
    return found
