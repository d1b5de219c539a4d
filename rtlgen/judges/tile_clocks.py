"""What workers issue in all of their tiles, and what they know of each other's.

What workers know of each other's tiles: what surely has happened when a tile is begun.

A *clock* has an entry for every store, and every kernel, of every worker: so many tiles it is done
with; a kernel, as far as the memories are concerned that it shares with its peers. Each transfer
and each kernel has one for each of its tiles. It is what follows from these rules alone; whatever
else may happen to be in order is not counted on:

- a transfer, and a kernel, goes through its worker's tiles in order;
- it begins a tile when what it waits for is done;
- a kernel begins a tile when all of it is loaded, and what it stores is stored later.

A store knows all that its kernel knows, and who waits for one of them learns it. Where a tile would
have to be done before it is begun, the workers wait for ever.

Reference: Mattern, "Virtual time and global states of distributed systems", 1989: vector clocks.

What the streams of workers issue in all of their tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rtlgen.ir.ints import Bools, Ints, distinct
from rtlgen.ir.issued_instances import instances_of, made_inside, subscript_values
from rtlgen.ir.iterations import form_values, iterations_of, predicate_mask
from rtlgen.ir.judged_part import JudgedPart
from rtlgen.ir.plan import IndexForm, Mark, Stream, TiledRegion, Wait, Workers
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Access, Statement

Engine: TypeAlias = str | int
"""A transfer, by its window, or the kernel of a worker, by its number."""


@dataclass(frozen=True, slots=True, eq=False)
class _Gate:
    """A wait, tile by tile.

    Members
    -------
    giver: who is waited for. tiles: which wait. done: for which tiles of the giver.
    """

    giver: Engine
    tiles: Ints
    done: Ints


class _Clock:
    """The clock of one transfer, or kernel: it goes on at some of its tiles only.

    Members
    -------
    begins: the tiles at which it goes on, the first one among them. known: (tiles, entries).
    """

    def __init__(self, begins: Sequence[Ints], entries: int) -> None:
        self.begins: Ints = np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *begins]))
        self.known: Ints = np.zeros((len(self.begins), entries), dtype=np.int64)

    def at(self, tiles: Ints) -> Ints:
        """Return where the clocks of some tiles are in `known`."""
        found: Ints = np.searchsorted(self.begins, tiles, side="right") - 1
        return found

    def learn(self, places: Ints | slice, what: Ints) -> None:
        self.known[places] = np.maximum(self.known[places], what)

    def go_on(self) -> None:
        """What is known of one tile is known of those behind it."""
        np.maximum.accumulate(self.known, axis=0, out=self.known)


class TileClocks:
    """The clocks of the transfers and kernels of some workers.

    Members
    -------
    entries: by the window of a store, its place in a clock. owner: by window, its worker.

    Raises
    ------
    PlanUnsound: a tile waits for what is never done, or for itself.
    """

    def __init__(self, workers: Workers) -> None:
        self._regions = workers.regions
        transfers = workers.transfers
        stores = [t.window for t in transfers if t.direction == "store"]
        self.entries = {window: n for n, window in enumerate(stores)}
        self.owner = {
            transfer.window: number
            for number, region in enumerate(self._regions)
            for transfer in region.transfers
        }
        self._tiles = [iterations_of(region.levels) for region in self._regions]
        self._gates: dict[Engine, list[_Gate]] = {}
        for number, region in enumerate(self._regions):
            for transfer in region.transfers:
                window = transfer.window
                self._gates[window] = [
                    self._gate(window, number, wait, wait.window, self.owner[wait.window])
                    for wait in transfer.after
                ]
            self._gates[number] = [
                self._gate(f"kernel {number}", number, wait, giver, giver)
                for wait in region.waits
                for giver in [workers.giver(number, wait)]
            ]
        self._clocks: dict[Engine, _Clock] = {}
        entries = len(stores) + len(self._regions)
        for number, region in enumerate(self._regions):
            loads = self._loads(region)
            before: list[Engine] = [*loads, number]
            loaded = [gate.tiles for each in before for gate in self._gates[each]]
            self._clocks[number] = _Clock(loaded, entries)
            for transfer in region.transfers:
                own_tiles = [gate.tiles for gate in self._gates[transfer.window]]
                begins = own_tiles if transfer.window in loads else [*own_tiles, *loaded]
                self._clocks[transfer.window] = _Clock(begins, entries)
        while self._go_on():
            self._check_own()

    def _loads(self, region: TiledRegion) -> list[str]:
        return [t.window for t in region.transfers if t.direction == "load"]

    def _entry(self, engine: Engine) -> int:
        """Return the place in a clock of a store, or of a kernel."""
        return self.entries[engine] if isinstance(engine, str) else len(self.entries) + engine

    def _gate(self, name: str, worker: int, wait: Wait, giver: Engine, other: int) -> _Gate:
        """Return who waits for whom.

        Parameters
        ----------
        name: of the one that waits. worker: its. giver: who is waited for. other: their worker.
        """
        waiting = self._counted(worker, wait.takes, first=True)
        done = self._counted(other, wait.gives, first=False)
        # The first ones find what there is before anything is done.
        waiting = waiting[wait.distance :]
        if len(waiting) > len(done):
            raise PlanUnsound(f"{name} waits for what {wait.window} never stores")
        return _Gate(giver, waiting, done[: len(waiting)])

    def _counted(self, worker: int, mark: Mark, *, first: bool) -> Ints:
        """Return the first, or last, tile of each iteration that counts."""
        tiles = self._tiles[worker]
        counts = predicate_mask(mark.when, tiles)
        changes = np.any(np.diff(tiles[:, : mark.loops], axis=0) != 0, axis=1)
        is_end = np.concatenate([[True], changes] if first else [changes, [True]])
        return np.flatnonzero(counts & is_end)

    def _go_on(self) -> bool:
        """Let all clocks learn what others know; return whether there was something new."""
        is_new = False
        for number, region in enumerate(self._regions):
            loads = self._loads(region)
            for window in loads:
                is_new |= self._learn(window, ())
            is_new |= self._learn(number, loads)
            for transfer in region.transfers:
                if transfer.direction == "store":
                    is_new |= self._learn(transfer.window, (number,))
        return is_new

    def _learn(self, engine: Engine, before: Sequence[Engine]) -> bool:
        """Let one learn what others know; return whether there was something new.

        Parameters
        ----------
        before: what is done with a tile when it begins it.
        """
        clock = self._clocks[engine]
        known = clock.known.copy()
        for gate in self._gates[engine]:
            self._pass(clock, gate)
        for other in before:
            done = self._clocks[other]
            clock.learn(slice(None), done.known[done.at(clock.begins)])
        clock.go_on()
        return not np.array_equal(known, clock.known)

    def _pass(self, clock: _Clock, gate: _Gate) -> None:
        """Let those who wait learn what the giver knows, and that it is done."""
        places = clock.at(gate.tiles)
        giver, entry = self._clocks[gate.giver], self._entry(gate.giver)
        clock.learn(places, giver.known[giver.at(gate.done)])
        clock.known[places, entry] = np.maximum(clock.known[places, entry], gate.done + 1)

    def _check_own(self) -> None:
        for engine, clock in self._clocks.items():
            own = self._entries_of(self.owner[engine] if isinstance(engine, str) else engine)
            if np.any(clock.known[:, own] > clock.begins[:, None]):
                name = engine if isinstance(engine, str) else f"kernel {engine}"
                raise PlanUnsound(f"{name} waits for itself")

    def _entries_of(self, worker: int) -> list[int]:
        """Return the entries of a worker's stores, and of its kernel."""
        own = [n for store, n in self.entries.items() if self.owner[store] == worker]
        return [*own, self._entry(worker)]

    # What is in order.

    def has_stored(self, window: str, tiles: Ints, entries: Ints, stored: Ints) -> Bools:
        """Tell whether stores are done with tiles when a transfer begins others.

        Parameters
        ----------
        window: of the transfer. tiles: of it. entries: of the stores. stored: their tiles.
        """
        clock = self._clocks[window]
        found: Bools = clock.known[clock.at(tiles), entries] > stored
        return found

    def has_loaded(self, window: str, tiles: Ints, worker: int, loaded: Ints) -> Bools:
        """Tell whether a worker has loaded tiles when a transfer begins others."""
        own = self._entries_of(worker)
        clock = self._clocks[window]
        known = clock.known[:, own].max(axis=1)
        found: Bools = known[clock.at(tiles)] > loaded
        return found

    def handed(self, worker: int, tiles: Ints, peer: int) -> Ints:
        """Return with how many tiles a kernel is done when that of another worker begins some.

        Parameters
        ----------
        worker: whose kernel begins tiles. peer: whose is done.
        """
        clock = self._clocks[worker]
        found: Ints = clock.known[clock.at(tiles), self._entry(peer)]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Issued:
    """What a stream of a worker issues in all tiles.

    Members
    -------
    counters: (n, levels) of all iterations. tiles: the number of the tile of each. cycles: of its
        issue. real: whether it is an instance of the program.
    points: (n, iterators) of all, those of the program in tiles. moments: when the C program runs
        each, which is its token, too.
    """

    worker: int
    statement: Statement
    stream: Stream
    counters: Ints
    tiles: Ints
    cycles: Ints
    real: Bools
    points: Ints
    moments: Ints

    def elements(self, access: Access, strides: Sequence[int], choice: Sequence[int] = ()) -> Ints:
        """Return the row-major number of the element that each iteration touches.

        Parameters
        ----------
        choice: the values of the subscripts that depend on data.
        """
        values = subscript_values(access, self.statement.iterators, self.points, choice)
        return sum((v * s for v, s in zip(values, strides, strict=True)), np.zeros_like(self.tiles))

    def made(self, access: Access, shape: Sequence[int], choice: Sequence[int] = ()) -> Bools:
        """Return the instances of the program that make an access, and inside of its array."""
        names = self.statement.iterators
        values = subscript_values(access, names, self.points, choice)
        return self.real & made_inside(access, values, shape, names, self.points)


