"""KernelPlan: all that the hardware builders see.

A plan says, cycle by cycle, what the circuit does, without any polyhedral object in it. It is
immutable, validated on construction, printable (`ir.plan_text`) and serialisable (`ir.json_form`).

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

from rtlgen.ir.expr import BinaryOp, UnaryOp
from rtlgen.ir.scop import Role, Storage
from rtlgen.source import Span

IndexStyle: TypeAlias = Literal["odometer", "divide", "shift"]
MemoryKind: TypeAlias = Literal["block", "register", "rom"]
LOGIC_TABLE_WORDS = 32
"""Elements up to which a table of constants is cheaper in logic than in block RAM."""

INDEX_STYLES: tuple[IndexStyle, ...] = ("odometer", "divide", "shift")


def address_bits(depth: int) -> int:
    """Return the width of an element number; a single element still has an address port."""
    return max(1, (depth - 1).bit_length())


class PlanError(ValueError):
    """A KernelPlan that contradicts itself: a bug of the planner, never of the user."""


@dataclass(frozen=True, slots=True)
class IndexForm:
    """constant + sum of coefficients[l] * counter[l] over the levels of a stream, outermost first.

    Counters are 0-based iteration numbers of the levels.
    """

    coefficients: tuple[int, ...]
    constant: int = 0

    def evaluate(self, counters: tuple[int, ...]) -> int:
        return self.constant + sum(c * x for c, x in zip(self.coefficients, counters, strict=True))


@dataclass(frozen=True, slots=True)
class Condition:
    """`form >= 0`, or `form == 0` when `equal`."""

    form: IndexForm
    equal: bool = False

    def holds(self, counters: tuple[int, ...]) -> bool:
        value = self.form.evaluate(counters)
        return value == 0 if self.equal else value >= 0


@dataclass(frozen=True, slots=True)
class Predicate:
    """A disjunction of conjunctions of conditions on the counters of a stream."""

    alternatives: tuple[tuple[Condition, ...], ...]

    @property
    def is_true(self) -> bool:
        return () in self.alternatives

    @property
    def is_false(self) -> bool:
        return not self.alternatives

    def holds(self, counters: tuple[int, ...]) -> bool:
        return any(all(c.holds(counters) for c in parts) for parts in self.alternatives)


ALWAYS = Predicate(((),))
NEVER = Predicate(())


@dataclass(frozen=True, slots=True)
class LevelBound:
    """form / divisor, rounded inwards: up where it is a lower bound, down where an upper one."""

    form: IndexForm
    divisor: int = 1

    def __post_init__(self) -> None:
        if self.divisor < 1:
            raise PlanError(f"a bound divided by {self.divisor}")

    def ceiling(self, counters: tuple[int, ...]) -> int:
        """Return the smallest counter that keeps the lower bound."""
        return -(-self.form.evaluate(counters) // self.divisor)

    def floor(self, counters: tuple[int, ...]) -> int:
        """Return the largest counter that keeps the upper bound."""
        return self.form.evaluate(counters) // self.divisor


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a stream's loop nest.

    Its counter runs from the largest of `lowers` to the smallest of `uppers`, both inclusive and
    functions of the counters of the levels outside of it. In every iteration of those it runs at
    least once.

    Members
    -------
    extent: the counter stays below it; with no bounds given it runs from 0 to extent - 1.
    name: the C iterator it counts, or None for a pad loop.
    lowers: first values, or () for 0. uppers: last values, or () for extent - 1.
    at_least: number of iterations that it runs for even where its bounds give fewer; 0: none.
    """

    extent: int
    name: str | None = None
    lowers: tuple[LevelBound, ...] = ()
    uppers: tuple[LevelBound, ...] = ()
    at_least: int = 0

    @property
    def is_box(self) -> bool:
        """Whether the level runs from 0 to extent - 1 in every iteration of the outer levels."""
        return not self.lowers and not self.uppers


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBase:
    """What every operation has; `operands` are indices into `Stream.operations`."""

    width_bits: int
    signed: bool
    stage: int
    latency_cycles: int = 0
    operands: tuple[int, ...] = ()
    span: Span | None = None

    @property
    def result_stage(self) -> int:
        return self.stage + self.latency_cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantOp(OperationBase):
    """The constant `value`, in every stage."""

    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterOp(OperationBase):
    """The scalar argument `name`, in every stage: it is captured at start."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOp(OperationBase):
    """The value of `form`, wrapped to the width, valid in `stage`."""

    form: IndexForm


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOp(OperationBase):
    """Read element `address` of a memory through read port `port`.

    Where `address` is None the load is a *lookup*: its only operand is the row-major number of the
    element, of which the memory takes the low bits. A number past the last element gives any
    value: the program does not use it.

    `needed` holds where the value is used: elsewhere the load may return anything, and the port
    may serve another load. At most one needed load a cycle uses a port. `banks[n]` holds where the
    value is in bank n + 1; where none of them does, it is in bank 0. `read` is the number of the
    access in the C statement.
    """

    memory: str
    port: int
    address: IndexForm | None
    needed: Predicate
    banks: tuple[Predicate, ...] = ()
    read: int = 0


@dataclass(frozen=True, slots=True)
class Tap:
    """A value taken from a store on its way instead of from the memory.

    In the cycle of the consuming stage it is the value that `stream` (index in the region) was
    presenting to its store `delay_cycles` cycles ago (0: presents in this same cycle).
    """

    stream: int
    delay_cycles: int
    when: Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardOp(OperationBase):
    """The operand (a load), except where a tap's `when` holds: there that tap's value.

    The predicates of the taps are disjoint. Combinational, of the element's type. `read` is the
    number of the access in the C statement.
    """

    taps: tuple[Tap, ...]
    read: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArithmeticOp(OperationBase):
    """The exact integer result of `op` on the operands' values, wrapped to (width, signed).

    `shl` and `shr` take the count modulo `modulus_bits`, the width of the C type of the left
    operand. `lnot`, `not`, `neg` have one operand, the others two.
    """

    op: UnaryOp | BinaryOp
    modulus_bits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CastOp(OperationBase):
    """The operand's value wrapped to (width, signed): sign- or zero-extended by its own type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectOp(OperationBase):
    """operands (c, a, b): a where c is not 0, else b."""


