"""cocotb bench of a block: its driver over cocotbext-axi's master and RAM, used well and badly.

Every channel pauses by chance. After each bad use the block says so, and the next run is right.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp

from rtlgen.system.modules import module_of
from sim.bench_axi import pauses

FOLDER = Path(os.environ["FOLDER"])
SEEDS = [int(seed) for seed in os.environ["SEEDS"].split(",")]
"""A schedule each; 0: no pauses."""
CLOCK_NS = 10
LIMIT_MS = 500
"""Of simulated time: a block that never answers ends the test."""

RAM_BYTES = 1 << 16
HELD = {"r": ("rdata", "rresp"), "b": ("bresp",)}
MASTER_HELD = {
    "aw": ("awaddr", "awlen", "awsize", "awburst"),
    "w": ("wdata", "wstrb", "wlast"),
    "ar": ("araddr", "arlen", "arsize", "arburst"),
}


class Bus:
    """What the driver reads and writes through."""

    def __init__(self, master: AxiLiteMaster) -> None:
        self._master = master
        self.read32 = resume(self._read32)
        self.write32 = resume(self._write32)

    async def _read32(self, offset: int) -> int:
        answer = await self._master.read(offset, 4)
        assert answer.resp == AxiResp.OKAY, f"byte {offset} is read with {answer.resp}"
        return int.from_bytes(answer.data, "little")

    async def _write32(self, offset: int, value: int) -> None:
        answer = await self._master.write(offset, value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY, f"byte {offset} is written with {answer.resp}"


async def monitor(dut: Any, prefix: str, channels: dict[str, tuple[str, ...]]) -> None:
    """Fail when what was offered and not taken is not there as it was in the next cycle."""
    waits: dict[str, list[int]] = {}
    while True:
        await RisingEdge(dut.aclk)
        in_reset = not dut.aresetn.value
        for channel, names in channels.items():
            valid = dut[f"{prefix}{channel}valid"].value
            seen = [int(dut[f"{prefix}{name}"].value) for name in names] if valid else []
            if channel in waits and not in_reset:
                assert valid, f"{prefix}{channel}valid fell before it was answered"
                assert waits[channel] == seen, f"{prefix}{channel} changed before it was answered"
            waits.pop(channel, None)
            if valid and not dut[f"{prefix}{channel}ready"].value and not in_reset:
                waits[channel] = seen


async def measure(dut: Any, counts: Counter[str]) -> None:
    """Count what goes over the AXI4 port, and the cycles in which something waits there."""
    under_way = 0
    while True:
        await RisingEdge(dut.aclk)
        if not dut.aresetn.value:
            under_way = 0
            continue
        valid, taken = set(), set()
        for channel in ("aw", "w", "ar", "r"):
            if dut[f"m_axi_{channel}valid"].value:
                valid.add(channel)
                if dut[f"m_axi_{channel}ready"].value:
                    taken.add(channel)
        waits = valid - taken
        counts["STALL_LOAD"] += "ar" in waits or (under_way > 0 and "r" not in valid)
        counts["STALL_STORE"] += bool(waits & {"aw", "w"})
        counts["BEATS_READ"] += "r" in taken
        counts["BEATS_WRITTEN"] += "w" in taken
        under_way += ("ar" in taken) - ("r" in taken and bool(dut.m_axi_rlast.value))


class Errors:
    """What a RAM behind AXI4 answers where it does not do what is asked for.

    Members
    -------
    place: the byte that is neither read nor written, or None. response: the answer to that.
    """

    def __init__(self, ram: AxiRam) -> None:
        self.place: int | None = None
        self.response = AxiResp.SLVERR
        for port, access, channel, answer in (
            (ram.read_if, "_read", ram.read_if.r_channel, "rresp"),
            (ram.write_if, "_write", ram.write_if.b_channel, "bresp"),
        ):
            setattr(port, access, self._failing(getattr(port, access)))
            channel.send = self._answering(channel.send, answer)

    def _failing(self, access: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def failing(address: int, what: Any) -> Any:
            size = what if isinstance(what, int) else len(what)
            if self.place is not None and address <= self.place < address + size:
                raise ValueError(f"byte {self.place} is not there")
            return await access(address, what)

        return failing

    def _answering(self, send: Callable[[Any], Awaitable[Any]], name: str) -> Any:
        async def answering(beat: Any) -> None:
            # Of the two errors, cocotbext-axi's memory gives the one alone.
            if getattr(beat, name) != AxiResp.OKAY:
                setattr(beat, name, self.response)
            await send(beat)

        return answering


class Bench:
    """The block with all that is around it."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.case = json.loads((FOLDER / "case.json").read_text(encoding="utf-8"))
        self.driver_module = module_of(FOLDER / "driver" / f"{self.case['name']}.py")
        reset = (dut.aresetn, False)
        bus = AxiLiteBus.from_prefix(dut, "s_axi_control")
        self.master = AxiLiteMaster(bus, dut.aclk, *reset)
        self.ram: AxiRam | None = None
        if self.case["off_chip"]:
            self.ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.aclk, *reset, size=RAM_BYTES)
            self.errors = Errors(self.ram)
        self.driver: Any = None
        self.counts: Counter[str] = Counter()
        self.rng = random.Random(0)
        self.bases = {
            name: (2 * n + 1) * 4096 for n, name in enumerate(reversed(self.case["off_chip"]))
        }

    def _channels(self) -> list[Any]:
        parts = [self.master.write_if, self.master.read_if]
        if self.ram is not None:
            parts += [self.ram.write_if, self.ram.read_if]
        names = ("aw_channel", "w_channel", "b_channel", "ar_channel", "r_channel")
        return [getattr(part, name) for part in parts for name in names if hasattr(part, name)]

    def pause_by_chance(self, seed: int) -> None:
        """Let every channel pause."""
        self.rng = random.Random(seed)
        for number, channel in enumerate(self._channels()):
            made = pauses(random.Random(f"{seed}-{number}"))
            channel.set_pause_generator(made if seed else None)
            channel.pause = False

    async def reset(self, cycles: int = 3) -> None:
        """Reset the block and all around it."""
        self.dut.aresetn.value = 0
        await ClockCycles(self.dut.aclk, cycles)
        self.dut.aresetn.value = 1
        await ClockCycles(self.dut.aclk, 2)
        await bridge(self._open)()

    def _open(self) -> None:
        self.driver = self.driver_module.BLOCK(Bus(self.master))
        self.driver.enable_interrupt()

    def load(self, number: int) -> None:
        """Bring a data set to the block, and say where it is."""
        inputs = np.load(FOLDER / f"inputs{number}.npz")
        for name in self.case["scalars"]:
            self.driver.set_scalar(name, inputs[name])
        for name in self.case["on_chip"]:
            self.driver.write(name, inputs[name])
        for name, base in self.bases.items():
            assert self.ram is not None
            self.ram.write(base, self.driver.pack(name, inputs[name]))
            self.driver.set_base(name, base)

    def require_right(self, number: int) -> None:
        """Fail where what is left is not what was expected."""
        self.require_arrays(number)
        expected = np.load(FOLDER / f"expected{number}.npz")
        if "return" in expected.files:
            np.testing.assert_array_equal(self.driver.result, expected["return"])

    def require_arrays(self, number: int) -> None:
        """Fail where an array is not what was expected."""
        expected = np.load(FOLDER / f"expected{number}.npz")
        for name in expected.files:
            if name == "return":
                continue
            if name in self.case["on_chip"]:
                found = self.driver.read(name)
            else:
                assert self.ram is not None
                image = self.ram.read(self.bases[name], len(self.driver.pack(name, 0)))
                found = self.driver.unpack(name, bytes(image))
            np.testing.assert_array_equal(found, expected[name], err_msg=name)

    def fill(self) -> None:
        """Write both copies of what is there twice: what nobody has written is unknown."""
        for _ in range(2 if self.case["twins"] else 0):
            for name in self.case["twins"]:
                self.driver.write(name, 0)
            self.driver.swap()

    def take_copies(self) -> None:
        """Let the host have what a run has left of arrays that are there twice."""
        if self.case["twins"]:
            self.driver.swap()

    def run(self, number: int) -> None:
        """Run well."""
        self.load(number)
        before = self.counts.copy()
        self.driver.start()
        self.driver.wait()
        for name in self.counts:
            assert self.driver.get(name) == self.counts[name] - before[name], name
        if not self.case["off_chip"]:
            assert self.driver.get("CYCLES") == self.case["cycles"]
        self.take_copies()
        self.require_right(number)
        assert self.dut.irq.value, "no interrupt at the end of a run"
        self.driver.acknowledge_interrupt()
        resume(self.let_go)(2)
        assert not self.dut.irq.value, "an interrupt that was acknowledged"

    async def let_go(self, cycles: int) -> None:
        """Let some cycles go by."""
        await ClockCycles(self.dut.aclk, cycles)

    def error_name(self) -> str:
        """Return the name of the error that there is."""
        name: str = self.driver_module.ERRORS[self.driver.error][0]
        return name

    def start_in_a_run(self, number: int) -> None:
        """A start while it runs is an error; the run goes on, and is right."""
        self.load(number)
        self.driver.start()
        self.driver.start()
        while not self.driver.is_done():
            pass
        assert self.error_name() in ("BUSY", "NONE")
        if self.error_name() == "NONE":  # The first run was over before the second start came.
            self.driver.wait()
        else:
            self.take_copies()
        if "inout" not in self.case["roles"] or self.case["twins"]:
            self.require_right(number)
        self.driver.acknowledge_interrupt()

    def no_such_register(self, number: int) -> None:
        """Where nothing is, an access fails, and does nothing."""
        for offset in (self.driver_module.BYTES - 4, 0x1C + 0x3000):
            offset %= self.driver_module.BYTES
            known = any(offset in each for each in self.driver_module.REGISTERS.values()) or any(
                place.offset <= offset < place.offset + int(np.prod(place.shape)) * 8
                for place in self.driver_module.ON_CHIP.values()
            )
            if not known:
                resume(self._require_refused)(offset)
                assert self.error_name() == "ACCESS"
                self.driver.set("ERROR", 15)
                assert self.error_name() == "NONE"

    async def _require_refused(self, offset: int) -> None:
        read = await self.master.read(offset, 4)
        assert read.resp == AxiResp.SLVERR, f"byte {offset} is read with {read.resp}"
        written = await self.master.write(offset, bytes(4))
        assert written.resp == AxiResp.SLVERR, f"byte {offset} is written with {written.resp}"

    def array_in_a_run(self, number: int) -> None:
        """An array on chip is the kernel's while it runs."""
        self.load(number)
        self.driver.start()
        for place in self.driver_module.ON_CHIP.values():
            answer = resume(self._written_in_run)(place.offset)
            running = not self.driver.is_done()
            assert answer == (AxiResp.OKAY if place.is_double else AxiResp.SLVERR) or not running
            break
        while not self.driver.is_done():
            pass
        self.driver.acknowledge_interrupt()

    async def _written_in_run(self, offset: int) -> AxiResp:
        answer = await self.master.read(offset, 4)
        return answer.resp

    def stream_of_runs(self, number: int) -> None:
        """While one runs, the results of the one before are read, and the next one's data written.

        That is for blocks all of whose arrays are there twice.
        """
        if len(self.case["twins"]) != len(self.case["roles"]):
            return
        sets = [(number + k) % self.case["sets"] for k in range(5)]
        self.load(sets[0])
        for run in range(len(sets)):
            self.driver.start()
            if run:
                self.require_arrays(sets[run - 1])
            if run + 1 < len(sets):
                self.load(sets[run + 1])
            self.driver.wait()
            self.driver.acknowledge_interrupt()
        self.driver.swap()
        self.require_right(sets[-1])

    def swap_in_a_run(self, number: int) -> None:
        """Told to swap while it runs, it does not, and says so; the run goes on, and is right."""
        if not self.case["twins"]:
            return
        self.load(number)
        self.driver.start()
        self.driver.swap()
        while not self.driver.is_done():
            pass
        assert self.error_name() in ("BUSY", "NONE")
        if self.error_name() == "BUSY":  # Else the run was over before, and swapped then.
            self.driver.swap()
        self.require_right(number)
        self.driver.acknowledge_interrupt()

    def base_inside_of_a_page(self, number: int) -> None:
        """The low bits of a base are no bits of its register: they are dropped, and read as 0."""
        for name in self.bases:
            self.driver.set_base(name, 0x1234_5678_9ABC)
            assert self.driver.get(f"BASE_{name}") == 0x1234_5678_9000

    def base_at_the_end(self, number: int) -> None:
        """An array that would go round the end of the addresses is refused."""
        for name, place in self.driver_module.OFF_CHIP.items():
            if place.bytes > 4096:
                self.load(number)
                self.driver.set_base(name, (1 << 64) - 4096)
                self.driver.start()
                while not self.driver.is_done():
                    pass
                assert self.error_name() == "BASE"
                self.driver.acknowledge_interrupt()

    def argument_beyond_its_bound(self, number: int) -> None:
        """Nothing is run, and everything is as it was."""
        for name, (low, high) in self.case["limits"].items():
            for value in (low - 1, high + 1):
                self.load(number)
                self.driver.set(f"SCALAR_{name}", value)
                self.driver.start()
                while not self.driver.is_done():
                    pass
                assert self.error_name() == "VALUE"
                assert self.driver.get("CYCLES") == 0
                resume(self.let_go)(2)
                assert self.dut.irq.value, "no interrupt"
                self.driver.acknowledge_interrupt()
                inputs = np.load(FOLDER / f"inputs{number}.npz")
                for array in self.case["on_chip"]:
                    np.testing.assert_array_equal(self.driver.read(array), inputs[array])

    def memory_answers_with_an_error(self, number: int) -> None:
        """The first such answer is told, with its address; the run ends by itself."""
        word_bytes, most_beats = self.case["word_bytes"], 16
        responses = self.rng.sample((AxiResp.SLVERR, AxiResp.DECERR), 2)
        for (name, role), response in zip(self.case["off_chip"].items(), responses, strict=False):
            what = "READ" if role == "in" else "WRITE"
            self.load(number)
            size = len(self.driver.pack(name, 0))
            word = self.bases[name] + self.rng.randrange(size) // word_bytes * word_bytes
            self.errors.place, self.errors.response = word, response
            self.driver.start()
            while not self.driver.is_done():
                pass
            assert self.error_name() == what
            assert self.driver.get("ERROR") >> 8 & 3 == response
            told = self.driver.get("ERROR_ADDRESS")
            # The one answer to a write is for its burst.
            first = word if what == "READ" else word - (most_beats - 1) * word_bytes
            assert first <= told <= word and told % word_bytes == 0
            self.driver.acknowledge_interrupt()
            self.errors.place = None
            self.run(number)
            assert self.error_name() == "NONE"

    def abort(self, number: int) -> None:
        """A run that is aborted is over; what it left is of no use."""
        self.load(number)
        self.driver.start()
        resume(self.let_go)(self.rng.randrange(1, 2 * self.case["cycles"]))
        was_done = self.driver.is_done()
        self.driver.abort()
        assert self.driver.is_done()
        assert self.error_name() in ("ABORTED", "NONE") and not (
            was_done and self.error_name() != "NONE"
        )
        self.driver.acknowledge_interrupt()

    def abort_while_idle(self, number: int) -> None:
        """There is nothing to abort, and nothing happens."""
        self.driver.abort()
        assert self.error_name() == "NONE"

    async def reset_in_a_run(self, number: int) -> None:
        """A reset ends everything."""
        await bridge(self.load)(number)
        await bridge(self.driver.start)()
        await self.let_go(self.rng.randrange(1, 2 * self.case["cycles"]))
        await self.reset()
        assert not self.dut.irq.value
        assert await bridge(lambda: self.driver.get("CYCLES"))() == 0


