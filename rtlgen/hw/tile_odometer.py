"""Tile loops with any bounds, and in each of their iterations a box.

The loops over tiles are an `ElasticOdometer`, which moves on once a tile; the levels inside of a
tile are the wheels of an ordinary odometer. So the traces of `hw.primed`, which are as long as the
loops that they describe, are of tiles and not of iterations.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib.wiring import Out

from rtlgen.hw.elastic import LEAD, ElasticOdometer
from rtlgen.hw.forms import follower
from rtlgen.hw.index_units import IndexUnit, all_of, pace
from rtlgen.hw.odometer import turn_wheels
from rtlgen.hw.primed import Pipeline, linear
from rtlgen.ir.plan import IndexForm, Level


class TileOdometer(IndexUnit):
    """Count through the box of a tile at each `begin`, and through tiles.

    Parameters
    ----------
    tile_levels: the loops over tiles, each with more than one iteration somewhere.
    box: extents of the levels inside.

    Members
    -------
    lead_L: Out, the counter of tile level L in the tile LEAD tiles later.

    Timing
    ------
    The first iteration of a tile is issued in the cycle after `begin`.
    """

    def __init__(self, tile_levels: tuple[Level, ...], box: tuple[int, ...], ii: int) -> None:
        self.tiles = ElasticOdometer(tile_levels, 1, stepped=True)
        self.box = box
        extents = (*self.tiles.extents, *box)
        leads = {f"lead_{n}": Out(range(level.extent)) for n, level in enumerate(tile_levels)}
        super().__init__(extents, ii, more=leads, outer_levels=len(tile_levels))

    @property
    def leads(self) -> tuple[Signal, ...]:
        return tuple(getattr(self, f"lead_{n}") for n in range(self.outer_levels))

    def is_box_level(self, level: int) -> bool:
        return level >= self.outer_levels or self.tiles.is_box_level(level)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.tiles = tiles = self.tiles
        issue = pace(m, self.begin, self.pauses, self.ii)
        m.d.comb += [self.valid.eq(issue), tiles.begin.eq(issue & self.pauses)]
        depth = self.outer_levels
        for n in range(depth):
            m.d.comb += [
                self.counters[n].eq(tiles.counters[n]),
                self.lasts[n].eq(tiles.lasts[n]),
                self.leads[n].eq(tiles.leads[n]),
            ]
        turn_wheels(m, issue, self.box, self.counters[depth:], self.lasts[depth:])
        self.encode_step(m)
        return m


class TileForms:
    """Registers that follow affine forms through the box of a tile, and jump from tile to tile.

    What a form begins with in the next tile is added up while tiles before it run.

    Parameters
    ----------
    index: the odometer. valid, step: its outputs of these names, copied to this module.
    """

    def __init__(self, m: Module, index: TileOdometer, valid: Value, step: Value) -> None:
        self._m = m
        self._index = index
        self._valid = valid
        self._step = step
        self._counters = index.tiles.wheels[-1].counters
        leads = {}
        for n, (node, lead) in enumerate(zip(self._counters, index.leads, strict=True)):
            leads[node] = Signal.like(lead, name=f"lead_{n}")
            m.d.comb += leads[node].eq(lead)
        ends = Signal(name="tile_ends")
        m.d.comb += ends.eq(valid & all_of(index.lasts[index.outer_levels :]))
        self._ends = ends
        self._pipeline = Pipeline(m, ends, dict(leads), LEAD)

    def at(self, form: IndexForm, width_bits: int, name: str) -> Signal:
        """Return the low `width_bits` bits of `form` for the iteration that is issued."""
        depth = self._index.outer_levels
        parts = list(zip(self._counters, form.coefficients[:depth], strict=True))
        begins = linear(parts, form.constant, name, stages=LEAD - 1)
        shown = Signal(width_bits, name=name, init=begins.at(0) % (1 << width_bits))
        inner = IndexForm(form.coefficients[depth:])
        if not any(c % (1 << width_bits) for c in inner.coefficients):
            self._m.d.comb += shown.eq(self._pipeline.at(begins, LEAD))
            return shown
        deltas = follower(inner, width_bits, self._index.box).deltas
        grown: Value = shown + deltas[0]
        for code, delta in enumerate(deltas[1:-1], start=1):
            grown = Mux(self._step == code, shown + delta, grown)
        with self._m.If(self._ends):
            self._m.d.sync += shown.eq(self._pipeline.at(begins, LEAD - 1))
        with self._m.Elif(self._valid):
            self._m.d.sync += shown.eq(grown)
        return shown
