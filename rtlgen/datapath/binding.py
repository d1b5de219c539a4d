"""Binding: which operations share a functional unit, and how far apart instances issue.

How far apart the instances of a statement issue, for units that need not begin one every cycle.

A statement in a nest with others may have an instance in few of its iterations: the division of an
LU decomposition has one in each row. What computes it may take as many cycles over a part of its
work as there are between two instances.

The schedule is static, so in which cycles an operation begins is a set of integers, and whether two
such sets meet is a question to isl. They do not where statements are in nests that run one after
another, where the guards of one exclude those of the other, or where the initiation interval of a
statement leaves cycles in which its multipliers have nothing to do. What computes the same value in
the same cycles, as lanes do of what does not depend on them, is one operation for all of this.

What is shared costs a choice in front of it, and no cycle: the schedule stays as it is. That choice
has a cycle of its own where the operands are there early enough, see `ir.functional_units`. Else it
makes the slowest path of many designs slower, and is made only to keep to a limit.

Binding is the field's name for it (G. De Micheli, "Synthesis and Optimization of Digital Circuits",
1994, chapter 6). The units are found greedily, the largest operations first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import TypeAlias, TypeVar

import islpy as isl
import numpy as np

from rtlgen.ir.effort import MAX_OPERATIONS
from rtlgen.ir.functional_units import ValueNumbers, has_slack, unit_key
from rtlgen.ir.ints import Ints
from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.operation_costs import blocks_of, carry_bits
from rtlgen.ir.operations import FloatingOp, UnitOp, is_by_digits, is_shareable
from rtlgen.ir.plan import (
    ALWAYS,
    Condition,
    KernelPlan,
    Level,
    Operation,
    Predicate,
    Region,
    Stream,
    Workers,
    regions_of,
)
from rtlgen.ir.sets import attempt, integer

MAX_LISTED = 1_000_000
"""Iterations of a nest that is no box up to which they are listed."""


def in_starts(counted: isl.Set, extents: Sequence[int], tile_levels: int) -> isl.Set:
    """Return instances by the counters of their tile, and by which of its iterations they are.

    Parameters
    ----------
    counted: the instances, by the counters of their loops, which are boxes inside of a tile.
    extents: of the loops. tile_levels: how many of them are stepped from start to start.
    """
    names = [f"d{k}" for k in range(len(extents))]
    rank = "0"
    for name, extent in list(zip(names, extents, strict=True))[tile_levels:]:
        rank = f"{extent} * ({rank}) + {name}"
    placed = f"{{ [{','.join(names)}] -> [{','.join([*names[:tile_levels], rank])}] }}"
    return counted.apply(isl.Map.read_from_str(counted.get_ctx(), placed))


def iterations_apart(placed: isl.Set, most: int) -> int:
    """Return the fewest iterations from one instance to the next of a start; `most` for more.

    Parameters
    ----------
    placed: see `in_starts`.
    """
    last = placed.dim(isl.dim_type.set) - 1
    tiles = [f"t{k}" for k in range(last)]
    near = isl.Map.read_from_str(
        placed.get_ctx(),
        f"{{ [{','.join([*tiles, 'r'])}] -> [{','.join([*tiles, 's'])}] : r < s < r + {most} }}",
    )
    pairs = near.intersect_domain(placed).intersect_range(placed)
    return most if pairs.is_empty() else integer(pairs.deltas().dim_min_val(last))


def iterations_between_starts(placed: isl.Set, start: int) -> int:
    """Return the fewest iterations from the last instance of a start to the first of the next.

    Parameters
    ----------
    placed: see `in_starts`. start: iterations from one start to the next, at least.
    """
    last = placed.dim(isl.dim_type.set) - 1
    return start + integer(placed.dim_min_val(last)) - integer(placed.dim_max_val(last))


def listed_iterations_apart(levels: Sequence[Level], when: Predicate, most: int) -> int:
    """Return the same for a nest of any shape that starts once.

    Parameters
    ----------
    when: the iterations that are instances.
    """
    rows = iterations_of(levels)
    places = np.flatnonzero(predicate_mask(when, rows))
    return min(most, int(np.diff(places).min(initial=most)))


Found = TypeVar("Found")

Timing: TypeAlias = tuple[int, tuple[Level, ...], int, int, Predicate]


@dataclass(frozen=True, slots=True)
class Use:
    """An operation that may share a unit.

    Members
    -------
    stream: its number among all of the plan; number: of the operation in it.
    part, region: numbers of the part of the body that it is in, and of the region among all.
    in_tiles: whether that part has tiles. blocks: multiplier blocks that it takes.
    """

    stream: int
    number: int
    part: int
    region: int
    in_tiles: bool
    of: Stream
    op: UnitOp
    blocks: int

    @property
    def first(self) -> int:
        """The cycle of its region in which the first iteration has it begin, if that does."""
        return self.of.offset_cycles + self.op.stage

    @property
    def last(self) -> int:
        """The same of the last iteration."""
        return self.first + self.of.ii * (self.of.count - 1)

    @property
    def timing(self) -> Timing:
        """What the cycles in which it begins depend on."""
        return self.region, self.of.levels, self.of.ii, self.first, self.op.when


@dataclass(slots=True)
class SharedUnit:
    """Operations that share a unit, and how many cycles apart they begin, where that matters.

    Members
    -------
    twins: those that always compute the same, together.
    """

    twins: list[tuple[Use, ...]]
    interval_cycles: int

    @property
    def uses(self) -> list[Use]:
        """All of them."""
        return [use for twins in self.twins for use in twins]

    @property
    def leaders(self) -> list[Use]:
        """Those between which is chosen: of twins, one."""
        return [first for first, *_ in self.twins]


def with_units(plan: KernelPlan, context: isl.Context, *, everywhere: bool = False) -> KernelPlan:
    """Return the plan with operations that share functional units; no cycle changes.

    Parameters
    ----------
    everywhere: whether multipliers are also shared where that makes the clock slower.
    """
    bound: dict[tuple[int, int], UnitOp] = {}
    for number, unit in enumerate(shared_units(plan, context, everywhere=everywhere)):
        regions = [use.region for use in unit.leaders]
        for use in unit.uses:
            is_told_apart = regions.count(use.region) > 1 or unit.interval_cycles > 1
            bound[use.stream, use.number] = replace(
                use.op,
                unit=number,
                interval_cycles=unit.interval_cycles,
                when=use.op.when if is_told_apart else ALWAYS,
            )
    places = count()
    body = tuple(_bound_part(part, places, bound) for part in plan.body)
    return replace(plan, body=body)


def shared_units(
    plan: KernelPlan, context: isl.Context, *, everywhere: bool
) -> tuple[SharedUnit, ...]:
    """Return the units that operations of a plan would share; see `with_units`."""
    cycles = _Cycles(context)
    units: dict[Hashable, list[SharedUnit]] = {}
    for twins in sorted(_twins(plan), key=lambda twins: -twins[0].blocks):
        use = twins[0]
        is_wanted = (everywhere and use.blocks) or is_by_digits(use.op)
        may_be_chosen = is_wanted or has_slack(use.of, use.op)
        key = unit_key(use.of, use.op)
        alike = units.setdefault(key if may_be_chosen else (key, len(units)), [])
        for unit in alike:
            interval = cycles.interval_with(unit, use)
            if interval is not None and _is_less(unit, use, interval):
                unit.twins.append(twins)
                unit.interval_cycles = interval
                break
        else:
            alike.append(SharedUnit([twins], use.op.interval_cycles))
    return tuple(unit for alike in units.values() for unit in alike if len(unit.uses) > 1)


def _twins(plan: KernelPlan) -> Iterable[tuple[Use, ...]]:
    """Return the operations that may share units, together those that compute the same."""
    values = ValueNumbers()
    numbers: dict[int, tuple[int, ...]] = {}
    found: dict[int, list[Use]] = {}
    for use in _uses(plan):
        if use.stream not in numbers:
            numbers[use.stream] = values.of(use.region, use.of)
        found.setdefault(numbers[use.stream][use.number], []).append(use)
    return map(tuple, found.values())


def _uses(plan: KernelPlan) -> Iterator[Use]:
    """Yield the operations that may share units."""
    stream_number, region_number = count(), count()
    for part_number, part in enumerate(plan.body):
        for region in regions_of(part):
            place = next(region_number)
            for stream in region.streams:
                own = next(stream_number)
                live = set(stream.live)
                for number, op in enumerate(stream.operations):
                    if not is_shareable(op) or number not in live:
                        continue
                    blocks = blocks_of(op, stream.operations)
                    # What is cheaper than a choice of operands has no unit.
                    is_large = isinstance(op, FloatingOp) and op.op != "mul"
                    if blocks or is_by_digits(op) or is_large:
                        in_tiles = isinstance(part, Workers)
                        yield Use(own, number, part_number, place, in_tiles, stream, op, blocks)


def _is_less(unit: SharedUnit, use: Use, interval_cycles: int) -> bool:
    """Tell whether a unit for one more operation is smaller than two units."""
    if not is_by_digits(use.op):
        return True
    operations = use.of.operations
    bits = operations[use.op.operands[0]].width_bits
    apart = sum(carry_bits(use.op, operations, own.interval_cycles) for own in (unit, use.op))
    # A choice of operands takes a quarter of `bits`, and the way to the divider gets longer.
    return carry_bits(use.op, operations, interval_cycles) + bits < apart


class _Cycles:
    """In which cycles of their region operations begin."""

    def __init__(self, context: isl.Context) -> None:
        self._context = context
        self._sets: dict[Timing, isl.Set] = {}
        self._lists: dict[Timing, Ints] = {}
        self._apart: dict[frozenset[Timing], bool] = {}

    def interval_with(self, unit: SharedUnit, use: Use) -> int | None:
        """Return how many cycles apart a unit begins with one more operation.

        For what finds digits, at least so many; 1 for others. None: some may begin together.
        """
        if use.in_tiles and any(other.part == use.part for other in unit.leaders):
            # Tiles start when their words are there, and several may be on their way.
            return None
        beside = [other for other in unit.leaders if other.region == use.region]
        if not all(self._are_apart(other, use) for other in beside):
            return None
        if not is_by_digits(use.op):
            return 1
        # From one region to the next nothing is on its way.
        interval = min(unit.interval_cycles, use.op.interval_cycles)
        return min(interval, self._between([*beside, use], interval)) if beside else interval

    def _are_apart(self, one: Use, other: Use) -> bool:
        """Tell whether two operations of a region never begin in the same cycle."""
        key = frozenset((one.timing, other.timing))
        if key not in self._apart:
            self._apart[key] = self._never_meet(one, other)
        return self._apart[key]

    def _never_meet(self, one: Use, other: Use) -> bool:
        if one.last < other.first or other.last < one.first:
            return True
        if _are_boxes(one, other):
            sets = self._begins(one), self._begins(other)
            return self._solved(lambda: bool(sets[0].intersect(sets[1]).is_empty())) is True
        if _are_short(one, other):
            lists = self._listed(one), self._listed(other)
            return not np.intersect1d(*lists, assume_unique=True).size
        return False

    def _between(self, uses: Sequence[Use], most: int) -> int:
        """Return how many cycles apart operations of a region begin at least, up to `most`."""
        if most > 1 and _are_boxes(*uses):
            sets = [self._begins(use) for use in uses]
            found = self._solved(lambda: iterations_apart(reduce(isl.Set.union, sets), most))
            return found or 1
        if most > 1 and _are_short(*uses):
            begins = np.sort(np.concatenate([self._listed(use) for use in uses]))
            return min(most, int(np.diff(begins).min(initial=most)))
        return 1

    def _solved(self, compute: Callable[[], Found]) -> Found | None:
        return attempt(self._context, MAX_OPERATIONS, compute)

    def _begins(self, use: Use) -> isl.Set:
        if use.timing not in self._sets:
            self._sets[use.timing] = isl.Set.read_from_str(self._context, _begins_text(use))
        return self._sets[use.timing]

    def _listed(self, use: Use) -> Ints:
        if use.timing not in self._lists:
            rows = iterations_of(use.of.levels)
            ranks = np.flatnonzero(predicate_mask(use.op.when, rows))
            self._lists[use.timing] = use.first + use.of.ii * ranks
        return self._lists[use.timing]


def _are_boxes(*uses: Use) -> bool:
    return all(level.is_box for use in uses for level in use.of.levels)


def _are_short(*uses: Use) -> bool:
    return all(use.of.count <= MAX_LISTED for use in uses)


def _begins_text(use: Use) -> str:
    """Return the cycles in which an operation of a nest that is a box begins, as isl reads them."""
    levels = use.of.levels
    names = [f"d{k}" for k in range(len(levels))]
    rank = "0"
    for name, level in zip(names, levels, strict=True):
        rank = f"{level.extent} * ({rank}) + {name}"
    inside = [f"0 <= {name} < {level.extent}" for name, level in zip(names, levels, strict=True)]
    when = " or ".join(
        " and ".join(["true", *(_condition_text(c, names) for c in conditions)])
        for conditions in use.op.when.alternatives
    )
    begins = [*inside, f"({when or 'false'})", f"c = {use.first} + {use.of.ii} * ({rank})"]
    exists = f"exists {', '.join(names)} : " if names else ""
    return f"{{ [c] : {exists}{' and '.join(begins)} }}"


def _condition_text(condition: Condition, names: Sequence[str]) -> str:
    terms = [f"{c} * {name}" for c, name in zip(condition.form.coefficients, names, strict=True)]
    relation = "=" if condition.equal else ">="
    return f"{' + '.join([*terms, str(condition.form.constant)])} {relation} 0"


def _bound_part(
    part: Region | Workers, places: Iterator[int], bound: Mapping[tuple[int, int], UnitOp]
) -> Region | Workers:
    if isinstance(part, Region):
        return _bound_region(part, places, bound)
    regions = (
        replace(region, kernel=_bound_region(region.kernel, places, bound))
        for region in part.regions
    )
    return replace(part, regions=tuple(regions))


def _bound_region(
    region: Region, places: Iterator[int], bound: Mapping[tuple[int, int], UnitOp]
) -> Region:
    streams = []
    for stream in region.streams:
        place = next(places)
        operations = tuple(
            bound.get((place, number), _alone(op)) for number, op in enumerate(stream.operations)
        )
        streams.append(replace(stream, operations=operations))
    return replace(region, streams=tuple(streams))


def _alone(op: Operation) -> Operation:
    """Return an operation that shares nothing; mostly, nobody needs to know when it begins."""
    if not is_shareable(op):
        return op
    return replace(op, unit=None, when=op.when if op.interval_cycles > 1 else ALWAYS)
