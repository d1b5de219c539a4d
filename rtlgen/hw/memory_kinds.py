"""The choice of a storage by the plan's kind of memory."""

from __future__ import annotations

from dataclasses import replace

from rtlgen.hw.block_storage import BlockStorage
from rtlgen.hw.doubled_storage import DoubledStorage
from rtlgen.hw.memory import RAM_CYCLES, ArrayStorage, LoadUser, StoreUser
from rtlgen.hw.outside_storage import OutsideStorage
from rtlgen.hw.part_storage import PartStorage
from rtlgen.hw.small_storage import RegisterStorage, RomStorage
from rtlgen.hw.windows import DrainedStorage, FilledStorage
from rtlgen.ir.plan import Memory, MemoryKind

_KINDS: dict[MemoryKind, type[ArrayStorage]] = {
    "block": BlockStorage,
    "register": RegisterStorage,
    "rom": RomStorage,
    "filled": FilledStorage,
    "drained": DrainedStorage,
}


def build_storage(
    plan: Memory,
    loads: tuple[LoadUser, ...],
    stores: tuple[StoreUser, ...],
    *,
    is_looked_up: bool = False,
    may_stand_still: bool = False,
    host_cycles: int = 1,
) -> ArrayStorage:
    """Return the storage for a memory of the plan.

    Parameters
    ----------
    is_looked_up: whether some user computes its addresses.
    may_stand_still: whether the kernel does not move on in every cycle of a run.
    host_cycles: until the host sees what it reads.
    """
    kind = PartStorage if plan.part is not None else _KINDS[plan.kind]
    if plan.is_external:
        kind = OutsideStorage
    if plan.is_double:
        copy = plan
        if plan.kind == "block" and plan.write_ports == 1:
            # The copies are told apart in front of their output register, which they share. Which
            # version holds an element is said in the cycle behind that.
            copy = replace(plan, read_latency_cycles=RAM_CYCLES)
        first, second = (kind(copy, loads, stores, is_looked_up) for _ in range(2))
        return DoubledStorage(
            plan, (first, second), may_stand_still=may_stand_still, host_cycles=host_cycles
        )
    return kind(plan, loads, stores, is_looked_up, host_cycles)
