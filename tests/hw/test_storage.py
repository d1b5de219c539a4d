"""A core whose arrays stand outside, with RAMs of somebody else's: it asks for what is said.

Two copies of a memory: neither the host nor the kernel sees the other's.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

import rtlgen
from rtlgen.hw.kernel import Kernel
from rtlgen.hw.memory import LoadUser, StoreUser
from rtlgen.hw.storage import DoubledStorage, build_storage
from rtlgen.ir.plan import Memory, MemoryKind, PlanError
from rtlgen.verify.golden import run_golden
from rtlgen.verify.values import to_words

PRODUCT = """
void product(const int a[4][5], const int b[5][4], int c[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 5; k++) c[i][j] += a[i][k] * b[k][j];
}
"""
HISTOGRAM = """
void count(const unsigned char of[20], unsigned short bins[7]) {
  for (int n = 0; n < 20; n++) bins[of[n] % 7] += 1;
}
"""


def edge(ctx: Any, kernel: Kernel, images: dict[str, list[int]], rng: random.Random) -> list[Any]:
    """Do what RAMs do at a clock edge; return what they show then, by the pins.

    What is read in the cycle in which it is written is anything.
    """
    shown = []
    for array, rams in kernel.names.rams.items():
        image, written = images[array], None
        if rams.write is not None and ctx.get(getattr(kernel, rams.write.en)):
            assert not ctx.get(kernel.idle), "written in idle"
            written = ctx.get(getattr(kernel, rams.write.addr))
        for read in rams.reads:
            if ctx.get(getattr(kernel, read.en)):
                element = ctx.get(getattr(kernel, read.addr))
                is_there = element < len(image) and element != written
                data = getattr(kernel, read.data)
                shown.append((data, image[element] if is_there else rng.getrandbits(len(data))))
        if written is not None:
            assert rams.write is not None
            image[written] = ctx.get(getattr(kernel, rams.write.data))
    return shown


@pytest.mark.parametrize(
    ("source", "options"),
    [(PRODUCT, {}), (PRODUCT, {"unroll": {"k": 5}}), (HISTOGRAM, {})],
)
def test_a_core_with_other_rams_is_exact(source: str, options: dict[str, Any]) -> None:
    design = rtlgen.compile(source=source, interface="external", **options)
    kernel, scop = Kernel(design.plan), design.compilation.analysis.program.scop
    rng, data = random.Random(5), np.random.default_rng(5)
    given = {
        array.name: data.integers(0, 100, array.shape).astype(str(array.element))
        for array in scop.arrays
    }
    expected = run_golden(scop, given).arrays
    images = {name: to_words(values).tolist() for name, values in given.items()}

    async def bench(ctx: Any) -> None:
        for cycle in range(-3, design.manifest.predicted_cycles + 9):
            ctx.set(kernel.start, cycle == 0)
            assert ctx.get(kernel.done) == (cycle == design.manifest.predicted_cycles)
            shown = edge(ctx, kernel, images, rng)
            await ctx.tick()
            for pin, word in shown:
                ctx.set(pin, word)

    simulator = Simulator(kernel)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    for name, values in expected.items():
        assert images[name] == to_words(np.asarray(values)).tolist(), name


def test_what_is_in_several_banks_or_copies_is_in_no_ram_of_others() -> None:
    given: dict[str, Any] = {
        "name": "a", "width_bits": 16, "signed": True, "shape": (6,), "role": "inout",
        "storage": "parameter", "kind": "block", "read_ports": 1, "read_latency_cycles": 2,
        "collision_free": True, "is_external": True,
    }  # fmt: skip
    assert not Memory(**given).has_host_port
    changes = ({"is_double": True}, {"write_ports": 2}, {"storage": "local"}, {"kind": "register"})
    for change in changes:
        with pytest.raises(PlanError):
            Memory(**{**given, **change})


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
