"""An AXI4 memory around a kernel, in Amaranth's simulator."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from amaranth.sim import SimulatorContext as Context

from rtlgen.hw.kernel import Kernel
from rtlgen.ir.plan import MemorySide

PAGE = 4096
APART = (1 << 32) + 5 * PAGE
"""Between the beginnings of arrays."""
OKAY, SLVERR = 0, 2


def side_of(kernel: Kernel) -> MemorySide:
    """Return the memory side of a kernel that has one."""
    side = kernel.plan.memory_side
    assert side is not None
    return side


def places_of(kernel: Kernel) -> dict[str, int]:
    """Return the addresses of arrays, the last one of the map first, each apart from the next."""
    names = [array.name for array in reversed(side_of(kernel).arrays)]
    return {name: n * APART - PAGE for n, name in enumerate(names, 1)}


class AxiOffChip:
    """Answers a kernel, and runs it; watches the rules of the channels.

    Parameters
    ----------
    words: of the map, in which each array begins with a page.
    latency: cycles of the next answer. pauses: how often a channel pauses, from 0 to 1.
    errors: numbers of bursts, of either direction, that are answered with an error.
    """

    def __init__(
        self,
        kernel: Kernel,
        words: list[int],
        latency: Callable[[], int],
        pauses: float = 0,
        errors: frozenset[int] = frozenset(),
    ) -> None:
        self.kernel, self.words, self.latency = kernel, words, latency
        self.bases = places_of(kernel)
        self.pauses, self.errors = pauses, errors
        self.random = random.Random(5)
        self.cycle = 0
        self.bursts = 0
        self.longest = 0
        self.reads: list[list[int]] = []
        """Word, words that are left, cycle, response of each burst."""
        self.shown: tuple[int, ...] | None = None
        self.written: list[list[int]] = []
        """Word, words that are left, response of each burst whose data are not all here."""
        self.beats: list[tuple[int, int, int]] = []
        """Words that were taken before their address."""
        self.responses: list[tuple[int, int]] = []
        self.stores: list[tuple[int, int, int]] = []
        self.waiting: dict[str, tuple[int, ...]] = {}

    def answer(self, ctx: Context) -> None:
        """Go through a cycle; what is asked for holds still until it is taken."""
        kernel: Any = self.kernel
        ready = {channel: self.random.random() >= self.pauses for channel in ("aw", "w", "ar")}
        for channel, value in ready.items():
            ctx.set(getattr(kernel, f"m_axi_{channel}ready"), value)
        self._show_read(ctx, kernel)
        self._show_response(ctx, kernel)
        for channel, names in (
            ("ar", ("addr", "len")),
            ("aw", ("addr", "len")),
            ("w", ("strb", "last", "data")),
        ):
            valid = ctx.get(getattr(kernel, f"m_axi_{channel}valid"))
            payload = tuple(ctx.get(getattr(kernel, f"m_axi_{channel}{name}")) for name in names)
            if channel in self.waiting:
                assert valid, f"{channel} is taken back"
                assert payload == self.waiting.pop(channel), f"{channel} changes"
            if valid and ready[channel]:
                getattr(self, f"_take_{channel}")(*payload)
            elif valid:
                self.waiting[channel] = payload
        self._join()
        self.cycle += 1

    def _burst(self, addr: int, length: int) -> tuple[int, int, int]:
        size = side_of(self.kernel).bytes_per_word
        assert addr % size == 0
        assert addr // PAGE == (addr + size * (length + 1) - 1) // PAGE, "a burst leaves its page"
        assert length < 16
        word = self._word_at(addr, length + 1)
        self.bursts += 1
        self.longest = max(self.longest, length + 1)
        return word, length + 1, SLVERR if self.bursts in self.errors else OKAY

    def _word_at(self, addr: int, words: int) -> int:
        """Return the number of the word at an address; so many words are in one array."""
        side = side_of(self.kernel)
        for array in side.arrays:
            first = (addr - self.bases[array.name]) // side.bytes_per_word
            if 0 <= first <= array.words(side.word_bits) - words:
                return array.base_words + first
        raise AssertionError(f"an access at {addr:#x}, where no array is")

    def _take_ar(self, addr: int, length: int) -> None:
        word, words, response = self._burst(addr, length)
        self.reads.append([word, words, self.cycle + self.latency(), response])

    def _take_aw(self, addr: int, length: int) -> None:
        self.written.append(list(self._burst(addr, length)))

    def _take_w(self, strobes: int, last: int, data: int) -> None:
        self.beats.append((strobes, last, data))

    def _join(self) -> None:
        """Bring addresses and words together, whichever was first."""
        while self.written and self.beats:
            strobes, last, data = self.beats.pop(0)
            burst = self.written[0]
            self.stores.append((burst[0], strobes, data))
            burst[0] += 1
            burst[1] -= 1
            assert last == (burst[1] == 0)
            if last:
                self.responses.append((self.cycle + self.latency(), burst[2]))
                del self.written[0]
                self.stores.append((-1, 0, 0))

    def _show_read(self, ctx: Context, kernel: Any) -> None:
        comes = bool(self.reads) and self.reads[0][2] <= self.cycle
        comes = comes and (self.shown is not None or self.random.random() >= self.pauses)
        ctx.set(kernel.m_axi_rvalid, comes)
        ctx.set(kernel.m_axi_rdata, self.random.getrandbits(len(kernel.m_axi_rdata)))
        self.shown = None
        if not comes:
            return
        word, left, _, response = self.reads[0]
        ctx.set(kernel.m_axi_rdata, self.words[word])
        ctx.set(kernel.m_axi_rlast, left == 1)
        ctx.set(kernel.m_axi_rresp, response)
        if ctx.get(kernel.m_axi_rready):
            self.reads[0][0] += 1
            self.reads[0][1] -= 1
            if left == 1:
                del self.reads[0]
        else:
            self.shown = (word,)

    def _show_response(self, ctx: Context, kernel: Any) -> None:
        comes = bool(self.responses) and self.responses[0][0] <= self.cycle
        ctx.set(kernel.m_axi_bvalid, comes)
        if not comes:
            return
        ctx.set(kernel.m_axi_bresp, self.responses[0][1])
        if ctx.get(kernel.m_axi_bready):
            del self.responses[0]
            while True:
                word, strobes, data = self.stores.pop(0)
                if word < 0:
                    break
                for byte in range(strobes.bit_length()):
                    if strobes >> byte & 1:
                        mask = 0xFF << 8 * byte
                        self.words[word] = self.words[word] & ~mask | data & mask

    async def run(
        self, ctx: Context, limit: int = 50_000, others: Mapping[str, int] | None = None
    ) -> int:
        """Start the kernel; return the cycles from start to done.

        Parameters
        ----------
        others: the bases of some arrays, in this run.
        """
        kernel: Any = self.kernel
        assert ctx.get(kernel.idle)
        self.bases = places_of(self.kernel) | dict(others or {})
        for array, port in kernel.names.bases.items():
            ctx.set(getattr(kernel, port), self.bases[array])
        ctx.set(kernel.start, 1)
        await ctx.tick()
        ctx.set(kernel.start, 0)
        for array, port in kernel.names.bases.items():
            ctx.set(getattr(kernel, port), ~self.bases[array] & (1 << 64) - 1)
        cycles = 1
        while not ctx.get(kernel.done):
            self.answer(ctx)
            cycles += 1
            assert cycles < limit, "the kernel hangs"
            await ctx.tick()
        left = (self.reads, self.written, self.beats, self.responses, self.stores, self.waiting)
        assert not any(left), "done with an access on its way"
        await ctx.tick()
        assert ctx.get(kernel.idle)
        return cycles
