"""Parts of arrays: a copy for a read holds no more than that read loads.

Where several reads of an array need ports in one cycle, each port is a copy of the array. What one
of them loads may be little of it: a row, or a column of the border. Then its copy is that part,
whose address is a few low bits of each subscript. Stores, and the host, write it with the array.

Nothing of it is believed: the plan is replayed, whatever place a value is in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from rtlgen.ir.array_part import ArrayPart
from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Array
from rtlgen.ir.sets import bounding_box, for_each
from rtlgen.poly.counting import count_points
from rtlgen.scheduling.beside import SHARE_ALIVE, Beside
from rtlgen.scheduling.forwarding import Routing
from rtlgen.scheduling.kept_values import Key, PartMemory, RowMemory, Rows
from rtlgen.scheduling.ports import Busy, stores_meeting

MOST_PIECES = 4
"""Of what a read loads, each of which may be in another part."""


def part_arrays(beside: Beside, rows: Rows) -> Rows:
    """Return more memories, for parts of arrays that reads need more ports for."""
    # What the host writes to a RAM of the user's, nobody here sees.
    arrays = [array for array in beside.arrays() if not array.is_external]
    found = [memory for array in arrays for memory in _Parting(beside, rows, array).parts()]
    moved = [read for memory in found for read in memory.reads]
    return Rows((*rows.memories, *found), beside.left(rows.routing, moved))


@dataclass(slots=True)
class _Box:
    """A part, and what is read there."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    reads: list[tuple[Key, isl.Set]] = field(default_factory=list)

    def with_box(self, low: Sequence[int], high: Sequence[int]) -> _Box:
        """Return the box around this one and another one."""
        return _Box(
            tuple(map(min, self.low, low)), tuple(map(max, self.high, high)), list(self.reads)
        )

    @property
    def extents(self) -> tuple[int, ...]:
        return tuple(b - a + 1 for a, b in zip(self.low, self.high, strict=True))

    @property
    def words(self) -> int:
        return 1 << sum((extent - 1).bit_length() for extent in self.extents)


class _Parting:
    """Find the parts of one array."""

    def __init__(self, beside: Beside, rows: Rows, array: Array) -> None:
        self.beside = beside
        self.timing = beside.timing
        self.routing: Routing = rows.routing
        # What is kept of a load is what comes from the array.
        self.sources = {(m.source, m.read) for m in rows.memories if isinstance(m, RowMemory)}
        self.array = array

    def parts(self) -> Iterator[PartMemory]:
        """Yield a memory for each part."""
        boxes: list[_Box] = []
        for key in self._without_port():
            for instances in self._pieces(key):
                self._put(boxes, key, instances)
        for box in boxes:
            memory = self._memory(box)
            if memory is not None:
                yield memory

    def _loads(self) -> dict[Key, isl.Set]:
        found: dict[Key, isl.Set] = {}
        for (name, read), instances in self.routing.loaded.items():
            datapath = self.timing.datapaths[name]
            access = self.timing.scop.statement(name).reads[read]
            if access.array != self.array.name or instances.is_empty():
                continue
            if datapath.nodes[datapath.node_of_read[read]].read == read:
                found[name, read] = instances
        return found

    def _without_port(self) -> list[Key]:
        """Return the reads that meet others that load more, for which one port is enough."""
        loads = self._loads()
        busy = {key: self.beside.busy(key, instances) for key, instances in loads.items()}
        order = sorted(loads, key=lambda k: (k not in self.sources, -count_points(loads[k])))
        served: list[Busy] = []
        left: list[Key] = []
        for key in order:
            keep_going(self.timing.sets.context)
            if any(busy[key].meets(other) and busy[key].differs(other) for other in served):
                left.append(key)
            else:
                served.append(busy[key])
        return left

    def _pieces(self, key: Key) -> list[isl.Set]:
        """Return the instances of a read in few pieces that the circuit can tell, or none."""
        access = self.timing.scop.statement(key[0]).reads[key[1]]
        if access.is_partial:
            return []
        disjoint = self.routing.loaded[key].coalesce().make_disjoint().coalesce()
        pieces = [isl.Set.from_basic_set(b) for b in for_each(disjoint.foreach_basic_set)]
        if len(pieces) > MOST_PIECES or not self.beside.can_tell(key[0], *pieces):
            return []
        return pieces

    def _put(self, boxes: list[_Box], key: Key, instances: isl.Set) -> None:
        """Put a piece of a read into a box that needs no more words for it, or into a new one."""
        own = self.timing.scop.statement(key[0])
        relation = self.timing.sets.access_map(own, own.reads[key[1]])
        limits = bounding_box(relation.intersect_domain(instances).range())
        low, high = tuple(a for a, _ in limits), tuple(b for _, b in limits)
        alone = _Box(low, high, [(key, instances)])
        if alone.words > self.array.depth // SHARE_ALIVE:
            return
        for number, box in enumerate(boxes):
            joined = box.with_box(low, high)
            if joined.words <= max(box.words, alone.words):
                joined.reads.append((key, instances))
                boxes[number] = joined
                return
        boxes.append(alone)

    def _memory(self, box: _Box) -> PartMemory | None:
        """Return the memory of a part, if one port can take all that is stored there."""
        stored = self._stored(box)
        if stored is None:
            return None
        routing = replace(self.routing, stored={**self.routing.stored, **stored})
        if stores_meeting(self.timing, self.beside.times, routing, list(stored)):
            return None
        array, statements = self.array, self.timing.scop.statements
        part = ArrayPart(
            array.name, array.shape, box.low, box.extents, is_hosted=array.storage != "local"
        )
        return PartMemory(
            name=self.beside.name(f"{array.name}_part"),
            array=array,
            part=part,
            writes={s.name: s.write for s in statements if s.name in stored},
            stored=stored,
            reads=self.beside.on_ports(box.reads),
        )

    def _stored(self, box: _Box) -> Mapping[str, isl.Set] | None:
        """Return the instances that store to a box what is needed there, if they can be told."""
        sets, scop = self.timing.sets, self.timing.scop
        loaded: dict[Key, isl.Set] = {}
        for key, instances in box.reads:
            loaded[key] = loaded[key].union(instances) if key in loaded else instances
        inside = sets.element_set(self.array)
        for dim, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
            inside = inside.lower_bound_val(isl.dim_type.set, dim, isl.Val(low, sets.context))
            inside = inside.upper_bound_val(isl.dim_type.set, dim, isl.Val(high, sets.context))
        found: dict[str, isl.Set] = {}
        for statement in scop.statements:
            if statement.write.array != self.array.name:
                continue
            within = sets.access_map(statement, statement.write).intersect_range(inside).domain()
            needed = self.beside.needed(statement.name, loaded).intersect(within).coalesce()
            if not self.beside.can_tell(statement.name, needed):
                needed = within.coalesce()
            if not self.beside.can_tell(statement.name, needed):
                return None
            if not needed.is_empty():
                found[statement.name] = needed
        return found
