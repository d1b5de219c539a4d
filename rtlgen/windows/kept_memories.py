"""Memories that keep values from tile to tile, and what workers hand over in them.

Folds of what workers hand over: the memory of one worker, in which its peer stores.

Rows of tiles, the iterations of the loop that workers share, run side by side, each so many columns
behind the one before (`windows.waiting`). A value of p in row r is read by q in row r + 1, of
another worker. Another store p' of the same worker to its place

- in row r, in the tile of p or behind it, may come before q: the writer does not wait for its
  reader, or no farther than for the column `ahead` columns before its own;
- in a later row of its own, r + NP at least, comes behind q where that waits for the tile of q, or
  for one behind it: row by row, column J for column J + lag.

So p' must have another place in the first case, and in the second one where that is not so. When in
a tile its statements issue does not matter.

Memories that keep the values of a statement on chip until later instances have read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TypeAlias

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.memories.folds import (
    Collisions,
    Kept,
    Losing,
    fields_of,
    instance_pairs,
    of_second,
    sample_of,
    sharing_places,
    smallest_fold,
    values_apart,
)
from rtlgen.memories.footprints import Fields
from rtlgen.memories.lane_banks import (
    LaneBanks,
    LanePorts,
    LaneRead,
    lane_ports,
    ports_of,
    told_apart_by,
)
from rtlgen.memories.predicates import CounterSpace
from rtlgen.poly.dependences import Flow
from rtlgen.scheduling.errors import NoLanes
from rtlgen.windows.places import KeptFlow, Key
from rtlgen.windows.tile_kernel import TileKernel
from rtlgen.windows.waiting import Doacross


@dataclass(frozen=True, slots=True)
class Hands:
    """How workers hand values over.

    Members
    -------
    across: how rows wait for each other. workers: who share them in turn.
    is_tight: whether a row is only so many columns ahead of the one behind it.
    """

    across: Doacross
    workers: int
    is_tight: bool


class PeerCollisions:
    """Values that are lost in the fold of a memory of which one worker is at either end.

    Parameters
    ----------
    statement: that writes them. written: its instances that do. flows: of what is handed over, each
        value to the next row.
    depth: how many outermost loops are over tiles.
    """

    def __init__(
        self,
        sets: ScopSets,
        statement: Statement,
        written: isl.Set,
        flows: Sequence[Flow],
        depth: int,
        hands: Hands,
    ) -> None:
        self.sets = sets
        self.statement = statement
        self.written = written
        self.flows = tuple(flows)
        across, row, column = hands.across, hands.across.space, hands.across.space + 1
        rows = f"(e{row} - d{row})"
        later = f"{rows} >= {hands.workers - 1} and d{column} > e{column} + {across.lag} * {rows}"
        same = f"e{row} = d{row} - 1"
        if hands.is_tight:
            same += f" and e{column} < d{column} + {across.ahead}"
        behind = [self._in_row(row, level) for level in range(column, depth)]
        behind.append(self._in_tile(row, depth))
        self.ways: list[isl.Map] = []
        for flow in flows:
            sink = sets.scop.statement(flow.sink)
            in_row = flow.relation.apply_range(self._pairs(sink, same))
            self.ways += [in_row.intersect(order).coalesce() for order in behind]
            self.ways.append(flow.relation.apply_range(self._pairs(sink, later)).coalesce())

    def _in_row(self, row: int, level: int) -> isl.Map:
        """Return {p -> p'} in one row, p' in a later iteration of a loop in it."""
        where = [f"e{k} = d{k}" for k in range(row + 1, level)]
        return self._pairs(self.statement, " and ".join([*where, f"e{level} > d{level}"]))

    def _in_tile(self, row: int, depth: int) -> isl.Map:
        """Return {p -> p'} in one tile of a row, of different elements.

        Of one element, nothing comes behind what is read from outside of the tile.
        """
        names = self.statement.iterators
        where = " and ".join(f"e{k} = d{k}" for k in range(row + 1, depth))
        differ = [
            f"{affine_text(form, names)} != {of_second(form, names)}"
            for form in self.statement.write.affine
        ]
        return self._pairs(self.statement, f"{where} and ({' or '.join(differ)})")

    def _pairs(self, first: Statement, where: str) -> isl.Map:
        """Return {first -> p'} under a condition on their iterators, d0, d1 .. and e0, e1 .."""
        return instance_pairs(self.sets, first, self.statement, [where])

    def apart(self, bits: Sequence[int]) -> tuple[int, ...] | None:
        """See `folds.Losing`."""
        sharing = sharing_places(self.sets, self.statement, self.written, bits)
        for way in self.ways:
            keep_going(self.sets.context)
            lost = sharing.intersect(way)
            if not lost.is_empty():
                pair = sample_of(lost)
                return values_apart(self.statement, pair.domain(), pair.range())
        return None


EVEN_STEPS = "steps by an even number of elements from lane to lane"

HANDED, HANDED_TIGHT = -1, -2
"""In place of a scope: of values that are handed over to the next row, as soon as they are there,
or as there is room for them."""

FoldKey: TypeAlias = tuple[str, int, tuple[Key, ...]]
"""A statement, the scope of its values, and the reads that take them from one memory."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptMemory:
    """Where the values of a statement stay on chip until they are read.

    Members
    -------
    flows: those that take them from there. fold: bits of each subscript that tell values apart.
    ports: of the reads, and by whose bits it is cut into banks.
    """

    kept: Kept
    flows: tuple[KeptFlow, ...]
    fold: tuple[int, ...]
    ports: LanePorts

    @property
    def bits(self) -> tuple[int, ...]:
        """Bits of each subscript that is the address: more than are needed tell as much apart."""
        return tuple(max(b, self.ports.cuts.get(k, 0)) for k, b in enumerate(self.fold))

    @property
    def banks(self) -> LaneBanks | None:
        """The banks that it is cut into, if it is."""
        return LaneBanks.of(
            [(sum(self.bits[dim + 1 :]), width) for dim, width in self.ports.cuts.items()]
        )

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
    hands: how workers hand values over, if they may.
    overlapping: how many tiles may begin while what a tile keeps is yet read.
    """

    def __init__(
        self,
        kernel: TileKernel,
        folds: dict[FoldKey, tuple[int, ...]],
        hands: Hands | None = None,
        overlapping: int = 0,
    ) -> None:
        self.hands = hands
        self.overlapping = overlapping
        self.kernel = kernel
        self.sets = kernel.sets
        self.folds = folds
        self._known: dict[FoldKey, KeptMemory] = {}

    def ram_bits(self, memory: KeptMemory) -> int:
        """Return the RAM that a memory takes, with a copy for each of its read ports."""
        array = self.sets.scop.array(memory.kept.statement.write.array)
        return memory.depth * array.element.width_bits * memory.ports.count

    def memories(
        self, name: str, scope: int, flows: Sequence[KeptFlow], apart: bool, most: int | None
    ) -> tuple[KeptMemory, ...] | None:
        """Return the smallest memories that keep the values of some flows from a statement.

        Parameters
        ----------
        scope: of the values; HANDED, HANDED_TIGHT: they are handed over.
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
            ports = self._ports(statement, flows, shared=True)
            most_bits = None
            if most is not None:
                words = most // (array.element.width_bits * ports.count)
                most_bits = max(0, words.bit_length() - 1)
            # Tiles of other sizes, or in another order, need about as many.
            guess = self.folds.get(key, ())
            losing = self._losing(kept, scope)
            fold = smallest_fold(losing, array.shape, guess, most_bits)
            self.folds[key] = fold.bits
            if not fold.is_enough:
                return None
            self._known[key] = KeptMemory(kept, tuple(flows), fold.bits, ports)
        return self._known[key]

    def _losing(self, kept: Kept, scope: int) -> Losing:
        """Return what knows which folds lose values."""
        if scope not in (HANDED, HANDED_TIGHT):
            soon = partial(self.kernel.soon, tiles=self.overlapping) if self.overlapping else None
            return Collisions(self.sets, kept, self.kernel.depth, soon)
        assert self.hands is not None, "values are handed over"
        return PeerCollisions(
            self.sets,
            kept.statement,
            kept.written,
            kept.flows,
            self.kernel.depth,
            replace(self.hands, is_tight=scope == HANDED_TIGHT),
        )

    def with_copies(self, memory: KeptMemory) -> KeptMemory:
        """Return a memory with a read port for each read."""
        ports = self._ports(memory.kept.statement, memory.flows, shared=False)
        return replace(memory, ports=ports)

    def _ports(self, statement: Statement, flows: Sequence[KeptFlow], *, shared: bool) -> LanePorts:
        """Return the read ports that some flows take in a memory."""
        kernel = self.kernel
        reads = [
            LaneRead(self.read(flow.key), (flow.key[0], kernel.address_cycle(*flow.key)))
            for flow in flows
        ]
        dims = self._dims(statement, flows)
        return lane_ports(reads, kernel.lane_loop, dims, in_step=kernel.in_step, shared=shared)

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
