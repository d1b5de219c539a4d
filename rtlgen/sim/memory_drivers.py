"""The memories off chip of a simulation, for cocotb.

Both drive their pins just after the rising clock edge, when the registers of the circuit have
settled. That which serves one access at a time looks at its request then, so that outputs that
follow from `ack` have settled before anybody looks at them on the falling edge; behind an AXI4 port
the circuit is looked at on the falling edge.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from cocotb.triggers import FallingEdge, RisingEdge, Timer

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import AxiPorts, MemoryPorts
from rtlgen.sim.axi_behaviour import AxiBehaviour, BusError
from rtlgen.sim.axi_model import Address, AxiModel, Inputs, Outputs, Word, broken, require_told
from rtlgen.sim.host import Dut, Handle, Host, Told, known_value
from rtlgen.sim.off_chip import AccessError, MemoryContents

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
    """A memory of constant latency. Without `ack`, `rdata` is the complement of the word asked for.

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


_VALIDS = ("awvalid", "wvalid", "arvalid")
_DRIVEN = tuple(each.name for each in fields(Inputs))


class AxiMemory:
    """A memory that answers over AXI4 as `AxiModel` does.

    Members
    -------
    contents: its bytes.
    """

    def __init__(
        self,
        dut: Dut,
        manifest: Manifest,
        host: Host,
        four_state: bool,
        behaviour: AxiBehaviour,
    ) -> None:
        assert manifest.memory is not None
        ports = manifest.memory.ports
        assert isinstance(ports, AxiPorts)
        self._model = AxiModel(manifest, behaviour)
        self.contents = self._model.contents
        self._host = host
        self._four_state = four_state
        self._pins: dict[str, Handle] = {
            kind: dut[port] for kind, port in asdict(ports).items() if port is not None
        }
        self._names: dict[str, str] = asdict(ports)
        host.bases = {place.array.name: place.address for place in self._model.places}

    def error(self, told: Told) -> BusError | None:
        """Return the first answer that was an error, as the circuit says.

        Raises
        ------
        AccessError: it says something else.
        """
        was = self._model.error
        if told.error != bool(was):
            if was:
                raise AccessError("an answer was an error, but the circuit does not say so")
            raise AccessError("the circuit says that an answer was an error: none was")
        require_told(told.address, told.write, told.response, was)
        return was

    async def serve(self) -> None:
        """Serve every burst from now on.

        Raises
        ------
        AccessError: of the first rule that is broken. UnknownOutputError
        """
        while True:
            await RisingEdge(self._host.clock)
            await Timer(SETTLED_NS, unit="ns")
            cycle = self._host.cycle
            before = [self._value(name, cycle) for name in _VALIDS]
            drives = self._model.drive(cycle)
            for name in _DRIVEN:
                self._pins[name].value = getattr(drives, name)
            await FallingEdge(self._host.clock)
            for name, value in zip(_VALIDS, before, strict=True):
                if self._value(name, cycle) != value:
                    # A valid that follows from a ready would wait for it.
                    raise broken(cycle, f"has {name} follow from what the memory drives")
            self._model.look(self._seen(cycle), cycle)

    def _seen(self, cycle: int) -> Outputs:
        word = None
        if self._value("wvalid", cycle):
            strobes, last = self._value("wstrb", cycle), self._value("wlast", cycle)
            word = Word(strobes, last, self._value("wdata", cycle))
        return Outputs(
            self._address("aw", cycle),
            word,
            self._address("ar", cycle),
            self._value("bready", cycle),
            self._value("rready", cycle),
        )

    def _address(self, channel: str, cycle: int) -> Address | None:
        if not self._value(f"{channel}valid", cycle):
            return None
        names = (f"{channel}{each.name}" for each in fields(Address))
        return Address(*(self._value(name, cycle) for name in names))

    def _value(self, kind: str, cycle: int) -> int:
        return known_value(self._names[kind], self._pins[kind], self._four_state, cycle)
