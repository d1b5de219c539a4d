"""Registers behind multipliers and block RAMs of ECP5 move into the blocks.

`python -m rtlgen.flow.block_registers IN.json OUT.json` does so in a netlist of any yosys flow.

Each output of a block has a register of its own, and yosys uses none of them: what Verilog
registers right behind a product or a read becomes flip-flops that the placer puts where there is
room, and the way there is half of the slowest path of a large circuit. Vendors' tools use the
block's own register instead, as yosys does for Xilinx; this pass does so on yosys's netlist.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from rtlgen.flow.errors import UnreadableResultError

Bit: TypeAlias = int | str
"""A net of a yosys JSON netlist, or one of the constants "0", "1", "x"."""

Cell: TypeAlias = MutableMapping[str, Any]

ALWAYS = {
    "CEMUX": "1 ",
    "CLKMUX": "CLK",
    "GSR": "DISABLED",
    "LSRMUX": "LSR",
    "REGSET": "RESET",
}
"""Parameters of a flip-flop that is 0 at power-up, has no enable, and no reset where LSR is 0."""

WITH_ENABLE = ALWAYS | {"CEMUX": "CE"}


@dataclass(frozen=True, slots=True)
class _Output:
    """An output of a block that has a register.

    Members
    -------
    pins: its bits. parameters: what switches the register on.
    clocks, enables, resets: the pins of the register.
    may_wait: whether it may have an enable. A slice of multipliers has few wires for enables, that
        all of its blocks share.
    """

    pins: tuple[str, ...]
    parameters: Mapping[str, str]
    clocks: tuple[str, ...]
    enables: tuple[str, ...]
    resets: tuple[str, ...]
    may_wait: bool


PRODUCT = _Output(
    tuple(f"P{bit}" for bit in range(36)),
    {
        "REG_OUTPUT_CLK": "CLK0",
        "REG_OUTPUT_CE": "CE0",
        "REG_OUTPUT_RST": "RST0",
        "GSR": "DISABLED",
    },
    ("CLK0",),
    ("CE0",),
    ("RST0",),
    may_wait=False,
)


def _words(ports: str) -> _Output:
    return _Output(
        tuple(f"DO{port}{bit}" for port in ports for bit in range(18)),
        {f"REGMODE_{port}": "OUTREG" for port in ports},
        tuple(f"CLK{port}" for port in ports),
        tuple(f"OCE{port}" for port in ports),
        tuple(f"RST{port}" for port in ports),
        may_wait=True,
    )


WORDS = (_words("A"), _words("B"))
WIDE_WORDS = (_words("AB"),)
"""A read of more than 18 bits takes the outputs of both ports."""


def _outputs(cell: Cell) -> Sequence[_Output]:
    match cell["type"]:
        case "MULT18X18D":
            return (PRODUCT,)
        case "DP16KD":
            widths = [int(cell["parameters"][f"DATA_WIDTH_{port}"], 2) for port in "AB"]
            return WORDS if max(widths) <= 18 else WIDE_WORDS
        case _:
            return ()


def absorb_registers(module: Mapping[str, Any]) -> int:
    """Move registers into the blocks whose outputs they hold; return the flip-flops saved.

    They move where each bit of an output that anybody reads is read by one flip-flop alone, and
    these are alike, and none has the attribute `keep`. What is in front of a multiplier stays: it
    may serve several, and has what computes it near.

    Parameters
    ----------
    module: the flat module of a yosys JSON netlist after `synth_ecp5`; changed in place.

    Raises
    ------
    KeyError, TypeError, ValueError: it has another form.
    """
    netlist = _Netlist(module)
    blocks = [(name, output) for name, cell in netlist.cells.items() for output in _outputs(cell)]
    return sum(netlist.absorb(name, output) for name, output in blocks)


def absorb_in_file(netlist: Path, packed: Path) -> int:
    """Move registers into blocks in a JSON netlist that has a top; return the flip-flops saved.

    Raises
    ------
    UnreadableResultError
    """
    try:
        document = json.loads(netlist.read_text(encoding="utf-8"))
        (top,) = (m for m in document["modules"].values() if "top" in m["attributes"])
        saved = absorb_registers(top)
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableResultError.of_netlist(error) from None
    packed.write_text(json.dumps(document), encoding="utf-8")
    return saved


class _Netlist:
    """A flat netlist, and who reads each bit."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.cells: MutableMapping[str, Cell] = module["cells"]
        self._shown = {bit for port in module["ports"].values() for bit in port["bits"]}
        self._readers: defaultdict[Bit, list[tuple[str, str]]] = defaultdict(list)
        for name, cell in self.cells.items():
            for pin, bits in cell["connections"].items():
                if cell["port_directions"][pin] == "input":
                    self._note(name, pin, bits)

    def _note(self, name: str, pin: str, bits: Sequence[Bit]) -> None:
        for bit in bits:
            self._readers[bit].append((name, pin))

    def absorb(self, name: str, output: _Output) -> int:
        """Replace the flip-flops behind an output by its register; return how many, 0 if none."""
        block = self.cells[name]
        names = self._registers_behind(block, output)
        if not names:
            return 0
        registers = [self.cells[name] for name in names.values()]
        connections = _connections(block, output, registers)
        if connections is None:
            return 0
        block["parameters"].update(output.parameters)
        block["connections"].update(connections)
        block["port_directions"].update(dict.fromkeys(connections, "input"))
        for pin, bits in connections.items():
            self._note(name, pin, bits)
        for pin, register in names.items():
            block["connections"][pin] = self.cells.pop(register)["connections"]["Q"]
        return len(names)

    def _registers_behind(self, block: Cell, output: _Output) -> dict[str, str]:
        """Return, by pin, the flip-flops that read an output; none if anything else does."""
        found: dict[str, str] = {}
        for pin in output.pins:
            for bit in block["connections"].get(pin, ()):
                # Some of those that were there may be in blocks.
                readers = [each for each in self._readers[bit] if each[0] in self.cells]
                if bit in self._shown or len(readers) > 1:
                    return {}
                for name, read_at in readers:
                    reader = self.cells[name]
                    is_register = reader["type"] == "TRELLIS_FF" and read_at == "DI"
                    if not is_register or "keep" in reader.get("attributes", {}):
                        return {}
                    found[pin] = name
        return found


