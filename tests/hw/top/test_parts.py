"""The parts of a block around its kernel, cycle by cycle."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.sim import Simulator

from rtlgen.hw.memory import WINDOW_CYCLES
from rtlgen.hw.top.array_windows import ArrayWindows
from rtlgen.hw.top.axi_lite import OKAY, SLVERR, AxiLite
from rtlgen.hw.top.block_control import ERROR_CODES, BlockControl
from rtlgen.hw.top.bus_guard import BusGuard
from rtlgen.hw.top.register_file import RegisterFile
from rtlgen.hw.top.word_file import WordFile
from rtlgen.manifest.registers import RegisterValue, Window, register_map

PERIOD = 1e-6


def simulate(dut: Elaboratable, *benches: Callable[[Any], Any]) -> None:
    simulator = Simulator(dut)
    simulator.add_clock(PERIOD)
    for bench in benches:
        simulator.add_testbench(bench, background=bench is not benches[0])
    with simulator.write_vcd("/dev/null"):
        simulator.run()


REGISTERS = register_map(
    "f",
    "1.2.3",
    (
        RegisterValue("SCALAR_x", 64, "rw", "x"),
        RegisterValue("BASE_A", 64, "rw", "A", 12),
        RegisterValue("CYCLES", 64, "ro", "cycles"),
        RegisterValue("WAITS", 32, "ro", "waits"),
        RegisterValue("RESULT", 40, "ro", "result"),
    ),
    (("A", 5, 4),),
)


async def access(
    ctx: Any, file: RegisterFile, offset: int, word: int | None, strobes: int
) -> tuple[int, int]:
    """Write a word, or read one; return whether there is one, and what is read."""
    ctx.set(file.word, offset // 4)
    ctx.set(file.is_write, word is not None)
    ctx.set(file.access, 1)
    ctx.set(file.wdata, word or 0)
    ctx.set(file.wstrb, strobes)
    await ctx.tick()
    while not ctx.get(file.over):
        await ctx.tick()
    there: int = ctx.get(file.found)
    await ctx.tick()
    ctx.set(file.access, 0)
    assert not ctx.get(file.over)
    shown: int = ctx.get(file.rdata)
    await ctx.tick()
    return there, shown


def new_file() -> RegisterFile:
    return RegisterFile(REGISTERS, ["CYCLES", "WAITS"])


def test_what_is_written_is_kept_byte_by_byte() -> None:
    file = new_file()

    async def bench(ctx: Any) -> None:
        rng = random.Random(1)
        kept: dict[str, int] = {}
        written = [r for r in REGISTERS.registers if r.fields[0].access == "rw"]
        for _ in range(300):
            register = rng.choice(written)
            word, strobes = rng.randrange(1 << 32), rng.randrange(16)
            mask = sum(field.mask for field in register.fields)
            bytes_mask = sum(255 << 8 * n for n in range(4) if strobes >> n & 1)
            before = kept.get(register.name, 0)
            kept[register.name] = (before & ~bytes_mask | word & bytes_mask) & mask
            await access(ctx, file, register.offset, word, strobes)
            for each in written:
                assert await access(ctx, file, each.offset, None, 0) == (1, kept.get(each.name, 0))

    simulate(file, bench)


def test_every_offset_is_read_as_the_map_says() -> None:
    file = new_file()

    async def bench(ctx: Any) -> None:
        ctx.set(file.RESULT, 0x89ABCDEF)
        ctx.set(file.RESULT_HIGH, 0x67)
        ctx.set(file.ERROR_CODE, 5)
        ctx.set(file.ERROR_RESPONSE, 2)
        ctx.set(file.CTRL_IDLE, 1)
        shown = {"RESULT": 0x89ABCDEF, "RESULT_HIGH": 0x67, "ERROR": 0x205, "CTRL": 4}
        known = {register.offset: register for register in REGISTERS.registers}
        for offset in range(0, REGISTERS.bytes, 4):
            found, word = await access(ctx, file, offset, None, 0)
            assert found == (offset in known)
            if offset in known:
                register = known[offset]
                constant = sum(f.reset << f.low for f in register.fields if f.is_constant)
                assert word == shown.get(register.name, constant), register.name

    simulate(file, bench)


def test_counts_are_read_as_they_are_behind_the_cycles_that_count() -> None:
    file = new_file()
    offsets = {name: REGISTERS.register(name).offset for name in ("CYCLES", "CYCLES_HIGH", "WAITS")}

    async def bench(ctx: Any) -> None:
        rng = random.Random(4)
        for _ in range(60):
            ctx.set(file.begins, 1)
            ctx.set(file.count_CYCLES, 1)
            await ctx.tick()
            ctx.set(file.begins, 0)
            cycles, waits = rng.choice([0, 1, 2, 5, 40]), 0
            for _ in range(cycles):
                waits += (waiting := rng.randrange(2))
                ctx.set(file.count_WAITS, waiting)
                await ctx.tick()
            ctx.set(file.count_CYCLES, 0)
            ctx.set(file.count_WAITS, 0)
            wanted = {"CYCLES": cycles, "CYCLES_HIGH": 0, "WAITS": waits}
            for name in rng.sample(sorted(wanted), 3):
                assert await access(ctx, file, offsets[name], None, 0) == (1, wanted[name])
                # A count is not written.
                await access(ctx, file, offsets[name], 99, 15)

    simulate(file, bench)


def test_words_of_a_file_count_and_carry_while_others_are_written() -> None:
    file = WordFile([5, 6, 9], {"wide": [10, 11], "narrow": [12]}, word_bits=8)

    async def bench(ctx: Any) -> None:
        rng = random.Random(5)
        while not ctx.get(file.ready):
            await ctx.tick()
        kept = dict.fromkeys(file.kept, 0)
        wide = narrow = 0
        for n in range(9000):
            begins, events = rng.random() < 1 / 3000, (rng.random() < 0.9, rng.random() < 0.5)
            ctx.set(file.begins, begins)
            ctx.set(file.count_wide, events[0])
            ctx.set(file.count_narrow, events[1])
            asks = n % 3 == 0 and n % 500 < 400
            ctx.set(file.asks, asks)
            word = rng.choice(file.kept)
            if asks:
                ctx.set(file.place, word % 8)
            await ctx.tick()
            wide, narrow = (0, 0) if begins else (wide + events[0], narrow + events[1])
            ctx.set(file.writes, 0)
            if asks:
                assert ctx.get(file.word) == kept[word]
                if rng.random() < 0.5:
                    kept[word] = rng.randrange(256)
                    ctx.set(file.writes, 1)
                    ctx.set(file.wdata, kept[word])
            if n % 500 == 499:
                for signal in (file.asks, file.count_wide, file.count_narrow, file.begins):
                    ctx.set(signal, 0)
                shown = await turns(ctx)
                assert shown == {2: wide & 255, 3: wide >> 8 & 255, 4: narrow & 255}
        assert wide >> 8, "the carry was needed"

    async def turns(ctx: Any) -> dict[int, int]:
        """Return what is read at the turns behind next."""
        shown: dict[int, int] = {}
        for n in range(6):
            turn = ctx.get(file.turn)
            await ctx.tick()
            if n > 2:
                shown[turn] = ctx.get(file.word)
        return shown

    simulate(file, bench)


def test_writing_1_asks_or_clears_where_a_byte_is_written() -> None:
    file = new_file()

    async def bench(ctx: Any) -> None:
        ctx.set(file.word, 0)
        ctx.set(file.is_write, 1)
        ctx.set(file.access, 1)
        ctx.set(file.wdata, (1 << 32) - 1)
        ctx.set(file.wstrb, 15)
        assert not ctx.get(file.CTRL_START_written), "the register is looked for"
        while not ctx.get(file.over):
            await ctx.tick()
        for word in (0, 1, 2, 3, 1 << 16):
            for strobes in range(16):
                ctx.set(file.wdata, word)
                ctx.set(file.wstrb, strobes)
                assert ctx.get(file.CTRL_START_written) == (word & 1) * (strobes & 1)
                assert ctx.get(file.CTRL_DONE_written) == (word >> 1 & 1) * (strobes & 1)
                assert ctx.get(file.CTRL_ABORT_written) == (word >> 16 & 1) * (strobes >> 2 & 1)
        await ctx.tick()
        assert not ctx.get(file.CTRL_START_written), "once"

    simulate(file, bench)


def test_accesses_over_axi4_lite_are_answered_one_by_one() -> None:
    port = AxiLite(8)
    seen: list[tuple[bool, int, int]] = []

    async def target(ctx: Any) -> None:
        rng = random.Random(2)
        async for clock, reset, over in ctx.tick().sample(port.over):
            if reset or not clock:
                continue
            if ctx.get(port.access) and not over and rng.random() < 0.4:
                ctx.set(port.over, 1)
                ctx.set(port.failed, ctx.get(port.word) % 3 == 0)
                seen.append((bool(ctx.get(port.is_write)), ctx.get(port.word), ctx.get(port.wdata)))
            else:
                ctx.set(port.over, 0)
                ctx.set(port.read_data, seen[-1][1] * 1000 if seen else 0)

    async def bench(ctx: Any) -> None:
        rng = random.Random(3)
        asked = []
        for n in range(60):
            word, is_write = rng.randrange(64), rng.random() < 0.5
            asked.append((is_write, word))
            wanted = SLVERR if word % 3 == 0 else OKAY
            for _ in range(rng.randrange(3)):
                await ctx.tick()
            if is_write:
                await _write(ctx, rng, word, n, wanted)
            else:
                await _read(ctx, rng, word, wanted)
        assert [(is_write, word) for is_write, word, _ in seen] == asked

    async def _write(ctx: Any, rng: random.Random, word: int, n: int, wanted: int) -> None:
        # The address and the word come in any order.
        delays = {"aw": rng.randrange(4), "w": rng.randrange(4), "b": rng.randrange(9)}
        ctx.set(port.awaddr, 4 * word)
        ctx.set(port.wdata, n)
        taken: set[str] = set()
        for cycle in range(100):
            for channel in ("aw", "w"):
                offered = cycle >= delays[channel] and channel not in taken
                ctx.set(getattr(port, f"{channel}valid"), offered)
            ctx.set(port.bready, cycle >= delays["b"])
            for channel in ("aw", "w"):
                valid, ready = (getattr(port, f"{channel}{name}") for name in ("valid", "ready"))
                if ctx.get(valid) and ctx.get(ready):
                    taken.add(channel)
            answered = ctx.get(port.bvalid) and ctx.get(port.bready)
            if answered:
                assert ctx.get(port.bresp) == wanted
            await ctx.tick()
            if answered:
                assert taken == {"aw", "w"}, "an answer before the word was taken"
                break
        ctx.set(port.bready, 0)
        ctx.set(port.awvalid, 0)
        ctx.set(port.wvalid, 0)

    async def _read(ctx: Any, rng: random.Random, word: int, wanted: int) -> None:
        ctx.set(port.araddr, 4 * word)
        ctx.set(port.arvalid, 1)
        while not ctx.get(port.arready):
            await ctx.tick()
        await ctx.tick()
        ctx.set(port.arvalid, 0)
        while not ctx.get(port.rvalid):
            await ctx.tick()
        for _ in range(rng.randrange(3)):
            await ctx.tick()
            assert ctx.get(port.rvalid)
        assert ctx.get(port.rresp) == wanted
        ctx.set(port.rready, 1)
        await ctx.tick()
        ctx.set(port.rready, 0)

    simulate(port, bench, target)


def test_a_block_that_restarts_begins_a_run_in_the_cycle_behind_done() -> None:
    control, cycles = BlockControl(), 519
    starts: list[int] = []

    async def bench(ctx: Any) -> None:
        left = 0
        ctx.set(control.has_meaning, 1)
        ctx.set(control.restart, 1)
        ctx.set(control.quiet, 1)
        for cycle in range(5 * cycles):
            ctx.set(control.start_written, cycle == 3)
            ctx.set(control.kernel_idle, left == 0)
            ctx.set(control.kernel_done, left == 1)
            if ctx.get(control.kernel_start) and not left:
                starts.append(cycle)
                left = cycles + 1
            await ctx.tick()
            left = max(0, left - 1)

    simulate(control, bench)
    assert [after - before for before, after in pairwise(starts)] == [cycles + 1] * 4


def test_copies_are_swapped_between_runs_alone() -> None:
    control = BlockControl()

    async def bench(ctx: Any) -> None:
        ctx.set(control.has_meaning, 1)
        ctx.set(control.quiet, 1)
        ctx.set(control.swap_written, 1)
        ctx.set(control.kernel_idle, 1)
        assert ctx.get(control.kernel_swap)
        ctx.set(control.start_written, 1)
        assert not ctx.get(control.kernel_swap), "a start swaps, too"
        await ctx.tick()
        ctx.set(control.start_written, 0)
        assert not ctx.get(control.kernel_swap), "a run is to begin"
        await ctx.tick()
        ctx.set(control.kernel_idle, 0)
        assert not ctx.get(control.kernel_swap), "a run goes on"
        assert ctx.get(control.error) == ERROR_CODES["BUSY"]

    simulate(control, bench)


WINDOWS = (
    Window("a", 0x40, 7, 1),
    Window("b", 0x50, 5, 2),
    Window("c", 0x60, 3, 4, is_double=True),
    Window("d", 0x80, 5, 8),
)


class Arrays(Elaboratable):
    """Windows in front of memories with the timing of a host port."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self.unit = ArrayWindows(windows, 8)
        self.memories = [
            Memory(shape=8 * window.element_bytes, depth=window.elements, init=[])
            for window in windows
        ]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = self.unit
        for n, memory in enumerate(self.memories):
            m.submodules[f"memory_{n}"] = memory
            write, read = memory.write_port(granularity=8), memory.read_port()
            addr, we = getattr(self.unit, f"addr_{n}"), getattr(self.unit, f"we_{n}")
            en = getattr(self.unit, f"en_{n}")
            m.d.comb += [
                write.addr.eq(addr),
                write.data.eq(getattr(self.unit, f"wdata_{n}")),
                write.en.eq(we & en.replicate(len(we))),
                read.addr.eq(addr),
                read.en.eq(en & ~we.any()),
            ]
            shown: Value = read.data
            for _ in range(WINDOW_CYCLES - 1):
                later = Signal.like(shown)
                m.d.sync += later.eq(shown)
                shown = later
            m.d.comb += getattr(self.unit, f"rdata_{n}").eq(shown)
        return m


