"""Names of ports and modules, and what the ports carry, in a line each.

Names of ports and modules: C identifiers made fit for Verilog, in a way that never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields

from amaranth.lib import wiring

from rtlgen.ir.block_rams import external_ports
from rtlgen.ir.plan import KernelPlan, Memory, MemorySide
from rtlgen.manifest import names
from rtlgen.manifest.contents import HostPort, RamPort, RamPorts, StreamPort
from rtlgen.manifest.memory_map import AxiPorts, MemoryPorts

CONTROL_PORTS = ("clk", "rst", "start", "done", "idle", "return_value", "checksum")
SWAP_PORT = "swap"
"""Of a kernel that has arrays twice."""

MEMORY_PORTS = MemoryPorts("mem_en", "mem_we", "mem_addr", "mem_wdata", "mem_rdata", "mem_ack")
STREAM_ERRORS = ("stream_short", "stream_long")
_AXI_OWN_PORTS = ("error", "error_address", "error_write", "error_response")
"""Of a port of kind `axi`, those that are none of AXI4's."""
AXI_PORTS = AxiPorts(
    **{
        name: f"mem_{name}" if name in _AXI_OWN_PORTS else f"m_axi_{name}"
        for name in (each.name for each in fields(AxiPorts))
    }
)


def memory_ports(side: MemorySide) -> MemoryPorts | AxiPorts:
    """Return the names of the ports to the memory off chip."""
    return AXI_PORTS if side.bus.has_bursts else MEMORY_PORTS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERILOG_KEYWORDS = _words(
    """
    always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config
    deassign default defparam design disable edge else end endcase endconfig endfunction
    endgenerate endmodule endprimitive endspecify endtable endtask event for force forever
    fork function generate genvar highz0 highz1 if ifnone incdir include initial inout
    input instance integer join large liblist library localparam macromodule medium module
    nand negedge nmos nor noshowcancelled not notif0 notif1 or output parameter pmos
    posedge primitive pull0 pull1 pulldown pullup pulsestyle_onevent pulsestyle_ondetect
    rcmos real realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared
    showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table
    task time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg unsigned use uwire
    vectored wait wand weak0 weak1 while wire wor xnor xor
    """
)
"""IEEE 1364-2005, annex B."""

SYSTEMVERILOG_KEYWORDS = _words(
    """
    alias always_comb always_ff always_latch assert assume before bind bins binsof bit
    break byte chandle class clocking const constraint context continue cover covergroup
    coverpoint cross dist do endclass endclocking endgroup endinterface endpackage
    endprogram endproperty endsequence enum expect export extends extern final first_match
    foreach forkjoin iff ignore_bins illegal_bins import inside int interface intersect
    join_any join_none local logic longint matches modport new null package packed
    priority program property protected pure rand randc randcase randsequence ref return
    sequence shortint shortreal solve static string struct super tagged this throughout
    timeprecision timeunit type typedef union unique var virtual void wait_order wildcard
    with within
    """
)
"""IEEE 1800-2005: what a simulator that reads the file as SystemVerilog would trip over."""

_HOST_SUFFIXES = ("addr", "en", "we", "wdata", "rdata")