def issued_everywhere(workers: Workers, part: JudgedPart) -> list[Issued]:
    """Return what all streams of all workers issue, worker after worker.

    Raises
    ------
    PlanUnsound: they do not run every instance of the program once.
    """
    members = [
        _issued(number, region, stream, part)
        for number, region in enumerate(workers.regions)
        for stream in region.kernel.streams
    ]
    times = [_times(member, part) for member in members]
    order = np.lexsort(np.concatenate(times).T[::-1])
    moments = np.empty(len(order), dtype=np.int64)
    moments[order] = np.arange(len(order))
    ends = np.cumsum([len(member.tiles) for member in members])
    parts = np.split(moments, ends[:-1])
    found = [replace(m, moments=own) for m, own in zip(members, parts, strict=True)]
    for name in dict.fromkeys(stream.statement for stream in workers.regions[0].kernel.streams):
        _require_every_instance([m for m in found if m.stream.statement == name])
    return found


def _require_every_instance(members: Sequence[Issued]) -> None:
    """Require that workers together run every instance of a statement once."""
    stream = members[0].stream
    points = np.concatenate([member.points[member.real] for member in members])
    if len(points):
        low = points.min(axis=0)
        extents = points.max(axis=0) - low + 1
        numbers = np.ravel_multi_index(tuple((points - low).T), tuple(extents.tolist()))
        # Without iterators there is one number, and no array of them.
        count = len(distinct(np.atleast_1d(numbers)))
    else:
        count = 0
    if count != stream.instances or len(points) != count:
        raise PlanUnsound(f"{stream.statement} runs {len(points)} of {stream.instances} instances")


