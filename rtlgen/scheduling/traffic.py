"""The words that tiles move, window by window: known before their kernel is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.plan import Bus, OffChip
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import bounding_box
from rtlgen.poly.tiling import TileRelations
from rtlgen.scheduling.footprints import Footprint, User
from rtlgen.scheduling.lane_banks import bits_for, told_apart_by
from rtlgen.scheduling.lane_ports import LanePorts, LaneRead, lane_ports
from rtlgen.scheduling.movers import Moved, WordCounts
from rtlgen.scheduling.passing import Key, Passing


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """What tiles load and store.

    Members
    -------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    lane_loop: whose iterations run side by side; None where each issues by itself.
    addressed: by read, what those that are made in one cycle of an iteration have in common;
        without it, all of a statement are.
    shared: whether reads of lanes share ports as far as banks tell them apart.
    folded: makes windows as small as they may be, with so many bits of every subscript at least.
    """

    relations: TileRelations
    tile_loops: Sequence[NestLoop]
    off_chip: Mapping[str, OffChip]
    word_bits: int
    passing: Passing
    lane_loop: NestLoop | None = None
    addressed: Mapping[Key, object] | None = None
    shared: bool = True
    folded: Callable[[Moved, Mapping[int, int]], Moved] | None = None

    def ports(self, keys: Sequence[Key]) -> int:
        """Return the read ports of a window that is filled for some reads."""
        return self.lane_ports(keys).count

    def lane_ports(self, keys: Sequence[Key]) -> LanePorts:
        """Return how reads that step alike share the ports of a window that is filled for them."""
        lanes, in_step = self.lane_loop, self.relations.in_step
        reads = [self.lane_read(key) for key in keys]
        # They step alike: what tells the lanes of one apart does so of all.
        dim = told_apart_by(reads[0].access, lanes, in_step)
        dims = () if dim is None else (dim,)
        return lane_ports(reads, lanes, dims, in_step=in_step, shared=self.shared)

    def lane_read(self, key: Key) -> LaneRead:
        """Return a read as one of those that may share a port."""
        name, read = key
        access = self.relations.sets.scop.statement(name).reads[read]
        return LaneRead(access, (name, self.addressed and self.addressed[key]))

    def loads(self) -> Iterator[tuple[Moved, list[Key]]]:
        """Yield what is loaded: by one mover for all reads of an array that step alike."""
        sets = self.relations.sets
        groups: dict[tuple[object, ...], list[Key]] = {}
        for name, read in self.passing.loaded:
            access = sets.scop.statement(name).reads[read]
            steps = tuple(subscript.terms for subscript in access.affine)
            groups.setdefault((access.array, steps), []).append((name, read))
        for keys in groups.values():
            users = []
            for name, read in keys:
                statement = sets.scop.statement(name)
                loaded = self.passing.loaded[name, read]
                users.append(self._user(statement, statement.reads[read], loaded))
            instances = [self.passing.loaded[key] for key in keys]
            footprint = self._footprint(users)
            far = any(self.passing.awaited[key] for key in keys)
            name = "" if far else f"loads {keys}"
            moved = Moved(sets, footprint, tuple(zip(users, instances, strict=True)), name)
            yield self._in_places(moved, self.lane_ports(keys).cuts), keys

    def store(self, statement: Statement) -> Moved | None:
        """Return what a statement stores off chip, or None where that is nothing."""
        instances = self.passing.stored[statement.name]
        if statement.write.array not in self.off_chip or instances.is_empty():
            return None
        user = self._user(statement, statement.write)
        awaited = {name for waits in self.passing.awaited.values() for name in waits}
        name = "" if statement.name in awaited else f"stores {statement.name}"
        moved = Moved(self.relations.sets, self._footprint([user]), ((user, instances),), name)
        return self._in_places(moved, self.store_cuts(statement))

    def store_cuts(self, statement: Statement) -> dict[int, int]:
        """Return by how many bits of which subscript a window is cut that lanes store to."""
        lanes = self.lane_loop
        dim = told_apart_by(statement.write, lanes, self.relations.in_step)
        return {} if dim is None or lanes is None else {dim: bits_for(lanes.extent)}

    def _in_places(self, moved: Moved, cuts: Mapping[int, int]) -> Moved:
        return moved if self.folded is None else self.folded(moved, cuts)

    def count(self, counts: WordCounts) -> int:
        """Return the words that all tiles together move."""
        return sum(counts.of(m) for m, _ in self.loads()) + sum(map(counts.of, self.stores()))

    def least_busy_cycles(self, counts: WordCounts, bus: Bus) -> int:
        """Return the cycles for which the bus is busy at least with what all tiles move."""
        moved = [m for m, _ in self.loads()]
        loads = len(moved)
        moved += self.stores()
        words = [counts.of(m) for m in moved]
        bursts = 0
        if bus.is_shared:
            longest = [m.footprint.burst_words(self.word_bits) for m in moved]
            bursts = sum(-(-count // most) for count, most in zip(words, longest, strict=True))
        return bus.busy_cycles(sum(words[:loads]), sum(words[loads:]), bursts)

    def stores(self) -> Iterator[Moved]:
        """Yield what is stored."""
        for statement in self.relations.sets.scop.statements:
            moved = self.store(statement)
            if moved is not None:
                yield moved

    def _user(self, statement: Statement, access: Access, loaded: isl.Set | None = None) -> User:
        """Return an access with the range of every iterator that is not of a tile.

        Parameters
        ----------
        loaded: the instances for which words are loaded; None: all count. A mover looks at a word
            a cycle, moved or not, and lanes behind each other leave it no more cycles than a lane
            has iterations. So of what no lane has to itself there is no more than is loaded.
        """
        tile = {loop.iterator for loop in self.tile_loops}
        box = self.relations.sets.scop.schedule.box(statement.name)
        if loaded is not None and not self.relations.in_step and not loaded.is_empty():
            ends = dict(zip(statement.iterators, bounding_box(loaded), strict=True))
            lane = statement.iterators[-1]
            by_lanes = {
                n for form in access.affine if form.coefficient(lane) for n, _ in form.terms
            }
            box = {name: box[name] if name in by_lanes else ends[name] for name in box}
        return User(statement, access, {k: ends for k, ends in box.items() if k not in tile})

    def _footprint(self, users: Sequence[User]) -> Footprint:
        array = self.off_chip[users[0].access.array]
        return Footprint.of(array, self.word_bits // array.width_bits, self.tile_loops, users)
