"""A memory off chip, for kernels in Amaranth's simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from rtlgen.hw.kernel import Kernel
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import KernelPlan, OffChip

Context = Any
Words = list[int]
MemoryT = TypeVar("MemoryT", bound="Memory")


def packed(plan: KernelPlan, arrays: Mapping[str, np.ndarray], padding: int = 0xA5) -> Words:
    """Return the words of the memory with arrays in it; `padding` is in all other bytes."""
    side = plan.memory_side
    assert side is not None
    image = np.full(side.depth_words * side.bytes_per_word, padding, dtype=np.uint8)
    for array in side.arrays:
        rows = _rows(plan, array, image)
        elements = arrays[array.name]
        rows[:] = elements.reshape(-1, elements.shape[-1]).view(np.uint8)
    size = side.bytes_per_word
    data = image.tobytes()
    return [int.from_bytes(data[k : k + size], "little") for k in range(0, len(data), size)]


def unpacked(plan: KernelPlan, words: Words) -> dict[str, np.ndarray]:
    """Return the arrays that the words of a memory hold."""
    side = plan.memory_side
    assert side is not None
    data = b"".join(word.to_bytes(side.bytes_per_word, "little") for word in words)
    image = np.frombuffer(data, dtype=np.uint8)
    found = {}
    for array in side.arrays:
        kind = np.dtype(f"{'i' if array.signed else 'u'}{array.width_bits // 8}")
        rows = np.ascontiguousarray(_rows(plan, array, image))
        found[array.name] = rows.view(kind).reshape(array.shape)
    return found


def _rows(plan: KernelPlan, array: OffChip, image: np.ndarray) -> np.ndarray:
    side = plan.memory_side
    assert side is not None
    first = array.base_words * side.bytes_per_word
    length = array.words(side.word_bits) * side.bytes_per_word
    stride = array.row_words(side.word_bits) * side.bytes_per_word
    rows = image[first : first + length].reshape(-1, stride)
    return rows[:, : array.shape[-1] * array.width_bits // 8]


class MemoryOffChip:
    """Answers a kernel, and runs it.

    Parameters
    ----------
    latency: cycles of the next access. The circuit has to be right whatever they are.
    """

    def __init__(self, kernel: Kernel, words: Words, latency: Callable[[], int]) -> None:
        self.kernel, self.words, self.latency = kernel, words, latency
        self.accesses = 0
        self.left = 0
        self.asked: tuple[int, ...] | None = None

    def answer(self, ctx: Context) -> None:
        """Drive the answer of this cycle; what is asked for holds still until it is answered."""
        kernel = self.kernel
        side = kernel.plan.memory_side
        assert side is not None
        ctx.set(kernel.mem_ack, 0)
        ctx.set(kernel.mem_rdata, (1 << side.word_bits) - 1)
        if not ctx.get(kernel.mem_en):
            assert self.asked is None, "an access is given up"
            return
        we, addr, data = (ctx.get(kernel.mem_we), ctx.get(kernel.mem_addr), 0)
        if we:
            data = ctx.get(kernel.mem_wdata)
        if self.asked is None:
            self.asked, self.left = (we, addr, data), self.latency()
            self.accesses += 1
        assert self.asked == (we, addr, data), "a request changes before its answer"
        assert addr < len(self.words), "an access beyond the memory"
        self.left -= 1
        if self.left:
            return
        ctx.set(kernel.mem_ack, 1)
        self.asked = None
        if not we:
            ctx.set(kernel.mem_rdata, self.words[addr])
            return
        for byte in range(side.bytes_per_word):
            if we >> byte & 1:
                mask = 0xFF << 8 * byte
                self.words[addr] = self.words[addr] & ~mask | data & mask

    async def run(self, ctx: Context) -> int:
        """Start the kernel; return the cycles from start to done."""
        kernel = self.kernel
        # Far more than the slowest memory of these tests adds to a run.
        limit = 4 * predicted_cycles(kernel.plan)
        assert ctx.get(kernel.idle)
        ctx.set(kernel.start, 1)
        await ctx.tick()
        ctx.set(kernel.start, 0)
        cycles = 1
        while not ctx.get(kernel.done):
            self.answer(ctx)
            cycles += 1
            assert cycles < limit, "the kernel hangs"
            await ctx.tick()
        assert self.asked is None, "done with an access on its way"
        await ctx.tick()
        assert ctx.get(kernel.idle)
        return cycles


class Memory(Protocol):
    """Answers a kernel, and runs it."""

    async def run(self, ctx: Context) -> int:
        """Start the kernel; return the cycles from start to done."""


def simulate_off_chip(
    plan: KernelPlan,
    memory: Callable[[Kernel], MemoryT],
    script: Callable[[MemoryT, Context, Signal], Any],
) -> None:
    """Run the coroutine `script` on a kernel fresh from power-up; its last argument resets it."""
    kernel = Kernel(plan, is_in_block=True)
    reset = Signal()
    simulator = Simulator(ResetInserter(reset)(kernel))
    simulator.add_clock(1e-6)

    async def bench(ctx: Context) -> None:
        await script(memory(kernel), ctx, reset)

    simulator.add_testbench(bench)
    simulator.run()
