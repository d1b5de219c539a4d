"""A bound on every schedule: statements that cannot begin before others have ended.

Where an instance depends on all instances of some statement, everything that depends on the
instance comes after everything that the statement depends on: a *barrier*. Between two barriers
some statement has instances that come after the first one and before the second one, one at a
time. The sum over a chain of barriers is a number of iterations that no order, pad or shift falls
below. (A dense layer of a neural network is one; so are a few convolutions whose windows grow
together to the size of the image.)

Reference: the heads and tails of one-machine scheduling, Carlier, "The one-machine sequencing
problem", EJOR 11, 1982.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.sets import ScopSets, attempt
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Dependence

MAX_STATEMENTS = 128
"""Programs with more have no bound of this kind."""

MAX_STEPS = 9
"""Dependences one after another in which all instances of a statement may come together."""

MAX_PIECES = 20
"""Convex pieces of a relation that is followed further."""

MAX_OPERATIONS = 300_000
"""What isl may take to tell which instances depend on all others: a fraction of a second."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Instances of a statement that all come between two barriers."""

    statement: str
    instances: int


@dataclass(frozen=True, slots=True)
class ChainBound:
    """Stages one after another: no instance of one is before any instance of the one before."""

    stages: tuple[Stage, ...]

    @property
    def iterations(self) -> int:
        """What every fused loop takes: the last instance may share an iteration with the next."""
        return sum(stage.instances for stage in self.stages) - (len(self.stages) - 1)

    def text(self) -> str:
        """Return what this means."""
        stages = [f"{stage.instances:,} of {stage.statement}" for stage in self.stages]
        return (
            f"no loop order takes fewer than {self.iterations:,} iterations, since these come one "
            f"after another:\n  {', '.join(stages)}"
        )


def chain_bound(
    sets: ScopSets, dependences: Sequence[Dependence], groups: Sequence[Sequence[str]]
) -> ChainBound | None:
    """Return the chain with the largest bound, or None where there is no barrier.

    Parameters
    ----------
    groups: the statements in an order in which dependences between groups point forward.

    Raises
    ------
    TooComplex
    """
    if sum(map(len, groups)) > MAX_STATEMENTS:
        return None
    return _Search(sets, dependences, groups).best()


Sets = Mapping[str, isl.Set]
"""Some instances of some statements."""


@dataclass(frozen=True, slots=True, eq=False)
class _Barrier:
    """All of `before` come before all of `after`.

    Members
    -------
    sizes_before, sizes_after: the number of instances of every statement in them.
    """

    before: Sets
    after: Sets
    sizes_before: Mapping[str, int]
    sizes_after: Mapping[str, int]


