"""manifest.json: what a build directory holds and how to drive the circuit in it.

The generator writes it; simulation, test benches, synthesis and scripts read it, so none of them
needs the C program or the KernelPlan. The names in it are the real port names of the Verilog.

Host port
---------
An array is reached while `idle` is high through one plain memory port: `addr` (element number in
row-major order), `en`, `we` (one bit a byte of the element), `wdata`, `rdata`. A write happens on
the clock edge that sees `en` and a bit of `we`. `rdata` is valid after the edge that saw `en` with
no bit of `we`, and holds until the next such edge, or the next start.

An array with `is_double` is there twice. The host reaches the one that no run has, at any time. At
an edge that sees `idle` high, and `start` or `swap`, the two are swapped: a run works on what was
written before, and what it leaves is the host's from the next start, or `swap`, on.

Beside the core
---------------
An array with `ram` stands in a RAM of the user's (`--memory A=external`). `top` is an example of
that: the module `core`, a RAM for each such array, and the host's port to it while `idle` is high.
Each of `ram.reads` asks with `en` for the element `addr`, and sees it in `data` from the next cycle
on, until it asks again; `ram.write` writes `data` with `en`. What is read in the cycle in which it
is written is not looked at. While `idle` is high the core writes nothing, and looks at nothing that
it has asked for.

Control
-------
`reset` is synchronous and active high. `start` is sampled while `idle` is high; scalar inputs are
captured on that edge. `done` is high for one cycle; `idle` rises after it. The number of cycles
of a run is the number of clock edges from the one that sees `start` to the one that sees `done`.
`return_value` and `checksum` are valid from `done` until the next start.

Block of a system
-----------------
With `--top axi` there is none of this: the circuit has `registers` behind an AXI4-Lite port, whose
pins are `control_prefix` and the names of AXI4, and an interrupt. `reset` is active low then. What
the registers are stands in `rtlgen.manifest.registers`. `start`, `done`, `idle` and the ports of
arrays, scalars, result and checksum are null.

Streams
-------
An array with `stream` comes in (role `in`) or goes out over AXI4-Stream, an element a beat in
row-major order, `tlast` with the last one of each run. A beat is taken at an edge that sees
`tvalid` and `tready`; beats of a run may come before its start, and go on behind its done.

Memory off chip
---------------
Arrays that are off chip have no host port. What holds them, and where stands in
`rtlgen.manifest.memory_map`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal, TypeAlias

from rtlgen.errors import RtlgenError
from rtlgen.manifest.memory_map import MemoryMap
from rtlgen.manifest.registers import RegisterMap
from rtlgen.system.typed_json import IF_GIVEN, JSON_NAME, MismatchError, TypedJson

Direction: TypeAlias = Literal["in", "out"]
ArrayRole: TypeAlias = Literal["in", "out", "inout", "local"]
Json: TypeAlias = object

CHECKSUM_WIDTH_BITS = 64
MOST_CYCLES = 1 << 63
MOST_ELEMENTS = 1 << 26
BUILD_AGAIN = "build the directory again with `rtlgen build FILE.c -o DIR`"

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_FORM = TypedJson()

_FILE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\.v")
"""Of a file in the build directory itself."""


class ManifestCorruptError(RtlgenError):
    """A manifest.json is not what this version of rtlgen writes.

    The file was edited, cut short, or written by another version. The message names the entry that
    is wrong. Nothing in a build directory is worth repairing by hand: build it again with
    `rtlgen build FILE.c -o DIR`.
    """

    code = "E0411"


FLOAT_BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
"""Formats of IEEE 754, and bfloat16: the upper half of a float32."""


def type_name(name: str, bits: int, signed: bool) -> str:
    """Return the name of a C type: int8 to uint64, or one of `FLOAT_BITS`.

    Parameters
    ----------
    name: "" for the integer type of `bits` bits.

    Raises
    ------
    ValueError: words of that kind do not hold the type.
    """
    integer = f"{'' if signed else 'u'}int{bits}"
    if name not in ("", integer) and (signed or FLOAT_BITS.get(name) != bits):
        raise ValueError(f"{integer} holds no {name}")
    return name or integer


_C_TYPES = {"float32": "float", "float64": "double", "float16": "uint16_t", "bfloat16": "uint16_t"}
"""Where C99 has no such type, patterns stand for it."""


def c_type(type_: str) -> str:
    """Return what drivers in C call an element of a type."""
    return _C_TYPES.get(type_, f"{type_}_t")


@dataclass(frozen=True, slots=True)
class Port:
    """One port of the top module."""

    name: str
    direction: Direction
    width: int

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"port {self.name} is {self.width} bits wide")


@dataclass(frozen=True, slots=True)
class KernelPins:
    """The control pins of a kernel."""

    clock: str = "clk"
    reset: str = "rst"
    start: str = "start"
    done: str = "done"
    idle: str = "idle"


@dataclass(frozen=True, slots=True)
class HostPort:
    """The names of the five ports through which the host reaches an array."""

    addr: str
    en: str
    we: str
    wdata: str
    rdata: str


@dataclass(frozen=True, slots=True)
class StreamPort:
    """The names of the ports of an array that comes in, or goes out, over AXI4-Stream."""

    tdata: str
    tvalid: str
    tready: str
    tlast: str


@dataclass(frozen=True, slots=True)
class RamPort:
    """The names of the three ports of the core for one port of a RAM beside it."""

    addr: str
    en: str
    data: str


@dataclass(frozen=True, slots=True)
class RamPorts:
    """The ports of the core for the RAM that holds an array: one to write, if it does, and some to
    read.
    """

    reads: tuple[RamPort, ...]
    write: RamPort | None


@dataclass(frozen=True, slots=True)
class ArrayEntry:
    """One C array, or a scalar variable (shape ()).

    Members
    -------
    element_bits, signed: of an element; a number in floating point is an unsigned word.
    type: the C type of an element, see `type_name`.
    shape: row-major.
    is_double: there are two copies: the host reaches the one that no run has, at any time.
    ports: the host port; None for an array that is off chip, for one that is not visible outside
        (role `local`), for one in a window of the registers, and for one that the circuit has no
        use for: what the host gives is what it gets back; or that is a stream.
    stream: of an array that comes in (role `in`) or goes out (`out`) over a stream: its ports.
    ram: of an array that stands beside the core: ports of the core.
    """

    name: str
    element_bits: int
    signed: bool
    shape: tuple[int, ...]
    role: ArrayRole
    ports: HostPort | None
    type: str = ""
    stream: StreamPort | None = None
    is_double: bool = field(default=False, metadata={IF_GIVEN: True})
    ram: RamPorts | None = field(default=None, metadata={IF_GIVEN: True})

    def __post_init__(self) -> None:
        if self.element_bits not in (8, 16, 32, 64):
            raise ValueError(f"array {self.name} has elements of {self.element_bits} bits")
        object.__setattr__(self, "type", type_name(self.type, self.element_bits, self.signed))
        if any(extent < 1 for extent in self.shape):
            raise ValueError(f"array {self.name} has an empty dimension: {self.shape}")
        if self.depth > MOST_ELEMENTS:
            raise ValueError(f"array {self.name} has {self.depth} elements")
        if self.stream is not None and (self.ports or self.role not in ("in", "out")):
            raise ValueError(f"array {self.name} is no stream")

    @property
    def depth(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def address_bits(self) -> int:
        """Width of the address port."""
        return max(1, (self.depth - 1).bit_length())

    @property
    def element_bytes(self) -> int:
        """Width of the write-enable port: one bit a byte."""
        return self.element_bits // 8


@dataclass(frozen=True, slots=True)
class ScalarEntry:
    """A scalar argument and the input port that brings it; None: a register does.

    Members
    -------
    limits: the values with which the program has a meaning, both inclusive; None: all of its type.
    """

    name: str
    port: str | None
    width: int
    signed: bool
    type: str = ""
    limits: tuple[int, int] | None = field(default=None, metadata={IF_GIVEN: True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", type_name(self.type, self.width, self.signed))


@dataclass(frozen=True, slots=True)
class ReturnEntry:
    """The output port that holds the function's result; None: a register does."""

    port: str | None
    width: int
    signed: bool
    type: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", type_name(self.type, self.width, self.signed))


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file, relative to the build directory or as the user wrote it, and its SHA-256 in hex."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class CoreEntry:
    """The module inside of `top` beside which arrays stand, with all of its ports."""

    module: str
    ports: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generated circuit.

    Members
    -------
    name: the C function. top: the Verilog module.
    clock, reset, start, done, idle: names of the control ports; see above.
    ports: every port of `top`, in order of declaration.
    arrays: in order of declaration in C; the checksum covers `checksum_arrays` in their order.
    checksum: output port of the 64-bit checksum, or None when the circuit has no such unit.
    predicted_cycles: from start to done, exact.
    memory: off chip, and the arrays in it; None when all are on chip.
    options: the command-line options that the circuit was built with.
    version: of the rtlgen that wrote it.
    swap: of a kernel that has arrays twice, the input that swaps them.
    core: where arrays stand beside the core; `top` is the core with RAMs for them then.
    registers: of a block of a system, with `control_prefix` and `interrupt`, names of its pins.
    stream_errors: output ports that say, from done on, that a frame of the run was too short, or
        too long; of a block, a register does.
    """

    name: str
    top: str
    clock: str
    reset: str
    start: str | None
    done: str | None
    idle: str | None
    ports: tuple[Port, ...]
    arrays: tuple[ArrayEntry, ...]
    scalars: tuple[ScalarEntry, ...]
    # "return" is a keyword of Python, and the name that scripts know.
    returned: ReturnEntry | None = field(metadata={JSON_NAME: "return"})
    checksum: str | None
    checksum_arrays: tuple[str, ...]
    predicted_cycles: int
    verilog: FileEntry
    source: FileEntry
    version: str
    memory: MemoryMap | None = None
    options: Mapping[str, Json] = field(default_factory=dict)
    registers: RegisterMap | None = None
    control_prefix: str | None = None
    interrupt: str | None = None
    stream_errors: tuple[str, ...] = ()
    swap: str | None = field(default=None, metadata={IF_GIVEN: True})
    core: CoreEntry | None = field(default=None, metadata={IF_GIVEN: True})

    def __post_init__(self) -> None:
        for name in (self.name, self.top, *(port.name for port in self.ports)):
            if not _IDENTIFIER.fullmatch(name):
                raise ValueError(f"{name!r} is no name of C or Verilog")
        if not _FILE_NAME.fullmatch(self.verilog.file):
            raise ValueError(f"the Verilog of {self.name} is not {self.verilog.file}")
        if not 0 <= self.predicted_cycles <= MOST_CYCLES:
            raise ValueError(f"{self.predicted_cycles} predicted cycles")
        widths = {port.name: (port.direction, port.width) for port in self.ports}
        if len(widths) != len(self.ports):
            raise ValueError(f"two ports of {self.top} share a name")
        for name, expected in self._port_uses():
            if widths.get(name) != expected:
                raise ValueError(f"port {name} is {widths.get(name)}, expected {expected}")
        names = [array.name for array in self.arrays] + [s.name for s in self.scalars]
        if len(set(names)) != len(names):
            raise ValueError(f"two arguments of {self.name} share a name: {names}")
        if not set(self.checksum_arrays) <= set(names):
            raise ValueError(f"checksum over unknown arrays: {self.checksum_arrays}")
        is_block = self.registers is not None
        pins = {pin is not None for pin in (self.start, self.done, self.idle)}
        of_block = {pin is not None for pin in (self.control_prefix, self.interrupt)}
        if pins != {not is_block} or of_block != {is_block}:
            raise ValueError(f"{self.name} has both registers and a start, or neither")
        has_twins = any(array.is_double for array in self.arrays)
        if (self.swap is not None) != (has_twins and not is_block):
            raise ValueError(f"{self.name} has arrays twice and no swap, or the other way round")
        self._require_mapped()
        self._require_core()

    def _require_mapped(self) -> None:
        """Require that the arrays of the memory off chip are those of the program."""
        mapped = () if self.memory is None else self.memory.arrays
        entries = {array.name: array for array in self.arrays}
        if len({array.name for array in mapped}) != len(mapped):
            raise ValueError("an array is in the memory twice")
        for place in mapped:
            entry = entries.get(place.name)
            if entry is None:
                raise ValueError(f"unknown array {place.name} is in the memory")
            if entry.ports is not None or entry.stream is not None:
                raise ValueError(f"array {place.name} is in the memory and has a host port")
            if (entry.element_bits, entry.shape) != (place.element_bits, place.shape):
                raise ValueError(
                    f"array {place.name} has {entry.shape} elements of {entry.element_bits} bits, "
                    f"in the memory {place.shape} of {place.element_bits}"
                )

    def _require_core(self) -> None:
        """Require that the core has the ports of the arrays beside it."""
        rams = {array.name: array for array in self.arrays if array.ram is not None}
        if bool(rams) != (self.core is not None):
            raise ValueError(f"{self.name} has arrays beside a core, and no core, or none")
        ports = {p.name: (p.direction, p.width) for p in (self.core.ports if self.core else ())}
        for array in rams.values():
            assert array.ram is not None
            if array.ports is None:
                raise ValueError(f"array {array.name} is beside the core, and the host sees none")
            for pins in (*array.ram.reads, *((array.ram.write,) if array.ram.write else ())):
                way: Direction = "out" if pins is array.ram.write else "in"
                wanted: list[tuple[str, tuple[Direction, int]]] = [
                    (pins.addr, ("out", array.address_bits)),
                    (pins.en, ("out", 1)),
                    (pins.data, (way, array.element_bits)),
                ]
                for name, use in wanted:
                    if ports.get(name) != use:
                        raise ValueError(f"port {name} of the core is {ports.get(name)}, not {use}")

    def _port_uses(self) -> list[tuple[str, tuple[Direction, int]]]:
        found: list[tuple[str | None, tuple[Direction, int]]] = [
            (self.clock, ("in", 1)),
            (self.reset, ("in", 1)),
            (self.start, ("in", 1)),
            (self.done, ("out", 1)),
            (self.idle, ("out", 1)),
            (self.interrupt, ("out", 1)),
            (self.swap, ("in", 1)),
        ]
        for array in self.arrays:
            if array.ports is not None:
                found += [
                    (array.ports.addr, ("in", array.address_bits)),
                    (array.ports.en, ("in", 1)),
                    (array.ports.we, ("in", array.element_bytes)),
                    (array.ports.wdata, ("in", array.element_bits)),
                    (array.ports.rdata, ("out", array.element_bits)),
                ]
            if array.stream is not None:
                there: Direction = "in" if array.role == "in" else "out"
                found += [
                    (array.stream.tdata, (there, array.element_bits)),
                    (array.stream.tvalid, (there, 1)),
                    (array.stream.tready, ("out" if there == "in" else "in", 1)),
                    (array.stream.tlast, (there, 1)),
                ]
        found += [(scalar.port, ("in", scalar.width)) for scalar in self.scalars]
        found += [(port, ("out", 1)) for port in self.stream_errors]
        if self.memory is not None:
            found += self.memory.port_uses()
        if self.returned is not None:
            found.append((self.returned.port, ("out", self.returned.width)))
        found.append((self.checksum, ("out", CHECKSUM_WIDTH_BITS)))
        return [(name, use) for name, use in found if name is not None]

    @property
    def kernel_pins(self) -> KernelPins:
        """The control pins of the kernel, which is inside of a block."""
        if self.start is None or self.done is None or self.idle is None:
            return KernelPins()
        return KernelPins(self.clock, self.reset, self.start, self.done, self.idle)

    @property
    def has_checksum(self) -> bool:
        """Whether the circuit has a checksum unit."""
        registers = self.registers
        return self.checksum is not None or (registers is not None and registers.has("CHECKSUM"))

    @property
    def held_arrays(self) -> tuple[ArrayEntry, ...]:
        """The arrays on chip that the host reads and writes: through a port, or a window."""
        windows = () if self.registers is None else self.registers.windows
        names = {window.array for window in windows}
        return tuple(a for a in self.arrays if a.ports is not None or a.name in names)

    @property
    def streams(self) -> tuple[ArrayEntry, ...]:
        """The arrays that come in, or go out, over streams."""
        return tuple(array for array in self.arrays if array.stream is not None)

    @property
    def host_arrays(self) -> tuple[ArrayEntry, ...]:
        """The arrays that the host gives and gets itself: held on chip, or over streams."""
        held = {array.name for array in self.held_arrays}
        return tuple(a for a in self.arrays if a.name in held or a.stream is not None)

    @property
    def data_arrays(self) -> tuple[ArrayEntry, ...]:
        """The arrays that the host gives and gets: itself, or in the memory."""
        by_host = {array.name for array in self.host_arrays}
        return tuple(
            array
            for array in self.arrays
            if array.name in by_host or (array.role != "local" and self._is_off_chip(array))
        )

    @property
    def untouched_arrays(self) -> tuple[ArrayEntry, ...]:
        """The arrays of the program that the circuit has no use for, and no port."""
        given = {array.name for array in self.data_arrays}
        return tuple(a for a in self.arrays if a.role != "local" and a.name not in given)

    def _is_off_chip(self, array: ArrayEntry) -> bool:
        return self.memory is not None and any(a.name == array.name for a in self.memory.arrays)

    def array(self, name: str) -> ArrayEntry:
        """Return the array called `name`; KeyError when there is none."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def to_json(self) -> dict[str, Json]:
        """Return the manifest as a JSON-serialisable object."""
        document: dict[str, Json] = _FORM.encode(self, Manifest)
        return document

    @staticmethod
    def from_json(document: Json) -> Manifest:
        """Return the manifest that `to_json` gave.

        Raises
        ------
        ManifestCorruptError: an entry is missing, unknown or of the wrong kind.
        """
        try:
            manifest = _FORM.decode(document, Manifest, "manifest")
        except MismatchError as error:
            raise ManifestCorruptError(str(error), help=BUILD_AGAIN) from None
        assert isinstance(manifest, Manifest)
        return manifest
