"""x = sum of a[i]: a result in a register, stored in the last cycle or before it."""

from __future__ import annotations

from rtlgen.ir.plan import (
    ALWAYS,
    ArithmeticOp,
    Condition,
    ForwardOp,
    IndexForm,
    KernelPlan,
    Level,
    LoadOp,
    Memory,
    Predicate,
    Region,
    Store,
    Stream,
    Tap,
)
from rtlgen.source import Span

SPAN = Span("sum.c", 4, 5)
COUNT = 6


def _memory(name: str, depth: int, kind: str, storage: str) -> Memory:
    return Memory(
        name=name,
        width_bits=16,
        signed=True,
        shape=(depth,) if depth > 1 else (),
        role="inout",
        storage="parameter" if storage == "parameter" else "local",
        kind="block" if kind == "block" else "register",
        read_ports=1,
        read_latency_cycles=2 if kind == "block" else 0,
        collision_free=True,
    )


def _load(memory: str, stage: int, latency: int, address: int, needed: Predicate) -> LoadOp:
    return LoadOp(
        width_bits=16,
        signed=True,
        stage=stage,
        latency_cycles=latency,
        memory=memory,
        port=0,
        address=IndexForm((address,)),
        needed=needed,
    )


def sum_plan(later_cycles: int, checksum: tuple[str, ...] | None) -> KernelPlan:
    """Return the plan; another stream stores `later_cycles` after the sum is complete."""
    first = Predicate(((Condition(IndexForm((1,)), equal=True),),))
    others = Predicate(((Condition(IndexForm((1,), -1)),),))

    def stream(name: str, target: str, address: int, offset: int, first_value: int) -> Stream:
        operations = (
            _load("a", 0, 2, 1, ALWAYS),
            _load(target, 2, 0, 0, first),
            ForwardOp(width_bits=16, signed=True, stage=2, operands=(1,),
                      taps=(Tap(first_value, 0, others),)),
            ArithmeticOp(width_bits=16, signed=True, stage=2, latency_cycles=1, op="add",
                         operands=(2, 0)),
        )  # fmt: skip
        return Stream(
            statement=name,
            text="x += a[i];",
            span=SPAN,
            levels=(Level(COUNT, "i"),),
            instances=COUNT,
            shift=0,
            offset_cycles=offset,
            ii=1,
            ii_reason="nothing stands in the way",
            operations=operations,
            store=Store(target, IndexForm((0,)), 3, 3, ALWAYS, SPAN),
        )

    total = stream("S0", "x", 0, 0, 0)
    copy = stream("S1", "y", 0, COUNT + later_cycles, 1)
    streams = (total, copy) if later_cycles else (total,)
    return KernelPlan(
        name="sum",
        source_file="sum.c",
        scalars=(),
        memories=(
            _memory("a", COUNT, "block", "parameter"),
            _memory("x", 1, "register", "parameter"),
            _memory("y", 1, "register", "parameter"),
        ),
        body=(Region.whole(streams),),
        index_style="odometer",
        index_latency_cycles=0,
        checksum=checksum,
        returned="x",
        fused_iterations=COUNT,
        floor_iterations=COUNT,
    )
