"""Whether Verilog does the same as the component that it was written from.

The reference is what Amaranth itself makes of the component, in RTLIL. yosys reads both, and makes
one flat netlist of gates of each. There, registers and memories are cut open: what a register shows
is an input, what it takes over is an output, and it has the same initial value; likewise the ports
of a memory. What is left has no state, and ABC proves that it is the same, output by output.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyosys
from amaranth.back import rtlil
from amaranth.hdl import Fragment, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from rtlgen.flow.yosys import run_script
from rtlgen.output.verilog_text.scope import identifier

_ABC = Path(pyosys.__file__).parent / "yosys-abc"
_FLAT = """
hierarchy -top {top}
proc
flatten
opt_clean
memory_nordff
memory_share -nosat -nowiden
opt_clean
memory_collect
dffunmap
opt_clean
alumacc
techmap
opt_clean
write_json {top}.json
design -reset
"""
_CUT = """
read_json {top}_cut.json
hierarchy -top {top}
setattr -unset init w:*
setundef -undriven -zero
opt_clean -purge
write_blif {top}.blif
design -reset
"""
_CLOCKS = ("clk", "aclk")
"""Of a kernel, and of a block."""

_MEMORY_INPUTS = ("RD_ADDR", "WR_ADDR", "WR_DATA", "WR_EN")
_MEMORY_FORM = ("SIZE", "WIDTH", "RD_PORTS", "WR_PORTS", "RD_CLK_ENABLE", "OFFSET", "ABITS")

Bit: TypeAlias = "int | str"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not the same."""

    what: str


def difference(reference: wiring.Component, verilog: str, top: str, folder: Path) -> str | None:
    """Return in what a text is no Verilog of a component; None if it is.

    Parameters
    ----------
    reference: as it is before it is elaborated. top: the module of the text. folder: for files.
    """
    (folder / "wanted.il").write_text(_rtlil(reference))
    (folder / "text.v").write_text(verilog)
    script = f"read_rtlil wanted.il\n{_FLAT.format(top='wanted')}"
    script += f"read_verilog text.v\nrename {top} found\n{_FLAT.format(top='found')}"
    run_script(script.splitlines(), folder)
    wanted, found = (_Netlist(folder, name) for name in ("wanted", "found"))
    unlike = _cut_registers(wanted, found) or _cut_memories(wanted, found)
    if unlike is not None:
        return unlike
    wanted.write()
    found.write()
    run_script("".join(_CUT.format(top=name) for name in ("wanted", "found")).splitlines(), folder)
    return _compared(folder)


def _rtlil(component: wiring.Component) -> str:
    """Return the RTLIL of a component, the ports of its parts called as its signatures say."""
    fragment = Fragment.get(component, None)
    for part in _parts(fragment):
        for origin in part.origins or ():
            if isinstance(origin, wiring.Component):
                for path, _, value in origin.signature.flatten(origin):
                    Value.cast(value).name = identifier("__".join(map(str, path)))
    ports = {
        "__".join(map(str, path)): (
            Value.cast(value),
            PortDirection.Input if member.flow == In else PortDirection.Output,
        )
        for path, member, value in component.signature.flatten(component)
    }
    text: str = rtlil.convert_fragment(fragment, ports=ports, name="wanted")[0]
    return text


def _parts(fragment: Any) -> Iterator[Any]:
    """Yield the parts of a circuit, but not its top, whose ports have their names already."""
    for part, _, _ in fragment.subfragments:
        yield part
        yield from _parts(part)


