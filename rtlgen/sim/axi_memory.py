"""The memory off chip behind an AXI4 port in a simulation, for cocotb.

It drives its pins just after the rising clock edge, when the registers of the circuit have settled,
and looks at those of the circuit on the falling edge, when all that follows from the memory's has
settled, too.
"""

from __future__ import annotations

from dataclasses import asdict, fields

from cocotb.triggers import FallingEdge, RisingEdge, Timer

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import AxiPorts
from rtlgen.sim.axi_behaviour import AxiBehaviour, BusError
from rtlgen.sim.axi_model import AxiModel
from rtlgen.sim.axi_rules import Address, Inputs, Outputs, Word, broken, require_told
from rtlgen.sim.fixed_memory import SETTLED_NS
from rtlgen.sim.host import Dut, Handle, Host, Told, known_value
from rtlgen.sim.memory_contents import AccessError

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
