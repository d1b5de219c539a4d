"""Which write to an element comes last before an access to it, under any order of the instances.

The last of several earlier instances is the one that shares the most outer time with the access. So
the writes are looked for from the innermost dimension of time to the outermost one: first those in
the same iteration of all outer loops, then in an earlier one of the innermost loop, and so on. Of
nests that stand one after the other, the last one is asked first. What has found its write at one
level, or in one nest, asks for none further out, or before.

isl's own analysis is not used. It takes two statements whose time in a loop is fixed, since they
run in one iteration of it each, for code that stands one after the other there, and puts the
iterations of a third statement before or after both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, latest


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The instances of a writer that share outer time with those of a statement, and no more.

    Members
    -------
    number: of dimensions of time that they share. before: {instance -> earlier writing instance}.
    place: of all instances of the writer in the next dimension, where it is the same.
    """

    number: int
    before: isl.Map
    place: int | None


class LastWrites:
    """The last writes before the accesses of a program.

    Parameters
    ----------
    times: {instance -> time} of every statement; no two instances have one time.
    """

    def __init__(self, sets: ScopSets, times: Mapping[str, isl.Map]) -> None:
        self._sets = sets
        self._times = times
        self._writers: dict[str, list[Statement]] = {}
        for statement in sets.scop.statements:
            self._writers.setdefault(statement.write.array, []).append(statement)
        self._levels: dict[tuple[str, str], list[_Level]] = {}

    def of(self, statement: Statement, access: Access) -> dict[str, isl.Map]:
        """Return {writing instance -> instance of `statement`} by writer, those that have any.

        A lookup has the last write of every element that it may touch.
        """
        touched = self._sets.access_map(statement, access)
        search = _Search(touched.domain_map(), touched.range_map(), touched.wrap())
        writers = self._writers.get(access.array, [])
        levels = {w.name: self._before(statement, w) for w in writers}
        depth = max((level.number for own in levels.values() for level in own), default=-1)
        for number in range(depth, -1, -1):
            at = [(w, level) for w in writers for level in levels[w.name] if level.number == number]
            for some in _latest_first(at):
                if search.left.is_empty():
                    break
                keep_going(self._sets.context)
                # The last one among all writers has to be found before any of them is.
                search.level(
                    {
                        w.name: (
                            level.before,
                            self._sets.access_map(w, w.write),
                            self._times[w.name],
                        )
                        for w, level in some
                    }
                )
        return {w.name: search.found[w.name] for w in writers if w.name in search.found}

    def _before(self, statement: Statement, writer: Statement) -> list[_Level]:
        """Return the levels at which a writer may come before a statement."""
        key = statement.name, writer.name
        if key not in self._levels:
            late, early = self._times[statement.name], self._times[writer.name]
            found = []
            fixed = _fixed(early)
            for number in _levels(fixed, _fixed(late)):
                keep_going(self._sets.context)
                order = _earlier(late.get_space().range(), number)
                before = late.apply_range(order).apply_range(early.reverse())
                if not before.is_empty():
                    found.append(_Level(number, before, fixed[number]))
            self._levels[key] = found
        return self._levels[key]


def _latest_first(
    writers: Sequence[tuple[Statement, _Level]],
) -> list[list[tuple[Statement, _Level]]]:
    """Return the writers of a level in groups, each of which is later than those behind it."""
    places = {level.place for _, level in writers}
    if None in places:
        return [list(writers)]
    order = sorted((place for place in places if place is not None), reverse=True)
    return [[each for each in writers if each[1].place == place] for place in order]


class _Search:
    """The search for the last write before every touch of one access.

    Members
    -------
    left: {instance -> element}, wrapped, whose write is not found yet.
    found: {writing instance -> instance}, by writer.
    """

    def __init__(self, instance: isl.Map, element: isl.Map, touches: isl.Set) -> None:
        self._instance = instance
        self._element = element
        self.left = touches
        self.found: dict[str, isl.Map] = {}

    def level(self, writers: Mapping[str, tuple[isl.Map, isl.Map, isl.Map]]) -> None:
        """Find the writes that share a number of dimensions of time.

        Parameters
        ----------
        writers: {instance -> earlier writing instance}, {writing instance -> element}, and
            {writing instance -> time} of each.
        """
        images = []
        for before, write, time in writers.values():
            earlier = self._instance.intersect_domain(self.left).apply_range(before)
            same = earlier.intersect(self._element.apply_range(write.reverse()))
            if not same.is_empty():
                images.append(latest(same.apply_range(time)))
        if not images:
            return
        last = reduce(isl.Map.union, images)
        if len(images) > 1:
            last = latest(last)
        for name, (_, _, time) in writers.items():
            relation = self._instance.reverse().apply_range(last).apply_range(time.reverse())
            if not relation.is_empty():
                known = self.found.get(name)
                found = relation.reverse()
                self.found[name] = found if known is None else known.union(found)
        self.left = self.left.subtract(last.domain())


def _fixed(times: isl.Map) -> list[int | None]:
    """Return the dimensions of time that have the same value in all instances."""
    count = times.dim(isl.dim_type.out)
    values = [times.plain_get_val_if_fixed(isl.dim_type.out, k) for k in range(count)]
    return [None if value.is_nan() else int(value.to_str()) for value in values]


def _levels(early: Sequence[int | None], late: Sequence[int | None]) -> list[int]:
    """Return the dimensions in which an early instance may be the first time before a late one."""
    found = []
    for number, (a, b) in enumerate(zip(early, late, strict=True)):
        if a is None or b is None or a < b:
            found.append(number)
        if a is not None and b is not None and a != b:
            break
    return found


def _earlier(time: isl.Space, number: int) -> isl.Map:
    """Return {time -> time that is the same in `number` dimensions, and earlier in the next}."""
    order = isl.Map.universe(time.map_from_set())
    for k in range(number):
        order = order.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return order.order_gt(isl.dim_type.in_, number, isl.dim_type.out, number)
