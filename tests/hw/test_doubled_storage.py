"""Two copies of a memory: neither the host nor the kernel sees the other's."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.sim import Simulator

from rtlgen.hw.doubled_storage import DoubledStorage
from rtlgen.hw.memory import LoadUser, StoreUser
from rtlgen.hw.memory_kinds import build_storage
from rtlgen.ir.plan import Memory, MemoryKind, PlanError

DEPTH = 6


def memory_of(kind: MemoryKind, **changes: Any) -> Memory:
    given = {
        "name": "a",
        "width_bits": 16,
        "signed": True,
        "shape": (DEPTH,),
        "role": "inout",
        "storage": "parameter",
        "kind": kind,
        "read_ports": 1,
        "read_latency_cycles": 2 if kind == "block" else 0,
        "collision_free": True,
        "is_double": True,
    }
    return Memory(**{**given, **changes})


class Bench:
    """A memory with one load and one store, and its host."""

    def __init__(self, kind: MemoryKind, *, may_stand_still: bool) -> None:
        self.memory = memory_of(kind)
        storage = build_storage(
            self.memory, (LoadUser(0),), (StoreUser(0),), may_stand_still=may_stand_still
        )
        assert isinstance(storage, DoubledStorage)
        self.storage: Any = storage

    async def host_writes(self, ctx: Any, element: int, word: int) -> None:
        ctx.set(self.storage.host_addr, element)
        ctx.set(self.storage.host_wdata, word)
        ctx.set(self.storage.host_en, 1)
        ctx.set(self.storage.host_we, 0b11)
        await ctx.tick()
        ctx.set(self.storage.host_en, 0)

    async def host_reads(self, ctx: Any, element: int) -> int:
        ctx.set(self.storage.host_addr, element)
        ctx.set(self.storage.host_en, 1)
        ctx.set(self.storage.host_we, 0)
        await ctx.tick()
        ctx.set(self.storage.host_en, 0)
        found: int = ctx.get(self.storage.host_rdata)
        return found

    async def stores(self, ctx: Any, element: int, word: int) -> None:
        ctx.set(self.storage.store_0_addr, element)
        ctx.set(self.storage.store_0_data, word)
        ctx.set(self.storage.store_0_en, 1)
        await ctx.tick()
        ctx.set(self.storage.store_0_en, 0)

    async def loads(self, ctx: Any, element: int) -> int:
        ctx.set(self.storage.load_0_addr, element)
        ctx.set(self.storage.load_0_en, 1)
        for _ in range(self.memory.read_latency_cycles):
            await ctx.tick()
            ctx.set(self.storage.load_0_en, 0)
        found: int = ctx.get(self.storage.read_0)
        return found

    def run(self, script: Any) -> None:
        simulator = Simulator(self.storage)
        simulator.add_clock(1e-6)

        async def bench(ctx: Any) -> None:
            await script(self, ctx)

        simulator.add_testbench(bench)
        simulator.run()


@pytest.mark.parametrize("kind", ["block", "register"])
def test_each_side_has_a_copy_and_they_are_swapped(kind: MemoryKind) -> None:
    async def script(bench: Bench, ctx: Any) -> None:
        for hosts, mine in ((0b10, 100), (0b01, 200)):
            ctx.set(bench.storage.hosts, hosts)
            for element in range(DEPTH):
                await bench.host_writes(ctx, element, mine + element)
        ctx.set(bench.storage.hosts, 0b10)
        for element in range(DEPTH):
            await bench.stores(ctx, element, 300 + element)
            assert await bench.host_reads(ctx, element) == 100 + element
            assert await bench.loads(ctx, element) == 300 + element
        # What the host read last stays, whatever the kernel does with that copy then.
        ctx.set(bench.storage.hosts, 0b01)
        assert await bench.loads(ctx, 2) == 102
        await ctx.tick()
        assert ctx.get(bench.storage.host_rdata) == 100 + DEPTH - 1
        for element in range(DEPTH):
            assert await bench.host_reads(ctx, element) == 300 + element
            await bench.host_writes(ctx, element, 400 + element)
            assert await bench.loads(ctx, element) == 100 + element

    Bench(kind, may_stand_still=False).run(script)


@pytest.mark.parametrize("kind", ["block", "register"])
def test_a_kernel_that_stands_still_does_not_keep_the_host(kind: MemoryKind) -> None:
    async def script(bench: Bench, ctx: Any) -> None:
        storage = bench.storage
        ctx.set(storage.moves, 1)
        ctx.set(storage.hosts, 0b01)
        for element in range(DEPTH):
            await bench.host_writes(ctx, element, 100 + element)
        ctx.set(storage.hosts, 0b10)
        assert await bench.loads(ctx, 3) == 103
        ctx.set(storage.moves, 0)
        await bench.stores(ctx, 3, 999)
        for element in range(DEPTH):
            await bench.host_writes(ctx, element, 200 + element)
            assert await bench.host_reads(ctx, element) == 200 + element
        assert ctx.get(storage.read_0) == 103, "what was loaded stays"
        ctx.set(storage.moves, 1)
        assert await bench.loads(ctx, 3) == 103, "what was stored while it stood still is nothing"

    Bench(kind, may_stand_still=True).run(script)


def test_what_the_host_does_not_reach_has_one_copy() -> None:
    with pytest.raises(PlanError, match="two copies, and the host reaches none"):
        memory_of("block", storage="local", role="local")
