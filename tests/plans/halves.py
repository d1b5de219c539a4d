"""Both halves of an array stepped in the same cycles, each through a write port of its own."""

from __future__ import annotations

from rtlgen.ir.plan import (
    ALWAYS,
    ArithmeticOp,
    Condition,
    ConstantOp,
    IndexForm,
    KernelPlan,
    Level,
    LoadOp,
    Memory,
    Predicate,
    Region,
    Store,
    Stream,
)
from rtlgen.source import Span

SPAN = Span("halves.c", 3, 5)
HALF = 5
UPPER = Predicate(((Condition(IndexForm((2,), -HALF)),),))
"""Holds where 2*i is in the upper half."""


def _memory(name: str, depth: int, write_ports: int, homes: tuple[int, ...]) -> Memory:
    return Memory(
        name=name,
        width_bits=16,
        signed=True,
        shape=(depth,),
        role="inout",
        storage="parameter",
        kind="block",
        read_ports=3,
        read_latency_cycles=2,
        collision_free=True,
        write_ports=write_ports,
        homes=homes,
    )


def _stream(
    name: str, offset: int, load: tuple[IndexForm, int, Predicate], store: tuple[str, int, int]
) -> Stream:
    """Return a stream that stores what it loads, and 3."""
    address, port, upper = load
    target, first, write_port = store
    operations = (
        LoadOp(
            width_bits=16,
            signed=True,
            stage=0,
            latency_cycles=2,
            memory="a",
            port=port,
            address=address,
            needed=ALWAYS,
            versions=(upper,),
        ),
        ConstantOp(width_bits=16, signed=True, stage=0, value=3),
        ArithmeticOp(
            width_bits=16, signed=True, stage=2, latency_cycles=1, op="add", operands=(0, 1)
        ),
    )
    return Stream(
        statement=name,
        text="",
        span=SPAN,
        levels=(Level(HALF, "i"),),
        instances=HALF,
        shift=0,
        offset_cycles=offset,
        ii=1,
        ii_reason="nothing stands in the way",
        operations=operations,
        store=Store(target, IndexForm((1,), first), 3, 2, ALWAYS, SPAN, write_port),
    )


def halves_plan(checksum: tuple[str, ...] | None = None) -> KernelPlan:
    """Return the plan: a[i] += 3 and a[HALF + i] += 3 side by side, then b[i] = a[2*i] + 3."""
    never = Predicate(())
    streams = (
        _stream("S0", 0, (IndexForm((1,)), 0, never), ("a", 0, 0)),
        _stream("S1", 0, (IndexForm((1,), HALF), 1, ALWAYS), ("a", HALF, 1)),
        _stream("S2", HALF, (IndexForm((2,)), 2, UPPER), ("b", 0, 0)),
    )
    return KernelPlan(
        name="halves",
        source_file="halves.c",
        scalars=(),
        memories=(
            _memory("a", 2 * HALF, 2, (0,) * HALF + (1,) * HALF),
            _memory("b", HALF, 1, ()),
        ),
        body=(Region.whole(streams),),
        index_style="odometer",
        index_latency_cycles=0,
        checksum=checksum,
        returned=None,
        fused_iterations=2 * HALF,
        floor_iterations=HALF,
    )
