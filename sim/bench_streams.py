"""cocotb bench of a block with streams: cocotbext-axi's source and sink, used well and badly.

Both pause by chance. After each bad use the block says so, and the next run is right.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.task import bridge
from cocotb.triggers import ClockCycles
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

from rtlgen.system.modules import module_of
from sim.bench_axi import pauses
from sim.bench_block import Bus, monitor

FOLDER = Path(os.environ["FOLDER"])
SEEDS = [int(seed) for seed in os.environ["SEEDS"].split(",")]
"""A schedule each; 0: no pauses."""
CLOCK_NS = 10
LIMIT_MS = 500


class Bench:
    """The block `y[i] = factor * x[i] + x[i - 1]` with all that is around it."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(0)
        self.case = json.loads((FOLDER / "case.json").read_text(encoding="utf-8"))
        self.cycles: int = self.case["cycles"]
        self.words: int = self.case["words"]
        reset = (dut.aresetn, False)
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_control"), dut.aclk, *reset)
        source, sink = (AxiStreamBus.from_prefix(dut, name) for name in ("s_axis_x", "m_axis_y"))
        # A word is one item of a frame, however wide it is.
        self.source = AxiStreamSource(source, dut.aclk, *reset, byte_lanes=1)
        self.sink = AxiStreamSink(sink, dut.aclk, *reset, byte_lanes=1)
        module = module_of(FOLDER / "driver" / f"{self.case['name']}.py")
        self.driver_class: Any = module.BLOCK
        self.errors = [name for name, _ in module.ERRORS]
        self.driver: Any = None

    def pause_by_chance(self, seed: int) -> None:
        """Let source and sink pause."""
        self.rng = random.Random(seed)
        for number, end in enumerate((self.source, self.sink)):
            made = pauses(random.Random(f"{seed}-{number}"))
            end.set_pause_generator(made if seed else None)
            end.pause = False

    async def reset(self) -> None:
        self.dut.aresetn.value = 0
        await ClockCycles(self.dut.aclk, 3)
        self.source.clear()
        self.sink.clear()
        self.dut.aresetn.value = 1
        await ClockCycles(self.dut.aclk, 2)
        await bridge(self._open)()

    def _open(self) -> None:
        self.driver = self.driver_class(Bus(self.master))

    def frame(self, length: int | None = None) -> list[int]:
        return [self.rng.randrange(1 << 16) for _ in range(length or self.words)]

    async def offer(self, words: list[int]) -> None:
        await self.source.send(AxiStreamFrame(tdata=words))

    async def start(self, factor: int) -> None:
        def begin() -> None:
            self.driver.set_scalar("factor", factor)
            self.driver.start()

        await bridge(begin)()

    async def finish(self) -> str:
        """Wait for the end of the run, and return its error."""

        def wait() -> str:
            while not self.driver.is_done():
                pass
            found: str = self.errors[self.driver.error]
            self.driver.set("ERROR", 0xF)
            self.driver.set("CTRL", 1 << 1)
            return found

        error: str = await bridge(wait)()
        return error

    async def run_well(self) -> None:
        """Run once, the frame before or behind the start; what comes out is right."""
        factor, words = self.rng.randrange(1 << 16), self.frame()
        is_early = self.rng.random() < 0.5
        if is_early:
            await self.offer(words)
        await self.start(factor)
        if not is_early:
            await self.offer(words)
        assert await self.finish() == "NONE"
        await bridge(self.require_cycles)()
        await self.expect(factor, words)

    def require_cycles(self) -> None:
        """Each cycle in which the kernel stood still is one more than predicted."""
        stalls = self.driver.get("STALL_KERNEL")
        assert self.driver.get("CYCLES") == self.cycles + stalls, f"{stalls} cycles of waiting"

    async def expect(self, factor: int, words: list[int]) -> None:
        got = list((await self.sink.recv()).tdata)
        before = [0, *words[:-1]]
        right = [(factor * word + last) & 0xFFFF for word, last in zip(words, before, strict=True)]
        assert got == right, f"{len(got)} words, the first {got[:4]}, not {right[:4]}"

    async def run_short(self) -> None:
        await self.offer(self.frame(self.rng.randrange(1, self.words)))
        words, is_early = self.frame(), self.rng.random() < 0.5
        if is_early:
            # The frame of the next run is there, and none of it is taken.
            await self.offer(words)
        await self.start(3)
        assert await self.finish() == "SHORT"
        assert len((await self.sink.recv()).tdata) == self.words
        if not is_early:
            await self.offer(words)
        await self.start(5)
        assert await self.finish() == "NONE"
        await self.expect(5, words)

    async def run_long(self) -> None:
        words = self.frame(self.words + self.rng.randrange(1, 9))
        await self.offer(words)
        await self.start(7)
        assert await self.finish() == "LONG"
        await self.expect(7, words[: self.words])

    async def run_broken_off(self) -> None:
        """Abort a run somewhere: what comes out of it ends with tlast, the rest is dropped."""
        await self.offer(self.frame())
        await self.start(9)
        # A run that has taken nothing would leave its frame to the next one.
        await ClockCycles(self.dut.aclk, self.rng.randrange(60, self.words))

        def abort() -> bool:
            is_late = bool(self.driver.is_done())
            self.driver.abort()
            return is_late

        is_late = await bridge(abort)()
        error = await self.finish()
        assert error == "ABORTED" or is_late, error
        if self.sink.empty() and not self.sink.active:
            await ClockCycles(self.dut.aclk, 100)
        if not (self.sink.empty() and not self.sink.active):
            assert len((await self.sink.recv()).tdata) <= self.words

    async def run_reset(self) -> None:
        await self.offer(self.frame())
        await self.start(11)
        await ClockCycles(self.dut.aclk, self.rng.randrange(self.words))
        await self.reset()


@cocotb.test(timeout_time=LIMIT_MS, timeout_unit="ms")
async def use_well_and_badly(dut: Any) -> None:
    """Go through all uses, in another order for each seed."""
    Clock(dut.aclk, CLOCK_NS, unit="ns").start()
    dut.aresetn.value = 0
    bench = Bench(dut)
    for seed in SEEDS:
        bench.pause_by_chance(seed)
        watch = cocotb.start_soon(monitor(dut, "m_axis_y_", {"t": ("tdata", "tlast")}))
        other = cocotb.start_soon(monitor(dut, "s_axis_x_", {"t": ("tdata", "tlast")}))
        await bench.reset()
        uses = [
            bench.run_short,
            bench.run_long,
            bench.run_broken_off,
            bench.run_reset,
            bench.run_well,
        ] * 2
        bench.rng.shuffle(uses)
        await bench.run_well()
        for use in uses:
            await use()
            await bench.run_well()
        for task in (watch, other):
            assert not task.done()
            task.cancel()
    (FOLDER / "done").write_text(str(len(SEEDS)), encoding="utf-8")
