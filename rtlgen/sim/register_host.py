"""The host of a block, for cocotb: its AXI4-Lite port, driven by the block's own Python driver.

As in `rtlgen.sim.host`, inputs change and outputs are looked at on the falling clock edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cocotb.task import bridge, resume
from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.registers import ERRORS
from rtlgen.sim.host import (
    CLOCK_PERIOD_NS,
    Dut,
    Handle,
    HangError,
    Host,
    Outputs,
    ProtocolError,
    RunClock,
    Told,
    UnknownOutputError,
    inputs_of,
)
from rtlgen.system.modules import module_of

START = 1
MOST_BUS_CYCLES = 1000
_CODES = {name: code for code, (name, _) in enumerate(ERRORS)}


class RegisterHost(Host):
    """Drive a block; the edge that starts its kernel sees the start.

    Parameters
    ----------
    driver: file of the driver.
    """

    def __init__(self, dut: Dut, manifest: Manifest, outputs: Outputs, driver: Path) -> None:
        assert manifest.registers is not None, "a block has registers"
        super().__init__(dut, manifest)
        self._outputs = outputs
        self._reset: Handle = dut[manifest.reset]
        self._interrupt: Handle = dut[manifest.interrupt]
        self._pins: dict[str, Handle] = {
            port.name.removeprefix(manifest.control_prefix or ""): dut[port.name]
            for port in manifest.ports
            if port.name.startswith(manifest.control_prefix or "")
        }
        self._inputs = inputs_of(dut, manifest)
        self._control_offset = manifest.registers.register("CTRL").offset
        self._run_clock = RunClock()
        self._limit_cycles = 0
        # What the driver calls waits for the simulator, which goes on meanwhile.
        self.read32 = resume(self._read32)
        self.write32 = resume(self._write32)
        self._driver_class = module_of(driver).BLOCK
        self._driver: Any = None

    @property
    def cycle(self) -> int:
        return self._run_clock.cycle

    async def reset(self) -> None:
        for handle in self._inputs:
            handle.value = 0
        await FallingEdge(self.clock)
        await FallingEdge(self.clock)
        self._outputs.check_before_start("in reset")
        self._reset.value = 1
        await FallingEdge(self.clock)
        self._outputs.check_before_start("after reset")
        await bridge(self._open)()

    def _open(self) -> None:
        self._driver = self._driver_class(self, resume(self._wait))
        self._driver.enable_interrupt(error=False)

    async def load(self, images: Sequence[Sequence[int]]) -> None:
        await bridge(self._load)(images)

    def _load(self, images: Sequence[Sequence[int]]) -> None:
        for entry, words in zip(self._manifest.held_arrays, images, strict=True):
            patterns = np.array(words, dtype=f"<u{entry.element_bytes}")
            kind = np.dtype("uint16" if entry.type == "bfloat16" else entry.type)
            self._driver.write(entry.name, patterns.view(kind).reshape(entry.shape))

    async def read(self) -> list[list[int]]:
        images: list[list[int]] = await bridge(self._read)()
        return images

    def _read(self) -> list[list[int]]:
        arrays = self._manifest.held_arrays
        found = [self._driver.read(entry.name).reshape(-1) for entry in arrays]
        return [
            each.view(f"<u{entry.element_bytes}").tolist()
            for entry, each in zip(arrays, found, strict=True)
        ]

    async def run(self, scalars: Sequence[int], limit_cycles: int) -> int:
        self._limit_cycles = limit_cycles
        cycles: int = await bridge(self._run)(scalars)
        return cycles

    def _run(self, scalars: Sequence[int]) -> int:
        driver = self._driver
        for entry, word in zip(self._manifest.scalars, scalars, strict=True):
            driver.set(f"SCALAR_{entry.name}", word)
        for array, address in self.bases.items():
            driver.set_base(array, address)
        driver.start()
        # They are captured at start: from here on they may be anything.
        for array, address in self.bases.items():
            driver.set_base(array, ~address)
        while not driver.is_done():
            self._driver._wait()
        self._run_clock.end()
        driver.acknowledge_interrupt()
        self._keep()
        if any(entry.is_double for entry in self._manifest.host_arrays):
            driver.swap()
        cycles: int = driver.cycles
        return cycles

    def _keep(self) -> None:
        """Look at what a run has left in the registers."""
        driver, manifest = self._driver, self._manifest
        self.returned = None
        if manifest.returned is not None:
            self.returned = driver.get("RESULT") & (1 << manifest.returned.width) - 1
        self.checksum = driver.get("CHECKSUM") if manifest.has_checksum else None
        error = driver.get("ERROR")
        code = error & 15
        is_answer = _CODES["READ"] <= code <= _CODES["ANSWER"]
        if code and not is_answer:
            raise ProtocolError(f"register ERROR is {ERRORS[code][0]} after a run")
        self.told = Told(
            is_answer,
            driver.get("ERROR_ADDRESS") if is_answer else 0,
            int(code == _CODES["WRITE"]),
            error >> 8 & 3 if is_answer else 0,
        )

    async def _wait(self) -> None:
        """Wait for the interrupt without a wake-up in every cycle."""
        while not self._interrupt.value:
            # It comes two cycles behind done.
            left_cycles = self._limit_cycles + 3 - self.cycle
            if left_cycles <= 0:
                raise HangError(f"no done within {self._limit_cycles} cycles")
            timeout = Timer(left_cycles * CLOCK_PERIOD_NS, unit="ns")
            await First(RisingEdge(self._interrupt), timeout)
            await FallingEdge(self.clock)
            self._outputs.check(f"in cycle {self.cycle}")
        self._run_clock.end()

    async def _read32(self, offset: int) -> int:
        pins = self._pins
        pins["araddr"].value = offset
        pins["arvalid"].value = 1
        pins["rready"].value = 1
        await self._await("arready")
        await FallingEdge(self.clock)
        pins["arvalid"].value = 0
        await self._await("rvalid")
        self._require_okay("rresp", "read", offset)
        if not pins["rdata"].value.is_resolvable:
            raise UnknownOutputError(f"byte {offset} of the registers is {pins['rdata'].value!s}")
        value = int(pins["rdata"].value)
        await FallingEdge(self.clock)
        pins["rready"].value = 0
        return value

    async def _write32(self, offset: int, value: int) -> None:
        pins = self._pins
        pins["awaddr"].value = offset
        pins["wdata"].value = value
        pins["wstrb"].value = 15
        for name in ("awvalid", "wvalid", "bready"):
            pins[name].value = 1
        await self._await("awready", "wready", "bvalid")
        self._require_okay("bresp", "write", offset)
        if offset == self._control_offset and value & START:
            # The edge that takes the answer to a start is the one at which the kernel sees it.
            self._run_clock.begin()
        await FallingEdge(self.clock)
        for name in ("awvalid", "wvalid", "bready"):
            pins[name].value = 0

    async def _await(self, *names: str) -> None:
        """Wait for a falling edge on which some outputs are high; starts on one."""
        for _ in range(MOST_BUS_CYCLES):
            if all(self._pins[name].value for name in names):
                return
            await FallingEdge(self.clock)
        raise ProtocolError("the AXI4-Lite port does not answer")

    def _require_okay(self, pin: str, what: str, offset: int) -> None:
        response = self._pins[pin].value
        if response:
            raise ProtocolError(f"a {what} of register byte {offset} is answered with {response}")
