"""The memory off chip behind an AXI4 port in a simulation, for cocotb.

It drives its pins just after the rising clock edge, when the registers of the circuit have settled,
and looks at those of the circuit on the falling edge, when all that follows from the memory's has
settled, too.
"""

from __future__ import annotations

from dataclasses import asdict, fields

from cocotb.triggers import FallingEdge, RisingEdge, Timer

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import AXI_ADDRESS_BITS, AxiPorts
from rtlgen.sim.axi_behaviour import AxiBehaviour, BusError
from rtlgen.sim.axi_model import AxiModel
from rtlgen.sim.axi_rules import Address, Inputs, Outputs, Word, broken, require_told
from rtlgen.sim.fixed_memory import SETTLED_NS
from rtlgen.sim.host import Control, Dut, Handle, known_value
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
        control: Control,
        four_state: bool,
        behaviour: AxiBehaviour,
    ) -> None:
        assert manifest.memory is not None
        ports = manifest.memory.ports
        assert isinstance(ports, AxiPorts)
        self._model = AxiModel(manifest, behaviour)
        self.contents = self._model.contents
        self._control = control
        self._four_state = four_state
        self._pins: dict[str, Handle] = {kind: dut[port] for kind, port in asdict(ports).items()}
        self._names: dict[str, str] = asdict(ports)
        for place in self._model.places:
            base: Handle = dut[place.array.base_port]
            control.sampled_with_start.append((base, place.address, (1 << AXI_ADDRESS_BITS) - 1))

    def error(self) -> BusError | None:
        """Return the first answer that was an error, as the circuit says.

        Raises
        ------
        AccessError: it says something else.
        """
        was = self._model.error
        if bool(self._value("error", 0)) != bool(was):
            if was:
                raise AccessError("an answer was an error, but the circuit does not say so")
            raise AccessError("the circuit says that an answer was an error: none was")
        address, write = self._value("error_address", 0), self._value("error_write", 0)
        require_told(address, write, self._value("error_response", 0), was)
        return was

    async def serve(self) -> None:
        """Serve every burst from now on.

        Raises
        ------
        AccessError: of the first rule that is broken. UnknownOutputError
        """
        while True:
            await RisingEdge(self._control.clock)
            await Timer(SETTLED_NS, unit="ns")
            cycle = self._control.cycle
            before = [self._value(name, cycle) for name in _VALIDS]
            drives = self._model.drive(cycle)
            for name in _DRIVEN:
                self._pins[name].value = getattr(drives, name)
            await FallingEdge(self._control.clock)
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
