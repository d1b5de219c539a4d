"""What a plan takes for its arrays: block RAMs, flip-flops, and the addresses that reach them."""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.ir.memories import address_bits
from rtlgen.ir.plan import KernelPlan, LoadOp
from rtlgen.ir.ram_copies import block_rams
from rtlgen.ir.small_memories import with_small_memories
from rtlgen.target import Target


@dataclass(frozen=True, slots=True)
class Footprint:
    """The storage of a plan.

    Members
    -------
    block_rams: with all copies and banks. register_bits: of arrays that are flip-flops.
    address_bits: of all loads and stores together, each of which counts its own address.
    """

    block_rams: int
    register_bits: int
    address_bits: int

    @staticmethod
    def of(plan: KernelPlan, target: Target) -> Footprint:
        """Return what a plan takes on a family, with its small arrays in logic cells."""
        plan = with_small_memories(plan, target)
        deep = {m.name: address_bits(m.depth) for m in plan.memories if m.ram_words > 1}
        loads = [
            op.memory
            for stream in plan.streams
            for op in stream.operations
            if isinstance(op, LoadOp)
        ]
        stores = [store.memory for stream in plan.streams for store in stream.stores]
        return Footprint(
            block_rams(plan, target),
            sum(m.depth * m.width_bits for m in plan.memories if m.kind == "register"),
            sum(deep.get(name, 0) for name in (*loads, *stores)),
        )
