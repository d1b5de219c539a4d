"""The independent judge of tiles: replay every load, store and word that is moved.

As `scheduling.replay` it enumerates, uses no isl, and represents a value by the instance that
produced it. Tiles start as close to each other as they may, `issue_cycles` apart: if they wait for
words, what is in order stays so. It proves for the given sizes that

- every operand comes from the instance that the C program says, or from before these tiles;
- what a filled window shows a tile is the element that the program reads, as it was before these
  tiles or as a tile has stored it for which the load waits. Stores come in the order of tiles: two
  of one element have a load of the first one's value in between, or never happen;
- each element off chip that is needed later ends with the last value that the program gives it, and
  none is written that the program does not write;
- no port is used twice in a cycle, and no word has two places, or a place two words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.iterations import (
    address_values,
    form_values,
    iterations_of,
    level_iterations,
    predicate_mask,
)
from rtlgen.ir.plan import (
    ChooseOp,
    FoldedForm,
    ForwardOp,
    KernelPlan,
    LoadOp,
    OffChip,
    Stream,
    TiledRegion,
    Transfer,
    Wait,
)
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.scheduling.errors import PlanUnsound
from rtlgen.scheduling.issued_instances import instances_of, tokens_at
from rtlgen.scheduling.replay import MAX_ITERATIONS, repeats
from rtlgen.scheduling.write_history import INITIAL, WriteHistory, distinct

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Needed: TypeAlias = Mapping[str, Bools]
"""For each array off chip, the elements whose values are needed behind some tiles, row-major."""

Before: TypeAlias = Mapping[str, Sequence[Affine]]

UNKNOWN = -7
"""The producer of a value that nobody may use."""


@dataclass(frozen=True, slots=True, eq=False)
class Issued:
    """What a stream issues in all tiles.

    Members
    -------
    counters: (n, levels) of all iterations. tiles: the number of the tile of each. cycles: of its
        issue. real: whether it is an instance of the program.
    points: (n, iterators) of all, those of the program in tiles. moments: when the C program runs
        each, which is its token, too.
    """

    statement: Statement
    stream: Stream
    counters: Ints
    tiles: Ints
    cycles: Ints
    real: Bools
    points: Ints
    moments: Ints

    def elements(self, access: Access, strides: Sequence[int]) -> Ints:
        """Return the row-major number of the element that each iteration touches."""
        values = [affine_values(s, self.statement.iterators, self.points) for s in access.affine]
        return sum((v * s for v, s in zip(values, strides, strict=True)), np.zeros_like(self.tiles))


def replay_tiles(
    plan: KernelPlan,
    region: TiledRegion,
    written: Scop,
    tiled: Scop,
    before: Before,
    loops: Mapping[str, Sequence[NestLoop]],
    needed: Needed,
) -> Needed | None:
    """Prove the data flow of a tiled region; return what it needs, with what it leaves as needed.

    Where the region is too large to enumerate, return None.

    Parameters
    ----------
    written: its part of the program, in the order of C. tiled: the same in tiles. before: by
        statement, the iterators of the first as functions of those of the second.
    loops: of every stream, which its levels count.
    needed: what the regions behind this one need of it, and the host.

    Raises
    ------
    PlanUnsound: with the first thing that is wrong.
    """
    if region.tiles * sum(stream.count for stream in region.kernel.streams) > MAX_ITERATIONS:
        return None
    judge = _Judge(plan, region, written, tiled, before, loops)
    judge.check(needed)
    return judge.needs(needed)


def needed_by_host(plan: KernelPlan, scop: Scop) -> Needed:
    """Return what is needed when all is done: whatever the host can see."""
    assert plan.memory_side is not None
    return {
        array.name: np.full(prod(array.shape), scop.array(array.name).storage != "local")
        for array in plan.memory_side.arrays
    }


class _Judge:
    def __init__(
        self,
        plan: KernelPlan,
        region: TiledRegion,
        written: Scop,
        tiled: Scop,
        before: Before,
        loops: Mapping[str, Sequence[NestLoop]],
    ) -> None:
        assert plan.memory_side is not None
        self.plan = plan
        self.region = region
        self.scop = tiled
        self.side = plan.memory_side
        self.off_chip = {array.name: array for array in self.side.arrays}
        self.members = _issued_everywhere(region, written, tiled, before, loops)
        self.program = {array.name: self._program_history(array.name) for array in tiled.arrays}
        self.stored = {memory.name: self._stores(memory.name) for memory in plan.memories}
        self.moved = {transfer.window: _Moved(self, transfer) for transfer in region.transfers}
        self.drained = {array.name: self._drained(array.name) for array in self.side.arrays}
        self.port_cycles: dict[tuple[str, int], list[Ints]] = {}

    def check(self, needed: Needed) -> None:
        for moved in self.moved.values():
            moved.check_places()
        for member in self.members:
            self._check_operands(member)
        for (memory, port), cycles in self.port_cycles.items():
            if repeats(np.concatenate(cycles)):
                self.fail(f"two loads use read port {port} of {memory} in one cycle")
        for array in self.side.arrays:
            self._check_result(array, needed[array.name])

    def needs(self, needed: Needed) -> Needed:
        """Return what is needed of the regions before this one."""
        found = {name: mask.copy() for name, mask in needed.items()}
        for name, mask in found.items():
            mask[self.program[name].elements] = False
        for member in self.members:
            for access in member.statement.reads:
                if access.array in found and not access.is_lookup:
                    elements = member.elements(access, self.scop.array(access.array).strides)
                    history = self.program[access.array]
                    elements, moments = elements[member.real], member.moments[member.real]
                    found[access.array][elements[history.before(elements, moments) == INITIAL]] = (
                        True
                    )
        return found

    def fail(self, what: str) -> None:
        raise PlanUnsound(f"the plan of {self.plan.name} is not sound: {what}")

    def _program_history(self, name: str) -> WriteHistory:
        strides = self.scop.array(name).strides
        own = [m for m in self.members if m.statement.write.array == name]
        elements = [m.elements(m.statement.write, strides)[m.real] for m in own]
        moments = [m.moments[m.real] for m in own]
        return _history(elements, moments, moments)

    def _stores(self, name: str) -> WriteHistory:
        """Return what the streams store to a memory on chip, by its addresses."""
        addresses, cycles, tokens = [], [], []
        for member in self.members:
            for store in member.stream.stores:
                if store.memory != name:
                    continue
                mask = predicate_mask(store.when, member.counters)
                if np.any(mask & ~member.real):
                    self.fail(f"{member.stream.statement} stores to {name} in a padding iteration")
                addresses.append(address_values(store.address, member.counters, member.tiles)[mask])
                cycles.append((member.cycles + store.stage)[mask])
                tokens.append(member.moments[mask])
        if cycles and repeats(np.concatenate(cycles)):
            self.fail(f"two stores through the write port of {name} in one cycle")
        return _history(addresses, cycles, tokens)

    def _drained(self, array: str) -> _Drained:
        """Return what the tiles store to an array off chip."""
        elements, tiles, tokens, windows = [], [], [], []
        names = [t.window for t in self.region.transfers if t.direction == "store"]
        for number, name in enumerate(names):
            if self.moved[name].array.name != array:
                continue
            where, when, what = self.moved[name].written()
            elements.append(where)
            tiles.append(when)
            tokens.append(what)
            windows.append(np.full(len(where), number, dtype=np.int64))
        return _Drained(
            _history(elements, tiles, tokens),
            _history(elements, tiles, tiles),
            _history(elements, tiles, windows),
            tuple(names),
        )

    # What a tile reads.

    def _check_operands(self, member: Issued) -> None:
        operations = member.stream.operations
        inner = {
            operand
            for op in operations
            if isinstance(op, ChooseOp | ForwardOp)
            for operand in op.operands
        }
        values: dict[int, Ints] = {}
        reads: dict[int, int] = {}
        for number, op in enumerate(operations):
            match op:
                case LoadOp(address=None):
                    continue
                case LoadOp():
                    values[number], reads[number] = self._loaded(member, op), op.read
                case ChooseOp(operands=(first, second)) if {first, second} <= set(values):
                    when = predicate_mask(op.when, member.counters)
                    values[number] = np.where(when, values[first], values[second])
                    reads[number] = reads[first]
                case ForwardOp():
                    unknown = np.full(len(member.tiles), UNKNOWN, dtype=np.int64)
                    taken = values.get(op.operands[0], unknown)
                    values[number] = self._tapped(member, op, taken)
                    reads[number] = op.read
                case _:
                    continue
            if number not in inner:
                self._check_read(member, reads[number], values[number])

    def _check_read(self, member: Issued, read: int, seen: Ints) -> None:
        access = member.statement.reads[read]
        elements = member.elements(access, self.scop.array(access.array).strides)
        expected = self.program[access.array].before(elements, member.moments)
        if np.any((seen != expected)[member.real]):
            self.fail(f"{member.stream.statement} takes a wrong value of {access.array}")

    def _loaded(self, member: Issued, op: LoadOp) -> Ints:
        """Return the token that a load brings in each iteration."""
        assert op.address is not None
        needed = predicate_mask(op.needed, member.counters)
        memory = self.plan.memory(op.memory)
        cycles = member.cycles + op.stage
        self.port_cycles.setdefault((op.memory, op.port), []).append(cycles[needed])
        addresses = address_values(op.address, member.counters, member.tiles)
        found = np.full(len(needed), UNKNOWN, dtype=np.int64)
        if memory.kind == "filled":
            found[needed] = self.moved[op.memory].shown(member, op, addresses, needed)
            return found
        history = self.stored[op.memory]
        found[needed] = history.before(addresses[needed], cycles[needed])
        # What is read in a padding iteration does not matter.
        real = needed & member.real
        if memory.kind == "block" and history.meets(addresses[real], cycles[real]):
            self.fail(f"{member.stream.statement} loads from {op.memory} in the cycle of a store")
        return found

    def _tapped(self, member: Issued, op: ForwardOp, otherwise: Ints) -> Ints:
        found = otherwise.copy()
        for tap in op.taps:
            source = self.members[tap.stream]
            mask = predicate_mask(tap.when, member.counters)
            presented = source.cycles + source.stream.store.stage
            wanted = (member.cycles + op.stage - tap.delay_cycles)[mask]
            order = np.argsort(presented, kind="stable")
            tokens = np.where(source.real, source.moments, UNKNOWN)
            found[mask] = tokens_at(presented[order], tokens[order], wanted)
        return found

    # What is off chip in the end.

    def _check_result(self, array: OffChip, needed: Bools) -> None:
        history = self.drained[array.name].tokens
        program = self.program[array.name]
        touched = distinct(np.concatenate([history.elements, program.elements]))
        ends, wanted = history.last(touched), program.last(touched)
        # What nobody reads after these tiles may stay on chip.
        wrong = (ends != wanted) & (needed[touched] | (ends != INITIAL))
        if np.any(wrong):
            self.fail(f"{array.name} does not end with the last values of the program")


@dataclass(frozen=True, slots=True, eq=False)
class _Drained:
    """What tiles store to an array off chip, by element and tile.

    Members
    -------
    tokens, tiles, windows: of each store. names: of the windows, by number.
    """

    tokens: WriteHistory
    tiles: WriteHistory
    windows: WriteHistory
    names: tuple[str, ...]

    def seen(self, elements: Ints, tiles: Ints, after: Sequence[Wait]) -> Ints:
        """Return the token that a load for each tile finds, where it waits for `after`."""
        found = self.tokens.before(elements, tiles)
        distances = {wait.window: wait.distance for wait in after}
        # A load that waits for nobody may come before any store of these tiles.
        never = int(tiles.max(initial=0)) + 1
        needed = np.array([distances.get(name, never) for name in self.names], dtype=np.int64)
        stored = found != INITIAL
        windows = self.windows.before(elements, tiles)
        near = np.zeros_like(stored)
        near[stored] = (tiles - self.tiles.before(elements, tiles))[stored] < needed[
            windows[stored]
        ]
        return np.where(near, UNKNOWN, found)


class _Moved:
    """The words that one transfer moves, tile by tile."""

    def __init__(self, judge: _Judge, transfer: Transfer) -> None:
        self.judge = judge
        self.transfer = transfer
        self.array = judge.off_chip[transfer.array]
        self.lanes = judge.plan.memory(transfer.window).lanes
        rows = np.zeros((1, 0), dtype=np.int64)
        tiles = np.zeros(1, dtype=np.int64)
        for depth, (inner, parents) in enumerate(level_iterations(transfer.levels)):
            rows = inner
            own = depth < len(judge.region.levels)
            tiles = np.arange(len(inner), dtype=np.int64) if own else tiles[parents]
        mask = predicate_mask(transfer.when, rows)
        self.rows, self.tiles = rows[mask], tiles[mask]
        self.words = form_values(transfer.word, self.rows)
        self.places = address_values(transfer.at, self.rows, self.tiles)
        self.keys = self._keys(self.tiles, self.places)
        self.order = np.argsort(self.keys, kind="stable")

    def _keys(self, tiles: Ints, places: Ints) -> Ints:
        """Return a number for every place of a window in every tile."""
        return (tiles << self.transfer.at.width_bits) | places

    def check_places(self) -> None:
        """Check that words stay in their array, and that no place of a tile has two."""
        first = self.array.base_words
        last = first + self.array.words(self.judge.side.word_bits)
        if np.any((self.words < first) | (self.words >= last)):
            self.judge.fail(f"{self.transfer.window} moves words that are not of {self.array.name}")
        if repeats(self.keys):
            self.judge.fail(f"{self.transfer.window} has two words in one place")

    def _find(self, tiles: Ints, places: Ints) -> Ints:
        """Return which moved word is in a place of a tile; -1 for none."""
        if not len(self.keys):
            return np.full(len(tiles), -1, dtype=np.int64)
        keys, moved = self._keys(tiles, places), self.keys[self.order]
        at = np.minimum(np.searchsorted(moved, keys), len(moved) - 1)
        return np.where(moved[at] == keys, self.order[at], -1)

    def shown(self, member: Issued, op: LoadOp, addresses: Ints, needed: Bools) -> Ints:
        """Return the token that each needed iteration finds."""
        assert isinstance(op.address, FoldedForm)
        place, lane = np.divmod(addresses[needed], self.lanes)
        found = self._find(member.tiles[needed], place)
        access = member.statement.reads[op.read]
        word, where = self._located(member, access)
        right = (found >= 0) & (lane == where[needed])
        right[right] &= self.words[found[right]] == word[needed][right]
        elements = member.elements(access, self.judge.scop.array(access.array).strides)[needed]
        drained = self.judge.drained[self.array.name]
        seen = drained.seen(elements, member.tiles[needed], self.transfer.after)
        return np.where(right, seen, UNKNOWN)

    def _located(self, member: Issued, access: Access) -> tuple[Ints, Ints]:
        """Return word and lane off chip of the element of each iteration."""
        values = [
            affine_values(s, member.statement.iterators, member.points) for s in access.affine
        ]
        row = np.zeros_like(member.tiles)
        for value, extent in zip(values[:-1], self.array.shape, strict=False):
            row = row * extent + value
        column, lane = np.divmod(values[-1], self.lanes)
        length = self.array.row_words(self.judge.side.word_bits)
        return self.array.base_words + row * length + column, lane

    def written(self) -> tuple[Ints, Ints, Ints]:
        """Return (element, tile, token) of all that a store brings off chip."""
        tokens = self._tokens_in_window()
        length = self.array.row_words(self.judge.side.word_bits)
        elements, tiles, found = [], [], []
        for lane, strobe in enumerate(self.transfer.strobes):
            mask = predicate_mask(strobe, self.rows)
            row, column = np.divmod(self.words[mask] - self.array.base_words, length)
            subscript = column * self.lanes + lane
            if np.any(subscript >= self.array.shape[-1]):
                self.judge.fail(f"{self.transfer.window} stores behind a row of {self.array.name}")
            keys = self.keys[mask] * self.lanes + lane
            elements.append(row * self.array.shape[-1] + subscript)
            tiles.append(self.tiles[mask])
            left = tokens.last(keys)
            found.append(np.where(left == INITIAL, UNKNOWN, left))
        return np.concatenate(elements), np.concatenate(tiles), np.concatenate(found)

    def _tokens_in_window(self) -> WriteHistory:
        """Return what the kernel leaves in each place of each tile, lane by lane."""
        found, cycles, tokens = [], [], []
        for member in self.judge.members:
            for store in member.stream.stores:
                if store.memory != self.transfer.window:
                    continue
                mask = predicate_mask(store.when, member.counters)
                address = address_values(store.address, member.counters, member.tiles)[mask]
                place, lane = np.divmod(address, self.lanes)
                found.append(self._keys(member.tiles[mask], place) * self.lanes + lane)
                cycles.append(member.cycles[mask] + store.stage)
                tokens.append(member.moments[mask])
        return _history(found, cycles, tokens)


def _issued_everywhere(
    region: TiledRegion,
    written: Scop,
    tiled: Scop,
    before: Before,
    loops: Mapping[str, Sequence[NestLoop]],
) -> list[Issued]:
    members = [_issued(region, stream, tiled, loops) for stream in region.kernel.streams]
    times = [_times(member, written, before) for member in members]
    order = np.lexsort(np.concatenate(times).T[::-1])
    moments = np.empty(len(order), dtype=np.int64)
    moments[order] = np.arange(len(order))
    ends = np.cumsum([len(member.tiles) for member in members])
    parts = np.split(moments, ends[:-1])
    return [
        Issued(m.statement, m.stream, m.counters, m.tiles, m.cycles, m.real, m.points, part)
        for m, part in zip(members, parts, strict=True)
    ]


def _issued(
    region: TiledRegion, stream: Stream, tiled: Scop, loops: Mapping[str, Sequence[NestLoop]]
) -> Issued:
    counters = iterations_of(stream.levels)
    tiles, ranks = np.divmod(np.arange(len(counters), dtype=np.int64), stream.count)
    if len(counters) != region.tiles * stream.count:
        raise PlanUnsound(f"{stream.statement} runs in other tiles than its region")
    cycles = tiles * region.issue_cycles + stream.offset_cycles + stream.ii * ranks
    statement = tiled.statement(stream.statement)
    own = loops[stream.statement]
    real, inside = instances_of(statement, own, counters)
    if len(inside) != stream.instances:
        raise PlanUnsound(f"{stream.statement} runs {len(inside)} of {stream.instances} instances")
    points = np.zeros((len(counters), len(statement.iterators)), dtype=np.int64)
    for level, loop in enumerate(own):
        if loop.iterator is not None:
            place = statement.iterators.index(loop.iterator)
            points[:, place] = counters[:, level] + loop.at
    empty = np.zeros(0, dtype=np.int64)
    return Issued(statement, stream, counters, tiles, cycles, real, points, empty)


def _times(member: Issued, written: Scop, before: Before) -> Ints:
    """Return when the C program runs the iterations, as vectors."""
    statement = written.statement(member.stream.statement)
    iterators = member.statement.iterators
    columns = [affine_values(value, iterators, member.points) for value in before[statement.name]]
    own = np.stack(columns, axis=1) if columns else np.zeros((len(member.points), 0), np.int64)
    time = written.schedule.time(statement.name)
    return np.stack([affine_values(dim, statement.iterators, own) for dim in time], axis=1)


def _history(
    elements: Sequence[Ints], times: Sequence[Ints], tokens: Sequence[Ints]
) -> WriteHistory:
    empty = np.zeros(0, dtype=np.int64)
    return WriteHistory(*(np.concatenate([empty, *parts]) for parts in (elements, times, tokens)))
