"""The memories of a plan: arrays, and the storage that holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Literal, TypeAlias

from rtlgen.ir.bank_map import ArrayPart, BankMap, Cut, bank_map
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.scop import Role, Storage
from rtlgen.system.typed_json import IF_GIVEN
from rtlgen.target import RamStyle

MemoryKind: TypeAlias = Literal["block", "register", "rom", "filled", "drained", "source", "sink"]

LOGIC_TABLE_WORDS = 32
"""Elements up to which a table of constants is cheaper in logic than in block RAM."""


def numbered_name(wanted: str, taken: set[str]) -> str:
    """Return a name, with a number behind it where it is taken, and take it."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    taken.add(name)
    return name


def address_bits(depth: int) -> int:
    """Return the width of an element number; a single element still has an address port."""
    return max(1, (depth - 1).bit_length())


@dataclass(frozen=True, slots=True)
class Memory:
    """One C array, or a scalar variable, and the storage that holds it.

    Members
    -------
    kind: `block`: for each bank and each of its writers up to `read_ports` copies of a one-write
        one-read block RAM, all written together;
        `register`: `depth` flip-flop words with any number of readers;
        `rom`: `read_ports` copies of a memory of constants, logic where it is small;
        `filled`, `drained`: a *window*, the image on chip of a part of an array that is off chip,
        in words of the bus. A filled one is written by a mover and read by streams, through
        `read_ports` copies; a drained one is written by streams, whole elements at a time, and
        read by a mover;
        `source`, `sink`: none. Each load takes the next element of a stream from outside, each
        store sends one: in the order of the elements, at most one in a cycle.
    shape, role, storage: as in the Scop. Arrays with storage other than `local` have a host port,
        or are streams.
    cuts: how the array is cut into banks, each with a write port of its own; () for one bank. What
        is addressed by folded forms is a box that is cut along every second dimension, so that its
        banks are some bits of an address.
    write_ports: writers of a bank of a `block`, each with its version, see `ir.plan`; 1 for any
        other kind.
    homes: the version of every element between runs, row-major; () where it is version 0 for all.
    word_bits: of a window: of its mover's port, a power of two of elements; 0 for any other kind.
    values: what a `rom` holds, row-major; () for any other kind.
    collision_free: the planner has proved that no needed load meets a store of the same element
        in the same cycle, so the RAM needs no logic for that case.
    style: of a `block` or a window: `distributed` is made of the logic cells' memories.
    part: the part of an array that it holds besides that array's own memory, or None.
    is_double: whether all of it is there twice: a run has one of the two, and the host the other,
        in the run and before and after it; they are swapped when a run begins.
    is_external: of a `block`: the RAM is the user's, beside the circuit, which has ports for it:
        one to write, and one for each of its read ports. The host reaches it there.
    """

    name: str
    width_bits: int
    signed: bool
    shape: tuple[int, ...]
    role: Role
    storage: Storage
    kind: MemoryKind
    read_ports: int
    read_latency_cycles: int
    collision_free: bool
    values: tuple[int, ...] = ()
    write_ports: int = 1
    homes: tuple[int, ...] = ()
    word_bits: int = 0
    cuts: tuple[Cut, ...] = ()
    style: RamStyle = "block"
    part: ArrayPart | None = None
    is_double: bool = field(default=False, metadata={IF_GIVEN: True})
    is_external: bool = field(default=False, metadata={IF_GIVEN: True})

    def __post_init__(self) -> None:
        if self.read_ports < 1 or self.write_ports < 1:
            raise PlanError(f"{self.name}: {self.read_ports} read, {self.write_ports} write ports")
        if self.write_ports > 1 and self.kind != "block":
            raise PlanError(f"{self.name}: a {self.kind} has no {self.write_ports} write ports")
        if len(self.homes) not in (0, self.depth):
            raise PlanError(f"{self.name}: {len(self.homes)} homes for {self.depth} elements")
        if not all(0 <= home < self.write_ports for home in self.homes):
            raise PlanError(f"{self.name}: an element is at home in no version")
        if len(self.values) != (self.depth if self.kind == "rom" else 0):
            raise PlanError(f"{self.name}: {len(self.values)} values do not fit a {self.kind}")
        if self.cuts and (self.kind == "rom" or self.is_stream):
            raise PlanError(f"{self.name}: a {self.kind} is not cut into banks")
        if self.is_stream and (self.storage == "local" or self.read_latency_cycles):
            raise PlanError(f"{self.name}: a {self.kind} shows its element at once, to the outside")
        if self.style != "block" and (self.kind in ("register", "rom") or self.is_stream):
            raise PlanError(f"{self.name}: a {self.kind} is not made of {self.style} RAM")
        is_hosted = self.has_host_port or (self.part is not None and self.part.is_hosted)
        if self.is_double and not is_hosted:
            raise PlanError(f"{self.name}: two copies, and the host reaches none")
        if self.is_external and not self._may_be_external:
            raise PlanError(f"{self.name}: not what one RAM of the user's holds")
        if self.part is not None:
            self._require_part(self.part)
        if self.is_window:
            self._require_words()
        elif self.word_bits:
            raise PlanError(f"{self.name}: a {self.kind} has no words of {self.word_bits} bits")

    def _require_part(self, part: ArrayPart) -> None:
        if self.kind != "block" or self.cuts or self.write_ports > 1 or self.has_host_port:
            raise PlanError(f"{self.name}: a part of {part.array} has one bank, for one writer")
        if self.depth != part.words:
            raise PlanError(f"{self.name}: {self.depth} words for a part of {part.words}")

    def _require_words(self) -> None:
        lanes, rest = divmod(self.word_bits, self.width_bits)
        if rest or lanes < 1 or lanes & (lanes - 1) or self.depth % lanes:
            raise PlanError(
                f"{self.name}: {self.depth} elements of {self.width_bits} bits do not fill words "
                f"of {self.word_bits}"
            )
        if self.has_host_port:
            raise PlanError(f"{self.name}: a window has no host port")

    @property
    def _may_be_external(self) -> bool:
        is_one = self.kind == "block" and not (self.cuts or self.is_double or self.part)
        return is_one and self.write_ports == 1 and self.collision_free and self.is_visible

    @property
    def is_window(self) -> bool:
        return self.kind in ("filled", "drained")

    @property
    def is_stream(self) -> bool:
        """Whether its elements come in, or go out, one after another."""
        return self.kind in ("source", "sink")

    @property
    def lanes(self) -> int:
        """Elements in a word of a window."""
        return self.word_bits // self.width_bits

    @property
    def bank_bits(self) -> tuple[int, ...]:
        """The bits of a folded address that number the bank, lowest first."""
        if not self.cuts:
            return ()
        found: list[int] = []
        for cut in reversed(self.cuts):
            low = sum((extent - 1).bit_length() for extent in self.shape[cut.dim + 1 :])
            found += range(low, low + (cut.count - 1).bit_length())
        return tuple(found)

    @property
    def bank_lanes(self) -> int:
        """Elements in a word of one bank of a window: the banks may share a word of the bus."""
        lane_bits = (self.lanes - 1).bit_length()
        return self.lanes >> sum(bit < lane_bits for bit in self.bank_bits)

    @property
    def ram_words(self) -> int:
        """Words of a RAM that holds it, or one of its banks."""
        rows = self.bank_map.rows
        return rows // self.bank_lanes if self.is_window else rows

    @property
    def ram_word_bits(self) -> int:
        return self.width_bits * self.bank_lanes if self.is_window else self.width_bits

    @property
    def depth(self) -> int:
        return prod(self.shape)

    @property
    def bank_map(self) -> BankMap:
        """Which of its elements are in which bank."""
        return bank_map(self.shape, self.cuts)

    @property
    def home_versions(self) -> frozenset[int]:
        """The versions in which some element is between runs."""
        return frozenset(self.homes or (0,))

    @property
    def is_block_ram(self) -> bool:
        """Whether it takes block RAM."""
        return self.is_ram and self.style == "block"

    @property
    def is_ram(self) -> bool:
        """Whether it takes RAM of the circuit's; of a small table, synthesis makes logic."""
        if self.kind == "rom":
            return self.depth > LOGIC_TABLE_WORDS
        return (self.kind == "block" and not self.is_external) or self.is_window

    @property
    def twins(self) -> int:
        """How often all of it is there."""
        return 2 if self.is_double else 1

    @property
    def has_host_port(self) -> bool:
        return self.is_visible and not self.is_stream and not self.is_external

    @property
    def is_visible(self) -> bool:
        """Whether those outside see what it holds."""
        return self.storage != "local"
