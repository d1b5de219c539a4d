"""Memories that keep the values of a statement on chip until later instances have read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import islpy as isl

from rtlgen.ir.scop import Access, Statement
from rtlgen.scheduling.errors import NoLanes
from rtlgen.scheduling.folds import Kept, fields_of, smallest_fold
from rtlgen.scheduling.footprints import Fields
from rtlgen.scheduling.lane_banks import bits_for, ports_of, told_apart_by
from rtlgen.scheduling.passing import KeptFlow, Key
from rtlgen.scheduling.predicates import CounterSpace
from rtlgen.scheduling.tile_kernel import TileKernel

EVEN_STEPS = "steps by an even number of elements from lane to lane"

FoldKey: TypeAlias = tuple[str, int, tuple[Key, ...]]
"""A statement, the scope of its values, and the reads that take them from one memory."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptMemory:
    """Where the values of a statement stay on chip until they are read.

    Members
    -------
    flows: those that take them from there. bits: of each subscript that is the address.
    ports: read ports that the reads have together. dims: by whose subscripts it is cut into banks.
    """

    kept: Kept
    flows: tuple[KeptFlow, ...]
    bits: tuple[int, ...]
    ports: int
    dims: tuple[int, ...] = ()

    @property
    def fields(self) -> Fields:
        return fields_of(self.kept.statement.write, self.bits)

    @property
    def depth(self) -> int:
        return 1 << sum(width for _, width in self.fields)


class KeptPlanner:
    """Plan what keeps values in a tile kernel.

    Parameters
    ----------
    folds: the bits that were found for other tiles of the same loops.
    """

    def __init__(self, kernel: TileKernel, folds: dict[FoldKey, tuple[int, ...]]) -> None:
        self.kernel = kernel
        self.sets = kernel.sets
        self.folds = folds
        self._known: dict[FoldKey, KeptMemory] = {}

    def ram_bits(self, memory: KeptMemory) -> int:
        """Return the RAM that a memory takes, with a copy for each of its read ports."""
        array = self.sets.scop.array(memory.kept.statement.write.array)
        return memory.depth * array.element.width_bits * memory.ports

    def memories(
        self, name: str, scope: int, flows: Sequence[KeptFlow], apart: bool, most: int | None
    ) -> tuple[KeptMemory, ...] | None:
        """Return the smallest memories that keep the values of some flows from a statement.

        Parameters
        ----------
        apart: whether each flow has one of its own; else they share one.
        most: bits of RAM; None may be returned where they take more.
        """
        parts = [(flow,) for flow in flows] if apart else [tuple(flows)]
        found = []
        for part in parts:
            memory = self._memory_for(name, scope, part, most)
            if memory is None:
                return None
            found.append(memory)
        return tuple(found)

    def _memory_for(
        self, name: str, scope: int, flows: Sequence[KeptFlow], most: int | None
    ) -> KeptMemory | None:
        key = name, scope, tuple(flow.key for flow in flows)
        if key not in self._known:
            statement = self.sets.scop.statement(name)
            exact = [flow.flow.relation.domain() for flow in flows]
            around = [flow.sources for flow in flows]
            kept = Kept(
                statement,
                self.tellable(statement, [exact, around]),
                self.kernel.store_cycle(name),
                tuple(flow.flow for flow in flows),
                tuple(self.kernel.address_cycle(*flow.key) for flow in flows),
            )
            array = self.sets.scop.array(statement.write.array)
            most_bits = None
            if most is not None:
                words = most // (array.element.width_bits * self._ports(statement, flows))
                most_bits = max(0, words.bit_length() - 1)
            # Tiles of other sizes, or in another order, need about as many.
            guess = self.folds.get(key, ())
            fold = smallest_fold(self.sets, kept, self.kernel.depth, array.shape, guess, most_bits)
            self.folds[key] = fold.bits
            if not fold.is_enough:
                return None
            self._known[key] = self._in_banks(kept, flows, fold.bits)
        return self._known[key]

    def _ports(self, statement: Statement, flows: Sequence[KeptFlow]) -> int:
        """Return the read ports that some flows take in a memory."""
        dims = self._dims(statement, flows)
        return sum(self.ports_of(self.read(flow.key), dims) for flow in flows)

    def ports_of(self, access: Access, dims: Sequence[int]) -> int:
        """Return the read ports that lanes take in a memory that is cut by some dimensions."""
        return ports_of(access, self.kernel.lane_loop, dims, self.kernel.in_step)

    def _dims(self, statement: Statement, flows: Sequence[KeptFlow]) -> tuple[int, ...]:
        """Return the dimensions by which what some flows are kept in is cut into banks."""
        stored = self.stored_dim(statement)
        if stored is None:
            return ()
        found = [stored]
        for flow in flows:
            access = self.read(flow.key)
            dim = self.told_apart_by(access)
            # Lanes in step that meet in a bank have a copy each: there are few of them.
            if not self.kernel.in_step and dim is not None and self.ports_of(access, found) > 1:
                found.append(dim)
        return tuple(found)

    def _in_banks(self, kept: Kept, flows: Sequence[KeptFlow], bits: tuple[int, ...]) -> KeptMemory:
        """Return a memory for values, with as many banks as lanes write to it."""
        dims = self._dims(kept.statement, flows)
        for dim in dims:
            # Bits more than are needed tell as much apart.
            wider = max(bits[dim], bits_for(self.kernel.lanes))
            bits = (*bits[:dim], wider, *bits[dim + 1 :])
        ports = self._ports(kept.statement, flows)
        return KeptMemory(kept, tuple(flows), bits, ports, dims)

    def stored_dim(self, statement: Statement) -> int | None:
        """Return the dimension that tells apart where lanes store; None where there are none.

        Raises
        ------
        NoLanes: no dimension does.
        """
        dim = self.told_apart_by(statement.write)
        if dim is None and self.kernel.lanes > 1:
            if self.kernel.in_step:
                raise NoLanes.of_store(statement, EVEN_STEPS)
            raise NoLanes.of_banks(statement)
        return dim

    def told_apart_by(self, access: Access) -> int | None:
        """Return the dimension that tells apart what lanes access; None where none does."""
        return told_apart_by(access, self.kernel.lane_loop, self.kernel.in_step)

    def read(self, key: Key) -> Access:
        """Return the access of a read."""
        return self.sets.scop.statement(key[0]).reads[key[1]]

    def tellable(self, statement: Statement, choices: Sequence[Sequence[isl.Set]]) -> isl.Set:
        """Return the first union that the circuit can tell, or all instances of the statement."""
        space = CounterSpace(self.sets, statement, self.kernel.counted_loops(statement.name))
        for choice in choices:
            instances = reduce(isl.Set.union, choice).coalesce()
            if space.predicate(instances) is not None:
                return instances
        return self.sets.domains[statement.name]
