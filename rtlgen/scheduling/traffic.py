"""The words that tiles move, window by window: known before their kernel is planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.plan import OffChip
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import bounding_box
from rtlgen.poly.tiling import TileRelations
from rtlgen.scheduling.footprints import Footprint, User
from rtlgen.scheduling.lane_banks import ports_of, told_apart_by
from rtlgen.scheduling.movers import Moved, WordCounts
from rtlgen.scheduling.passing import Key, Passing


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """What tiles load and store.

    Members
    -------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    lane_loop: whose iterations run side by side; None where each issues by itself.
    """

    relations: TileRelations
    tile_loops: Sequence[NestLoop]
    off_chip: Mapping[str, OffChip]
    word_bits: int
    passing: Passing
    lane_loop: NestLoop | None = None

    def ports(self, keys: Sequence[Key]) -> int:
        """Return the read ports of a window that is filled for some reads."""
        lanes, in_step = self.lane_loop, self.relations.in_step
        scop = self.relations.sets.scop
        reads = [scop.statement(name).reads[read] for name, read in keys]
        dims = [told_apart_by(read, lanes, in_step) for read in reads]
        return sum(
            ports_of(read, lanes, [] if dim is None else [dim], in_step)
            for read, dim in zip(reads, dims, strict=True)
        )

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
            yield Moved(sets, footprint, tuple(zip(users, instances, strict=True)), name), keys

    def store(self, statement: Statement) -> Moved | None:
        """Return what a statement stores off chip, or None where that is nothing."""
        instances = self.passing.stored[statement.name]
        if statement.write.array not in self.off_chip or instances.is_empty():
            return None
        user = self._user(statement, statement.write)
        awaited = {name for waits in self.passing.awaited.values() for name in waits}
        name = "" if statement.name in awaited else f"stores {statement.name}"
        return Moved(self.relations.sets, self._footprint([user]), ((user, instances),), name)

    def count(self, counts: WordCounts) -> int:
        """Return the words that all tiles together move."""
        return sum(counts.of(m) for m, _ in self.loads()) + sum(map(counts.of, self.stores()))

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
