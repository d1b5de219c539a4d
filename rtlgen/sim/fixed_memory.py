"""The memory off chip in a simulation, for cocotb: every access takes the same number of cycles.

It acts just after the rising clock edge, when the registers that hold a request have settled, so
that outputs that follow from `ack` have settled, too, before anybody looks at them on the falling
edge. Without `ack`, `rdata` is the complement of the word asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from cocotb.triggers import FallingEdge, RisingEdge, Timer

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import MemoryPorts
from rtlgen.sim.host import Dut, Handle, Host, known_value
from rtlgen.sim.memory_contents import AccessError, MemoryContents

SETTLED_NS = 1


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
    contents: its bytes.
    """

    def __init__(self, dut: Dut, manifest: Manifest, host: Host, four_state: bool) -> None:
        assert manifest.memory is not None
        self._memory, self._host = manifest.memory, host
        self._four_state = four_state
        ports = manifest.memory.ports
        assert isinstance(ports, MemoryPorts)
        self._outputs: dict[str, Handle] = {
            name: dut[name] for name in (ports.en, ports.we, ports.addr, ports.wdata)
        }
        self._rdata: Handle = dut[ports.rdata]
        self._ack: Handle = dut[ports.ack]
        self.contents = MemoryContents(manifest)

    async def serve(self) -> None:
        """Serve every access from now on.

        Raises
        ------
        AccessError: of the first access that breaks a rule. UnknownOutputError
        """
        held: _Request | None = None
        cycle = 0
        while True:
            await RisingEdge(self._host.clock)
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
                await FallingEdge(self._host.clock)
                self._require_held(request, self._request())

    def _request(self) -> _Request | None:
        en, we, addr, data = (
            known_value(name, handle, self._four_state, self._host.cycle)
            for name, handle in self._outputs.items()
        )
        return _Request(we, addr, data) if en else None

    def _require_held(self, held: _Request | None, request: _Request | None) -> None:
        """Require that there is a run, and that an access goes on as it began."""
        cycle = self._host.cycle
        if request is not None and not cycle:
            raise AccessError("the circuit asks for a word while it is idle")
        if held is not None:
            changed = "the enable" if request is None else held.change(request)
            if changed:
                raise AccessError(f"cycle {cycle} changes {changed} of an access before it is over")

    def _answer(self, request: _Request, is_last: bool) -> None:
        """Drive the answer to a request in one of its cycles; in the last one, do what it asks."""
        cycle = self._host.cycle
        if request.word >= self._memory.depth_words:
            raise AccessError(
                f"cycle {cycle} asks for word {request.word} "
                f"of a memory of {self._memory.depth_words}"
            )
        is_answer = is_last and request.strobes == 0
        self._rdata.value = (self.contents.word if is_answer else self.contents.complement)(
            request.word
        )
        self._ack.value = int(is_last)
        if is_last:
            self.contents.require_writable(request.word, request.strobes, cycle)
            self.contents.store(request.word, request.strobes, request.data, cycle)
