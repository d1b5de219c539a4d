"""Streams, and the regions in which they issue side by side: the static part of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from rtlgen.ir.levels import Address, IndexForm, Level, Predicate, forms_of
from rtlgen.ir.operations import (
    ChooseOp,
    ForwardOp,
    IndexOp,
    LoadOp,
    Operation,
    Store,
    Tap,
    UnitOp,
    is_by_digits,
    is_shareable,
)
from rtlgen.ir.plan_error import PlanError
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Stream:
    """One statement's iterations, issued every `ii` cycles from `offset_cycles` on.

    Members
    -------
    statement: its name in the C program; text: its C source.
    levels: its loops, outermost first; a statement outside all loops has ().
    shift: MF3's shift in iterations, operator latencies not counted (for reports).
    ii_reason: one sentence saying what made II what it is.
    iterations: number of issued iterations where some level has bounds of its own, else None.
    tile_levels: how many of the outermost levels the tile loops of a `TiledRegion` step. Those
        inside of them are what the stream issues each time its region is started, and boxes.
    copies: further stores to other memories, of the value or of what a load brings.
    lane: which of the instances that issue together it issues, from 0.
    """

    statement: str
    text: str
    span: Span
    levels: tuple[Level, ...]
    instances: int
    shift: int
    offset_cycles: int
    ii: int
    ii_reason: str
    operations: tuple[Operation, ...]
    store: Store
    iterations: int | None = None
    tile_levels: int = 0
    copies: tuple[Store, ...] = ()
    lane: int = 0

    def __post_init__(self) -> None:
        if self.ii < 1 or self.offset_cycles < 0:
            raise PlanError(f"{self.statement}: II {self.ii}, offset {self.offset_cycles}")
        if any(level.extent < 1 for level in self.levels):
            raise PlanError(f"{self.statement}: an empty level {self.levels}")
        for number, op in enumerate(self.operations):
            for operand in op.operands:
                if not 0 <= operand < number:
                    raise PlanError(f"{self.statement}: operation {number} uses {operand}")
                if self.operations[operand].result_stage > op.stage:
                    raise PlanError(
                        f"{self.statement}: operation {number} reads {operand} too early"
                    )
            if op.stage < 0 or op.latency_cycles < 0 or op.width_bits < 1:
                raise PlanError(f"{self.statement}: operation {number} is malformed: {op!r}")
            if isinstance(op, LoadOp) and len(op.operands) != (op.address is None):
                raise PlanError(f"{self.statement}: load {number} needs one address")
            if isinstance(op, UnitOp) and (
                op.interval_cycles < 1 or (op.interval_cycles > 1 and not is_by_digits(op))
            ):
                raise PlanError(f"{self.statement}: operation {number} has no such interval")
            if isinstance(op, UnitOp) and op.unit is not None and not is_shareable(op):
                raise PlanError(f"{self.statement}: operation {number} has no unit to share")
        for store in self.stores:
            if self.keeps_loaded(store) and not self.is_brought(store.value):
                raise PlanError(f"{self.statement}: stores two values")
            if any(self.operations[n].result_stage > store.stage for n in store.operands):
                raise PlanError(f"{self.statement}: stores its value before it is there")
        for form in self.forms():
            if len(form.coefficients) != len(self.levels):
                raise PlanError(f"{self.statement}: {form} does not fit {len(self.levels)} levels")
        for place, level in enumerate(self.levels):
            for bound in (*level.lowers, *level.uppers):
                outer = bound.form.coefficients
                if any(outer[place:]) or len(outer) != len(self.levels):
                    raise PlanError(
                        f"{self.statement}: bound {bound} of level {place} looks inward"
                    )
        if not 0 <= self.tile_levels <= len(self.levels):
            raise PlanError(f"{self.statement}: {self.tile_levels} tile loops of {self.levels}")
        if all(level.is_box for level in self.issued_levels) != (self.iterations is None):
            raise PlanError(f"{self.statement}: {self.iterations} iterations do not fit its levels")

    @property
    def name(self) -> str:
        """The name of its statement, with that of its lane."""
        return f"{self.statement}_{self.lane}" if self.lane else self.statement

    @property
    def live(self) -> tuple[int, ...]:
        """The operations that the stored values depend on, in order."""
        found = {number for store in self.stores for number in store.operands}
        for number in reversed(range(len(self.operations))):
            if number in found:
                found.update(self.operations[number].operands)
        return tuple(sorted(found))

    @property
    def stores(self) -> tuple[Store, ...]:
        """The store, and its copies."""
        return (self.store, *self.copies)

    def is_brought(self, number: int) -> bool:
        """Tell whether an operation brings the value of a read from memories."""
        return isinstance(self.operations[number], LoadOp | ChooseOp)

    def read_of(self, number: int) -> int:
        """Return which read of the statement an operation brings the value of."""
        op = self.operations[number]
        while isinstance(op, ChooseOp):
            op = self.operations[op.operands[0]]
        assert isinstance(op, LoadOp), "it brings one"
        return op.read

    def bringing(self, read: int) -> int | None:
        """Return the operation that has what a read brings from memories, if it loads anything."""
        found = [
            n for n in range(len(self.operations)) if self.is_brought(n) and self.read_of(n) == read
        ]
        return max(found, default=None)

    def tapped(self, tap: Tap) -> int:
        """Return the operation of this stream whose value a tap takes."""
        number = self.store.value if tap.read is None else self.bringing(tap.read)
        assert number is not None, "it is there"
        return number

    def keeps_loaded(self, store: Store) -> bool:
        """Tell whether one of the stores keeps what a load brings, in place of the value.

        That may be the value itself, of a statement that does nothing else but waits with it.
        """
        return store.value != self.store.value or store.stage < self.store.stage

    @property
    def issued_levels(self) -> tuple[Level, ...]:
        """The levels that run through each time the region starts."""
        return self.levels[self.tile_levels :]

    @property
    def count(self) -> int:
        """Number of iterations issued each time the region starts, padding included."""
        if self.iterations is not None:
            return self.iterations
        return prod(level.extent for level in self.issued_levels)

    @property
    def depth_cycles(self) -> int:
        """Cycles from the issue of an iteration to the end of its last store."""
        return max(store.stage for store in self.stores) + 1

    @property
    def end_cycle(self) -> int:
        """The region cycle after the store of its last iteration, should that be reached."""
        return self.offset_cycles + self.ii * (self.count - 1) + self.depth_cycles

    def predicates(self) -> tuple[Predicate, ...]:
        """Return every predicate on this stream's counters."""
        found = [store.when for store in self.stores]
        for op in self.operations:
            if isinstance(op, LoadOp):
                found += [op.needed, *op.versions]
            elif isinstance(op, ChooseOp | UnitOp):
                found.append(op.when)
            elif isinstance(op, ForwardOp):
                found.extend(tap.when for tap in op.taps)
        return tuple(found)

    def addresses(self) -> Iterator[Address]:
        """Yield the addresses that this stream presents, lookups and scatters left out."""
        yield from (store.address for store in self.stores if store.address is not None)
        for op in self.operations:
            if isinstance(op, LoadOp) and op.address is not None:
                yield op.address

    def forms(self) -> tuple[IndexForm, ...]:
        """Return every index form of this stream: addresses, index values, conditions."""
        found = [form for address in self.addresses() for form in forms_of(address)]
        found += [op.form for op in self.operations if isinstance(op, IndexOp)]
        for predicate in self.predicates():
            found += [c.form for parts in predicate.alternatives for c in parts]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Region:
    """Streams that issue side by side from one region counter.

    Members
    -------
    length_cycles: cycles from the region's first to after its last store, index recovery not
        counted. Nothing that a stream does later happens.
    """

    streams: tuple[Stream, ...]
    length_cycles: int

    @classmethod
    def whole(cls, streams: tuple[Stream, ...]) -> Region:
        """Return the region in which every stream issues all of its iterations."""
        return cls(streams, max(stream.end_cycle for stream in streams))

    def __post_init__(self) -> None:
        if not 1 <= self.length_cycles <= max(stream.end_cycle for stream in self.streams):
            raise PlanError(f"a region of {self.length_cycles} cycles does not fit its streams")
        for stream in self.streams:
            if stream.offset_cycles >= self.length_cycles:
                raise PlanError(f"{stream.statement} begins after the end of its region")
            for op in stream.operations:
                for tap in op.taps if isinstance(op, ForwardOp) else ():
                    if not 0 <= tap.stream < len(self.streams) or tap.delay_cycles < 0:
                        raise PlanError(f"{stream.statement}: no such tap {tap}")
                    source = self.streams[tap.stream]
                    if tap.is_matched and (source is not stream or source.store.at is None):
                        raise PlanError(f"{stream.statement}: compares no places")
                    if tap.read is not None and source.bringing(tap.read) is None:
                        raise PlanError(f"{stream.statement}: no such tap {tap}")

    def is_cut(self, stream: Stream) -> bool:
        """Tell whether the region ends before the last iteration of a stream would."""
        return stream.end_cycle > self.length_cycles

    def last_cycle(self, stream: Stream) -> int:
        """Return the region cycle of the last store that a stream may make."""
        return min(stream.end_cycle, self.length_cycles) - 1

    def issued(self, stream: Stream) -> int:
        """Return how many iterations of a stream are issued before the region ends."""
        return min(stream.count, -(-(self.length_cycles - stream.offset_cycles) // stream.ii))

    def last_issue(self, stream: Stream) -> int:
        """Return the region cycle in which the last iteration of a stream is issued."""
        return stream.offset_cycles + stream.ii * (self.issued(stream) - 1)

    @property
    def issue_slots(self) -> int:
        """Cycles from the first issue to after the last one."""
        return max(self.last_issue(stream) + 1 for stream in self.streams)