class _Netlist:
    """A flat netlist of gates, in yosys' JSON."""

    def __init__(self, folder: Path, top: str) -> None:
        self._file = folder / f"{top}_cut.json"
        self._top = top
        self._document = json.loads((folder / f"{top}.json").read_text())
        self.module = self._document["modules"][top]
        self._bits = max(
            bit
            for each in (*self.module["netnames"].values(), *self.module["ports"].values())
            for bit in each["bits"]
            if isinstance(bit, int)
        )
        ports = self.module["ports"]
        self.clock = next((ports[name]["bits"][0] for name in _CLOCKS if name in ports), None)

    @property
    def cells(self) -> dict[str, Any]:
        cells: dict[str, Any] = self.module["cells"]
        return cells

    def names(self) -> dict[Bit, list[str]]:
        """Return the names that each bit has."""
        found: dict[Bit, list[str]] = {}
        for name, net in self.module["netnames"].items():
            if not net["hide_name"]:
                for place, bit in enumerate(net["bits"]):
                    called = ".".join(map(identifier, name.split(".")))
                    found.setdefault(bit, []).append(f"{called}[{place}]")
        return found

    def initial(self) -> dict[Bit, str]:
        """Return the value of each bit at power-up."""
        return {
            bit: value
            for net in self.module["netnames"].values()
            if "init" in net["attributes"]
            for bit, value in zip(net["bits"], reversed(net["attributes"]["init"]), strict=False)
        }

    def registers(self) -> dict[Bit, tuple[str, Any]]:
        """Return the registers by the bit that they show."""
        kinds = ("$_DFF_P_", "$_SDFF", "$_DFFE", "$_SDFFE")
        return {
            cell["connections"]["Q"][0]: (name, cell)
            for name, cell in self.cells.items()
            if cell["type"].startswith(kinds)
        }

    def new_bit(self) -> Bit:
        self._bits += 1
        return self._bits

    def gates(self, kind: str, left: Sequence[Bit], right: Sequence[Bit]) -> list[Bit]:
        """Return what gates make of pairs of bits."""
        made: list[Bit] = []
        for a, b in zip(left, right, strict=True):
            made.append(self.new_bit())
            self.cells[f"gate_{self._bits}"] = {
                "hide_name": 1,
                "type": kind,
                "parameters": {},
                "attributes": {},
                "port_directions": {"A": "input", "B": "input", "Y": "output"},
                "connections": {"A": [a], "B": [b], "Y": [self._bits]},
            }
        return made

    def port(self, name: str, direction: str, bits: list[Bit]) -> None:
        if bits:
            self.module["ports"][name] = {"direction": direction, "bits": bits}

    def write(self) -> None:
        self._file.write_text(json.dumps(self._document))


def _cut_registers(wanted: _Netlist, found: _Netlist) -> str | None:
    """Make inputs and outputs of registers; return what is unlike in them."""
    originals, registers = wanted.registers(), found.registers()
    labels = found.names()
    pairs = _paired(wanted, found)
    starts = wanted.initial(), found.initial()
    for bit, (name, cell) in registers.items():
        label = labels.get(bit, [name])[0]
        if bit not in pairs:
            return f"the register {label} is none of the component's"
        original = pairs[bit]
        other_name, other = originals[original]
        if other_name not in wanted.cells:
            return f"the register {label} is there twice"
        if cell["type"] != other["type"] or cell["type"] != "$_DFF_P_":
            return f"{label} is a register of another kind"
        if other["connections"]["C"] != [wanted.clock] or cell["connections"]["C"] != [found.clock]:
            return f"{label} has another clock"
        if not _starts_alike(starts[0].get(original, "x"), starts[1].get(bit, "x")):
            return f"{label} has another value at power-up"
        for netlist, number, one, old in (
            (wanted, original, other, other_name),
            (found, bit, cell, name),
        ):
            netlist.port(f"{label}.q", "input", [number])
            netlist.port(f"{label}.d", "output", one["connections"]["D"])
            del netlist.cells[old]
    for original, (name, _) in wanted.registers().items():
        # Nobody looks at it: if somebody does, the other netlist does not look at the same input.
        wanted.port(f"left.{original}", "input", [original])
        found.port(f"left.{original}", "input", [found.new_bit()])
        del wanted.cells[name]
    return None


