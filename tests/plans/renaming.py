"""The same plan under other C names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rtlgen.ir.plan import KernelPlan, LoadOp, Operation, ParameterOp, Region, Stream


def renamed(plan: KernelPlan, names: Mapping[str, str]) -> KernelPlan:
    """Return `plan` with memories and scalars renamed."""

    def new(name: str) -> str:
        return names.get(name, name)

    def operation(op: Operation) -> Operation:
        if isinstance(op, LoadOp):
            return replace(op, memory=new(op.memory))
        return replace(op, name=new(op.name)) if isinstance(op, ParameterOp) else op

    def stream(old: Stream) -> Stream:
        return replace(
            old,
            operations=tuple(map(operation, old.operations)),
            store=replace(old.store, memory=new(old.store.memory)),
        )

    return replace(
        plan,
        scalars=tuple(replace(scalar, name=new(scalar.name)) for scalar in plan.scalars),
        memories=tuple(replace(memory, name=new(memory.name)) for memory in plan.memories),
        body=tuple(Region.whole(tuple(map(stream, region.streams))) for region in plan.regions),
    )
