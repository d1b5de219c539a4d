"""manifest.json: what a build directory holds and how to drive the circuit in it.

The generator writes it; simulation, test benches, synthesis and scripts read it, so none of them
needs the C program or the KernelPlan. The names in it are the real port names of the Verilog.

Host port
---------
An array is reached while `idle` is high through one plain memory port: `addr` (element number in
row-major order), `en`, `we` (one bit a byte of the element), `wdata`, `rdata`. A write happens on
the clock edge that sees `en` and a bit of `we`. `rdata` is valid after the edge that saw `en` with
no bit of `we`, and holds until the next such edge, or the next start.

Control
-------
`reset` is synchronous and active high. `start` is sampled while `idle` is high; scalar inputs are
captured on that edge. `done` is high for one cycle; `idle` rises after it. The number of cycles
of a run is the number of clock edges from the one that sees `start` to the one that sees `done`.
`return_value` and `checksum` are valid from `done` until the next start.

Memory off chip
---------------
Arrays that are off chip have no host port. What holds them, and where: `rtlgen.memory_map`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from rtlgen.errors import RtlgenError
from rtlgen.memory_map import MemoryMap

Direction: TypeAlias = Literal["in", "out"]
ArrayRole: TypeAlias = Literal["in", "out", "inout", "local"]
Json: TypeAlias = object

FILE_NAME = "manifest.json"
CHECKSUM_WIDTH_BITS = 64
MOST_CYCLES = 1 << 63
MOST_ELEMENTS = 1 << 26
MOST_BYTES = 1 << 24
DIGEST_NAME = "sha256"

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_FILE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\.v")
"""Of a file in the build directory itself."""


class OutputDirectoryError(RtlgenError):
    """The build directory cannot be written.

    `rtlgen build FILE.c -o DIR` creates DIR when it is not there and replaces the files in it that
    carry the same names, and those of an earlier build. Choose a directory that you may write to,
    that is not a file, and in which no folder has the name of a file of the build.
    """

    code = "E0402"


class ManifestMissingError(RtlgenError):
    """A build directory has no manifest.json, or it cannot be read.

    `rtlgen run DIR` and `rtlgen synth DIR` take a directory that `rtlgen build` wrote. It holds
    the Verilog, `manifest.json` and the reports. Build first, then name that directory:

        rtlgen build gemm.c -o build/gemm
        rtlgen run build/gemm --inputs in.npz --outputs out.npz
    """

    code = "E0410"


class ManifestCorruptError(RtlgenError):
    """A manifest.json is not what this version of rtlgen writes.

    The file was edited, cut short, or written by another version. The message names the entry that
    is wrong. Nothing in a build directory is worth repairing by hand: build it again with
    `rtlgen build FILE.c -o DIR`.
    """

    code = "E0411"


class StaleVerilogError(RtlgenError):
    """The Verilog in a build directory is not the one that its manifest describes.

    The manifest keeps the SHA-256 of the Verilog text. When they differ, the port list, the
    predicted cycles and every result would be about another circuit, so nothing is run. Build the
    directory again; keep hand-made changes of the Verilog in a copy elsewhere.
    """

    code = "E0412"


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
class HostPort:
    """The names of the five ports through which the host reaches an array."""

    addr: str
    en: str
    we: str
    wdata: str
    rdata: str


@dataclass(frozen=True, slots=True)
class ArrayEntry:
    """One C array, or a scalar variable (shape ()).

    Members
    -------
    element_bits, signed: the C type of an element.
    shape: row-major.
    ports: the host port; None for an array that is off chip, for one that is not visible outside
        (role `local`), and for one that the circuit has no use for: what the host gives is what it
        gets back.
    """

    name: str
    element_bits: int
    signed: bool
    shape: tuple[int, ...]
    role: ArrayRole
    ports: HostPort | None

    def __post_init__(self) -> None:
        if self.element_bits not in (8, 16, 32, 64):
            raise ValueError(f"array {self.name} has elements of {self.element_bits} bits")
        if any(extent < 1 for extent in self.shape):
            raise ValueError(f"array {self.name} has an empty dimension: {self.shape}")
        if self.depth > MOST_ELEMENTS:
            raise ValueError(f"array {self.name} has {self.depth} elements")

    @property
    def depth(self) -> int:
        """Number of elements."""
        depth = 1
        for extent in self.shape:
            depth *= extent
        return depth

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
    """A scalar argument and the input port that brings it."""

    name: str
    port: str
    width: int
    signed: bool


@dataclass(frozen=True, slots=True)
class ReturnEntry:
    """The output port that holds the function's result."""

    port: str
    width: int
    signed: bool


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file, relative to the build directory or as the user wrote it, and its SHA-256 in hex."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generated circuit.

    Members
    -------
    name: the C function. top: the Verilog module.
    clock, reset, start, done, idle: names of the control ports.
    ports: every port of `top`, in order of declaration.
    arrays: in order of declaration in C; the checksum covers `checksum_arrays` in their order.
    checksum: output port of the 64-bit checksum, or None when the circuit has no such unit.
    predicted_cycles: from start to done, exact.
    memory: off chip, and the arrays in it; None when all are on chip.
    options: the command-line options that the circuit was built with.
    version: of the rtlgen that wrote it.
    """

    name: str
    top: str
    clock: str
    reset: str
    start: str
    done: str
    idle: str
    ports: tuple[Port, ...]
    arrays: tuple[ArrayEntry, ...]
    scalars: tuple[ScalarEntry, ...]
    returned: ReturnEntry | None
    checksum: str | None
    checksum_arrays: tuple[str, ...]
    predicted_cycles: int
    verilog: FileEntry
    source: FileEntry
    version: str
    memory: MemoryMap | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

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
        self._require_mapped()

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
            if entry.ports is not None:
                raise ValueError(f"array {place.name} is in the memory and has a host port")
            if (entry.element_bits, entry.shape) != (place.element_bits, place.shape):
                raise ValueError(
                    f"array {place.name} has {entry.shape} elements of {entry.element_bits} bits, "
                    f"in the memory {place.shape} of {place.element_bits}"
                )

    def _port_uses(self) -> list[tuple[str, tuple[Direction, int]]]:
        uses: list[tuple[str, tuple[Direction, int]]] = [
            (self.clock, ("in", 1)),
            (self.reset, ("in", 1)),
            (self.start, ("in", 1)),
            (self.done, ("out", 1)),
            (self.idle, ("out", 1)),
        ]
        for array in self.arrays:
            if array.ports is not None:
                uses += [
                    (array.ports.addr, ("in", array.address_bits)),
                    (array.ports.en, ("in", 1)),
                    (array.ports.we, ("in", array.element_bytes)),
                    (array.ports.wdata, ("in", array.element_bits)),
                    (array.ports.rdata, ("out", array.element_bits)),
                ]
        uses += [(scalar.port, ("in", scalar.width)) for scalar in self.scalars]
        if self.memory is not None:
            uses += self.memory.port_uses()
        if self.returned is not None:
            uses.append((self.returned.port, ("out", self.returned.width)))
        if self.checksum is not None:
            uses.append((self.checksum, ("out", CHECKSUM_WIDTH_BITS)))
        return uses

    @property
    def host_arrays(self) -> tuple[ArrayEntry, ...]:
        """The arrays that have a host port."""
        return tuple(array for array in self.arrays if array.ports is not None)

    @property
    def data_arrays(self) -> tuple[ArrayEntry, ...]:
        """The arrays that the host gives and gets: through a host port, or in the memory."""
        return tuple(
            array
            for array in self.arrays
            if array.ports is not None or (array.role != "local" and self._is_off_chip(array))
        )

    @property
    def untouched_arrays(self) -> tuple[ArrayEntry, ...]:
        """The arrays of the program that the circuit has no use for, and no port."""
        return tuple(
            array
            for array in self.arrays
            if array.ports is None and array.role != "local" and not self._is_off_chip(array)
        )

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
        document = _encode(self)
        assert isinstance(document, dict)
        return document

    @staticmethod
    def from_json(document: Json) -> Manifest:
        """Return the manifest that `to_json` gave.

        Raises
        ------
        ManifestCorruptError: an entry is missing, unknown or of the wrong kind.
        """
        manifest = _decode(Manifest, document, "manifest")
        assert isinstance(manifest, Manifest)
        return manifest


# "return" is a keyword of Python, and the name that scripts know.
_JSON_NAMES = {"returned": "return"}


def _encode(value: object) -> Json:
    if isinstance(value, tuple | list):
        return [_encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _encode(item) for key, item in value.items()}
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is None:
        return value
    return {_JSON_NAMES.get(name, name): _encode(getattr(value, name)) for name in fields}


def _decode(kind: object, value: Json, where: str) -> object:
    """Return `value` as an instance of the annotated type `kind`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is object:
        return value
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return None
        return _decode(_closest(arguments, value), value, where)
    if origin is Literal:
        if value not in arguments:
            raise _corrupt(where, f"one of {', '.join(map(str, arguments))}", value)
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise _corrupt(where, "a list", value)
        return tuple(_decode(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if origin is Mapping:
        if not isinstance(value, dict):
            raise _corrupt(where, "an object", value)
        return value
    assert isinstance(kind, type)
    if hasattr(kind, "__dataclass_fields__"):
        return _decode_object(kind, value, where)
    # bool is an int to isinstance, but not to a reader of the file.
    if type(value) is not kind:
        raise _corrupt(where, f"of type {kind.__name__}", value)
    return value


def _closest(kinds: tuple[object, ...], value: Json) -> object:
    """Return the kind, of several of objects, that shares most names of entries with `value`."""
    inner = [kind for kind in kinds if kind is not NoneType]
    names = set(value) if isinstance(value, dict) else set()
    return max(inner, key=lambda kind: len(names & getattr(kind, "__annotations__", {}).keys()))


def _decode_object(kind: type, value: Json, where: str) -> object:
    if not isinstance(value, dict):
        raise _corrupt(where, "an object", value)
    types = get_type_hints(kind)
    names = {_JSON_NAMES.get(name, name): name for name in types}
    if missing := names.keys() - value.keys():
        raise ManifestCorruptError(
            f"{where} has no entry {', '.join(sorted(missing))}", help=_BUILD_AGAIN
        )
    if unknown := value.keys() - names.keys():
        raise ManifestCorruptError(
            f"{where} has an unknown entry {', '.join(sorted(unknown))}", help=_BUILD_AGAIN
        )
    members = {
        name: _decode(types[name], value[key], f"{where}.{key}") for key, name in names.items()
    }
    try:
        instance: object = kind(**members)
    except ValueError as error:
        raise ManifestCorruptError(f"{where}: {error}", help=_BUILD_AGAIN) from None
    return instance


_BUILD_AGAIN = "build the directory again with `rtlgen build FILE.c -o DIR`"


def _corrupt(where: str, expected: str, value: Json) -> ManifestCorruptError:
    return ManifestCorruptError(f"{where} is {value!r}, not {expected}", help=_BUILD_AGAIN)


def unwritable(directory: Path, reason: str | None) -> OutputDirectoryError:
    """Return the error for a build directory into which something cannot be written."""
    return OutputDirectoryError(
        f"cannot write to {directory}: {reason}", help="choose another directory"
    )


def sha256_of(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_manifest(directory: Path, manifest: Manifest) -> Path:
    """Write manifest.json into `directory`, with a digest of itself, and return its path."""
    path = directory / FILE_NAME
    document = manifest.to_json()
    document[DIGEST_NAME] = _digest(document)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


def _digest(document: Mapping[str, Json]) -> str:
    return sha256_of(json.dumps(document, sort_keys=True))


def read_manifest(directory: Path) -> Manifest:
    """Read manifest.json of `directory`.

    Raises
    ------
    ManifestMissingError, ManifestCorruptError
    """
    path = directory / FILE_NAME
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES)
        document = json.loads(text)
        digest = document.pop(DIGEST_NAME, None) if isinstance(document, dict) else None
        manifest = Manifest.from_json(document)
        is_as_written = digest == _digest(manifest.to_json())
    except OSError as error:
        reason = error.strerror or str(error)
        raise ManifestMissingError(
            f"cannot read {path}: {reason}",
            help="name a directory that `rtlgen build FILE.c -o DIR` wrote",
        ) from None
    except (ValueError, RecursionError) as error:
        raise ManifestCorruptError(
            f"{path} is not JSON", notes=[str(error)], help=_BUILD_AGAIN
        ) from None
    if not is_as_written:
        raise ManifestCorruptError(
            f"{path} was changed after the build",
            notes=["a wrong entry, such as `predicted_cycles`, would make every result wrong"],
            help=_BUILD_AGAIN,
        )
    return manifest


def read_verilog(directory: Path, manifest: Manifest) -> Path:
    """Return the path of the Verilog of `directory`, after checking that it is the manifest's.

    Raises
    ------
    ManifestMissingError: the file is not there.
    StaleVerilogError: its text has changed since the manifest was written.
    """
    path = directory / manifest.verilog.file
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ManifestMissingError(
            f"cannot read {path}: {error.strerror or error}", help=_BUILD_AGAIN
        ) from None
    if digest != manifest.verilog.sha256:
        raise StaleVerilogError(
            f"{path} is not the Verilog that its manifest describes",
            notes=[f"SHA-256 {digest}", f"manifest: {manifest.verilog.sha256}"],
            help=_BUILD_AGAIN,
        )
    return path