class _Search:
    def __init__(
        self,
        sets: ScopSets,
        dependences: Sequence[Dependence],
        groups: Sequence[Sequence[str]],
    ) -> None:
        self.context = sets.context
        self.domains = sets.domains
        self.names = [name for group in groups for name in group]
        self.sizes = {name: count_points(domain) for name, domain in sets.domains.items()}
        group = {name: number for number, names in enumerate(groups) for name in names}
        relations: dict[tuple[str, str], isl.Map] = {}
        for d in dependences:
            # Between statements of one group some point backward: less order is a lower bound.
            if d.source == d.sink or group[d.source] < group[d.sink]:
                key = d.source, d.sink
                known = relations.get(key)
                relations[key] = d.relation if known is None else known.union(d.relation)
        self.relations = {key: relation.coalesce() for key, relation in relations.items()}
        self.sinks = {n: [b for a, b in self.relations if a == n != b] for n in self.names}
        self.sources = {n: [a for a, b in self.relations if b == n != a] for n in self.names}

    def best(self) -> ChainBound | None:
        """Return the longest chain of barriers."""
        longest: list[tuple[int, tuple[Stage, ...], _Barrier]] = []
        for barrier in self._barriers():
            first = _largest(barrier.sizes_before)
            chains: list[tuple[int, tuple[Stage, ...]]] = [(first.instances, (first,))]
            for length, stages, earlier in longest:
                stage = self._between(earlier, barrier)
                if stage is not None:
                    chains.append((length + stage.instances - 1, (*stages, stage)))
            longest.append((*max(chains, key=lambda chain: chain[0]), barrier))
        bounds = [
            ChainBound((*stages, _largest(barrier.sizes_after))) for _, stages, barrier in longest
        ]
        return max(bounds, key=lambda bound: bound.iterations, default=None)

    def _barriers(self) -> list[_Barrier]:
        """Return the barriers in the order of the statements that they gather.

        Of two with the same instances behind them, the one that gathers the later statement has
        all in front of it that the other one has, if it has the other statement.
        """
        found: list[_Barrier] = []
        known: list[tuple[str, isl.Set, _Barrier]] = []
        for name in reversed(self.names):
            gathered = self._gathered(name)
            if gathered is None:
                continue
            sink, instances = gathered
            same = [barrier for other, those, barrier in known
                    if other == sink and instances.is_subset(those)]  # fmt: skip
            if any(each.sizes_before.get(name) == self.sizes[name] for each in same):
                continue
            before, after = self._before(name), self._after(sink, instances)
            barrier = _Barrier(before, after, _counted(before), _counted(after))
            known.append((sink, instances, barrier))
            found.append(barrier)
        return found[::-1]

    def _gathered(self, name: str) -> tuple[str, isl.Set] | None:
        """Return the first statement with instances that depend on all of `name`, and these."""
        own = self.domains[name]
        reached = {name: isl.Map.identity(own.get_space().map_from_set()).intersect_domain(own)}
        steps = {name: 0}
        for sink in self.names[self.names.index(name) + 1 :]:
            ways = [s for s in self.sources[sink] if steps.get(s, MAX_STEPS) < MAX_STEPS]
            if not ways:
                continue
            parts = [reached[s].apply_range(self.relations[s, sink]) for s in ways]
            relation = reduce(isl.Map.union, parts).coalesce()
            if relation.n_basic_map() > MAX_PIECES:
                continue
            reached[sink] = relation
            steps[sink] = 1 + min(steps[s] for s in ways)
            all_of_them = self._depending_on_all(own, sink, relation)
            if all_of_them is not None and not all_of_them.is_empty():
                return sink, all_of_them
        return None

    def _depending_on_all(self, own: isl.Set, sink: str, relation: isl.Map) -> isl.Set | None:
        """Return the instances of `sink` that are related to all of `own`; None: not known."""
        domain = self.domains[sink]

        def found() -> isl.Set:
            missing = isl.Map.from_domain_and_range(own, domain).subtract(relation)
            return domain.subtract(missing.range()).coalesce()

        return attempt(self.context, MAX_OPERATIONS, found)

    def _after(self, name: str, instances: isl.Set) -> Sets:
        """Return what depends on some instances, themselves included."""
        found = {name: instances}
        for sink in self.names[self.names.index(name) :]:
            keep_going(self.context)
            ways = [(s, self.relations[s, sink]) for s in self.sources[sink] if s in found]
            self._reach(found, sink, ways, self.relations.get((sink, sink)))
        return found

    def _before(self, name: str) -> Sets:
        """Return what all instances of a statement depend on, themselves included."""
        found = {name: self.domains[name]}
        for source in reversed(self.names[: self.names.index(name) + 1]):
            keep_going(self.context)
            ways = [(s, self.relations[source, s].reverse()) for s in self.sinks[source]]
            own = self.relations.get((source, source))
            ways = [way for way in ways if way[0] in found]
            self._reach(found, source, ways, None if own is None else own.reverse())
        return found

    def _reach(
        self,
        found: dict[str, isl.Set],
        name: str,
        ways: Sequence[tuple[str, isl.Map]],
        own: isl.Map | None,
    ) -> None:
        """Add what relations reach in a statement from what is found, and from there by its own."""
        parts = [found[other].apply(relation) for other, relation in ways]
        parts += [found[name]] if name in found else []
        if not parts:
            return
        reached = reduce(isl.Set.union, parts)
        if own is not None:
            # Dependences over memory are transitive for what a statement writes: one step is all.
            reached = reached.union(reached.apply(own))
        found[name] = reached.coalesce()

    def _between(self, earlier: _Barrier, later: _Barrier) -> Stage | None:
        """Return the statement with the most instances between two barriers."""
        best: Stage | None = None
        bounds = {
            name: min(size, later.sizes_before[name])
            for name, size in earlier.sizes_after.items()
            if name in later.sizes_before
        }
        for name, most in sorted(bounds.items(), key=lambda item: -item[1]):
            if best is not None and most <= best.instances:
                break
            size = most
            if self.sizes[name] not in (earlier.sizes_after[name], later.sizes_before[name]):
                size = count_points(earlier.after[name].intersect(later.before[name]))
            if size and (best is None or size > best.instances):
                best = Stage(name, size)
        return best


def _counted(found: Sets) -> dict[str, int]:
    return {name: count_points(points) for name, points in found.items()}


def _largest(sizes: Mapping[str, int]) -> Stage:
    name = max(sizes, key=lambda each: sizes[each])
    return Stage(name, sizes[name])