def _issued(number: int, region: TiledRegion, stream: Stream, part: JudgedPart) -> Issued:
    counters = iterations_of(stream.levels)
    tiles, ranks = np.divmod(np.arange(len(counters), dtype=np.int64), stream.count)
    if len(counters) != region.tiles * stream.count:
        raise PlanUnsound(f"{stream.statement} runs in other tiles than its region")
    cycles = tiles * region.issue_cycles + stream.offset_cycles + stream.ii * ranks
    statement = part.tiled.statement(stream.statement)
    loops = part.loops[stream.statement]
    known = _as_one_worker(counters, len(region.levels), part.counters[number])
    if part.lanes > 1:
        lane = np.full((len(known), 1), stream.lane, dtype=np.int64)
        known = np.concatenate([known, lane], axis=1)
    real, _ = instances_of(statement, loops, known)
    points = np.zeros((len(counters), len(statement.iterators)), dtype=np.int64)
    for level, loop in enumerate(loops):
        if loop.iterator is not None:
            place = statement.iterators.index(loop.iterator)
            points[:, place] = known[:, level] + loop.at
    empty = np.zeros(0, dtype=np.int64)
    return Issued(number, statement, stream, counters, tiles, cycles, real, points, empty)


def _as_one_worker(counters: Ints, tile_levels: int, forms: Sequence[IndexForm]) -> Ints:
    """Return the counters that one worker would have in each iteration."""
    outer = [form_values(form, counters[:, :tile_levels])[:, None] for form in forms]
    return np.concatenate([*outer, counters[:, tile_levels:]], axis=1)


def _times(member: Issued, part: JudgedPart) -> Ints:
    """Return when the C program runs the iterations, as vectors."""
    statement = part.written.statement(member.stream.statement)
    iterators = member.statement.iterators
    values = part.before[statement.name]
    columns = [affine_values(value, iterators, member.points) for value in values]
    own = np.stack(columns, axis=1) if columns else np.zeros((len(member.points), 0), np.int64)
    time = part.written.schedule.time(statement.name)
    return np.stack([affine_values(dim, statement.iterators, own) for dim in time], axis=1)
