"""Kernels that wait for each other: they begin as soon as they may, and no sooner."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Array, Assert, Assume, Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Signature

from rtlgen.hw.index_units import all_of
from rtlgen.hw.tile_sequencer import TileSequencer
from rtlgen.ir.ints import Ints
from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.plan import Mark, TiledRegion, Wait, Workers

FIRST_START_CYCLES = 3
"""From `begin` to the start of a first tile that waits for others; see `TileSequencer`."""


class Handing(wiring.Component):
    """Sequencers of workers whose kernels wait for each other.

    A tile begins in exactly the cycle in which all is there that it waits for: the tiles of other
    kernels that the plan says, found by listing all of them; words for it, and room for its own,
    counted in wide counters; and `issue_cycles`. Movers take and leave a tile in one cycle each,
    but any of them may be held up for any time.
    """

    def __init__(self, workers: Workers, kind: type[TileSequencer] = TileSequencer) -> None:
        self.workers = workers
        self.sequencers = [kind(workers, n, [0]) for n in range(len(workers.regions))]
        held = {f"held_{n}": In(len(r.transfers)) for n, r in enumerate(workers.regions)}
        super().__init__(Signature({"begin": In(1), **held}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        begun = Signal(range(FIRST_START_CYCLES + 1))
        m.d.comb += Assume(~self.begin | (begun == 0))
        with m.If(self.begin | ((begun != 0) & (begun != FIRST_START_CYCLES))):
            m.d.sync += begun.eq(begun + 1)
        done = [self._done(m, n) for n in range(len(self.sequencers))]
        for n, sequencer in enumerate(self.sequencers):
            m.submodules[f"sequencer_{n}"] = sequencer
            m.d.comb += sequencer.begin.eq(self.begin)
            region = self.workers.regions[n]
            there = self._move(m, n, region)
            tile = Signal(range(region.tiles + 1), name=f"tile_{n}")
            rest = Signal(range(region.issue_cycles), name=f"apart_{n}")
            with m.If(sequencer.before_0):
                m.d.sync += [tile.eq(tile + 1), rest.eq(region.issue_cycles - 1)]
            with m.Elif(rest != 0):
                m.d.sync += rest.eq(rest - 1)
            for k, wait in enumerate(region.waits):
                giver = self.workers.giver(n, wait)
                given = self.sequencers[giver]
                m.d.comb += getattr(sequencer, f"credit_kernel_{k}").eq(
                    getattr(given, f"handed_{given.handed.index(wait.gives)}")
                )
                needed = _needed(wait, region, self.workers.regions[giver])
                there.append(done[giver] >= Array(Const(count) for count in (*needed, 0))[tile])
            may_begin = (begun == FIRST_START_CYCLES) & (tile != region.tiles) & (rest == 0)
            m.d.comb += Assert(sequencer.before_0 == (may_begin & all_of(there)))
        return m

    def _done(self, m: Module, number: int) -> Signal:
        """Return how many tiles a kernel is done with, as others are told of it."""
        region = self.workers.regions[number]
        on_its_way = Signal(max(1, region.handed_cycle), name=f"on_its_way_{number}")
        done = Signal(range(region.tiles + 1), name=f"done_{number}")
        m.d.sync += [
            on_its_way.eq(Cat(self.sequencers[number].before_0, on_its_way)),
            done.eq(done + on_its_way[-1]),
        ]
        return done

    def _move(self, m: Module, number: int, region: TiledRegion) -> list[Value]:
        """Claim and finish tiles of movers; return what a kernel finds: words, and room."""
        sequencer, held = self.sequencers[number], getattr(self, f"held_{number}")
        there: list[Value] = []
        for k, transfer in enumerate(region.transfers):
            ready, claimed, finished = (
                getattr(sequencer, f"{what}_{k}") for what in ("ready", "claimed", "finished")
            )
            m.d.comb += claimed.eq(ready & ~held[k])
            m.d.sync += finished.eq(claimed)
            at_hand = transfer.copies if transfer.direction == "store" else 0
            count = Signal(range(region.tiles + at_hand + 1), init=at_hand, name=f"at_{number}_{k}")
            m.d.sync += count.eq(count + finished - sequencer.before_0)
            there.append(count != 0)
        return there


def _needed(wait: Wait, taker: TiledRegion, giver: TiledRegion) -> list[int]:
    """Return for every tile of a kernel how many of another one's it waits for.

    One that waits for more iterations than there are waits for a tile that never comes.
    """
    opens = _borders(taker, wait.takes, first=True)
    closes = [*_borders(giver, wait.gives, first=False), *[giver.tiles] * len(opens)]
    needed = [0] * taker.tiles
    for place, tile in enumerate(opens[wait.distance :]):
        needed[tile] = int(closes[place]) + 1
    return needed


def _borders(region: TiledRegion, mark: Mark, *, first: bool) -> Ints:
    """Return the numbers of the first, or last, tiles of the iterations that count for a mark."""
    tiles = iterations_of(region.levels)
    differs = np.any(np.diff(tiles[:, : mark.loops], axis=0) != 0, axis=1)
    at_border = np.r_[True, differs] if first else np.r_[differs, True]
    counts = predicate_mask(mark.when.with_forms(lambda form: form.padded(tiles.shape[1])), tiles)
    return np.flatnonzero(at_border & counts)