Operation: TypeAlias = (
    ConstantOp | ParameterOp | IndexOp | LoadOp | ForwardOp | ArithmeticOp | CastOp | SelectOp
)


@dataclass(frozen=True, slots=True)
class Store:
    """Write operation `value` to element `address` of a memory in `stage`, where `when` holds.

    The value is read in `stage` and truncated to the memory's width. Stores of all streams through
    one write port of a memory never coincide, which the planner proves.
    """

    memory: str
    address: IndexForm
    stage: int
    value: int
    when: Predicate
    span: Span | None = None
    port: int = 0


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

    def issued(self, stream: Stream) -> int:
        """Return how many iterations of a stream are issued before the region ends."""
        return min(stream.count, -(-(self.length_cycles - stream.offset_cycles) // stream.ii))


@dataclass(frozen=True, slots=True)
class Memory:
    """One C array, or a scalar variable, and the storage that holds it.

    Members
    -------
    kind: `block`: of each bank up to `read_ports` copies of a one-write one-read block RAM, all
        written together;
        `register`: `depth` flip-flop words with any number of readers;
        `rom`: `read_ports` copies of a memory of constants, logic where it is small.
    shape, role, storage: as in the Scop. Arrays with storage other than `local` have a host port.
    write_ports: banks of a `block`, see above; 1 for any other kind.
    homes: the bank of every element between runs, row-major; () where it is bank 0 for all.
    values: what a `rom` holds, row-major; () for any other kind.
    collision_free: the planner has proved that no needed load meets a store of the same element
        in the same cycle, so the RAM needs no logic for that case.
    """

    name: str
    width_bits: int
    signed: bool
    shape: tuple[int, ...]
    role: Role
    storage: Storage
    kind: MemoryKind
    read_ports: int
    read_latency_cycles: int
    collision_free: bool
    values: tuple[int, ...] = ()
    write_ports: int = 1
    homes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.read_ports < 1 or self.write_ports < 1:
            raise PlanError(f"{self.name}: {self.read_ports} read, {self.write_ports} write ports")
        if self.write_ports > 1 and self.kind != "block":
            raise PlanError(f"{self.name}: a {self.kind} has no {self.write_ports} write ports")
        if len(self.homes) not in (0, self.depth):
            raise PlanError(f"{self.name}: {len(self.homes)} homes for {self.depth} elements")
        if not all(0 <= home < self.write_ports for home in self.homes):
            raise PlanError(f"{self.name}: an element is at home in no bank")
        if len(self.values) != (self.depth if self.kind == "rom" else 0):
            raise PlanError(f"{self.name}: {len(self.values)} values do not fit a {self.kind}")

    @property
    def depth(self) -> int:
        depth = 1
        for extent in self.shape:
            depth *= extent
        return depth

    @property
    def home_banks(self) -> frozenset[int]:
        """The banks in which some element is between runs."""
        return frozenset(self.homes or (0,))

    @property
    def is_block_ram(self) -> bool:
        """Whether it takes block RAM; of a small table, synthesis makes logic."""
        return self.kind == "block" or (self.kind == "rom" and self.depth > LOGIC_TABLE_WORDS)

    @property
    def has_host_port(self) -> bool:
        return self.storage != "local"


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
