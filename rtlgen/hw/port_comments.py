"""What the ports of a kernel carry, in a line each: the comments of its Verilog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from rtlgen.hw.names import SWAP_PORT, PortNames, memory_ports
from rtlgen.ir.plan import KernelPlan, Memory, MemorySide

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