def bad_uses(bench: Bench) -> Iterator[Callable[[int], Awaitable[None]]]:
    """Yield everything that is done to the block beside good runs."""
    for use in (
        bench.start_in_a_run,
        bench.no_such_register,
        bench.array_in_a_run,
        bench.stream_of_runs,
        bench.swap_in_a_run,
        bench.base_inside_of_a_page,
        bench.base_at_the_end,
        bench.memory_answers_with_an_error,
        bench.argument_beyond_its_bound,
        bench.abort,
        bench.abort_while_idle,
    ):
        yield bridge(use)
    yield bench.reset_in_a_run


@cocotb.test(timeout_time=LIMIT_MS, timeout_unit="ms")
async def is_right_whatever_is_done_to_it(dut: Any) -> None:
    dut.aresetn.value = 0
    Clock(dut.aclk, CLOCK_NS, unit="ns").start(start_high=False)
    bench = Bench(dut)
    await FallingEdge(dut.aclk)
    cocotb.start_soon(monitor(dut, "s_axi_control_", HELD))
    if bench.case["off_chip"]:
        cocotb.start_soon(monitor(dut, "m_axi_", MASTER_HELD))
        cocotb.start_soon(measure(dut, bench.counts))
    await bench.reset()
    await bridge(bench.fill)()
    run = bridge(bench.run)
    uses = list(bad_uses(bench))
    for count, seed in enumerate(SEEDS):
        bench.pause_by_chance(seed)
        number = seed % bench.case["sets"]
        await run(number)
        await uses[count % len(uses)](number)
        await run((number + 1) % bench.case["sets"])
    (FOLDER / "done").write_text(str(len(SEEDS)), encoding="utf-8")
