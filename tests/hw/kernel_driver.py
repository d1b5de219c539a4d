"""Drive a kernel in Amaranth's simulator as a host would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from rtlgen.hw.kernel import Kernel
from rtlgen.ir.plan import KernelPlan, Memory
from tests.plans.interpreter import wrap

Context = Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run left: memories that the host sees, cycles, and the results at `done`."""

    images: dict[str, list[int]]
    cycles: int
    returned: int | None
    checksum: int | None


class Host:
    """A host on the ports of a kernel.

    With `meddle` it starts again and writes to memories all through a run, which must not matter.
    """

    def __init__(self, kernel: Kernel, reset: Signal, ctx: Context) -> None:
        self.kernel, self.reset, self.ctx = kernel, reset, ctx
        self.meddle = False

    @property
    def visible(self) -> list[Memory]:
        return [memory for memory in self.kernel.plan.memories if memory.has_host_port]

    def port(self, memory: Memory, what: str) -> Any:
        return getattr(self.kernel, getattr(self.kernel.names.hosts[memory.name], what))

    async def write(self, images: Mapping[str, list[int]]) -> None:
        for memory in self.visible:
            self.ctx.set(self.port(memory, "en"), 1)
            self.ctx.set(self.port(memory, "we"), (1 << memory.width_bits // 8) - 1)
            for address, value in enumerate(images[memory.name]):
                self.ctx.set(self.port(memory, "addr"), address)
                self.ctx.set(self.port(memory, "wdata"), value & ((1 << memory.width_bits) - 1))
                await self.ctx.tick()
            self.ctx.set(self.port(memory, "we"), 0)
            self.ctx.set(self.port(memory, "en"), 0)

    async def read(self) -> dict[str, list[int]]:
        images = {}
        for memory in self.visible:
            self.ctx.set(self.port(memory, "en"), 1)
            values = []
            for address in range(memory.depth):
                self.ctx.set(self.port(memory, "addr"), address)
                await self.ctx.tick()
                value = self.ctx.get(self.port(memory, "rdata"))
                values.append(wrap(value, memory.width_bits, memory.signed))
            self.ctx.set(self.port(memory, "en"), 0)
            images[memory.name] = values
        return images

    def set_scalars(self, scalars: Mapping[str, int]) -> None:
        for scalar in self.kernel.plan.scalars:
            port = getattr(self.kernel, self.kernel.names.scalars[scalar.name])
            self.ctx.set(port, scalars[scalar.name] & ((1 << scalar.width_bits) - 1))

    async def run(self, scalars: Mapping[str, int], limit: int = 100_000) -> Outcome:
        """Start, count the edges to `done`, and check `idle` in every cycle of the run."""
        kernel, ctx = self.kernel, self.ctx
        assert ctx.get(kernel.idle) and not ctx.get(kernel.done)
        self.set_scalars(scalars)
        ctx.set(kernel.start, 1)
        await ctx.tick()
        ctx.set(kernel.start, 0)
        # Scalars are captured: what they do now must not matter.
        self.set_scalars({name: ~value for name, value in scalars.items()})
        cycles = 1
        self._meddle(self.meddle)
        while not ctx.get(kernel.done):
            assert not ctx.get(kernel.idle)
            cycles += 1
            assert cycles < limit, "the kernel hangs"
            await ctx.tick()
        self._meddle(False)
        returned = self._returned()
        checksum = ctx.get(kernel.checksum) if kernel.plan.checksum else None
        assert not ctx.get(kernel.idle)
        await ctx.tick()
        assert ctx.get(kernel.idle) and not ctx.get(kernel.done)
        if returned is not None:
            assert self._returned() == returned
        return Outcome(await self.read(), cycles, returned, checksum)

    def _returned(self) -> int | None:
        plan = self.kernel.plan
        if plan.returned is None:
            return None
        result = plan.memory(plan.returned)
        return wrap(self.ctx.get(self.kernel.return_value), result.width_bits, result.signed)

    def _meddle(self, on: bool) -> None:
        self.ctx.set(self.kernel.start, on)
        for memory in self.visible:
            for what in ("en", "addr", "wdata"):
                self.ctx.set(self.port(memory, what), on)
            self.ctx.set(self.port(memory, "we"), on * ((1 << memory.width_bits // 8) - 1))

    async def break_off(self, scalars: Mapping[str, int], after_cycles: int) -> None:
        """Start a run and reset the kernel after `after_cycles` of its cycles."""
        self.set_scalars(scalars)
        self.ctx.set(self.kernel.start, 1)
        await self.ctx.tick()
        self.ctx.set(self.kernel.start, 0)
        for _ in range(after_cycles):
            await self.ctx.tick()
        self.ctx.set(self.reset, 1)
        await self.ctx.tick()
        self.ctx.set(self.reset, 0)
        assert self.ctx.get(self.kernel.idle) and not self.ctx.get(self.kernel.done)


def simulate_kernel(plan: KernelPlan, script: Callable[[Host], Any]) -> None:
    """Run the coroutine `script` as the host of a kernel fresh from power-up."""
    kernel = Kernel(plan)
    reset = Signal()
    simulator = Simulator(ResetInserter(reset)(kernel))
    simulator.add_clock(1e-6)

    async def bench(ctx: Context) -> None:
        await script(Host(kernel, reset, ctx))

    simulator.add_testbench(bench)
    simulator.run()
