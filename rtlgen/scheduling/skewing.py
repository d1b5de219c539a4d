"""Look for skewed loops in which the statements of a unit need not wait for their own results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from rtlgen.datapath.build import FAR, build_datapath
from rtlgen.datapath.lags import Timing
from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.effort import keep_going, note_limit
from rtlgen.ir.ints import Ints, distinct_rows
from rtlgen.ir.schedule import only
from rtlgen.ir.tolerance import TOLERANCE, is_worth_search
from rtlgen.nests.common_nest import overlapping, padded_nest
from rtlgen.nests.distances import Candidate
from rtlgen.nests.hyperplanes import Edges, Hyperplane, diagonals, follow_each_other, hyperplanes
from rtlgen.nests.padding import Effort
from rtlgen.nests.period import Grouping, Member, Values
from rtlgen.nests.precedence import Precedence, Related, among, iteration_precedences
from rtlgen.nests.sinking import CommonNest, Sinking, common_nests, nest_in
from rtlgen.poly.counting import count_points
from rtlgen.poly.edges import coordinates, in_coordinates
from rtlgen.poly.instances import Pairs, enumerated_size
from rtlgen.poly.strong_components import strong_components
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.space import Space
from rtlgen.target import Target
from rtlgen.transforms.skew import Skew
from rtlgen.transforms.units import Unit

MAX_INSTANCES = 500_000
"""Programs with more instances keep their loops."""

MAX_SINKINGS = 2
"""Ways to sink the statements of a unit into one nest that are skewed."""

MAX_WEIGHED = 64
"""Hyperplanes whose wavefronts are counted."""

MAX_TRIED = 6
"""Hyperplanes that are tried out, those with the fewest expected issue slots first."""

MAX_EFFORT = 24_000_000
"""Iterations and dependent pairs that are looked at to try out the hyperplanes of a unit."""

ATTEMPT_EFFORT = 2_000
"""What an attempt with given pads costs, however few iterations there are."""

MAX_PLANNED = 3
"""Skewed programs that are planned."""


def find_skews(
    space: Space, decision: Decision, target: Target, best: Space
) -> list[tuple[Skew, ...]]:
    """Return skewed loops for the units that may need fewer issue slots in them, likeliest first.

    Each entry has one skew for every unit that has any.

    Parameters
    ----------
    decision: for the loops as they are. best: the space of what is to be beaten, which may pause in
        these loops.
    """
    waiting = [unit for unit in space.timing.units if _waits(best, unit)]
    counts = {name: count_points(domain) for name, domain in space.timing.sets.domains.items()}
    if not waiting:
        return []
    if enumerated_size(space.boxed, counts) > MAX_INSTANCES:
        names_text = ", ".join(sorted(name for unit in waiting for name in unit.statements))
        note_limit(
            f"{names_text}: skewed loops are not looked for in a program with more than "
            f"{MAX_INSTANCES:,} instances"
        )
        return []
    names = frozenset(name for unit in waiting for name in unit.statements)
    ragged = names | space.timing.related.ragged
    timing = replace(space.timing, related=Related(space.timing.sets, ragged))
    orders = iteration_precedences(space.boxed, timing.dependences, timing.related)
    every = [
        _Search(space, timing, unit, orders, target, _reason(decision, unit)).best()
        for unit in waiting
    ]
    found = [skews for skews in every if skews]
    most = MAX_PLANNED + any(skew.overlaps for skews in found for skew in skews)
    most = min(most, max(map(len, found), default=0))
    return [tuple(skews[min(rank, len(skews) - 1)] for skews in found) for rank in range(most)]


def _reason(decision: Decision, unit: Unit) -> str:
    """Return why the statements of a unit wait in the loops as they are."""
    waiting = [name for name in unit.statements if decision.iis[name] > 1]
    if not waiting:
        return "some iterations wait for the results of others"
    return decision.ii_reasons[waiting[0]]


def _waits(space: Space, unit: Unit) -> bool:
    domains = space.timing.sets.domains
    floor = max(count_points(domains[name]) for name in unit.statements)
    return is_worth_search(_slots(space, unit), floor)


def _slots(space: Space, unit: Unit) -> int:
    """Return the issue slots of a unit alone in the loops of the program."""
    return min(_issue_slots(space, candidate) for candidate in space.unpadded(unit))


def _issue_slots(space: Space, candidate: Candidate) -> int:
    """Return the slots up to the last instance: padding behind it takes no cycle."""
    last_rank = space.timing.instances.last_rank
    ends = (
        shift + candidate.ii * last_rank(name, candidate.placements[name])
        for name, shift in candidate.shifts.items()
    )
    return max(ends) + 1


@dataclass(frozen=True, slots=True, eq=False)
class _Weighed:
    """A hyperplane in the common dimensions of a sinking, with the issue slots to expect.

    Members
    -------
    sizes: iterations of every wavefront. distances: by the id of every dependence and flow.
    cycles: the precedences inside of the unit, with the lags that they have in these loops.
    apart: whether each statement has the wavefronts for itself, some time behind the others.
    """

    slots: int
    number: int
    plane: Hyperplane
    sinking: Sinking
    sizes: Ints
    distances: Mapping[int, Ints]
    cycles: Sequence[Precedence]
    apart: bool = False

    def edges_of(self, edges: Sequence[Edges]) -> Sequence[Edges]:
        """Return those for which the wavefronts must be far enough from each other."""
        return _own(edges) if self.apart else edges


class _Search:
    """The search for one unit.

    Parameters
    ----------
    timing: with the pairs of the unit's dependences listed. orders: as `iteration_precedences`.
    """

    def __init__(
        self,
        space: Space,
        timing: Timing,
        unit: Unit,
        orders: Sequence[Precedence],
        target: Target,
        reason: str,
    ) -> None:
        self.unit = unit
        self.timing = timing
        self.target = target
        self.members: Sequence[Member] = [space.nests.member(name) for name in unit.statements]
        self.points = {name: timing.instances.points(name) for name in unit.statements}
        self.orders = among(orders, unit.statements)
        self.stores = space.groups.store_slots(unit.statements)
        self.is_ragged = space.timing.related.ragged.issuperset(unit.statements)
        self.before = _slots(space, unit)
        self.reason = reason

    def best(self) -> list[Skew]:
        """Return the skews that are worth trying, those with the fewest issue slots first.

        Before them comes one in which iterations share rows, if that is expected to take fewer.
        """
        limit = int(self.before * TOLERANCE)
        effort = Effort(MAX_EFFORT, ATTEMPT_EFFORT)
        found: list[Skew] = []
        sharing: list[Skew] = []
        tried = (
            (weighed, sinking)
            for weighed in self._weighed()
            if weighed.slots <= limit
            for sinking in self._completed(weighed)
        )
        for weighed, sinking in tried:
            nest = nest_in(sinking, self.timing.sets)
            shared = len(weighed.plane.outer) if weighed.apart else None
            order = self._in_sequence(nest, shared)
            if order is None:
                continue
            grouping = self._padded(nest, weighed, limit, effort)
            if grouping is not None:
                slots = grouping.last_issue + 1
                rows = self._rows(sinking)
                skew = Skew(self.unit, rows, slots, self.before, self.reason, shared, order)
                found.append(skew)
                overlapped = self._overlapped(nest, weighed, grouping, effort)
                if overlapped is not None:
                    slots = overlapped.last_issue + 1
                    sharing.append(replace(skew, slots=slots, overlaps=True))
        if effort.left <= 0 and not found:
            note_limit(
                f"{', '.join(self.unit.statements)}: the search for skewed loops found none before "
                f"it was ended, after {MAX_EFFORT:,} iterations and dependent pairs"
            )
        found.sort(key=lambda skew: skew.slots)
        first = min(sharing, key=lambda skew: skew.slots, default=None)
        return [first, *found] if first is not None and first.slots < found[0].slots else found

    def _in_sequence(self, nest: CommonNest, shared: int | None) -> tuple[str, ...] | None:
        """Return how the statements follow each other in one iteration of the loops they share.

        Near the order of the text, from which offsets or strides may depart. None: some have to
        stand before each other.
        """
        members = {member.name: member for member in self.members}
        meeting = set()
        for order in self.orders:
            pairs = self.timing.related.listed(order.origin)
            assert pairs is not None, "the pairs of the unit's dependences are listed"
            sinks = nest.coordinates(members[order.sink], pairs.sinks)
            sources = nest.coordinates(members[order.source], pairs.sources)
            if (sinks == sources)[:, :shared].all(axis=1).any():
                meeting.add((order.source, order.sink))
        parts = strong_components(self.unit.statements, list(meeting))
        return tuple(chain.from_iterable(parts)) if len(parts) == len(members) else None

    def _overlapped(
        self, nest: CommonNest, weighed: _Weighed, grouping: Grouping, effort: Effort
    ) -> Grouping | None:
        """Return the same nest with iterations that share rows, where that is shorter."""
        overlapped = overlapping(nest, grouping.loops)
        if overlapped is None:
            return None
        return self._padded(overlapped, weighed, int(overlapped.gain * grouping.last_issue), effort)

    def _padded(
        self, nest: CommonNest, weighed: _Weighed, limit: int, effort: Effort
    ) -> Grouping | None:
        return padded_nest(
            self.members,
            nest,
            self.points,
            weighed.cycles,
            self.orders,
            self.stores,
            limit,
            effort,
        )

    def _completed(self, weighed: _Weighed) -> Iterator[Sinking]:
        """Yield the ways to number the iterations inside of the wavefronts that are tried."""
        plain = _skewed(weighed.sinking, weighed.plane)
        in_c = self._numbered_as_in_c(weighed, plain)
        numberings = [plain] if in_c is None or in_c == plain else [plain, in_c]
        front = len(weighed.plane.outer) + 1
        for sinking in numberings:
            yield sinking
            yield _turned(sinking, front)

    def _numbered_as_in_c(self, weighed: _Weighed, skewed: Sinking) -> Sinking | None:
        """Return the loops inside of the wavefronts counted as in C, the innermost one first.

        Of tiled loops those inside of a tile tell which one it is: the loops over tiles then have
        a single iteration, and the wavefront no holes where it crosses a tile.
        """
        front = len(weighed.plane.outer) + 1
        values: dict[str, Values] = {}
        for name, own in weighed.sinking.own.items():
            statement = self.timing.scop.statement(name)
            counted = dict(zip(statement.iterators, coordinates(statement), strict=True))
            inner = [own[dim] for dim in reversed(weighed.plane.rest)]
            rest = [counted[iterator] for iterator in inner if iterator is not None]
            if len(rest) < len(inner):
                return None
            rows = [*skewed.values[name][:front], *((form,) for form in rest)]
            if len(statement.iterators) != len(rows):
                return None
            matrix = [[only(row).coefficient(it) for it in statement.iterators] for row in rows]
            if abs(round(float(np.linalg.det(np.array(matrix))))) != 1:
                return None
            values[name] = tuple(rows)
        return replace(skewed, values=values)

    def _rows(self, sinking: Sinking) -> dict[str, tuple[Affine, ...]]:
        """Return the values of a sinking over the C iterators, without constants that all share."""
        scop = self.timing.scop
        rows = {
            name: [in_coordinates(scop.statement(name), only(value)) for value in values]
            for name, values in sinking.values.items()
        }
        common = [min(row.constant for row in level) for level in zip(*rows.values(), strict=True)]
        return {
            name: tuple(row - constant for row, constant in zip(own, common, strict=True))
            for name, own in rows.items()
        }

    def _cycles(self, timing: Timing) -> list[Precedence]:
        inside = among(timing.precedences(), self.unit.statements)
        return [p for p in inside if isinstance(p.related, Pairs)]

    def _weighed(self) -> list[_Weighed]:
        """Return the hyperplanes that may be the best, those with the fewest slots first."""
        found: list[_Weighed] = []
        as_it_is = self._cycles(self.timing)
        for nest in islice(self._nests(), MAX_SINKINGS):
            places = {m.name: nest.coordinates(m, self.points[m.name]) for m in self.members}
            distances = self._distances(nest)
            edges = _edges((*as_it_is, *self.orders), distances)
            for plane, apart in self._planes(edges, len(nest.dims)):
                keep_going()
                if self.is_ragged and plane.is_permutation:
                    continue
                sizes = _wavefront_sizes(plane, places)
                carried = _own(edges) if apart else edges
                slots = int(np.maximum(sizes, plane.wavefront_cycles(carried)).sum())
                own = _Weighed(
                    slots, len(found), plane, nest.sinking, sizes, distances, as_it_is, apart
                )
                found.append(own)
        likely = sorted(found, key=_merit)[: 2 * MAX_TRIED]
        return sorted(map(self._adapted, likely), key=_merit)[:MAX_TRIED]

    def _planes(self, edges: Sequence[Edges], depth: int) -> Iterator[tuple[Hyperplane, bool]]:
        """Yield hyperplanes, and whether each statement is to have their wavefronts for itself.

        Inside of outer loops, statements that follow each other need not do so from wavefront to
        wavefront: they may run in the same ones, each so much later that it finds what it reads.
        """
        names = self.unit.statements
        for plane in islice(hyperplanes(names, edges, depth), MAX_WEIGHED):
            yield plane, False
        if len(names) > 1:
            found = hyperplanes(names, _own(edges), depth)
            for plane in chain(islice(found, MAX_WEIGHED), diagonals(names, _own(edges), depth)):
                if plane.outer and follow_each_other(names, edges, plane.outer):
                    yield plane, True

    def _nests(self) -> Iterator[CommonNest]:
        """Yield common nests, each way to sink the statements once."""
        seen = []
        for nest in common_nests(self.members, self.timing.sets, self.orders):
            is_affine = all(len(p) == 1 for own in nest.sinking.values.values() for p in own)
            if is_affine and nest.sinking not in seen:
                seen.append(nest.sinking)
                yield nest

    def _distances(self, nest: CommonNest) -> dict[int, Ints]:
        """Return the distances in the common nest of every dependence and flow, by its id.

        Of the flows too whose value does not matter: it may in another order of the operators.
        """
        members = {member.name: member for member in self.members}
        flows = [f for f in self.timing.dataflow.flows if {f.source, f.sink} <= members.keys()]
        found = {}
        for origin in (*flows, *(p.origin for p in self.orders)):
            pairs = self.timing.related.listed(origin)
            if pairs is not None:
                sinks = nest.coordinates(members[origin.sink], pairs.sinks)
                sources = nest.coordinates(members[origin.source], pairs.sources)
                found[id(origin)] = distinct_rows(sinks - sources)
        return found

    def _adapted(self, weighed: _Weighed) -> _Weighed:
        """Return the same with operators in the order in which these loops want them."""
        plane, distances = weighed.plane, weighed.distances
        usual = -(-weighed.slots // len(weighed.sizes))
        scop = self.timing.scop
        datapaths = dict(self.timing.datapaths)
        for name in self.unit.statements:
            late = self._ages(weighed, name, usual)
            box = scop.schedule.box(name)
            datapaths[name] = build_datapath(scop, scop.statement(name), box, self.target, late)
        cycles = self._cycles(replace(self.timing, datapaths=datapaths))
        edges = weighed.edges_of(_edges((*cycles, *self.orders), distances))
        least = plane.wavefront_cycles(edges)
        return replace(weighed, slots=int(np.maximum(weighed.sizes, least).sum()), cycles=cycles)

    def _ages(self, weighed: _Weighed, name: str, usual: int) -> dict[int, int]:
        """Return how old the values of the unit are in reads of a statement, at least.

        Parameters
        ----------
        usual: cycles from one wavefront to the next.
        """
        plane, distances = weighed.plane, weighed.distances
        ages: dict[int, int] = {}
        for flow in self.timing.dataflow.flows:
            if flow.sink != name or flow.source not in self.unit.statements:
                continue
            age = FAR if weighed.apart else 1
            if flow.source == name:
                edges = Edges(name, name, distances[id(flow)], 0).within(plane.outer)
                age = usual * (FAR if edges is None else int(plane.fronts(edges).min()))
            ages[flow.sink_read] = min(age, ages.get(flow.sink_read, age))
        return ages


def _merit(weighed: _Weighed) -> tuple[int, int]:
    return weighed.slots, weighed.number


def _own(edges: Sequence[Edges]) -> list[Edges]:
    """Return the edges of statements with themselves."""
    return [edge for edge in edges if edge.source == edge.sink]


def _edges(precedences: Sequence[Precedence], distances: Mapping[int, Ints]) -> list[Edges]:
    return [Edges(p.source, p.sink, distances[id(p.origin)], p.lag) for p in precedences]


def _skewed(sinking: Sinking, plane: Hyperplane) -> Sinking:
    """Return the same way to sink into the loops around, on and inside of wavefronts."""
    offsets = dict(plane.offsets)
    values: dict[str, Values] = {}
    for name, own in sinking.values.items():
        rows = [
            affine_sum(only(value) * int(c) for value, c in zip(own, row, strict=True) if c)
            for row in plane.matrix()
        ]
        rows[len(plane.outer)] = rows[len(plane.outer)] + offsets[name]
        values[name] = tuple((row,) for row in rows)
    return Sinking(values, {name: (None,) * len(rows) for name, rows in values.items()})


def _turned(sinking: Sinking, front: int) -> Sinking:
    """Return the same with the loops from `front` on counted downwards."""
    return replace(
        sinking,
        values={
            name: (*own[:front], *(tuple(-value for value in place) for place in own[front:]))
            for name, own in sinking.values.items()
        },
    )


def _wavefront_sizes(plane: Hyperplane, places: Mapping[str, Ints]) -> Ints:
    """Return how many iterations every wavefront has, if statements of one place share them."""
    offsets = dict(plane.offsets)
    fronts = []
    for name, points in places.items():
        time = points @ np.array(plane.coefficients) + offsets[name]
        fronts.append(np.concatenate([points[:, list(plane.outer)], time[:, None]], axis=1))
    _, key = np.unique(np.concatenate(fronts), axis=0, return_inverse=True)
    sizes = np.zeros(int(key.max()) + 1, dtype=np.int64)
    for part in np.split(key.reshape(-1), np.cumsum([len(f) for f in fronts])[:-1]):
        sizes = np.maximum(sizes, np.bincount(part, minlength=len(sizes)))
    return sizes
