"""What the streams of workers issue in all of their tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.ints import Ints
from rtlgen.ir.issued_instances import instances_of, made_inside, subscript_values
from rtlgen.ir.iterations import form_values, iterations_of
from rtlgen.ir.judged_part import JudgedPart
from rtlgen.ir.plan import IndexForm, Stream, TiledRegion, Workers
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.write_history import distinct

Bools = NDArray[np.bool_]


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