class Namer(names.Namer):
    """Give out names for Verilog: none is a keyword, and the first character is a letter."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        super().__init__({*reserved, *VERILOG_KEYWORDS, *SYSTEMVERILOG_KEYWORDS})

    def group(self, wanted: str, suffixes: Sequence[str]) -> tuple[str, ...]:
        """Return wanted + suffix for every suffix, all with the same number if one is needed."""
        stem = wanted.lstrip("_")
        return super().group(stem if stem[:1].isalpha() else f"x{stem}", suffixes)


def prefix_ports(component: wiring.Component, prefix: str) -> None:
    """Put `prefix` before the names of a component's ports.

    The signals of a port also show in the module around it, where ports of the same name of several
    components would be told apart by numbers only.
    """
    for _, _, port in component.signature.flatten(component):
        port.name = f"{prefix}_{port.name}"


@dataclass(frozen=True, slots=True)
class PortNames:
    """Names of the ports that come from the C program.

    Members
    -------
    scalars. hosts: of memories that the host reaches, in the kernel or beside it. bases: of arrays
        behind a bus with bursts, the input with the address of each. streams: of arrays that come
        in, or go out. rams: of arrays that stand outside.
    """

    scalars: dict[str, str]
    hosts: dict[str, HostPort]
    bases: dict[str, str]
    streams: dict[str, StreamPort]
    rams: dict[str, RamPorts] = field(default_factory=dict)


def port_names(plan: KernelPlan) -> PortNames:
    """Return the port names of a kernel, the same ones for the same plan.

    An Amaranth component has its ports as attributes, so the names of its own are taken too.
    """
    reserved = (*CONTROL_PORTS, *dir(wiring.Component), "elaborate", "plan", "names")
    if plan.stream_memories:
        reserved = (*reserved, *STREAM_ERRORS, "abort", "can_abort", "stands_still", "tells_stalls")
    # Only where it is there: the ports of other designs keep their names.
    memory = () if plan.memory_side is None else astuple(memory_ports(plan.memory_side))
    swap = (SWAP_PORT,) if plan.has_twins else ()
    namer = Namer((*reserved, *memory, *swap))
    scalars = {scalar.name: namer.name(scalar.name) for scalar in plan.scalars}
    suffixes = tuple(f"_{suffix}" for suffix in _HOST_SUFFIXES)
    hosts = {
        memory.name: HostPort(*namer.group(memory.name, suffixes))
        for memory in plan.memories
        if memory.has_host_port or memory.is_external
    }
    side = plan.memory_side
    based = side.arrays if side is not None and side.bus.has_bursts else ()
    bases = {array.name: namer.name(f"{array.name}_base") for array in based}
    pins = tuple(f"_{each.name}" for each in fields(StreamPort))
    streams = {
        memory.name: StreamPort(
            *namer.group(f"{'s' if memory.kind == 'source' else 'm'}_axis_{memory.name}", pins)
        )
        for memory in plan.stream_memories
    }
    # The last ones: where arrays stand changes no other name.
    rams = {memory.name: _ram_names(plan, memory, namer) for memory in plan.external_memories}
    return PortNames(scalars, hosts, bases, streams, rams)


def _ram_names(plan: KernelPlan, memory: Memory, namer: Namer) -> RamPorts:
    """Name the pins of a RAM outside: its read ports have numbers where there are several."""
    reads, is_written = external_ports(plan, memory)
    stems = ["_read" if len(reads) == 1 else f"_read{port}" for port in reads]
    stems += ["_write"] if is_written else []
    pins = [f"_{each.name}" for each in fields(RamPort)]
    found = namer.group(memory.name, [f"{stem}{pin}" for stem in stems for pin in pins])
    ports = [RamPort(*found[n : n + len(pins)]) for n in range(0, len(found), len(pins))]
    return RamPorts(tuple(ports[: len(reads)]), ports[-1] if is_written else None)


_CONTROL = {
    "start": "begins a run; looked at while idle is high",
    "done": "high in the last cycle of a run",
    "idle": "high while nothing runs",
    "return_value": "what the function returns, from done until the next start",
    "checksum": "CRC-64 of the results, from done until the next start",
    "stream_short": "a stream of this run ended too early; from done until the next start",
    "stream_long": "a stream of this run did not end with its array; likewise",
    "abort": "breaks off the run",
}
_WHILE_IDLE = "while idle is high"
_FIXED_PINS = {
    "en": "memory off chip: an access, which holds still until the answer",
    "we": "a bit for each byte of the word that is written; 0 reads",
    "addr": "number of the word",
    "wdata": "the word that is written",
    "rdata": "the word that is read, valid with the answer",
    "ack": "the answer, in the last cycle of an access",
}
_AXI_PINS = {
    "error": "an answer of this run was an error, or a base is out of place",
    "error_address": "where the first such answer belongs",
    "error_write": "it was one to a write",
    "error_response": "the answer itself",
}
_CHANNELS = {
    "aw": "write address",
    "w": "write data",
    "b": "write response",
    "ar": "read address",
    "r": "read data",
}


def port_comments(plan: KernelPlan, names: PortNames) -> dict[str, str]:
    """Return what each port of a kernel carries, by its name."""
    comments = dict(_CONTROL)
    if plan.has_twins:
        comments[SWAP_PORT] = (
            "gives the host the copies that the kernel has, and back, as start does"
        )
    for scalar, port in names.scalars.items():
        comments[port] = f"argument {scalar}, taken over with start"
    for memory in plan.memories:
        if memory.has_host_port:
            host = names.hosts[memory.name]
            shape = "".join(f"[{extent}]" for extent in memory.shape)
            comments |= {
                host.addr: f"array {memory.name}{shape}: number of the element, in the order of C",
                host.en: "the host's access, "
                + ("to the copy that is not the kernel's" if memory.is_double else _WHILE_IDLE),
                host.we: "a bit for each byte that is written; 0 reads",
                host.wdata: "element that is written",
                host.rdata: "element that was read, from the next cycle on",
            }
        if memory.is_external:
            comments |= _ram_comments(memory, names)
        if memory.is_stream:
            comments |= stream_comments(memory, names)
    for array, port in names.bases.items():
        comments[port] = f"byte address of array {array}, taken over with start"
    if plan.memory_side is not None:
        comments |= dict(_pins(plan.memory_side))
    return comments


def _ram_comments(memory: Memory, names: PortNames) -> dict[str, str]:
    """Return what the pins of a RAM outside carry."""
    rams = names.rams[memory.name]
    shape = "".join(f"[{extent}]" for extent in memory.shape)
    comments: dict[str, str] = {}
    for read in rams.reads:
        comments |= {
            read.addr: f"array {memory.name}{shape}, outside: number of the element that is read",
            read.en: "one is",
            read.data: "that element, from the next cycle on until another one is read",
        }
    if rams.write is not None:
        comments |= {
            rams.write.addr: f"array {memory.name}{shape}: number of the element that is written",
            rams.write.en: "one is",
            rams.write.data: "the element",
        }
    return comments


def stream_comments(memory: Memory, names: PortNames) -> dict[str, str]:
    """Return what the pins of an array carry that comes in, or goes out."""
    pins = names.streams[memory.name]
    shape = "".join(f"[{extent}]" for extent in memory.shape)
    way = "in" if memory.kind == "source" else "out"
    return {
        pins.tdata: f"array {memory.name}{shape}, {way} over AXI4-Stream: its next element",
        pins.tvalid: "there is one",
        pins.tready: "it is taken",
        pins.tlast: "it is the last one of the array",
    }


def axi_comments(prefix: str, ports: Iterable[str], what: str) -> dict[str, str]:
    """Return what the pins of an AXI4 or AXI4-Lite port carry.

    Parameters
    ----------
    what: the port is.
    """
    comments = {}
    for port in ports:
        pin = port.removeprefix(prefix)
        if pin != port:
            channel = next(each for each in _CHANNELS if pin.startswith(each))
            comments[port] = f"{what}, {_CHANNELS[channel]} channel"
    return comments


def _pins(side: MemorySide) -> Iterator[tuple[str, str]]:
    """Yield the pins of the memory off chip, with what they carry."""
    said = _AXI_PINS if side.bus.has_bursts else _FIXED_PINS
    for pin, name in asdict(memory_ports(side)).items():
        if pin in said:
            yield name, said[pin]
        else:
            channel = next(prefix for prefix in _CHANNELS if pin.startswith(prefix))
            yield name, f"AXI4, {_CHANNELS[channel]} channel"
