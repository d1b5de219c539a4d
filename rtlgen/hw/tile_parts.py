"""All that stands around the kernel of a tiled region: its sequencer and its movers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Module, Signal, Value

from rtlgen.hw.memory import ArrayStorage
from rtlgen.hw.mover import Mover
from rtlgen.hw.names import Namer, prefix_ports
from rtlgen.hw.tile_sequencer import TileSequencer
from rtlgen.hw.windows import DrainedStorage
from rtlgen.ir.plan import MemorySide, TiledRegion


class TileParts:
    """The parts of a tiled region.

    Parameters
    ----------
    events: cycles of a tile before which something in the kernel wants a pulse.

    Members
    -------
    movers: by window.
    """

    def __init__(self, tiled: TiledRegion, side: MemorySide, events: Sequence[int]) -> None:
        self._tiled = tiled
        self._sequencer = TileSequencer(tiled, events)
        self.movers: Mapping[str, Mover] = {
            transfer.window: Mover(transfer, len(tiled.levels), side)
            for transfer in tiled.transfers
        }

    @property
    def ended(self) -> Signal:
        """High for a cycle, when all tiles are done and stored."""
        ended: Signal = self._sequencer.ended
        return ended

    def before(self, cycle: int) -> Signal:
        """Return what is high in the cycle before `cycle` of every tile."""
        event: Signal = getattr(self._sequencer, f"before_{cycle}")
        return event

    def build(self, m: Module, names: Namer, begin: Value) -> None:
        """Add the parts to a module; `begin` is high in the cycle before the region begins."""
        sequencer = self._sequencer
        m.submodules[names.name("tile_sequencer")] = sequencer
        m.d.comb += sequencer.begin.eq(begin)
        for n, (window, mover) in enumerate(self.movers.items()):
            name = names.name(f"{window}_mover")
            prefix_ports(mover, name)
            m.submodules[name] = mover
            m.d.comb += [
                mover.begin.eq(begin),
                mover.ready.eq(getattr(sequencer, f"ready_{n}")),
                getattr(sequencer, f"claimed_{n}").eq(mover.claimed),
            ]

    def connect_window(self, m: Module, window: str, storage: ArrayStorage) -> None:
        """Wire a drained window to its mover."""
        if isinstance(storage, DrainedStorage):
            mover = self.movers[window]
            m.d.comb += [
                storage.drain_en.eq(mover.window_en),
                storage.drain_addr.eq(mover.window_addr),
                mover.window_data.eq(storage.drain_data),
            ]

    def finished(self, window: str) -> Signal:
        """Return what says that all words of a tile are moved."""
        finished: Signal = getattr(self._sequencer, f"finished_{list(self.movers).index(window)}")
        return finished
