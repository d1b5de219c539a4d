"""When the instances of a run were issued, as its waves show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.ir.iterations import iterations_of, stream_iterations
from rtlgen.ir.plan import ArithmeticOp, FloatingOp, LoadOp, Region, Stream, TiledRegion, Workers
from rtlgen.waves.errors import NotInTraceError
from rtlgen.waves.instances import BuiltCircuit
from rtlgen.waves.trace_file import TracedCircuit

CHUNK_ITERATIONS = 1 << 18


@dataclass(frozen=True, slots=True)
class OnItsWay:
    """An instance in a cycle: in which stage, counted from 0, of how many, and what it does there.

    Members
    -------
    tile: its number, from 0; None of what is in no tiles. stream: the number of its stream.
    """

    stream: int
    point: tuple[int, ...]
    issued_cycle: int
    stage: int
    tile: int | None


@dataclass(frozen=True, slots=True)
class Tile:
    """The tile in which a worker is.

    Members
    -------
    number: from 0, of `tiles`; -1 before the first one. begun_cycle: when it was issued.
    waits_since: the cycle from which on the next one waits for words or another worker, or None.
    """

    worker: int
    number: int
    tiles: int
    begun_cycle: int
    waits_since: int | None


class Timeline:
    """The runs in a trace.

    Members
    -------
    starts: of each run the number of the clock edge that sees start. cycles: of each run until
        done, or None of one that the trace does not see the end of.
    """

    def __init__(self, circuit: BuiltCircuit, trace: TracedCircuit) -> None:
        self._circuit, self._trace = circuit, trace
        pins = circuit.manifest.kernel_pins
        busy = trace.sampled(pins.idle) == 0
        accepted = (trace.sampled(pins.start) == 1) & (trace.sampled(pins.idle) == 1)
        self.starts: tuple[int, ...] = tuple(np.flatnonzero(accepted).tolist())
        done = np.flatnonzero((trace.sampled(pins.done) == 1) & (busy | accepted))
        ends = [*self.starts, len(trace.edges)][1:]
        found = np.searchsorted(done, self.starts)
        self.cycles: tuple[int | None, ...] = tuple(
            int(done[place]) - start if place < len(done) and done[place] <= end else None
            for start, end, place in zip(self.starts, ends, found.tolist(), strict=True)
        )
        self._begins: dict[str, Ints] = {}
        self._parts = tuple(_parts_of(circuit.plan.body))

    def run(self, number: int) -> Run:
        """Return a run by its number, from 1.

        Raises
        ------
        NotInTraceError: the trace has fewer.
        """
        if not 1 <= number <= len(self.starts):
            raise NotInTraceError(
                f"{self._trace.path} has no run {number} of {self._circuit.manifest.name}",
                help=f"it has {len(self.starts)}, counted from 1",
            )
        start = self.starts[number - 1]
        edges = len(self._trace.edges)
        behind = self.starts[number] if number < len(self.starts) else edges
        cycles = self.cycles[number - 1]
        begins = []
        for issued, (_, part) in zip(self._circuit.issued, self._parts, strict=True):
            every = self._begun(issued.point.control)
            # The one that a run begins with is high while the edge sees its start.
            own = every[(every >= start) & (every < behind)]
            most = part.tiles if isinstance(part, TiledRegion) else 1
            begins.append(own[:most] - start - 1)
        return Run(self._circuit, self._trace, self._parts, number, start, cycles, begins)

    def _begun(self, control: str) -> Ints:
        """Return the numbers of the edges before which a control is told to begin."""
        if control not in self._begins:
            high = self._trace.sampled(f"{control}.begin_signal") == 1
            self._begins[control] = np.flatnonzero(high)
        return self._begins[control]


def _parts_of(
    body: Sequence[Region | Workers],
) -> Iterator[tuple[int, Region | TiledRegion]]:
    """Yield for each stream of a plan the worker that it is of, and the region."""
    workers = 0
    for part in body:
        if isinstance(part, Region):
            yield from ((0, part) for _ in part.streams)
            continue
        for region in part.regions:
            yield from ((workers, region) for _ in region.kernel.streams)
            workers += 1


class Run:
    """One run.

    Parameters
    ----------
    begins: of each stream the cycles in which its control was told to begin.
    """

    def __init__(
        self,
        circuit: BuiltCircuit,
        trace: TracedCircuit,
        parts: Sequence[tuple[int, Region | TiledRegion]],
        number: int,
        start: int,
        cycles: int | None,
        begins: Sequence[Ints],
    ) -> None:
        self.number, self.cycles = number, cycles
        self._circuit, self._trace, self._start = circuit, trace, start
        self._parts = parts
        self._streams: tuple[Stream, ...] = circuit.plan.streams
        # Of each stream and tile, the cycle of its first issue.
        self._firsts = [
            begun + issued.point.begin_to_issue
            for begun, issued in zip(begins, circuit.issued, strict=True)
        ]

    def seconds_at(self, cycle: int) -> float:
        """Return the time at which a cycle begins.

        Raises
        ------
        NotInTraceError: the run has no such cycle.
        """
        last = len(self._trace.edges) - self._start - 2 if self.cycles is None else self.cycles - 1
        if not 0 <= cycle <= last:
            raise NotInTraceError(
                f"run {self.number} of {self._circuit.manifest.name} has no cycle {cycle}",
                help=f"it has cycles 0 to {last}",
            )
        return float(self._trace.edges[self._start + cycle]) * self._trace.unit_seconds

    def on_their_way(self, cycle: int) -> list[OnItsWay]:
        """Return every instance that is in some stage in a cycle, stream by stream."""
        self.seconds_at(cycle)
        found = []
        for number, stream in enumerate(self._streams):
            for tile, first in enumerate(self._firsts[number].tolist()):
                late = cycle - first
                low = max(0, -(-(late - stream.depth_cycles + 1) // stream.ii))
                high = min(self._issues(number) - 1, late // stream.ii)
                ranks = np.arange(low, high + 1)
                for rank, point in self._real(number, tile, ranks):
                    issued = first + stream.ii * rank
                    place = tile if self._is_tiled(number) else None
                    found.append(OnItsWay(number, point, issued, cycle - issued, place))
        return found

    def tiles(self, cycle: int) -> list[Tile]:
        """Return where each worker is in a cycle; none for what is in no tiles."""
        found = {}
        for (worker, part), firsts in zip(self._parts, self._firsts, strict=True):
            if not isinstance(part, TiledRegion) or worker in found or not len(firsts):
                continue
            number = int(np.searchsorted(firsts, cycle, side="right")) - 1
            begun = int(firsts[max(number, 0)])
            free = begun + part.issue_cycles
            waits = 0 <= number < part.tiles - 1 and cycle >= free
            found[worker] = Tile(worker, number, part.tiles, begun, free if waits else None)
        return list(found.values())

    def find(self, statement: str, point: Sequence[int]) -> list[OnItsWay]:
        """Return when an instance was issued: once, in a whole run of a right circuit."""
        found = []
        for number, issued in enumerate(self._circuit.issued):
            instances, stream = issued.instances, self._streams[number]
            if instances.statement != statement or len(instances.iterators) != len(point):
                continue
            for tile, first in enumerate(self._firsts[number].tolist()):
                rank = self._rank(number, tile, point)
                if rank is not None:
                    place = tile if self._is_tiled(number) else None
                    cycle = first + stream.ii * rank
                    found.append(OnItsWay(number, tuple(point), cycle, 0, place))
        return found

    def _is_tiled(self, number: int) -> bool:
        return isinstance(self._parts[number][1], TiledRegion)

    def _issues(self, number: int) -> int:
        """Return how many iterations a stream issues each time it begins."""
        part, stream = self._parts[number][1], self._streams[number]
        return stream.count if isinstance(part, TiledRegion) else part.issued(stream)

    def _rank(self, number: int, tile: int, point: Sequence[int]) -> int | None:
        """Return which of the iterations of a tile an instance is."""
        wanted = np.array(point, dtype=np.int64)
        for begin in range(0, self._issues(number), CHUNK_ITERATIONS):
            ranks = np.arange(begin, min(begin + CHUNK_ITERATIONS, self._issues(number)))
            counters = self._counters(number, tile, ranks)
            instances = self._circuit.issued[number].instances
            hits = (instances.points(counters) == wanted).all(axis=1) & instances.real(counters)
            if hits.any():
                return int(ranks[hits][0])
        return None

    def _real(self, number: int, tile: int, ranks: Ints) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield those of some iterations that are instances, with their points."""
        if not len(ranks):
            return
        counters = self._counters(number, tile, ranks)
        instances = self._circuit.issued[number].instances
        real = instances.real(counters)
        points = instances.points(counters[real]).tolist()
        for rank, point in zip(ranks[real].tolist(), points, strict=True):
            yield rank, tuple(point)

    def _counters(self, number: int, tile: int, ranks: Ints) -> Ints:
        """Return the counters of some iterations of a stream in a tile."""
        stream, part = self._streams[number], self._parts[number][1]
        if stream.iterations is not None:
            return self._ragged[number][ranks]
        extents = tuple(level.extent for level in stream.issued_levels)
        inner = (
            np.stack(np.unravel_index(ranks, extents), axis=1)
            if extents
            else np.zeros((len(ranks), 0), dtype=np.int64)
        )
        if not isinstance(part, TiledRegion):
            return inner
        outer = np.broadcast_to(self._tile_rows[number][tile], (len(ranks), len(part.levels)))
        return np.concatenate([outer, inner], axis=1)

    @cached_property
    def _ragged(self) -> Mapping[int, Ints]:
        """The counters of every iteration of streams that are no boxes."""
        return {
            number: stream_iterations(stream)
            for number, stream in enumerate(self._streams)
            if stream.iterations is not None
        }

    @cached_property
    def _tile_rows(self) -> Mapping[int, Ints]:
        """The counters of the tile loops in every tile."""
        return {
            number: iterations_of(part.levels)
            for number, (_, part) in enumerate(self._parts)
            if isinstance(part, TiledRegion)
        }


def work_of(stream: Stream, stage: int) -> list[str]:
    """Say what an instance does in a stage: loads, operators, stores."""
    found = []
    for op in stream.operations:
        if not op.stage <= stage < max(op.stage + 1, op.result_stage):
            continue
        if isinstance(op, LoadOp):
            found.append(f"load {op.memory}")
        elif isinstance(op, ArithmeticOp | FloatingOp):
            found.append(op.op)
    found += [f"store {store.memory}" for store in stream.stores if store.stage == stage]
    return list(dict.fromkeys(found))
