"""Common periods of statements that depend on each other in a cycle, and where shallow ones run.

Give statements that depend on each other in a cycle a common period, by padding.

Statements in one strongly connected component share loops. In a fused loop, one iteration of a
shared loop must take the same time for all of them, its period, and the period must be long
enough for every dependence that the loop carries. Padding the loops inside makes it so.

Rewrite
-------
    for t { for i<8: S0;  for j<8: S1; }     ->   S0: rank = 17*t + i        (period 17)
    S1 reads what S0 wrote in the same t,         S1: rank = 17*t + j + 8
    S0 what S1 wrote in the t before

The iterations of a common nest in which a statement that lacks some of its loops may run.

Such a statement is pinned to values near the ends of the loops that others have: just before the
first, in it, in the last, or just behind it. A loop that is empty in some outer iterations has no
last one there, unless it is made to run at least once: its last iteration is then the larger one of
its bounds.

Rewrite
-------
    for i<8 { t = 0;                        ->   S0 in iteration 0 of k
      for k<i  t += a[i][k];                     S1 in iteration k
      b[i] = t; }                                S2 in iteration max(i - 1, 0)
                                                 k runs max(i, 1) times
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import lcm, prod
from types import MappingProxyType

import islpy as isl
import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop, Place, only
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.nests.candidates import Placement, box_placement, ragged_loops
from rtlgen.nests.precedence import Precedence, Related, Requirements, smallest_shifts
from rtlgen.nests.row_pads import BlockPlaces
from rtlgen.poly.errors import NoLegalSchedule
from rtlgen.poly.extrema import PairExtrema


@dataclass(frozen=True, slots=True)
class Member:
    """A statement of a component: its iterators, its boxed loops, and the loops' numbers."""

    name: str
    iterators: tuple[str, ...]
    loops: tuple[NestLoop, ...]
    path: tuple[int, ...]


def shared_depth(members: Sequence[Member]) -> int:
    """Return the number of outermost loops that all members share."""
    levels = zip(*(member.path for member in members), strict=False)
    return sum(1 for _ in takewhile(lambda numbers: len(set(numbers)) == 1, levels))


@dataclass(frozen=True, slots=True)
class Grouping:
    """Placements of a component's statements, their initiation interval and relative shifts."""

    placements: Mapping[str, Placement]
    ii: int
    shifts: Mapping[str, int]

    @property
    def last_issue(self) -> int:
        """When the last iteration of any statement is issued."""
        return max(
            self.shifts[name] + self.ii * (placed.count - 1)
            for name, placed in self.placements.items()
        )

    @property
    def loops(self) -> tuple[NestLoop, ...]:
        """The loops of all statements, of placements over common dimensions."""
        return next(iter(self.placements.values())).loops


