"""How physical threads share logical ones: the iterations of one loop, whose bounds may vary.

Physical threads are called *workers*, NP of them; the loop runs from BL to EL in NL iterations,
which may be none, fewer than NP, and different each time:

    F        C = max(1, floor(NL / NP))      the last worker takes what is left over
    C        C = max(1, ceil(NL / NP))       the last ones may have nothing to do
    cyclic   worker p takes the iterations that are p modulo NP, counted from 0

With F and C, worker p runs from BL + C * p through C iterations, but not beyond EL.

Here stand the formulas as a plain function, the reference, and as loops that an odometer can run
through: BL, EL and C become loops of one iteration each, computed anew whenever an outer loop goes
on. A worker that has nothing to do runs through one iteration behind EL.

Reference: F and C strategies, THREAD (logical threads on physical threads).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.ir.iterations import iterations_of, level_range
from rtlgen.ir.levels import Condition, IndexForm, Level, LevelBound
from rtlgen.options import Policy


def share_of(policy: Policy, first: int, last: int, workers: int, worker: int) -> range:
    """Return the iterations of one worker.

    Parameters
    ----------
    first, last: BL and EL, both inclusive.
    """
    count = last - first + 1
    if policy == "cyclic":
        begin = first + (worker - first) % workers
        return range(begin, max(begin, last + 1), workers)
    chunk = count // workers if policy == "F" else -(-count // workers)
    chunk = max(1, chunk)
    begin = first + chunk * worker
    end = last if policy == "F" and worker == workers - 1 else min(begin + chunk - 1, last)
    return range(begin, max(begin, end + 1))


UNBOUNDED = 1 << 40
"""An extent that is no bound."""


@dataclass(frozen=True, slots=True)
class SharedLoops:
    """The loops of one worker.

    Members
    -------
    levels: they. counters: each counter of the loops before, by those of these.
    has_work: conditions on these that hold where the worker has something to do; () for always.
    never: whether it has nothing to do at all.
    """

    levels: tuple[Level, ...]
    counters: tuple[IndexForm, ...]
    has_work: tuple[Condition, ...] = ()
    never: bool = False

    def moved(self, form: IndexForm) -> IndexForm:
        """Return a form of the counters before, and of further ones inside, by those of these."""
        total = form.substitute(self.counters)
        inner = form.coefficients[len(self.counters) :]
        return IndexForm(total.coefficients + inner, total.constant)


def shared_loops(
    levels: Sequence[Level], space: int, policy: Policy, workers: int, worker: int
) -> SharedLoops:
    """Return the loops of one worker.

    Parameters
    ----------
    levels: the loops of all workers, the bounds of each by the counters of these. space: the one
        that is shared, by its number.
    """
    shared = levels[space]
    added = 0 if policy == "cyclic" or shared.is_box else 3
    depth, own = len(levels) + added, space + added
    counters = [IndexForm.counter(k if k < space else k + added, depth) for k in range(len(levels))]
    if policy == "cyclic":
        counters[space] = counters[space] * workers + worker
        size = -(-(shared.extent - worker) // workers)
    elif shared.is_box:
        share = share_of(policy, 0, shared.extent - 1, workers, worker)
        counters[space] = replace(counters[space], constant=share.start)
        size = len(share)
    found = SharedLoops((), tuple(counters))
    inner = [
        level.with_forms(lambda form: found.moved(form.padded(len(levels)))) for level in levels
    ]
    if shared.is_box:
        new = [replace(shared, extent=max(1, size))]
    elif policy == "cyclic":
        new = [_every(inner[space], workers, worker, depth)]
    else:
        new = _chunk(inner[space], space, policy, workers, worker, depth)
    changed = (*inner[:space], *new, *inner[space + 1 :])
    return _with_work(replace(found, levels=changed), inner[space], own, counters[space])


def _every(level: Level, workers: int, worker: int, depth: int) -> Level:
    """Return the loop through every n-th iteration."""

    def thinned(bound: LevelBound) -> LevelBound:
        return LevelBound(bound.form - worker * bound.divisor, bound.divisor * workers)

    lowers, uppers = _bounds(level, depth)
    return replace(
        level, lowers=tuple(map(thinned, lowers)), uppers=tuple(map(thinned, uppers)), at_least=1
    )


def _chunk(
    level: Level, space: int, policy: Policy, workers: int, worker: int, depth: int
) -> list[Level]:
    """Return the loops through consecutive iterations: for BL, EL and C, and the shared one.

    Counters are not negative, and a loop begins at its largest lower bound: so the loop for EL
    counts how far that is before the last iteration of all.
    """
    lowers, uppers = _bounds(level, depth)
    one = IndexForm.fixed(1, depth)
    first, behind, chunk, _ = (IndexForm.counter(space + k, depth) for k in range(4))
    last = -behind + (level.extent - 1)
    count = last - first + 1
    if policy == "F":
        # floor(NL / NP) = ceil((NL - NP + 1) / NP)
        count += 1 - workers
    begin = first + chunk * worker
    ends = [LevelBound(last)]
    if policy == "C" or worker < workers - 1:
        ends.append(LevelBound(begin + chunk - 1))
    return [
        _single(lowers, depth),
        _single(tuple(_from_end(bound, level.extent) for bound in uppers), depth),
        _single((LevelBound(one), LevelBound(count, workers)), depth),
        replace(level, lowers=(LevelBound(begin),), uppers=tuple(ends), at_least=1),
    ]


def _from_end(bound: LevelBound, extent: int) -> LevelBound:
    """Return how far an upper bound is before the last iteration of all, as a lower bound.

    extent - 1 - floor(u / d) = ceil(((extent - 1) * d - u) / d)
    """
    return LevelBound(-bound.form + (extent - 1) * bound.divisor, bound.divisor)


def _single(lowers: tuple[LevelBound, ...], depth: int) -> Level:
    """Return a loop of one iteration, whose counter is the largest of some bounds."""
    return Level(1, None, lowers, (LevelBound(IndexForm.fixed(-1, depth)),), 1)


def _bounds(level: Level, depth: int) -> tuple[tuple[LevelBound, ...], tuple[LevelBound, ...]]:
    """Return the bounds of a level, none left out."""
    lowers = level.lowers or (LevelBound(IndexForm.fixed(0, depth)),)
    return lowers, level.uppers or (LevelBound(IndexForm.fixed(level.extent - 1, depth)),)


def _with_work(loops: SharedLoops, before: Level, own: int, counter: IndexForm) -> SharedLoops:
    """Return loops with the extents that they have, and with conditions where some are idle.

    Parameters
    ----------
    before: the loop that is shared, whose counter is `counter` now. own: what it is shared by.
    """
    levels = list(loops.levels)
    rows = _counted(levels, own + 1)
    conditions = []
    works = np.ones(len(rows), dtype=np.bool_)
    for bound in _bounds(before, len(levels))[1]:
        left = bound.form - counter * bound.divisor
        values = rows @ np.array(left.coefficients[: own + 1], dtype=np.int64) + left.constant
        if np.any(values < 0):
            conditions.append(Condition(left))
            works &= values >= 0
    if conditions:
        # Where there is nothing to do, the loops inside run once, wherever that is.
        levels[own + 1 :] = [_once_at_least(level) for level in levels[own + 1 :]]
    if not all(level.is_box for level in levels[own + 1 :]):
        _counted(levels, len(levels))
    return SharedLoops(tuple(levels), loops.counters, tuple(conditions), not works.any())


def _once_at_least(level: Level) -> Level:
    """Return a level that runs where its bounds are those of no iteration before."""
    lowers = level.lowers
    if lowers:
        lowers = (*lowers, LevelBound(lowers[0].form * 0))
    return replace(level, lowers=lowers, at_least=1)


def _counted(levels: list[Level], depth: int) -> Ints:
    """Return the iterations of the outermost loops, and let their extents be what they are."""
    rows: Ints = np.zeros((1, 0), dtype=np.int64)
    for k in range(depth):
        level = levels[k]
        if not level.is_box:
            # The extent before is a bound where there is no other, and nothing else: behind the
            # last iteration a worker that has nothing to do may count farther.
            _, uppers = _bounds(level, len(levels))
            level = replace(level, extent=UNBOUNDED, uppers=uppers)
            low, trips = level_range(level, rows)
            levels[k] = replace(level, extent=int((low + trips).max()))
        rows = iterations_of(levels[: k + 1])
    return rows
