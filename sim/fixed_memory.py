"""The memory off chip in a simulation, for cocotb: every access takes the same number of cycles.

It acts just after the rising clock edge, when the registers that hold a request have settled, so
that outputs that follow from `ack` have settled, too, before anybody looks at them on the falling
edge. Without `ack`, `rdata` is the complement of the word asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from rtlgen.manifest import Manifest
from rtlgen.memory_map import MemoryPorts
from rtlgen.sim.host import Control, Dut, Handle, UnknownOutputError
from rtlgen.sim.job import MemoryLeft
from rtlgen.sim.memory_image import (
    LOCAL,
    NOBODYS,
    READ_ONLY,
    Bytes,
    over_store,
    owners,
    pattern,
)

Cycles: TypeAlias = npt.NDArray[np.uint32]

SETTLED_NS = 1


class AccessError(Exception):
    """The circuit did something with its memory port that the manifest rules out."""


@dataclass(frozen=True, slots=True)
class _Request:
    """What the circuit asks for; without a strobe a read."""

    strobes: int
    word: int
    data: int

    def change(self, later: _Request) -> str | None:
        """Return what a later look at the same access sees changed, or None."""
        if self.strobes != later.strobes:
            return "the strobes"
        if self.word != later.word:
            return "the address"
        mask = sum(0xFF << 8 * n for n in range(self.strobes.bit_length()) if self.strobes >> n & 1)
        return "the data" if (self.data ^ later.data) & mask else None


class FixedMemory:
    """A memory of constant latency.

    Members
    -------
    image: its bytes.
    written: for every byte the cycle of the run in which it was last written, 0 where it was not.
    """

    def __init__(self, dut: Dut, manifest: Manifest, control: Control, four_state: bool) -> None:
        assert manifest.memory is not None
        self._manifest, self._memory, self._control = manifest, manifest.memory, control
        self._four_state = four_state
        ports = manifest.memory.ports
        assert isinstance(ports, MemoryPorts)
        self._outputs: dict[str, Handle] = {
            name: dut[name] for name in (ports.en, ports.we, ports.addr, ports.wdata)
        }
        self._rdata: Handle = dut[ports.rdata]
        self._ack: Handle = dut[ports.ack]
        self._owners = owners(manifest)
        self._mask = (1 << manifest.memory.word_bits) - 1
        self.image: Bytes = pattern(manifest.memory)
        self.written: Cycles = np.zeros(manifest.memory.bytes, np.uint32)

    def load(self, image: Bytes) -> None:
        """Take new contents, but for local arrays: what the last run left is what they have."""
        given = self._owners != LOCAL
        self.image[given] = image[given]
        self.written[:] = 0

    def left(self) -> MemoryLeft:
        """Return what the last run has left."""
        return MemoryLeft(np.where(self._owners == LOCAL, 0, self.image), self.written.copy())

    async def serve(self) -> None:
        """Serve every access from now on.

        Raises
        ------
        AccessError: of the first access that breaks a rule. UnknownOutputError
        """
        held: _Request | None = None
        cycle = 0
        while True:
            await RisingEdge(self._control.clock)
            await Timer(SETTLED_NS, unit="ns")
            request = self._request()
            cycle = cycle + 1 if held else 1
            self._require_held(held, request)
            if request is None:
                self._ack.value = 0
                continue
            is_last = cycle == self._memory.latency_cycles
            self._answer(request, is_last)
            held = None if is_last else request
            if is_last:
                # What comes from registers does not depend on the answer.
                await FallingEdge(self._control.clock)
                self._require_held(request, self._request())

    def _request(self) -> _Request | None:
        en, we, addr, data = (self._value(name) for name in self._outputs)
        return _Request(we, addr, data) if en else None

    def _value(self, name: str) -> int:
        value = self._outputs[name].value
        if self._four_state and not value.is_resolvable:
            cycle = self._control.cycle
            when = f"in cycle {cycle}" if cycle else "while idle"
            raise UnknownOutputError(f"output {name} is {value!s} {when}")
        return int(value)

    def _require_held(self, held: _Request | None, request: _Request | None) -> None:
        """Require that there is a run, and that an access goes on as it began."""
        cycle = self._control.cycle
        if request is not None and not cycle:
            raise AccessError("the circuit asks for a word while it is idle")
        if held is not None:
            changed = "the enable" if request is None else held.change(request)
            if changed:
                raise AccessError(f"cycle {cycle} changes {changed} of an access before it is over")

    def _answer(self, request: _Request, is_last: bool) -> None:
        """Drive the answer to a request in one of its cycles; in the last one, do what it asks."""
        size = self._memory.word_bytes
        if request.word >= self._memory.depth_words:
            raise AccessError(
                f"cycle {self._control.cycle} asks for word {request.word} "
                f"of a memory of {self._memory.depth_words}"
            )
        start = request.word * size
        word = int.from_bytes(self.image[start : start + size].tobytes(), "little")
        is_read = request.strobes == 0
        self._rdata.value = word if is_last and is_read else ~word & self._mask
        self._ack.value = int(is_last)
        if is_last and not is_read:
            self._store(start, request)

    def _store(self, start: int, request: _Request) -> None:
        data = request.data.to_bytes(self._memory.word_bytes, "little")
        for place, value in enumerate(data):
            if request.strobes >> place & 1:
                byte = start + place
                if self._owners[byte] in (NOBODYS, READ_ONLY):
                    raise AccessError(over_store(self._manifest, self._control.cycle, byte))
                self.image[byte] = value
                self.written[byte] = self._control.cycle