def test_windows_show_arrays_as_c_has_them() -> None:
    arrays = Arrays(WINDOWS)
    unit = arrays.unit

    async def one(ctx: Any, word: int, value: int | None, strobes: int) -> tuple[bool, int]:
        ctx.set(unit.word, word)
        ctx.set(unit.is_write, value is not None)
        ctx.set(unit.wdata, value or 0)
        ctx.set(unit.wstrb, strobes)
        ctx.set(unit.access, 1)
        for _ in range(10):
            over, failed = ctx.get(unit.over), bool(ctx.get(unit.failed))
            await ctx.tick()
            if over:
                ctx.set(unit.access, 0)
                found = ctx.get(unit.rdata)
                await ctx.tick()
                assert ctx.get(unit.rdata) == found, "what was read changes behind its access"
                return failed, found
        raise AssertionError("an access that is never over")

    async def bench(ctx: Any) -> None:
        rng = random.Random(4)
        image = np.zeros(256, np.uint8)
        inside = {byte for w in WINDOWS for byte in range(w.offset, w.offset + w.bytes)}
        ctx.set(unit.idle, 1)
        for _ in range(400):
            word = rng.randrange(16, 64)
            first = 4 * word
            holders = [w for w in WINDOWS if w.offset <= first < w.offset + w.size]
            ctx.set(unit.word, word)
            assert ctx.get(unit.here) == bool(holders)
            if not holders:
                continue
            exists = first in inside
            if rng.random() < 0.6:
                value, strobes = rng.randrange(1 << 32), rng.randrange(16)
                failed, _ = await one(ctx, word, value, strobes)
                for byte in range(4):
                    if strobes >> byte & 1 and first + byte in inside:
                        image[first + byte] = value >> 8 * byte & 255
            else:
                failed, found = await one(ctx, word, None, 0)
                for byte in range(4):
                    if first + byte in inside:
                        assert found >> 8 * byte & 255 == image[first + byte], (word, byte)
            assert failed == (not exists)
        ctx.set(unit.idle, 0)
        for word in (0x40 // 4, 0x80 // 4):
            assert (await one(ctx, word, 0xFFFFFFFF, 15))[0], "written while the kernel runs"
            assert (await one(ctx, word, None, 0))[0], "read while the kernel runs"
        # Of two copies, one is always there.
        failed, found = await one(ctx, 0x60 // 4, None, 0)
        assert not failed
        assert found == int.from_bytes(image[0x60:0x64].tobytes(), "little")
        assert not (await one(ctx, 0x60 // 4, 0x12345678, 15))[0]
        assert await one(ctx, 0x60 // 4, None, 0) == (False, 0x12345678)
        ctx.set(unit.idle, 1)
        for word in (0x40 // 4, 0x80 // 4):
            _, found = await one(ctx, word, None, 0)
            assert found == int.from_bytes(image[4 * word : 4 * word + 4].tobytes(), "little")

    simulate(arrays, bench)


@pytest.mark.parametrize("seed", range(4))
def test_a_bus_that_is_told_to_stop_ends_what_was_begun_and_no_more(seed: int) -> None:
    guard = BusGuard(40)

    async def bench(ctx: Any) -> None:
        rng = random.Random(seed)
        reads: list[int] = []  # Words that are still to come, of each burst.
        writes: list[int] = []  # Words that are still to be sent, likewise.
        answers = 0
        offered = {"aw": False, "ar": False, "w": False}
        sent_of_shown = 0
        stop_at = rng.randrange(5, 80)
        quiet_for = 0
        for cycle in range(400):
            stop = cycle >= stop_at
            ctx.set(guard.stop, stop)
            before = dict(offered)
            # The kernel offers what it likes, and holds it.
            for channel in ("aw", "ar"):
                held = before[channel]
                room = len(reads) + len(writes) + answers < 20
                ctx.set(getattr(guard, f"k_{channel}valid"), held or (room and rng.random() < 0.4))
                ctx.set(getattr(guard, f"b_{channel}ready"), rng.random() < 0.5)
            shown = bool(ctx.get(guard.b_awvalid))
            may_send = bool(writes) or (shown and sent_of_shown == 0)
            ctx.set(guard.k_wvalid, before["w"] or (may_send and rng.random() < 0.6))
            left = writes[0] if writes else 1
            ctx.set(guard.wlast, left == 1)
            ctx.set(guard.b_wready, rng.random() < 0.5)
            ctx.set(guard.b_bvalid, answers > 0 and rng.random() < 0.5)
            ctx.set(guard.b_rvalid, bool(reads) and rng.random() < 0.5)
            ctx.set(guard.rlast, bool(reads) and reads[0] == 1)
            ctx.set(guard.k_bready, rng.random() < 0.7)
            ctx.set(guard.k_rready, rng.random() < 0.7)
            if stop:
                assert ctx.get(guard.b_bready) and ctx.get(guard.b_rready)
            for channel in ("aw", "ar", "w"):
                valid = bool(ctx.get(getattr(guard, f"b_{channel}valid")))
                ready = bool(ctx.get(getattr(guard, f"b_{channel}ready")))
                assert valid or not before[channel], f"{channel}valid fell"
                if stop and cycle > stop_at and channel != "w":
                    assert not valid or before[channel], f"{channel} begins after the stop"
                offered[channel] = valid and not ready
                if valid and ready:
                    if channel == "ar":
                        reads.append(rng.randrange(1, 5))
                    elif channel == "aw":
                        writes.append(rng.randrange(1, 5) if not sent_of_shown else 0)
                        if sent_of_shown:
                            writes.pop()
                            answers += 1
                            sent_of_shown = 0
                    elif writes:
                        writes[0] -= 1
                        if writes[0] == 0:
                            writes.pop(0)
                            answers += 1
                    else:
                        sent_of_shown = 1  # A burst of one word, before its address is taken.
                        assert ctx.get(guard.b_awvalid)
            if ctx.get(guard.b_bvalid) and ctx.get(guard.b_bready):
                answers -= 1
            if ctx.get(guard.b_rvalid) and ctx.get(guard.b_rready):
                reads[0] -= 1
                if reads[0] == 0:
                    reads.pop(0)
            is_quiet = bool(ctx.get(guard.quiet)) and stop
            await ctx.tick()
            if is_quiet:
                quiet_for += 1
                assert not reads and not writes and not answers and not sent_of_shown
            if quiet_for > 20:
                return
        raise AssertionError("the bus never came to rest")

    simulate(guard, bench)
