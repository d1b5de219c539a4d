"""Memories beside the arrays: some values of an array, for reads through ports of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl

from rtlgen.ir.array_part import ArrayPart
from rtlgen.ir.scop import Access, Array
from rtlgen.scheduling.folds import fields_of
from rtlgen.scheduling.footprints import Fields
from rtlgen.scheduling.forwarding import Routing

Key = tuple[str, int]
"""A statement, and the number of one of its reads."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptRead:
    """A read that finds some of its values beside the array.

    Members
    -------
    instances: which. port: of the memory.
    """

    key: Key
    instances: isl.Set
    port: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class KeptStore:
    """A store to a memory beside the array.

    Members
    -------
    fields: the place. instances: that store. read: whose value it is; None: the statement's own.
    """

    memory: str
    fields: Fields
    instances: isl.Set
    read: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RowMemory:
    """The latest values of a statement, or those that one of its reads has brought.

    Members
    -------
    source, access, array: the statement, its write or its read, what that is to. stored: the
        instances whose value goes there. bits: low bits of each subscript that are the place.
    read: the number of the read; None: the write.
    """

    name: str
    source: str
    access: Access
    array: Array
    stored: isl.Set
    bits: tuple[int, ...]
    reads: tuple[KeptRead, ...]
    read: int | None = None

    def fields_of(self, access: Access) -> Fields:
        """Return the place of the element of an access."""
        return fields_of(access, self.bits)

    def stores_of(self, name: str) -> Iterator[KeptStore]:
        """Yield what a statement stores there."""
        if name == self.source:
            yield KeptStore(self.name, self.fields_of(self.access), self.stored, self.read)

    @property
    def part(self) -> ArrayPart | None:
        """What it has of the array all the time."""
        return None

    @property
    def words(self) -> int:
        return 1 << sum(width for _, width in self.fields_of(self.access))


@dataclass(frozen=True, slots=True, eq=False)
class PartMemory:
    """A box of an array, that is written whenever the array is, by the host too.

    Members
    -------
    writes: of the statements that store there. stored: by statement, the instances that do.
    """

    name: str
    array: Array
    part: ArrayPart
    writes: Mapping[str, Access]
    stored: Mapping[str, isl.Set]
    reads: tuple[KeptRead, ...]

    def fields_of(self, access: Access) -> Fields:
        """Return the place of the element of an access."""
        return fields_of(access, self.part.bits)

    def stores_of(self, name: str) -> Iterator[KeptStore]:
        """Yield what a statement stores there."""
        if name in self.stored:
            yield KeptStore(self.name, self.fields_of(self.writes[name]), self.stored[name])

    @property
    def words(self) -> int:
        return self.part.words


KeptMemory: TypeAlias = RowMemory | PartMemory


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """All memories beside the arrays, and what is left to the arrays."""

    memories: tuple[KeptMemory, ...]
    routing: Routing

    def stored_by(self, name: str) -> Iterator[KeptStore]:
        """Yield what a statement stores to these memories, its own value first."""
        found = [store for memory in self.memories for store in memory.stores_of(name)]
        yield from sorted(found, key=lambda store: store.read is not None)

    def read_by(self, key: Key) -> Iterator[tuple[KeptMemory, KeptRead]]:
        """Yield the memories in which a read finds its values."""
        for memory in self.memories:
            yield from ((memory, read) for read in memory.reads if read.key == key)


def without_rows(routing: Routing) -> Rows:
    """Return what leaves every value to its array."""
    return Rows((), routing)


def read_ports(memory: KeptMemory) -> int:
    """Return how many ports the reads of a memory have."""
    return 1 + max(read.port for read in memory.reads)
