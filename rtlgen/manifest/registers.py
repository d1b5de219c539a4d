"""The registers of a circuit with an AXI4-Lite port: the one description that all else follows.

The hardware decodes it, the SystemRDL text and what is made from that (C header, IP-XACT), the
drivers, the documentation and the simulated host read it.

Every register has 32 bits. A value of 64 bits has two, the lower half first: `NAME` and
`NAME_HIGH`. Names of C are kept where they differ, whatever the case of their letters; with those
that do not, the later one has a number behind it: beside a wide `x`, that of `x_HIGH` is
`SCALAR_x_HIGH_2`. CTRL, GIER, IER and ISR have the places and bits that Vitis HLS gives them
(UG1399, "S_AXILITE Control Register Map"), as far as they are there, so that its drivers work.

What a bit does when it is read or written is its access:

- `ro`: the circuit says it. Writing it does nothing.
- `rw`: what was written last.
- `w1s`: writing 1 asks for something; what is read says whether it is still to come.
- `w1c`: the circuit sets it, and writing 1 clears it.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.manifest.names import Namer
from rtlgen.system.typed_json import IF_GIVEN

Access: TypeAlias = Literal["ro", "rw", "w1s", "w1c"]

REGISTER_BITS = 32
REGISTER_BYTES = REGISTER_BITS // 8
IDENTITY = int.from_bytes(b"rtlg", "big")
"""What register ID reads as."""

ERRORS = (
    ("NONE", "no error"),
    ("BUSY", "started, or told to swap copies, while it ran; the run goes on, and is right"),
    ("BASE", "an array begins inside of a page, or goes round the end of the addresses"),
    ("READ", "a read was answered with SLVERR or DECERR, see ERROR_ADDRESS"),
    ("WRITE", "a write was answered with SLVERR or DECERR, see ERROR_ADDRESS"),
    ("ANSWER", "answers came that were not asked for"),
    ("ABORTED", "the run was aborted; the arrays hold nothing of use"),
    ("ACCESS", "an array that the run has was read or written, or an address where nothing is"),
    ("VALUE", "an argument is beyond its bound: nothing was run"),
    ("SHORT", "a stream ended before the last element of its array"),
    ("LONG", "a stream did not end with the last element of its array; the rest of it is dropped"),
)
"""Name and meaning of each code of register ERROR, from 0 on."""


@dataclass(frozen=True, slots=True)
class Field:
    """Some bits of a register.

    Members
    -------
    low: the lowest bit. reset: the value after a reset. is_constant: it never has another one.
    """

    name: str
    low: int
    width: int
    access: Access
    meaning: str
    reset: int = 0
    is_constant: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.low + self.width <= REGISTER_BITS:
            raise ValueError(
                f"field {self.name} has bits {self.low} to {self.low + self.width - 1}"
            )

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1 << self.low

    @property
    def shows_reset(self) -> bool:
        """Whether `reset` is known: the value after a reset of what the circuit says is not."""
        return self.is_constant or self.access != "ro"


@dataclass(frozen=True, slots=True)
class Register:
    """One word of the port.

    Members
    -------
    value: what it shows, or one half of: a `RegisterValue`, where that has another name.
    """

    name: str
    offset: int
    fields: tuple[Field, ...]
    meaning: str
    value: str = dataclasses.field(default="", metadata={IF_GIVEN: True})

    def __post_init__(self) -> None:
        if self.offset % REGISTER_BYTES:
            raise ValueError(f"register {self.name} is at byte {self.offset}")
        taken = 0
        for bits in self.fields:
            if bits.mask & taken:
                raise ValueError(f"register {self.name} has two fields at bit {bits.low}")
            taken |= bits.mask

    def field(self, name: str) -> Field:
        """Return the field called `name`; KeyError where there is none."""
        for bits in self.fields:
            if bits.name == name:
                return bits
        raise KeyError(name)

    @property
    def shows(self) -> str:
        """The name of the value that it is the register of, or half of."""
        return self.value or self.name

    @property
    def word(self) -> int:
        """Its address in words."""
        return self.offset // REGISTER_BYTES

    @property
    def is_argument(self) -> bool:
        """Whether it is a value, or a half of one, that software gives."""
        return all(field.name == "VALUE" and field.access == "rw" for field in self.fields)


@dataclass(frozen=True, slots=True)
class Window:
    """An array on chip that is read and written through the port, as C has it in memory.

    Members
    -------
    offset: a multiple of the window's size, which is the next power of two from `bytes` on.
    element_bytes: of an element, the lowest byte first.
    is_double: there are two copies, and the window shows the one that no run has: at any time.
    """

    array: str
    offset: int
    elements: int
    element_bytes: int
    is_double: bool = dataclasses.field(default=False, metadata={IF_GIVEN: True})

    def __post_init__(self) -> None:
        if self.offset % self.size:
            raise ValueError(f"the window of {self.array} is at byte {self.offset}")

    @property
    def bytes(self) -> int:
        return self.elements * self.element_bytes

    @property
    def size(self) -> int:
        """Bytes of the port that it takes."""
        return max(REGISTER_BYTES, 1 << (self.bytes - 1).bit_length())


@dataclass(frozen=True, slots=True)
class RegisterMap:
    """All that is behind an AXI4-Lite port.

    Members
    -------
    name: of the block. registers: in order of their offsets. windows: likewise, behind them.
    """

    name: str
    registers: tuple[Register, ...]
    windows: tuple[Window, ...]

    def __post_init__(self) -> None:
        end = 0
        for offset, size in self._extents():
            if offset < end:
                raise ValueError(f"two things of {self.name} are at byte {offset}")
            end = offset + size
        names = [register.name for register in self.registers]
        # Macros of the C header have capitals.
        if len({name.upper() for name in names}) != len(names):
            raise ValueError(f"two registers of {self.name} share a name: {names}")

    def _extents(self) -> Iterator[tuple[int, int]]:
        yield from ((register.offset, REGISTER_BYTES) for register in self.registers)
        yield from ((window.offset, window.size) for window in self.windows)

    @property
    def bytes(self) -> int:
        """Size of the address range, a power of two."""
        *_, (offset, size) = self._extents()
        return 1 << (offset + size - 1).bit_length()

    @property
    def address_bits(self) -> int:
        """Width of an address of the port."""
        return (self.bytes - 1).bit_length()

    @property
    def signature(self) -> int:
        """A number of 32 bits that differs where the map does: a driver compares it.

        It is the CRC-32 of names, places and fields.
        """
        text = "\n".join(
            [
                *(
                    f"{r.offset:x} {r.name} {f.name} {f.low} {f.width} {f.access}"
                    for r in self.registers
                    for f in r.fields
                ),
                *(
                    f"{w.offset:x} {w.array} {w.elements} {w.element_bytes}"
                    + (" twice" if w.is_double else "")
                    for w in self.windows
                ),
            ]
        )
        return zlib.crc32(text.encode("ascii"))

    @property
    def signature_value(self) -> int:
        """What register SIGNATURE reads as."""
        return self.register("SIGNATURE").fields[0].reset

    def register(self, name: str) -> Register:
        """Return the register called `name`; KeyError where there is none."""
        for register in self.registers:
            if register.name == name:
                return register
        raise KeyError(name)

    def halves(self, value: str) -> tuple[Register, ...]:
        """Return the register of a value, or the two of a wide one, the lower half first."""
        return tuple(register for register in self.registers if register.shows == value)

    def has(self, value: str) -> bool:
        """Whether there is a value, or a register, of that name."""
        return any(register.shows == value for register in self.registers)


@dataclass(frozen=True, slots=True)
class RegisterValue:
    """A number that takes one register, or two: a scalar argument, a base, a count.

    Members
    -------
    name: of its register, where nothing else has that name.
    low: bits from the lowest that are always 0.
    """

    name: str
    width: int
    access: Access
    meaning: str
    low: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.low < min(self.width, REGISTER_BITS) or self.width > 2 * REGISTER_BITS:
            raise ValueError(f"{self.name} has bits {self.low} to {self.width - 1}")


def control_registers(*, has_twins: bool = False) -> Iterator[Register]:
    """Yield the registers that every block has, in front of all others.

    Parameters
    ----------
    has_twins: arrays are there twice, and can be swapped.
    """
    swap = (Field("SWAP", 17, 1, "w1s", "write 1 between runs: host and kernel swap their copies"),)

    def flag(name: str, bit: int, access: Access, meaning: str, reset: int = 0) -> Field:
        return Field(name, bit, 1, access, meaning, reset)

    yield Register(
        "CTRL",
        0x00,
        (
            flag("START", 0, "w1s", "write 1 to start; 1 until the run has begun"),
            flag("DONE", 1, "w1c", "a run is over; cleared by writing 1, and by the next start"),
            flag("IDLE", 2, "ro", "nothing runs", 1),
            flag("READY", 3, "ro", "a start is taken: as IDLE", 1),
            flag("RESTART", 7, "rw", "start again whenever a run is over without an error"),
            flag("ABORT", 16, "w1s", "write 1 to end the run; 1 until it is over"),
            *(swap if has_twins else ()),
        ),
        "start and state",
    )
    yield Register(
        "GIER", 0x04, (flag("ENABLE", 0, "rw", "let the interrupt go out"),), "interrupt enable"
    )
    causes = (("DONE", 0, "a run is over"), ("ERROR", 2, "ERROR was set"))
    yield Register(
        "IER",
        0x08,
        tuple(flag(name, bit, "rw", f"interrupt when {meaning}") for name, bit, meaning in causes),
        "causes of an interrupt that count",
    )
    yield Register(
        "ISR",
        0x0C,
        tuple(
            flag(name, bit, "w1c", f"{meaning}, and IER.{name} was set")
            for name, bit, meaning in causes
        ),
        "causes of the interrupt; cleared by writing 1",
    )
    codes = "; ".join(f"{code} {name}: {meaning}" for code, (name, meaning) in enumerate(ERRORS))
    answer = "with READ or WRITE the answer, 2 SLVERR or 3 DECERR; else 0"
    yield Register(
        "ERROR",
        0x10,
        (Field("CODE", 0, 4, "w1c", codes), Field("RESPONSE", 8, 2, "ro", answer)),
        "the first error since the last start, or since it was cleared by writing to it",
    )


def register_map(
    name: str,
    version: str,
    values: tuple[RegisterValue, ...],
    arrays: tuple[tuple[str, int, int], ...],
    twins: Collection[str] = (),
) -> RegisterMap:
    """Lay out the registers of a block.

    Parameters
    ----------
    version: of rtlgen, three numbers. values: in order, behind the registers of every block.
    arrays: of each that is reached through the port its name, elements and bytes of an element.
    twins: the names of those that are there twice.
    """
    registers = list(control_registers(has_twins=bool(twins)))
    offset = registers[-1].offset + REGISTER_BYTES

    def constant(name: str, value: int, meaning: str) -> Register:
        return Register(
            name, offset, (Field("VALUE", 0, REGISTER_BITS, "ro", meaning, value, True),), meaning
        )

    registers.append(constant("ID", IDENTITY, "identity: `rtlg`"))
    offset += REGISTER_BYTES
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    registers.append(
        constant("VERSION", major << 24 | minor << 16 | patch, "of rtlgen: major, minor, patch")
    )
    offset += REGISTER_BYTES
    signed = len(registers)
    offset += REGISTER_BYTES
    namer = Namer([*(r.name for r in registers), "SIGNATURE"], ignores_case=True)
    for value in values:
        is_wide = value.width > REGISTER_BITS
        offset += -offset % 8 if is_wide else 0
        names = namer.group(value.name, ("", "_HIGH") if is_wide else ("",))
        for half, own in enumerate(names):
            first = half * REGISTER_BITS
            low = value.low if not half else 0
            width = min(value.width - first, REGISTER_BITS)
            bits = Field("VALUE", low, width - low, value.access, value.meaning)
            which = (", lower half", ", upper half")[half] if is_wide else ""
            meaning = value.meaning + which
            of = "" if own == value.name else value.name
            registers.append(Register(own, offset, (bits,), meaning, of))
            offset += REGISTER_BYTES
    windows: list[Window] = []
    end = offset
    # The smallest first: behind the registers little room is lost before the next.
    for array, elements, element_bytes in sorted(arrays, key=lambda each: each[1] * each[2]):
        size = Window(array, 0, elements, element_bytes).size
        end += -end % size
        windows.append(Window(array, end, elements, element_bytes, array in twins))
        end += size
    unsigned = RegisterMap(name, tuple(registers), tuple(windows))
    registers.insert(
        signed,
        Register(
            "SIGNATURE",
            registers[signed - 1].offset + REGISTER_BYTES,
            (Field("VALUE", 0, REGISTER_BITS, "ro", "of this map", unsigned.signature, True),),
            "a number that differs where the map does; the drivers compare it",
        ),
    )
    return RegisterMap(name, tuple(registers), tuple(windows))
