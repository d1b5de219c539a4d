"""A core whose arrays stand outside, with RAMs beside it: it has the ports of one that holds them.

So what drives a kernel drives this one, and who has RAMs of his own reads how they are connected.
The text is `beside_rams.v.j2`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtlgen.hw.names import Namer, port_names
from rtlgen.ir.plan import KernelPlan, LoadOp, Memory, address_bits
from rtlgen.manifest.contents import CoreEntry, HostPort, Port, RamPort
from rtlgen.output.templates import templates_in
from rtlgen.output.verilog_text.design import CLOCK_COMMENTS
from rtlgen.output.verilog_text.layout import packed, port_table, range_of, table

_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_TEMPLATES = templates_in(Path(__file__).parent)
_BYTE_BITS = 8


@dataclass(frozen=True, slots=True)
class _Ram:
    """A RAM of an array: the port of the core that reads it, and what is wired to what it shows.

    Members
    -------
    is_hosts: the host reads it, too. data: the wire of what it shows. shows: another one.
    """

    name: str
    read: RamPort | None
    is_hosts: bool
    data: str
    shows: str | None


@dataclass(frozen=True, slots=True)
class _Outside:
    """An array that stands outside."""

    name: str
    shape: Sequence[int]
    bits: int
    words: int
    address_bits: int
    host: HostPort
    write: RamPort | None
    rams: Sequence[_Ram]

    @property
    def lanes(self) -> int:
        return self.bits // _BYTE_BITS


def beside_rams(
    plan: KernelPlan,
    core: CoreEntry,
    core_text: str,
    ports: Sequence[Port],
    comments: Mapping[str, str],
) -> tuple[str, str]:
    """Return the name and the text of the module around a core.

    Parameters
    ----------
    core_text: its Verilog, of which no module has the name of another one here.
    ports: of a kernel that holds the arrays, and what they carry, by name.
    """
    modules = Namer(_MODULE.findall(core_text))
    top, ram = modules.group(f"{core.module}_beside", ("_rams", "_ram"))
    own = {port.name: port for port in (*core.ports, *ports)}
    namer = Namer(own)
    names = port_names(plan)
    arrays = []
    for memory in plan.external_memories:
        pins, host = names.rams[memory.name], names.hosts[memory.name]
        rams = []
        # The first one is read by the host, too.
        for number, read in enumerate(pins.reads or (None,)):
            is_hosts = number == 0
            data, shows = (host.rdata if read is None else read.data), None
            if is_hosts and read is not None:
                shows = host.rdata
            name = namer.name(f"{memory.name}_ram{number or ''}")
            rams.append(_Ram(name, read, is_hosts, data, shows))
        arrays.append(
            _Outside(
                memory.name,
                memory.shape,
                memory.width_bits,
                _words(plan, memory),
                address_bits(memory.depth),
                host,
                pins.write,
                rams,
            )
        )
    outer = {port.name for port in ports}
    inner = [port for port in core.ports if port.name not in outer]
    said = {**CLOCK_COMMENTS, **comments}
    connections = [f".{port.name}({port.name})," for port in core.ports]
    connections[-1] = connections[-1].rstrip(",")
    text = _TEMPLATES.get_template("beside_rams.v.j2").render(
        top=top,
        core=core.module,
        instance=namer.name("core"),
        ram=ram,
        ports=port_table(
            [
                (
                    "input wire" if p.direction == "in" else "output wire",
                    p.width,
                    p.name,
                    said.get(p.name, ""),
                )
                for p in ports
            ]
        ),
        connections=list(packed(connections)),
        wires=table([("wire", range_of(p.width), f"{p.name};", "") for p in inner]),
        arrays=arrays,
    )
    return top, text


def _words(plan: KernelPlan, memory: Memory) -> int:
    """Return the words of the RAM of an array: a lookup may compute, and not use, any number."""
    loads = (op for s in plan.streams for op in s.operations if isinstance(op, LoadOp))
    is_looked_up = any(op.memory == memory.name and op.address is None for op in loads)
    return 1 << address_bits(memory.depth) if is_looked_up else memory.depth