@dataclass(frozen=True, slots=True, eq=False)
class LastPlaces:
    """Where the last instance of every statement is in a nest, told by its blocks.

    Members
    -------
    names: of the statements. block, place: (statements,) see `BlockPlaces`.
    tails: (statements,) cycles from there to the end of the statement.
    """

    names: tuple[str, ...]
    block: Ints
    place: Ints
    tails: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Ending:
    """When groupings end: of several, that is best which ends first.

    Members
    -------
    tails: of each statement, cycles from an issue to the end of it. Padding behind the last
        instance takes no cycle then. None: what ends last is an issue, that of padding, too.
    last_rank: of a statement in a nest, the rank of its last instance; not asked without `tails`.
    """

    tails: Mapping[str, int] | None
    last_rank: Callable[[str, Placement], int]

    def span(self, name: str, placed: Placement, ii: int) -> int:
        """Return the time from the first issue of a statement to the end of it."""
        if self.tails is None:
            return ii * (placed.count - 1)
        return ii * self.last_rank(name, placed) + self.tails[name]

    def of(self, grouping: Grouping) -> int:
        """Return when the last of the statements ends."""
        return max(
            grouping.shifts[name] + self.span(name, placed, grouping.ii)
            for name, placed in grouping.placements.items()
        )

    def at_least(
        self,
        lengths: Ints,
        last: LastPlaces,
        ii: int = 1,
        shifts: Mapping[str, int] = MappingProxyType({}),
    ) -> int:
        """Return a time before which no grouping ends in a nest of these blocks.

        Parameters
        ----------
        lengths: of the blocks. shifts: of some statements, at least.
        """
        if self.tails is None:
            return ii * (int(lengths.sum()) - 1) + max(shifts.values(), default=0)
        begin = np.cumsum(lengths) - lengths
        ends = ii * (begin[last.block] + last.place) + last.tails
        if shifts:
            ends += np.array([shifts.get(name, 0) for name in last.names], dtype=np.int64)
        return int(ends.max())

    def last_places(self, places: Mapping[str, BlockPlaces]) -> LastPlaces:
        """Return where the last of some places of every statement are."""
        last = [each.last for each in places.values()]
        tails = [0 if self.tails is None else self.tails[name] for name in places]
        return LastPlaces(
            tuple(places),
            np.concatenate([each.block for each in last]),
            np.concatenate([each.place for each in last]),
            np.array(tails, dtype=np.int64),
        )

    def at_least_in_trips(self, trips: int, period: int) -> int:
        """Return the same for so many trips of one length: some instance is in the last."""
        if self.tails is None:
            return trips * period - 1
        return (trips - 1) * period + min(self.tails.values())


def _no_rank(name: str, placed: Placement) -> int:
    raise AssertionError("issues are counted alone")


LAST_ISSUE = Ending(None, _no_rank)
"""That of iterations, which have no latency."""

MOST_UNITS = 16
"""Common multiples of the periods inside of a loop that are tried, where the least one is long."""


def common_period(
    members: Sequence[Member],
    precedences: Sequence[Precedence],
    related: Related,
    iteration_precedences: Sequence[Precedence] = (),
    ending: Ending = LAST_ISSUE,
) -> Grouping:
    """Return the placements with the smallest periods, found from the innermost loop outwards.

    Parameters
    ----------
    precedences: in the unit of time of the result's shifts. related: the pairs behind them.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    ending: of two ways to align the loops, that is taken which ends first.

    Raises
    ------
    NoLegalSchedule: no period up to the sequential length satisfies the precedences.
    """
    found: list[Grouping] = []
    refusals: list[NoLegalSchedule] = []
    for variant in dict.fromkeys((tuple(members), _aligned(members))):
        try:
            periods = _Periods(variant, precedences, related, iteration_precedences)
            found.append(with_late_pads(periods.solve()))
        except NoLegalSchedule as refusal:
            refusals.append(refusal)
    if not found:
        raise refusals[0]
    return min(found, key=ending.of)