def _paired(wanted: _Netlist, found: _Netlist) -> dict[Bit, Bit]:
    """Return which of the component's registers those of the text are.

    A name may be another one's in the component, where two in a module would have the same; then
    the register has other names, too, or its neighbours do. That none is confused follows from the
    proof.
    """
    originals = wanted.registers()
    wanted_names, labels = wanted.names(), found.names()
    names = {name: bit for bit, each in wanted_names.items() for name in each}
    bits = {label: bit for bit, each in labels.items() for label in each}
    choices = {
        bit: {names[label] for label in labels.get(bit, ()) if names.get(label) in originals}
        for bit in found.registers()
    }
    pairs: dict[Bit, Bit] = {}
    while certain := {bit: next(iter(some)) for bit, some in choices.items() if len(some) == 1}:
        pairs |= certain
        taken = set(certain.values())
        choices = {bit: some - taken for bit, some in choices.items() if bit not in certain}
    taken = set(pairs.values())
    for bit in choices:
        for net, place in (label[:-1].split("[") for label in labels.get(bit, ())):
            beside = pairs.get(bits.get(f"{net}[0]", ""))
            for name in wanted_names.get(beside, ()) if beside is not None else ():
                other = names.get(f"{name.removesuffix('[0]')}[{place}]")
                if bit not in pairs and other in originals and other not in taken:
                    pairs[bit] = other
                    taken.add(other)
    return pairs


def _starts_alike(wanted: str, found: str) -> bool:
    """Whether a value at power-up is as good: what is undefined may be anything."""
    return wanted in ("x", found)


def _cut_memories(wanted: _Netlist, found: _Netlist) -> str | None:
    """Make inputs and outputs of the ports of memories; return what is unlike in them."""
    memories = [dict(_memories(netlist)) for netlist in (wanted, found)]
    if set(memories[0]) < set(memories[1]):
        return f"there are the memories {sorted(memories[1])}, not {sorted(memories[0])}"
    for name, (cell, other) in {
        name: (memories[0].get(name), memories[1][name]) for name in memories[1]
    }.items():
        if cell is None:
            return f"the memory {name} is none of the component's"
        for key in _MEMORY_FORM:
            if int(cell["parameters"][key], 2) != int(other["parameters"][key], 2):
                return f"the memory {name} has another {key}"
        if "rom_" in name and cell["parameters"]["INIT"] != other["parameters"]["INIT"]:
            return f"the memory {name} has other contents"
        for netlist, each in ((wanted, cell), (found, other)):
            for key in _MEMORY_INPUTS:
                bits = each["connections"][key]
                if key == "WR_DATA":
                    bits = netlist.gates("$_AND_", bits, each["connections"]["WR_EN"])
                elif key == "WR_ADDR":
                    bits = netlist.gates("$_AND_", bits, _enabled(netlist, each))
                netlist.port(f"{name}.{key}", "output", bits)
            netlist.port(f"{name}.RD_DATA", "input", each["connections"]["RD_DATA"])
    for netlist in (wanted, found):
        for name, cell in list(netlist.cells.items()):
            if cell["type"] == "$mem_v2":
                del netlist.cells[name]
    return None


def _enabled(netlist: _Netlist, memory: Mapping[str, Any]) -> list[Bit]:
    """Return for each bit of the write addresses whether its port writes: else it is any."""
    enables, parameters = memory["connections"]["WR_EN"], memory["parameters"]
    width, address = int(parameters["WIDTH"], 2), int(parameters["ABITS"], 2)
    found: list[Bit] = []
    for port in range(int(parameters["WR_PORTS"], 2)):
        (some, *others) = dict.fromkeys(enables[port * width : (port + 1) * width])
        for other in others:
            (some,) = netlist.gates("$_OR_", [some], [other])
        found += [some] * address
    return found


def _memories(netlist: _Netlist) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for cell in netlist.cells.values():
        if cell["type"] == "$mem_v2":
            yield cell["parameters"]["MEMID"].lstrip("\\").replace("\\", ""), cell


def _compared(folder: Path) -> str | None:
    """Let ABC compare the two netlists."""
    done = subprocess.run(
        [_ABC, "-c", "cec wanted.blif found.blif"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / "abc.log").write_text(done.stdout)
    if "Networks are equivalent" in done.stdout:
        return None
    return last_lines(done.stdout.splitlines())


def last_lines(lines: Iterable[str]) -> str:
    """Return what ABC said, but for the values of all inputs."""
    return "\n".join(line for line in lines if len(line) < 200)[-1000:]
