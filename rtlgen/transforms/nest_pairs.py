"""Dependent pairs of instances, at their places in a nest that several statements share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.poly.instances import Pairs
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.period import Member
from rtlgen.transforms.precedence import Feasibility, Precedence, strongest
from rtlgen.transforms.row_pads import Gaps, PairTable
from rtlgen.transforms.sink import CommonNest


@dataclass(frozen=True, slots=True, eq=False)
class NestPairs:
    """Precedences between places in the common nest, all pairs in one table.

    Members
    -------
    origins: the precedences. sources, sinks: (pairs, dims), those of one precedence after those of
        the one before; starts: where each begins. names: the statements.
    feasibility: of the origins. in_step: of these and of statements that are in step.
    """

    origins: tuple[Precedence, ...]
    names: tuple[str, ...]
    feasibility: Feasibility
    in_step: Feasibility
    sources: Ints
    sinks: Ints
    starts: Ints

    @staticmethod
    def of(
        nest: CommonNest,
        members: Sequence[Member],
        precedences: Sequence[Precedence],
        in_step: Mapping[tuple[str, str], int] = MappingProxyType({}),
    ) -> NestPairs:
        """Return those of some statements.

        Parameters
        ----------
        in_step: distances of statements that are in step.
        """
        related = []
        for p in precedences:
            assert isinstance(p.related, Pairs), "ragged statements have listed pairs"
            related.append(p.related)
        sources = [(p.source, pairs.sources) for p, pairs in zip(precedences, related, strict=True)]
        sinks = [(p.sink, pairs.sinks) for p, pairs in zip(precedences, related, strict=True)]
        ends = np.cumsum([0, *(len(points) for _, points in sources)])
        names = tuple(member.name for member in members)
        return NestPairs(
            tuple(precedences),
            names,
            Feasibility.of(names, precedences),
            Feasibility.of(names, precedences, in_step),
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

    def can_be_kept(self, gaps: Gaps, ii: int) -> bool:
        """Tell whether some shifts keep all precedences."""
        return self.feasibility.shifts(*gaps, ii) is not None

    def shifts(self, gaps: Gaps, ii: int) -> Iterator[dict[str, int]]:
        """Yield the smallest shifts that keep all precedences, and those of statements in step."""
        for feasibility in (self.feasibility, self.in_step):
            found = feasibility.shifts(*gaps, ii)
            if found is None:
                return
            yield dict(zip(self.names, found.tolist(), strict=True))

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