def with_late_pads(grouping: Grouping) -> Grouping:
    """Return the same issue times with each instance in the latest possible trip of its pad loop.

    A statement that starts a shift behind the others in trip 0 of its pad loop would still count
    empty trips after its last instance. Begun earlier, it counts them before its first one.

    Rewrite
    -------
        shift 64, for i<64 for p<65 if (p == 0) S   ->   shift 0, ... if (p == 64) S
    """
    placements, shifts = dict(grouping.placements), dict(grouping.shifts)
    for name, placed in grouping.placements.items():
        *outer, last = placed.loops or (NestLoop(None, 1),)
        if last.iterator is not None:
            continue
        trips = min(shifts[name] // grouping.ii, last.extent - 1 - last.at)
        if trips > 0:
            loops = (*outer, replace(last, at=last.at + trips))
            placements[name] = box_placement(loops, placed.iterators, placed.changes)
            shifts[name] -= trips * grouping.ii
    return Grouping(placements, grouping.ii, shifts)


Inside = int | str
"""What stands directly in a loop: the number of a loop that statements share, or a statement."""


@dataclass(frozen=True, slots=True)
class _Child:
    """What stands directly in a loop.

    Members
    -------
    extent: how often it runs. least: its smallest period; step: longer ones are multiples of it.
        None: there are no longer ones.
    """

    extent: int
    least: int
    step: int | None

    def dividing(self, unit: int) -> int | None:
        """Return its smallest period of which a unit is a multiple, or None."""
        if self.step is None:
            return self.least if unit % self.least == 0 else None
        first = -(-self.least // self.step) * self.step
        fitting = (each for each in range(first, unit + 1, self.step) if unit % each == 0)
        return next(fitting, None)


class _Periods:
    """The periods of the loops that statements share, the innermost loops first.

    A period is whole periods of each loop inside. Were these always the shortest, it would be a
    multiple of all: of 25, 26 and 3 cycles, of 1,950. If 25 and 26 become 27, any multiple of 27
    does.
    """

    def __init__(
        self,
        members: Sequence[Member],
        precedences: Sequence[Precedence],
        related: Related,
        iteration_precedences: Sequence[Precedence],
    ) -> None:
        self.members = {m.name: _with_shared_boxes(m, members) for m in members}
        self.precedences = precedences
        self.related = related
        self.iteration_precedences = iteration_precedences
        users: dict[int, list[str]] = {}
        for member in self.members.values():
            for number in member.path:
                users.setdefault(number, []).append(member.name)
        # A loop around one statement only has the period that its own inner loops give it.
        self.users = {number: names for number, names in users.items() if len(names) > 1}
        self.periods: dict[Inside, int] = {}
        # The shortest of each in which what is inside of it keeps its order.
        self.least: dict[Inside, int] = {}
        self.ii = 1

    def solve(self) -> Grouping:
        depth = {
            number: member.path.index(number)
            for member in self.members.values()
            for number in member.path
        }
        self.periods = dict.fromkeys(self.users, 1)
        self.least = dict.fromkeys(self.users, 1)
        for number in sorted(self.users, key=lambda n: -depth[n]):
            self._make_room(number)
        self.ii = self._initiation_interval()
        for number in sorted(self.users, key=lambda n: -depth[n]):
            self._search(number, depth[number])
        placed = {name: self._placement(m) for name, m in self.members.items()}
        shifts = self._shifts(placed, Requirements(self.precedences), self.ii)
        in_iterations = Requirements(self.iteration_precedences)
        if shifts is None or self._shifts(placed, in_iterations, 1) is None:
            raise _no_schedule(self.members)
        return Grouping(placed, self.ii, shifts)

    def _children(self, number: int) -> dict[Inside, _Child]:
        """Return what stands directly in a shared loop."""
        found: dict[Inside, _Child] = {}
        for name in self.users[number]:
            member = self.members[name]
            level = member.path.index(number) + 1
            if level == len(member.path):
                found[name] = _Child(1, 1, None)
                continue
            child, extent = member.path[level], member.loops[level].extent
            if child in self.periods:
                step = lcm(*self._now(self._children(child)).values())
                found[child] = _Child(extent, self.least[child], step)
            else:
                period = prod(loop.extent for loop in member.loops[level + 1 :])
                found[name] = _Child(extent, period, None)
        return found

    def _now(self, children: Mapping[Inside, _Child]) -> dict[Inside, int]:
        """Return the periods that loops and statements have as they are."""
        return {child: self.periods.get(child, own.least) for child, own in children.items()}

    def _make_room(self, number: int) -> None:
        """Set the shortest period of a loop in which those inside have room as they are."""
        children = self._children(number)
        periods = self._now(children)
        longest = max(own.extent * periods[child] for child, own in children.items())
        step = lcm(*periods.values())
        self.periods[number] = self.least[number] = -(-longest // step) * step

    def _placement(self, member: Member) -> Placement:
        loops: list[NestLoop] = []
        outer: int | None = None
        for level, (number, loop) in enumerate(zip(member.path, member.loops, strict=True)):
            period = self.periods.get(number)
            inner = prod(x.extent for x in member.loops[level + 1 :]) if period is None else period
            extent = loop.extent if outer is None else outer // inner
            loops.append(NestLoop(loop.iterator, extent, loop.at))
            outer = period
        if outer is not None and outer > 1:
            loops.append(NestLoop(None, outer, 0))
        return box_placement(loops, member.iterators)

    def _initiation_interval(self) -> int:
        placed = {name: self._placement(m) for name, m in self.members.items()}
        return max(
            (
                initiation_interval(p, placed[p.source])
                for p in self.precedences
                if p.source == p.sink
            ),
            default=1,
        )

    def _search(self, number: int, level: int) -> None:
        names = set(self.users[number])
        inside = self._inside(self.precedences, names, level)
        required = Requirements(inside)
        in_iterations = Requirements(self._inside(self.iteration_precedences, names, level))

        def shortest(periods: Mapping[Inside, int], low: int, high: int) -> int | None:
            """Return the shortest up to `high` with these inside; none does up to `low`."""
            step = lcm(*periods.values())

            def does(multiple: int) -> bool:
                self._set_period(number, multiple * step, periods)
                return self._feasible(number, required, in_iterations)

            least = max(own.extent * periods[child] for child, own in children.items())
            first, last = max(low // step, -(-least // step) - 1), high // step
            if last <= first or not does(last):
                return None
            while last - first > 1:
                middle = (first + last) // 2
                first, last = (first, middle) if does(middle) else (middle, last)
            return last * step

        children = self._children(number)
        chosen = {child: own.least for child, own in children.items()}
        step = lcm(*chosen.values())
        # One after another with every lag waited for: always enough, so bisection can start there.
        sequential = sum(own.extent * own.least for own in children.values())
        sequential += sum(max(0, p.lag) + 1 for p in inside)
        best = shortest(chosen, 0, -(-sequential // step) * step)
        if best is None:
            raise _no_schedule(self.members)
        low = best - step
        for periods in self._with_common_multiples(children) if low < TOLERANCE * best else ():
            found = shortest(periods, low, best - 1)
            if found is not None:
                best, chosen = found, periods
        self._set_period(number, best, chosen)

    def _with_common_multiples(self, children: Mapping[Inside, _Child]) -> list[dict[Inside, int]]:
        """Return periods of what is inside that have short common multiples, the shortest first."""
        longest = max(own.least for own in children.values())
        found = []
        for unit in range(longest, 2 * longest):
            periods = {child: own.dividing(unit) for child, own in children.items()}
            known = {child: period for child, period in periods.items() if period is not None}
            if len(known) == len(periods):
                found.append(known)
        found.sort(key=lambda each: sum(own.extent * each[c] for c, own in children.items()))
        return found[:MOST_UNITS]

    def _set_period(self, number: int, period: int, inside: Mapping[Inside, int]) -> None:
        """Set the period of a loop, and of those inside; make room for it in those around it."""
        self.periods |= {child: own for child, own in inside.items() if child in self.periods}
        self.periods[number] = self.least[number] = period
        path = self.members[self.users[number][0]].path
        for outer in reversed(path[: path.index(number)]):
            self._make_room(outer)

    def _inside(
        self, precedences: Sequence[Precedence], names: set[str], level: int
    ) -> list[Precedence]:
        """Return the precedences between `names` within one iteration of the outer loops."""
        return [
            inner
            for p in precedences
            if p.source in names
            and p.sink in names
            and (inner := self.related.restricted(p, level)) is not None
        ]

    def _feasible(self, number: int, required: Requirements, in_iterations: Requirements) -> bool:
        placed = {name: self._placement(self.members[name]) for name in self.users[number]}
        return (
            self._shifts(placed, required, self.ii) is not None
            and self._shifts(placed, in_iterations, 1) is not None
        )

    def _shifts(
        self, placed: Mapping[str, Placement], required: Requirements, ii: int
    ) -> dict[str, int] | None:
        iis = dict.fromkeys(placed, ii)
        return smallest_shifts(list(placed), required.between(placed, iis), {})


def initiation_interval(precedence: Precedence, placed: Placement) -> int:
    """Return the smallest II at which a statement keeps a precedence with itself.

    The placement must keep the order of the related instances.
    """
    distance = self_distance(precedence, placed)
    return max(1, -(-precedence.lag // distance))


def initiation_intervals(
    precedences: Sequence[Precedence], placed: Sequence[Placement]
) -> list[int]:
    """Return the smallest II of each placement at which a statement keeps its own precedences."""
    iis = [1] * len(placed)
    for p in precedences:
        distances = self_distances(p, placed)
        iis = [max(ii, -(-p.lag // d)) for ii, d in zip(iis, distances, strict=True)]
    return iis


def self_distance(precedence: Precedence, placed: Placement) -> int:
    """Return the smallest rank distance from source to sink; not positive: the order is broken."""
    return -precedence.largest_gap(placed, placed, 1, 1)


def self_distances(precedence: Precedence, placed: Sequence[Placement]) -> list[int]:
    """Return `self_distance` of each placement, those of boxes all at once."""
    related = precedence.related
    ranks = [nest.rank for nest in placed if nest.rank is not None]
    if not isinstance(related, PairExtrema) or related.others:
        return [self_distance(precedence, nest) for nest in placed]
    if len(ranks) < len(placed) or not placed:
        return [self_distance(precedence, nest) for nest in placed]
    keep_going()
    own = related.vertices.shape[1] // 2
    steps = np.unique(related.vertices[:, own:] - related.vertices[:, :own], axis=0)
    coefficients = np.array([c for c, _ in ranks], dtype=np.int64).reshape(len(ranks), own)
    distances: list[int] = (coefficients @ steps.T).min(axis=1).tolist()
    return distances


def _aligned(members: Sequence[Member]) -> tuple[Member, ...]:
    """Give private loops at one depth the same extent, so that their periods fit each other.

    Inner loops of 9 and 10 iterations have a common multiple of 90; with 10 and 10 it is 10.
    """
    users: dict[int, int] = {}
    for member in members:
        for number in member.path:
            users[number] = users.get(number, 0) + 1
    longest: dict[int, int] = {}
    for member in members:
        for depth, (number, loop) in enumerate(zip(member.path, member.loops, strict=True)):
            if users[number] == 1:
                longest[depth] = max(loop.extent, longest.get(depth, 1))
    return tuple(
        replace(
            member,
            loops=tuple(
                replace(loop, extent=longest[depth]) if users[number] == 1 else loop
                for depth, (number, loop) in enumerate(zip(member.path, member.loops, strict=True))
            ),
        )
        for member in members
    )


def _with_shared_boxes(member: Member, members: Sequence[Member]) -> Member:
    """Give a loop the smallest box that holds the iterations of every statement in it."""
    loops = []
    for number, loop in zip(member.path, member.loops, strict=True):
        same = [other.loops[other.path.index(number)] for other in members if number in other.path]
        low = min(x.at for x in same)
        high = max(x.at + x.extent for x in same)
        loops.append(NestLoop(loop.iterator, high - low, low))
    return Member(member.name, member.iterators, tuple(loops), member.path)


def _no_schedule(members: Mapping[str, Member]) -> NoLegalSchedule:
    return NoLegalSchedule(
        f"no common period satisfies the dependences between {', '.join(members)}",
        help="put the statements into loops of their own, or remove shift overrides",
    )


Values = tuple[Place, ...]
"""The common dimensions in one statement, as functions of its iterators."""

Bounds = tuple[tuple[Place, ...], ...]
"""For each common dimension, values near its ends, functions of the dimensions outside of it."""


def dimensions(depth: int) -> tuple[str, ...]:
    """Return the names of the common dimensions."""
    return tuple(f"c{number}" for number in range(depth))


class PlacedLoops:
    """The loops of members with the bounds that they have where some image places them."""

    def __init__(self, domains: Mapping[str, isl.Set]) -> None:
        self._domains = domains
        self._known: dict[tuple[str, tuple[int, ...]], tuple[NestLoop, ...]] = {}

    def of(self, member: Member, image: tuple[int, ...]) -> tuple[NestLoop, ...]:
        """Return the loops of a member in the order of their dimensions."""
        order = tuple(sorted(range(len(image)), key=image.__getitem__))
        key = member.name, order
        if key not in self._known:
            boxes = [member.loops[n] for n in order]
            self._known[key] = ragged_loops(self._domains[member.name], member.iterators, boxes)
        return self._known[key]


def written_bounds(
    members: Sequence[Member],
    images: Sequence[tuple[int, ...]],
    placed: PlacedLoops,
    depth: int,
) -> Bounds:
    """Return the values near the ends of the loops, where `images` places them.

    Parameters
    ----------
    images: for every member, the common dimension of each of its loops.
    """
    ends: list[dict[Place, None]] = [{} for _ in range(depth)]
    boxes = _boxes(members, images, depth)
    dims = dimensions(depth)
    for member, image in zip(members, images, strict=True):
        renamed = {
            name: Affine.variable(dims[dim])
            for name, dim in zip(member.iterators, image, strict=True)
        }
        for dim, loop in zip(sorted(image), placed.of(member, image), strict=True):
            lowers = _whole(loop.lowers) or [Affine((), loop.at)]
            uppers = _whole(loop.uppers) or [Affine((), loop.at + loop.extent - 1)]
            near: list[Place] = [(end + step,) for end in lowers for step in (-1, 0)]
            near += [(end + step,) for end in uppers for step in (0, 1)]
            near += _last_of_short(lowers, uppers, renamed, boxes)
            for place in near:
                ends[dim][_substituted(place, renamed)] = None
    return tuple(tuple(found) for found in ends)


def _boxes(
    members: Sequence[Member], images: Sequence[tuple[int, ...]], depth: int
) -> dict[str, tuple[int, int]]:
    """Return the smallest and the largest value of every dimension that is somebody's loop."""
    found: dict[str, tuple[int, int]] = {}
    names = dimensions(depth)
    for member, image in zip(members, images, strict=True):
        for dim, loop in zip(image, member.loops, strict=True):
            low, high = found.get(names[dim], (loop.at, loop.at))
            found[names[dim]] = min(low, loop.at), max(high, loop.at + loop.extent - 1)
    return found


def _last_of_short(
    lowers: Sequence[Affine],
    uppers: Sequence[Affine],
    renamed: Mapping[str, Affine],
    boxes: Mapping[str, tuple[int, int]],
) -> list[Place]:
    """Return the last iteration of a loop that runs once where it would be empty, if it may be."""
    if len(lowers) != 1 or len(uppers) != 1:
        return []
    trips = (uppers[0] - lowers[0]).substitute(renamed)
    return [(uppers[0], lowers[0])] if trips.range(dict(boxes))[0] < 0 else []


def _substituted(place: Place, values: Mapping[str, Affine]) -> Place:
    return tuple(form.substitute(values) for form in place)


def _whole(bounds: Sequence[Bound]) -> list[Affine]:
    """Return the bounds that do not round."""
    return [bound.form for bound in bounds if bound.divisor == 1]


def pinned_values(
    member: Member, image: tuple[int, ...], bounds: Bounds, depth: int
) -> list[Values]:
    """Return the values of the common dimensions in a statement, for every choice of its pins."""
    found: list[Values] = [()]
    for dim in range(depth):
        grown: dict[Values, None] = {}
        for values in found:
            if dim in image:
                grown[*values, (Affine.variable(member.iterators[image.index(dim)]),)] = None
                continue
            known = {
                name: only(place)
                for name, place in zip(dimensions(depth), values, strict=False)
                if len(place) == 1
            }
            for end in bounds[dim]:
                place = _substituted(end, known)
                if all(form.variables <= set(member.iterators) for form in place):
                    grown[*values, place] = None
        found = list(grown)
    return found