def _connections(
    block: Cell, output: _Output, registers: Sequence[Cell]
) -> dict[str, list[Bit]] | None:
    """Return what the pins of an output's register are at; None if it cannot do the same."""
    first = registers[0]
    clock, enable = (first["connections"].get(pin, ["1"]) for pin in ("CLK", "CE"))
    alike = all(
        register["parameters"] == first["parameters"]
        and register["connections"]["LSR"] == ["0"]
        and register["connections"]["CLK"] == clock
        and register["connections"].get("CE", ["1"]) == enable
        for register in registers
    )
    known = first["parameters"] in ((ALWAYS, WITH_ENABLE) if output.may_wait else (ALWAYS,))
    connected = block["connections"]
    clocked = all(connected.get(pin, clock) == clock for pin in output.clocks)
    reset = any(connected.get(pin, ["0"]) != ["0"] for pin in output.resets)
    if not (alike and known and clocked) or reset:
        return None
    pins = ((output.clocks, clock), (output.enables, enable), (output.resets, ["0"]))
    return {pin: list(bits) for kind, bits in pins for pin in kind}


def main() -> None:
    """Move registers in the netlist that the command line names first, and write it to the second.

    Raises
    ------
    OSError, UnreadableResultError
    """
    netlist, packed = map(Path, sys.argv[1:])
    print(f"{absorb_in_file(netlist, packed)} flip-flops are in blocks")


if __name__ == "__main__":
    main()
