"""KernelPlan: all that the hardware builders see.

A plan says, cycle by cycle, what the circuit does, without any polyhedral object in it. It is
immutable, validated on construction, printable and serialisable (`ir.plan_text`).
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

Tiles
-----
Between its regions, and between the tiles of each of its `Workers`, a plan waits for words from and
to the memory off chip: see `ir.tiled`. In a region nothing ever waits.

Banks
-----
The elements of a memory may be dealt out to several *banks*, each with ports of its own: see
`ir.bank_map`. An address then names a bank and a row in it.

A bank with several write ports is as many *versions*, each as deep as the bank and written through
one of the ports. The schedule is static, so the version in which the value of a load is, that of
the last store before it, is a function of the iteration. Between runs every element is in its
*home*, the version of its last store in a run; the host writes all versions and reads the home.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlgen.ir.functional_units import FunctionalUnit, functional_units
from rtlgen.ir.levels import (
    ALWAYS,
    NEVER,
    Address,
    AnyBank,
    Condition,
    Field,
    FoldedForm,
    InBank,
    IndexForm,
    Level,
    LevelBound,
    Predicate,
    banks_named,
)
from rtlgen.ir.memories import LOGIC_TABLE_WORDS, Memory, MemoryKind, address_bits
from rtlgen.ir.memory_side import Bus, Direction, MemorySide, OffChip
from rtlgen.ir.operations import (
    ArithmeticOp,
    CastOp,
    ChooseOp,
    ConstantOp,
    FloatingOp,
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
from rtlgen.ir.streams import Region, Stream
from rtlgen.ir.tiled import Mark, TiledRegion, Transfer, Wait, Workers
from rtlgen.options import IndexStyle
from rtlgen.system.typed_json import IF_GIVEN

__all__ = [
    "ALWAYS",
    "LOGIC_TABLE_WORDS",
    "NEVER",
    "Address",
    "AnyBank",
    "ArithmeticOp",
    "Bus",
    "CastOp",
    "ChooseOp",
    "Condition",
    "ConstantOp",
    "Direction",
    "Field",
    "FloatingOp",
    "FoldedForm",
    "ForwardOp",
    "InBank",
    "IndexForm",
    "IndexOp",
    "KernelPlan",
    "Level",
    "LevelBound",
    "LoadOp",
    "Mark",
    "Memory",
    "MemoryKind",
    "MemorySide",
    "OffChip",
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
    "TiledRegion",
    "Transfer",
    "Wait",
    "Workers",
    "address_bits",
    "banks_named",
    "regions_of",
]


MAX_REPLAYED = 4_000_000
"""Issued iterations up to which a plan is replayed; about a second a million."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar argument: an input port, captured when the kernel starts.

    Members
    -------
    limits: the values with which the program has a meaning, both inclusive; None: all of its type.
    """

    name: str
    width_bits: int
    signed: bool
    limits: tuple[int, int] | None = field(default=None, metadata={IF_GIVEN: True})


def regions_of(part: Region | Workers) -> tuple[Region, ...]:
    """Return the static islands of a part of a plan."""
    if isinstance(part, Workers):
        return tuple(region.kernel for region in part.regions)
    return (part,)


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """The whole kernel.

    Members
    -------
    body: what runs, one after another.
    index_style, index_latency_cycles: how counters become indices; the latency comes before
        stage 0 of every iteration and lengthens each region by as much.
    checksum: names of the memories that the checksum unit reads after the last store, in order;
        None when there is no unit.
    returned: memory (a scalar) whose value is the function's result, or None.
    fused_iterations: MF3's figure for the program: smallest max(shift + count) over loop orders
        and pads, latencies not counted. floor_iterations: the largest statement count.
    memory_side: the memory off chip and the arrays in it, or None where all are on chip.
    """

    name: str
    source_file: str
    scalars: tuple[Scalar, ...]
    memories: tuple[Memory, ...]
    body: tuple[Region | Workers, ...]
    index_style: IndexStyle
    index_latency_cycles: int
    checksum: tuple[str, ...] | None
    returned: str | None
    fused_iterations: int
    floor_iterations: int
    memory_side: MemorySide | None = None

    def __post_init__(self) -> None:
        names = {memory.name for memory in self.memories}
        scalars = {scalar.name for scalar in self.scalars}
        for stream in self.streams:
            for store in stream.stores:
                self._require_stored(stream, store)
            for op in stream.operations:
                if isinstance(op, ParameterOp) and op.name not in scalars:
                    raise PlanError(f"{stream.statement} uses unknown scalar {op.name}")
                if isinstance(op, LoadOp):
                    if op.memory not in names:
                        raise PlanError(f"{stream.statement} loads from unknown {op.memory}")
                    memory = self.memory(op.memory)
                    if memory.kind in ("drained", "sink"):
                        kind = memory.kind
                        raise PlanError(f"{stream.statement} loads from the {kind} {op.memory}")
                    if op.latency_cycles != memory.read_latency_cycles:
                        raise PlanError(f"{stream.statement}: wrong latency for {op.memory}")
                    if not 0 <= op.port < memory.read_ports:
                        raise PlanError(f"{stream.statement}: {op.memory} has no port {op.port}")
                    if op.versions and len(op.versions) != memory.write_ports - 1:
                        raise PlanError(f"{stream.statement}: {op.memory} has other versions")
                    if op.address is not None:
                        self._require_place(stream, memory, op.address)
        for name in (*(self.checksum or ()), *((self.returned,) if self.returned else ())):
            if name not in names or self.memory(name).is_stream:
                raise PlanError(f"unknown memory {name}")
        if self.stream_memories and self.memory_side is not None:
            raise PlanError(f"{self.name} has streams and a memory off chip")

        for tiled in self.tiled_regions:
            self._require_moved(tiled)
        for unit in functional_units(self.regions):
            self._require_apart(unit)

    def _require_stored(self, stream: Stream, store: Store) -> None:
        if all(memory.name != store.memory for memory in self.memories):
            raise PlanError(f"{stream.statement} stores to unknown {store.memory}")
        stored = self.memory(store.memory)
        if stored.kind in ("rom", "filled", "source"):
            raise PlanError(f"{stream.statement} stores to the {stored.kind} {stored.name}")
        if not 0 <= store.port < stored.write_ports:
            raise PlanError(f"{stream.statement}: {stored.name} has no write port {store.port}")
        if store.address is not None:
            self._require_place(stream, stored, store.address)
        elif stored.cuts or stored.write_ports > 1:
            raise PlanError(f"{stream.statement} scatters to {stored.name}, which is in parts")

    def _require_place(self, stream: Stream, memory: Memory, address: Address) -> None:
        """Require that an address tells the bank where there are several."""
        names_bank = isinstance(address, InBank | AnyBank)
        if names_bank != bool(memory.cuts):
            raise PlanError(f"{stream.statement}: {address} is no address of {memory.name}")
        if max(banks_named(address)) >= memory.bank_map.banks:
            raise PlanError(f"{stream.statement}: {memory.name} has no bank of {address}")

    def _require_apart(self, unit: FunctionalUnit) -> None:
        """Require that what shares a unit with a tile is in another part, which runs apart."""
        parts = [part for part in self.body for region in regions_of(part) for _ in region.streams]
        sharing = [parts[unit.users[leader].stream] for leader in unit.leaders]
        tiled = [id(part) for part in sharing if isinstance(part, Workers)]
        if len(set(tiled)) < len(tiled):
            raise PlanError(f"unit {unit.number} is shared by operations of the same tiles")

    def _require_moved(self, tiled: TiledRegion) -> None:
        """Require that transfers and windows belong together, one to one."""
        if self.memory_side is None:
            raise PlanError(f"{self.name} has tiles and no memory off chip")
        for transfer in tiled.transfers:
            window = next((m for m in self.memories if m.name == transfer.window), None)
            kind = "filled" if transfer.direction == "load" else "drained"
            if window is None or window.kind != kind:
                raise PlanError(f"a {transfer.direction} needs a {kind} {transfer.window}")
            if window.word_bits != self.memory_side.word_bits:
                raise PlanError(f"{window.name} has other words than the memory off chip")
            if window.depth != window.lanes << transfer.at.width_bits:
                raise PlanError(f"{window.name}: {window.depth} elements do not fit its transfer")
            if len(transfer.strobes) != (window.lanes if transfer.direction == "store" else 0):
                raise PlanError(f"{window.name}: {len(transfer.strobes)} strobes")
            if all(array.name != transfer.array for array in self.memory_side.arrays):
                raise PlanError(f"{window.name}: {transfer.array} is not off chip")

    @property
    def regions(self) -> tuple[Region, ...]:
        """Every static island, in order; of workers, one after another."""
        return tuple(region for part in self.body for region in regions_of(part))

    @property
    def tiled_regions(self) -> tuple[TiledRegion, ...]:
        """The regions of all workers."""
        parts = (part for part in self.body if isinstance(part, Workers))
        return tuple(region for part in parts for region in part.regions)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Every stream of every region, in order."""
        return tuple(stream for region in self.regions for stream in region.streams)

    @property
    def stream_memories(self) -> tuple[Memory, ...]:
        """The arrays whose elements come in, or go out, one after another."""
        return tuple(memory for memory in self.memories if memory.is_stream)

    @property
    def is_replayable(self) -> bool:
        """Whether it has few enough iterations for its judges to enumerate them."""
        return sum(stream.count for stream in self.streams) <= MAX_REPLAYED

    @property
    def external_memories(self) -> tuple[Memory, ...]:
        """The arrays that stand in RAMs of the user's."""
        return tuple(memory for memory in self.memories if memory.is_external)

    @property
    def has_twins(self) -> bool:
        """Whether some memory is there twice, one for the host and one for a run."""
        return any(memory.is_double for memory in self.memories)

    def memory(self, name: str) -> Memory:
        """Return the memory called `name`; KeyError when there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)
