"""Random KernelPlans that keep the rules of a plan, with everything in them that one can hold."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import Literal, TypeAlias

from rtlgen.ir.expr import BinaryOp, UnaryOp
from rtlgen.ir.plan import (
    ALWAYS,
    ArithmeticOp,
    CastOp,
    Condition,
    ConstantOp,
    ForwardOp,
    IndexForm,
    IndexOp,
    KernelPlan,
    Level,
    LoadOp,
    Memory,
    Operation,
    ParameterOp,
    Predicate,
    Region,
    Scalar,
    SelectOp,
    Store,
    Stream,
    Tap,
)
from rtlgen.options import IndexStyle
from rtlgen.source import Span

SPAN = Span("random.c", 1, 1)
READ_ONLY = (("in8", 8, True, 5), ("in16", 16, False, 16), ("in32", 32, True, 27))
SCALARS = (Scalar("p", 16, True), Scalar("q", 32, False))
Kind: TypeAlias = UnaryOp | BinaryOp | Literal["select", "cast"]
ARITHMETIC: tuple[BinaryOp, ...] = (
    "add", "sub", "mul", "and", "or", "xor", "lt", "ge", "eq", "shl", "shr",
)  # fmt: skip


def random_plan(
    seed: int, index_style: IndexStyle = "odometer", index_latency_cycles: int = 0
) -> KernelPlan:
    """Return a plan of one or two regions, some of them cut off before their streams end.

    Every stream has a memory of its own to store to and loads from memories that nobody stores to
    in its region, each through a port of its own, so that no two ever meet; what streams of one
    region have of each other comes through taps.
    """
    rng = random.Random(seed)
    memories = [_memory(*row, "in", rng.choice((2, 0))) for row in READ_ONLY]
    regions: list[Region] = []
    stored: list[Memory] = []
    for _ in range(rng.randint(1, 2)):
        readable = memories + stored
        ports = {memory.name: 0 for memory in readable}
        streams: list[Stream] = []
        for _ in range(rng.randint(1, 3)):
            number = sum(len(region.streams) for region in regions) + len(streams)
            streams.append(_Builder(rng, number, readable, ports, streams).stream())
        regions.append(_perhaps_cut(Region.whole(tuple(streams)), rng))
        memories = [_with_ports(memory, ports.get(memory.name, 1)) for memory in memories]
        stored = [_with_ports(memory, ports.get(memory.name, 1)) for memory in stored]
        stored += [_target(stream, rng) for stream in streams]
    return KernelPlan(
        name="random",
        source_file=SPAN.file,
        scalars=SCALARS,
        memories=(*memories, *stored),
        body=tuple(regions),
        index_style=index_style,
        index_latency_cycles=index_latency_cycles,
        checksum=tuple(m.name for m in stored) if rng.random() < 0.3 else None,
        returned=None,
        fused_iterations=1,
        floor_iterations=1,
    )


def _memory(
    name: str, width_bits: int, signed: bool, depth: int, role: str, latency: int
) -> Memory:
    return Memory(
        name=name,
        width_bits=width_bits,
        signed=signed,
        shape=(depth,),
        role="in" if role == "in" else "out",
        storage="parameter",
        kind="block" if latency else "register",
        read_ports=1,
        read_latency_cycles=latency,
        collision_free=True,
    )


def _with_ports(memory: Memory, used: int) -> Memory:
    return Memory(
        memory.name,
        memory.width_bits,
        memory.signed,
        memory.shape,
        memory.role,
        memory.storage,
        memory.kind,
        max(1, used, memory.read_ports),
        memory.read_latency_cycles,
        memory.collision_free,
    )


def _target(stream: Stream, rng: random.Random) -> Memory:
    """Return the memory that a stream stores to, as large as its addresses need."""
    form = stream.store.address
    assert isinstance(form, IndexForm)
    extents = tuple(level.extent for level in stream.levels)
    high = form.constant + sum(
        c * (e - 1) for c, e in zip(form.coefficients, extents, strict=True) if c > 0
    )
    width = stream.operations[stream.store.value].width_bits
    return _memory(stream.store.memory, width, True, high + 1, "out", rng.choice((2, 2, 0)))


def _perhaps_cut(region: Region, rng: random.Random) -> Region:
    whole = region.length_cycles
    least = max(stream.offset_cycles for stream in region.streams) + 1
    return replace(region, length_cycles=rng.choice((whole, rng.randint(least, whole))))


class _Builder:
    """One random stream."""

    def __init__(
        self,
        rng: random.Random,
        number: int,
        readable: list[Memory],
        ports: dict[str, int],
        earlier: list[Stream],
    ) -> None:
        self.rng, self.number, self.readable, self.ports = rng, number, readable, ports
        self.earlier = earlier
        follows = earlier and rng.random() < 0.6
        self.levels = (
            earlier[-1].levels
            if follows
            else tuple(Level(rng.randint(1, 5)) for _ in range(rng.randint(0, 3)))
        )
        self.extents = tuple(level.extent for level in self.levels)
        self.ii = earlier[-1].ii if follows else rng.choice((1, 1, 1, 2, 3))
        self.offset = (
            earlier[-1].offset_cycles + rng.randint(0, 5) if follows else rng.randint(0, 9)
        )
        self.operations: list[Operation] = []
        # What depends on a load that not every iteration needs is for its forward alone.
        self.partial: set[int] = set()

    def stream(self) -> Stream:
        rng = self.rng
        for _ in range(rng.randint(1, 3)):
            self._leaf()
        if self.earlier and rng.random() < 0.7:
            self._forward()
        for _ in range(rng.randint(1, 4)):
            self._inner()
        value = self.operations[-1]
        # C has no other widths, and the host reaches a memory byte by byte.
        last = CastOp(
            width_bits=rng.choice((8, 16, 32, 64)),
            signed=True,
            stage=value.result_stage,
            operands=(len(self.operations) - 1,),
        )
        self._add(last)
        return Stream(
            statement=f"S{self.number}",
            text="",
            span=SPAN,
            levels=self.levels,
            instances=1,
            shift=0,
            offset_cycles=self.offset,
            ii=self.ii,
            ii_reason="random",
            operations=tuple(self.operations),
            store=Store(
                f"out{self.number}",
                self._injective(),
                last.result_stage + rng.randint(0, 2),
                len(self.operations) - 1,
                self._predicate(),
                SPAN,
            ),
        )

    def _add(self, op: Operation) -> int:
        self.operations.append(op)
        return len(self.operations) - 1

    def _leaf(self) -> int:
        rng = self.rng
        width, signed, stage = rng.choice((8, 16, 32)), rng.random() < 0.5, rng.randint(0, 4)
        match rng.choice(("load", "load", "load", "index", "parameter", "constant")):
            case "load":
                return self._load(rng.choice(self.readable), stage)
            case "index":
                form = IndexForm(tuple(rng.randint(-4, 4) for _ in self.levels), rng.randint(-9, 9))
                return self._add(IndexOp(width_bits=width, signed=signed, stage=stage, form=form))
            case "parameter":
                scalar = rng.choice(SCALARS)
                return self._add(
                    ParameterOp(
                        width_bits=scalar.width_bits,
                        signed=scalar.signed,
                        stage=0,
                        name=scalar.name,
                    )
                )
            case _:
                value = rng.randint(-5, 200) % (1 << width - 1)
                return self._add(ConstantOp(width_bits=width, signed=signed, stage=0, value=value))

    def _load(self, memory: Memory, stage: int, needed: Predicate = ALWAYS) -> int:
        port = self.ports[memory.name]
        self.ports[memory.name] += 1
        return self._add(
            LoadOp(
                width_bits=memory.width_bits,
                signed=memory.signed,
                stage=stage,
                latency_cycles=memory.read_latency_cycles,
                memory=memory.name,
                port=port,
                address=self._inside(memory.depth),
                needed=needed,
            )
        )

    def _forward(self) -> None:
        """Add a load that is only needed where an earlier stream's value does not come instead."""
        rng = self.rng
        source_number = rng.randrange(len(self.earlier))
        source = self.earlier[source_number]
        if (source.levels, source.ii) != (self.levels, self.ii):
            return
        width = source.operations[source.store.value].width_bits
        delay = rng.randint(0, 2)
        stage = source.offset_cycles + source.store.stage + delay - self.offset
        memory = rng.choice(self.readable)
        if stage < memory.read_latency_cycles or not self.levels:
            return
        level = rng.randrange(len(self.levels))
        bound = rng.randint(0, self.extents[level])
        unit = tuple(int(n == level) for n in range(len(self.levels)))
        taken = Predicate(((Condition(IndexForm(unit, -bound)),),))
        left = tuple(-c for c in unit)
        needed = Predicate(((Condition(IndexForm(left, bound - 1)),),))
        load = self._load(memory, stage - memory.read_latency_cycles, needed)
        cast = self._add(CastOp(width_bits=width, signed=True, stage=stage, operands=(load,)))
        self.partial |= {load, cast}
        self._add(
            ForwardOp(
                width_bits=width,
                signed=True,
                stage=stage,
                operands=(cast,),
                taps=(Tap(source_number, delay, taken),),
            )
        )

    def _inner(self) -> None:
        rng = self.rng
        usable = [n for n in range(len(self.operations)) if n not in self.partial]
        operands = [rng.choice(usable) for _ in range(3)]
        operands[0] = len(self.operations) - 1
        stage = max(self.operations[n].result_stage for n in operands) + rng.randint(0, 2)
        width, signed = rng.choice((8, 16, 32, 64)), rng.random() < 0.5
        latency = rng.randint(0, 3)
        kind: Kind = rng.choice((*ARITHMETIC, "select", "cast", "neg", "not", "lnot"))
        # A divider is as large as all the rest of a plan, so only some plans have one.
        if self.number == 0 and rng.random() < 0.1:
            kind = rng.choice(("div", "rem"))
        if kind == "select":
            self._add(SelectOp(width_bits=width, signed=signed, stage=stage, latency_cycles=latency,
                               operands=tuple(operands)))  # fmt: skip
        elif kind == "cast":
            self._add(CastOp(width_bits=width, signed=signed, stage=stage, operands=(operands[0],)))
        else:
            count = 1 if kind in ("neg", "not", "lnot") else 2
            self._add(ArithmeticOp(width_bits=width, signed=signed, stage=stage, op=kind,
                                   latency_cycles=latency, operands=tuple(operands[:count]),
                                   modulus_bits=32 if kind in ("shl", "shr") else 0))  # fmt: skip

    def _inside(self, depth: int) -> IndexForm:
        """Return a form that stays in 0 .. depth - 1 on the whole box."""
        rng = self.rng
        coefficients, room = [], depth - 1
        constant = 0
        for extent in self.extents:
            step = rng.randint(0, room // max(1, extent - 1)) if extent > 1 else rng.randint(-9, 9)
            room -= step * (extent - 1)
            if extent > 1 and rng.random() < 0.4:
                constant += step * (extent - 1)
                step = -step
            coefficients.append(step)
        return IndexForm(tuple(coefficients), constant + rng.randint(0, room))

    def _injective(self) -> IndexForm:
        """Return an address that differs in every iteration."""
        weights = [reduce(mul, self.extents[n + 1 :], 1) for n in range(len(self.extents))]
        stretch = self.rng.choice((1, 1, 3))
        return IndexForm(tuple(weight * stretch for weight in weights), self.rng.randint(0, 3))

    def _predicate(self) -> Predicate:
        rng = self.rng
        alternatives = []
        for _ in range(rng.randint(1, 2)):
            conditions = []
            for _ in range(rng.randint(0, 2)):
                coefficients = tuple(rng.choice((-2, -1, 0, 0, 1, 1)) for _ in self.levels)
                form = IndexForm(coefficients, rng.randint(-2, 3))
                conditions.append(Condition(form, equal=rng.random() < 0.3))
            alternatives.append(tuple(conditions))
        return Predicate(tuple(alternatives))
