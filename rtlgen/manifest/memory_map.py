"""The memory off chip: the port through which a circuit gets at it, and what is where in it.

Between `done` and the next start there is no access: the host may read and write the memory then.

Port of kind `fixed`
--------------------
One access at a time, a word each. The circuit holds `en`, `we`, `addr` and `wdata` from registers
until the cycle in which it sees `ack`; then the next access may begin, with `en` still high. `we`
has a bit a byte, all 0 for a read. `addr` is the number of a word. `rdata` is valid in the cycle
of `ack` alone. A memory gives `ack` in cycle number `latency_cycles` of every access, counted from
1; the circuit does not know that number.

Port of kind `axi`
------------------
An AXI4 master with one ID and addresses of bytes, of 64 bits. Each array has an address of its own,
a multiple of 4096, which its input `base_port` says and which is sampled with `start`: byte
`base_bytes` + k of the layout below is at that address + k. Every burst is INCR, of 1 to 16 whole
words, and crosses no multiple of 4096. Several bursts are outstanding at a time. A word is not
offered before its burst's address is; a byte whose strobe is 0 stays as it is, and is 0 on the bus.
`error` is valid from `done` to the next start: some response of the run was SLVERR or DECERR, or
answers were not those asked for, and the arrays hold nothing of use. With it, of the first such
response, or of two in one cycle that of the read: `error_response` is the response itself,
`error_write` is high for a write, and `error_address` is the address of the word that was read, or
of the first word of the burst that was written, whose one response is for all of it. Where only a
base was wrong, `error_response` is 0; where answers were not those asked for, it is 1, with the
address 0, and `error` stays high until a reset. The circuit is right with every memory that keeps
to AXI4; its cycles are predicted for one that is always ready and whose

- reads of a burst whose address is taken at the edge that ends cycle t give their first word in
  cycle t + `latency_cycles`, or in the cycle after the last word of the burst before if that is
  later, and a word a cycle from then on;
- writes of a burst whose address and last word are taken by the edge that ends cycle t are done,
  and answered, in cycle t + `latency_cycles`, or in the cycle after the answer before.

Port of kind `dram`
-------------------
A port of kind `axi`; its cycles are predicted for a memory with one data bus, for both ways. Bursts
have it in the order in which they are asked for: with the address of a read, or when the address
and the last word of a write are taken; of both in one cycle, the write comes first. A burst of n
words that is asked for by the edge that ends cycle t begins in cycle t + `latency_cycles`, or when
the bus is free, and takes it for n + 4 cycles. A read gives its words from its first cycle on, a
write is answered n cycles after its first one.

Layout
------
Byte b of the memory is bits 8 * (b mod n) and up of word b / n, of n bytes. Arrays are row-major; a
row is what differs in the last subscript alone, or in the last few, where one is at most half a
word: it has `row_elements`. Each row begins on a word, its elements lie one behind the other, and
the bytes of an element in `byte_order`. So element k of row r, element r * row_elements + k of the
array, begins at byte

    base_bytes + r * row_bytes + k * element_bits / 8

What is between a row's last element and the next row belongs to nobody.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from itertools import accumulate, pairwise
from math import prod
from operator import mul
from typing import Literal, TypeAlias

MemoryKind: TypeAlias = Literal["fixed", "axi", "dram"]
ByteOrder: TypeAlias = Literal["little"]
PortUse: TypeAlias = tuple[Literal["in", "out"], int]
"""Direction and width of a port."""

BYTE_BITS = 8
WORD_BITS = (8, 16, 32, 64, 128, 256, 512)
MOST_MEMORY_BYTES = 1 << 32
MOST_LATENCY_CYCLES = 1 << 20
AXI_ADDRESS_BITS = 64
AXI_BASE_BYTES = 4096
"""No burst crosses a multiple of it, and each array begins at one."""
AXI_MOST_BEATS = 16
DRAM_BURST_CYCLES = 4


@dataclass(frozen=True, slots=True)
class MemoryPorts:
    """The names of the six ports through which the circuit reaches a memory of kind `fixed`."""

    en: str
    we: str
    addr: str
    wdata: str
    rdata: str
    ack: str

    def uses(self, memory: MemoryMap) -> tuple[PortUse, ...]:
        """Return direction and width of each port, in their order."""
        return (
            ("out", 1),
            ("out", memory.word_bytes),
            ("out", memory.address_bits),
            ("out", memory.word_bits),
            ("in", memory.word_bits),
            ("in", 1),
        )


@dataclass(frozen=True, slots=True)
class AxiPorts:
    """The names of the ports through which the circuit reaches a memory of kind `axi`.

    Members
    -------
    error: some response of the run was an error.
    error_address, error_write, error_response: of the first one; see above. None of these where
        registers tell.
    The others have their names of AXI4.
    """

    error: str | None
    error_address: str | None
    error_write: str | None
    error_response: str | None
    awid: str
    awaddr: str
    awlen: str
    awsize: str
    awburst: str
    awcache: str
    awprot: str
    awvalid: str
    awready: str
    wdata: str
    wstrb: str
    wlast: str
    wvalid: str
    wready: str
    bid: str
    bresp: str
    bvalid: str
    bready: str
    arid: str
    araddr: str
    arlen: str
    arsize: str
    arburst: str
    arcache: str
    arprot: str
    arvalid: str
    arready: str
    rid: str
    rdata: str
    rresp: str
    rlast: str
    rvalid: str
    rready: str

    def uses(self, memory: MemoryMap) -> tuple[PortUse, ...]:
        """Return direction and width of each port, in their order."""
        address: tuple[PortUse, ...] = (
            ("out", 1),
            ("out", AXI_ADDRESS_BITS),
            *(("out", width) for width in (8, 3, 2, 4, 3, 1)),
            ("in", 1),
        )
        return (
            ("out", 1),
            ("out", AXI_ADDRESS_BITS),
            ("out", 1),
            ("out", 2),
            *address,
            ("out", memory.word_bits),
            ("out", memory.word_bytes),
            ("out", 1),
            ("out", 1),
            ("in", 1),
            ("in", 1),
            ("in", 2),
            ("in", 1),
            ("out", 1),
            *address,
            ("in", 1),
            ("in", memory.word_bits),
            ("in", 2),
            ("in", 1),
            ("in", 1),
            ("out", 1),
        )


_PORTS: dict[MemoryKind, type[MemoryPorts] | type[AxiPorts]] = {
    "fixed": MemoryPorts,
    "axi": AxiPorts,
    "dram": AxiPorts,
}


@dataclass(frozen=True, slots=True)
class MappedArray:
    """Where a C array is.

    Members
    -------
    shape: row-major, at least one dimension.
    base_bytes: of its first element. row_elements: of a row, which may be several of C, as many as
        the last dimensions have. row_bytes: from one row to the next.
    base_port: where the port is one of AXI4, the input that says where the array is; None where a
        register does.
    """

    name: str
    element_bits: int
    shape: tuple[int, ...]
    base_bytes: int
    row_elements: int
    row_bytes: int
    base_port: str | None = None

    def __post_init__(self) -> None:
        if not self.shape or any(extent < 1 for extent in self.shape):
            raise ValueError(f"array {self.name} of shape {self.shape} has no rows")
        if self.row_elements not in accumulate(reversed(self.shape), mul):
            raise ValueError(
                f"array {self.name} of shape {self.shape} has rows of {self.row_elements} elements"
            )
        if self.element_bits < BYTE_BITS or self.element_bits % BYTE_BITS:
            raise ValueError(f"array {self.name} has elements of {self.element_bits} bits")
        if self.base_bytes < 0:
            raise ValueError(f"array {self.name} begins at byte {self.base_bytes}")
        if self.row_bytes < self.used_bytes:
            raise ValueError(
                f"array {self.name} has rows of {self.used_bytes} bytes every {self.row_bytes}"
            )

    @property
    def element_bytes(self) -> int:
        return self.element_bits // BYTE_BITS

    @property
    def rows(self) -> int:
        """Number of rows."""
        return prod(self.shape) // self.row_elements

    @property
    def used_bytes(self) -> int:
        """Bytes of a row that elements take."""
        return self.row_elements * self.element_bytes

    @property
    def end_bytes(self) -> int:
        """The first byte behind the last row and what belongs to it."""
        return self.base_bytes + self.rows * self.row_bytes

    def element_at(self, byte: int) -> tuple[int, ...] | None:
        """Return the subscripts of the element at a byte, or None where the array has none."""
        if not self.base_bytes <= byte < self.end_bytes:
            return None
        row, offset = divmod(byte - self.base_bytes, self.row_bytes)
        if offset >= self.used_bytes:
            return None
        element, subscripts = row * self.row_elements + offset // self.element_bytes, []
        for extent in reversed(self.shape):
            element, subscript = divmod(element, extent)
            subscripts.append(subscript)
        return tuple(reversed(subscripts))

    def row_at(self, byte: int) -> tuple[int, ...]:
        """Return the subscripts that all elements of the row around a byte share."""
        first = self.element_at(byte - (byte - self.base_bytes) % self.row_bytes)
        if first is None:
            raise ValueError(f"byte {byte} is in no row of {self.name}")
        rows = list(accumulate(self.shape, mul)).index(self.rows) + 1 if self.rows > 1 else 0
        return first[:rows]


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """A memory off chip and the arrays in it.

    Members
    -------
    ports: of the kind. word_bits: of the bus.
    depth_words: of the memory; a larger one does as well.
    latency_cycles: of an access, for which the cycles of a run are predicted.
    arrays: in the order of the program; none begins in another.
    """

    kind: MemoryKind
    ports: MemoryPorts | AxiPorts
    word_bits: int
    depth_words: int
    latency_cycles: int
    byte_order: ByteOrder
    arrays: tuple[MappedArray, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.ports, _PORTS[self.kind]):
            raise ValueError(f"these are not the ports of a memory of kind {self.kind}")
        if self.word_bits not in WORD_BITS:
            raise ValueError(f"the memory has words of {self.word_bits} bits")
        if not 1 <= self.latency_cycles <= MOST_LATENCY_CYCLES:
            raise ValueError(f"an access of the memory takes {self.latency_cycles} cycles")
        if not 1 <= self.depth_words <= MOST_MEMORY_BYTES // self.word_bytes:
            raise ValueError(f"the memory has {self.depth_words} words")
        for array in self.arrays:
            self._require_words(array)
        self._require_apart()

    def _require_words(self, array: MappedArray) -> None:
        """Require that the rows of an array are on whole words of this memory."""
        if array.element_bits > self.word_bits:
            raise ValueError(
                f"array {array.name} has elements of {array.element_bits} bits, "
                f"wider than words of {self.word_bits}"
            )
        if array.base_bytes % self.word_bytes:
            raise ValueError(
                f"array {array.name} begins at byte {array.base_bytes}, "
                f"not on a word of {self.word_bytes} bytes"
            )
        if array.row_bytes % self.word_bytes:
            raise ValueError(
                f"array {array.name} has a row every {array.row_bytes} bytes, "
                f"not on words of {self.word_bytes}"
            )
        if array.end_bytes > self.bytes:
            raise ValueError(
                f"array {array.name} ends at byte {array.end_bytes} "
                f"of a memory of {self.bytes} bytes"
            )
        if (array.base_port is not None) != self.has_own_pins:
            which = "no input for its base" if self.has_own_pins else f"the base {array.base_port}"
            raise ValueError(f"array {array.name} has {which} in a memory of kind {self.kind}")
        if self.is_axi and array.base_bytes % AXI_BASE_BYTES:
            raise ValueError(
                f"array {array.name} begins at byte {array.base_bytes}, "
                f"not on a page of {AXI_BASE_BYTES}"
            )

    def _require_apart(self) -> None:
        ordered = sorted(self.arrays, key=lambda array: array.base_bytes)
        for before, after in pairwise(ordered):
            if after.base_bytes < before.end_bytes:
                raise ValueError(
                    f"array {after.name} begins at byte {after.base_bytes}, in array "
                    f"{before.name}, which ends at byte {before.end_bytes}"
                )

    @property
    def burst_cycles(self) -> int:
        """Cycles of a data bus that both ways share, for a burst beside its words; 0: none is."""
        return DRAM_BURST_CYCLES if self.kind == "dram" else 0

    @property
    def is_axi(self) -> bool:
        """Whether the port is one of AXI4."""
        return isinstance(self.ports, AxiPorts)

    @property
    def has_own_pins(self) -> bool:
        """Whether bases of arrays and errors have pins; those of a block are registers."""
        return isinstance(self.ports, AxiPorts) and self.ports.error is not None

    @property
    def word_bytes(self) -> int:
        return self.word_bits // BYTE_BITS

    @property
    def bytes(self) -> int:
        """Size of the memory."""
        return self.depth_words * self.word_bytes

    @property
    def address_bits(self) -> int:
        """Width of the number of a word."""
        return max(1, (self.depth_words - 1).bit_length())

    def port_uses(self) -> tuple[tuple[str, PortUse], ...]:
        """Return for each port its name, direction and width."""
        ports = zip(astuple(self.ports), self.ports.uses(self), strict=True)
        use_of_base: PortUse = ("in", AXI_ADDRESS_BITS)
        bases = ((array.base_port, use_of_base) for array in self.arrays)
        return tuple((port, use) for port, use in (*ports, *bases) if port is not None)

    def array(self, name: str) -> MappedArray:
        """Return where an array is; KeyError when it is not in the memory."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)
