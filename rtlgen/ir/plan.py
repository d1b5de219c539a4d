"""KernelPlan: all that the hardware builders see.

A plan says, cycle by cycle, what the circuit does, without any polyhedral object in it. It is
immutable, validated on construction, printable (`ir.plan_text`) and serialisable (`ir.json_form`).
Its parts have modules of their own: `ir.levels`, `ir.operations`, `ir.memories`.

Time
----
Cycle 0 is the first cycle after the clock edge that sees `start`. Regions run one after another.
In a region, iteration r of a stream (its rank in the box of its levels, innermost fastest) is
issued in cycle `region base + offset_cycles + ii * r`; *stage* s of that iteration is the cycle
s cycles later. A register that a cycle computes can be read in the next one. A region ends after
its last instance: padding iterations that would still be on their way then are cut off.

Operation `op` consumes its operands in stage `op.stage` and its result can be read from stage
`op.result_stage = op.stage + op.latency_cycles` on (latency 0: combinational). Where a consumer
reads a result later than that, the builder delays it with registers.

A load presents its address in `stage`; the memory's `read_latency_cycles` later the element is in
a register (block RAM: 2, one for the RAM and one for its output register; register: 0). A store
presents address and value in `stage`; a load whose address cycle is *later* than the store's cycle
sees the new value, one that is *earlier* sees the old value. A needed load and a store of the same
element never share a cycle (`Memory.collision_free`): the planner proves it.

Banks
-----
A block memory with several write ports is as many *banks*, each as deep as the array and written
through one of the ports. The schedule is static, so the bank in which the value of a load is, that
of the last store before it, is a function of the iteration. Between runs every element is in its
*home*, the bank of its last store in a run; the host writes all banks and reads the home.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.ir.levels import ALWAYS, NEVER, Condition, IndexForm, Level, LevelBound, Predicate
from rtlgen.ir.memories import LOGIC_TABLE_WORDS, Memory, MemoryKind, address_bits
from rtlgen.ir.operations import (
    ArithmeticOp,
    CastOp,
    ConstantOp,
    ForwardOp,
    IndexOp,
    LoadOp,
    Operation,
    OperationBase,
    ParameterOp,
    SelectOp,
    Store,
    Tap,
)
from rtlgen.ir.plan_error import PlanError
from rtlgen.source import Span

__all__ = [
    "ALWAYS",
    "INDEX_STYLES",
    "LOGIC_TABLE_WORDS",
    "NEVER",
    "ArithmeticOp",
    "CastOp",
    "Condition",
    "ConstantOp",
    "ForwardOp",
    "IndexForm",
    "IndexOp",
    "IndexStyle",
    "KernelPlan",
    "Level",
    "LevelBound",
    "LoadOp",
    "Memory",
    "MemoryKind",
    "Operation",
    "OperationBase",
    "ParameterOp",
    "PlanError",
    "Predicate",
    "Region",
    "Scalar",
    "SelectOp",
    "Store",
    "Stream",
    "Tap",
    "address_bits",
]

IndexStyle: TypeAlias = Literal["odometer", "divide", "shift"]

INDEX_STYLES: tuple[IndexStyle, ...] = ("odometer", "divide", "shift")


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
        if self.operations[self.store.value].result_stage > self.store.stage:
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
        if all(level.is_box for level in self.levels) != (self.iterations is None):
            raise PlanError(f"{self.statement}: {self.iterations} iterations do not fit its levels")

    @property
    def count(self) -> int:
        """Number of issued iterations, padding included."""
        if self.iterations is not None:
            return self.iterations
        count = 1
        for level in self.levels:
            count *= level.extent
        return count

    @property
    def depth_cycles(self) -> int:
        """Cycles from the issue of an iteration to the end of its store."""
        return self.store.stage + 1

    @property
    def end_cycle(self) -> int:
        """The region cycle after the store of its last iteration, should that be reached."""
        return self.offset_cycles + self.ii * (self.count - 1) + self.depth_cycles

    def predicates(self) -> tuple[Predicate, ...]:
        """Return every predicate on this stream's counters."""
        found = [self.store.when]
        for op in self.operations:
            if isinstance(op, LoadOp):
                found += [op.needed, *op.banks]
            elif isinstance(op, ForwardOp):
                found.extend(tap.when for tap in op.taps)
        return tuple(found)

    def forms(self) -> tuple[IndexForm, ...]:
        """Return every index form of this stream: addresses, index values, conditions."""
        found = [self.store.address]
        found += [op.address for op in self.operations if isinstance(op, LoadOp) and op.address]
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

    def is_cut(self, stream: Stream) -> bool:
        """Tell whether the region ends before the last iteration of a stream would."""
        return stream.end_cycle > self.length_cycles

    def last_cycle(self, stream: Stream) -> int:
        """Return the region cycle of the last store that a stream may make."""
        return min(stream.end_cycle, self.length_cycles) - 1

    def issued(self, stream: Stream) -> int:
        """Return how many iterations of a stream are issued before the region ends."""
        return min(stream.count, -(-(self.length_cycles - stream.offset_cycles) // stream.ii))


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar argument: an input port, captured when the kernel starts."""

    name: str
    width_bits: int
    signed: bool


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """The whole kernel.

    Members
    -------
    index_style, index_latency_cycles: how counters become indices; the latency comes before
        stage 0 of every iteration and lengthens each region by as much.
    checksum: names of the memories that the checksum unit reads after the last store, in order;
        None when there is no unit.
    returned: memory (a scalar) whose value is the function's result, or None.
    fused_iterations: MF3's figure for the program: smallest max(shift + count) over loop orders
        and pads, latencies not counted. floor_iterations: the largest statement count.
    """

    name: str
    source_file: str
    scalars: tuple[Scalar, ...]
    memories: tuple[Memory, ...]
    regions: tuple[Region, ...]
    index_style: IndexStyle
    index_latency_cycles: int
    checksum: tuple[str, ...] | None
    returned: str | None
    fused_iterations: int
    floor_iterations: int

    def __post_init__(self) -> None:
        names = {memory.name for memory in self.memories}
        scalars = {scalar.name for scalar in self.scalars}
        for stream in self.streams:
            if stream.store.memory not in names:
                raise PlanError(f"{stream.statement} stores to unknown {stream.store.memory}")
            stored = self.memory(stream.store.memory)
            if stored.kind == "rom":
                raise PlanError(f"{stream.statement} stores to the constant {stored.name}")
            if not 0 <= stream.store.port < stored.write_ports:
                raise PlanError(
                    f"{stream.statement}: {stored.name} has no write port {stream.store.port}"
                )
            for op in stream.operations:
                if isinstance(op, ParameterOp) and op.name not in scalars:
                    raise PlanError(f"{stream.statement} uses unknown scalar {op.name}")
                if isinstance(op, LoadOp):
                    if op.memory not in names:
                        raise PlanError(f"{stream.statement} loads from unknown {op.memory}")
                    memory = self.memory(op.memory)
                    if op.latency_cycles != memory.read_latency_cycles:
                        raise PlanError(f"{stream.statement}: wrong latency for {op.memory}")
                    if not 0 <= op.port < memory.read_ports:
                        raise PlanError(f"{stream.statement}: {op.memory} has no port {op.port}")
                    if op.banks and len(op.banks) != memory.write_ports - 1:
                        raise PlanError(f"{stream.statement}: {op.memory} has other banks")
        for name in (*(self.checksum or ()), *((self.returned,) if self.returned else ())):
            if name not in names:
                raise PlanError(f"unknown memory {name}")

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Every stream of every region, in order."""
        return tuple(stream for region in self.regions for stream in region.streams)

    def memory(self, name: str) -> Memory:
        """Return the memory called `name`; KeyError when there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)
