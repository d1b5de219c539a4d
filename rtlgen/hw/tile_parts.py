"""All that stands around the kernel of a tiled region, and scalars that are held for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Module, Shape, Signal, Value

from rtlgen.hw.memory import ArrayStorage
from rtlgen.hw.mover import Mover
from rtlgen.hw.names import Namer, prefix_ports
from rtlgen.hw.sites import sites_of
from rtlgen.hw.tile_sequencer import TileSequencer
from rtlgen.hw.windows import DrainedStorage
from rtlgen.ir.plan import KernelPlan, Mark, MemorySide, Workers


class TileParts:
    """The parts of a tiled region.

    Parameters
    ----------
    workers: those of which it is one, by its number.
    events: cycles of a tile before which something in the kernel wants a pulse.

    Members
    -------
    movers: by window. is_shared: whether other workers run beside it.
    """

    def __init__(
        self, workers: Workers, number: int, side: MemorySide, events: Sequence[int]
    ) -> None:
        self._workers = workers
        self._number_of = number
        self._tiled = tiled = workers.regions[number]
        self.is_shared = len(workers.regions) > 1
        self._sequencer = TileSequencer(workers, number, events)
        self._rested = Signal(init=1)
        depth = len(tiled.levels)
        self.movers: Mapping[str, Mover] = {
            transfer.window: Mover(transfer, depth, side, workers.marks(transfer, depth))
            for transfer in tiled.transfers
        }

    @property
    def ended(self) -> Signal:
        """High for a cycle, when all tiles are done and stored."""
        ended: Signal = self._sequencer.ended
        return ended

    @property
    def working(self) -> Signal:
        """High from the cycle after the begin on, and low from that of `ended` on."""
        working: Signal = self._sequencer.working
        return working

    @property
    def resting(self) -> Signal:
        """High while none of its tiles is in the kernel."""
        resting: Signal = self._sequencer.resting
        return resting

    def before(self, cycle: int) -> Signal:
        """Return what is high in the cycle before `cycle` of every tile."""
        event: Signal = getattr(self._sequencer, f"before_{cycle}")
        return event

    def build(self, m: Module, names: Namer, begin: Value) -> None:
        """Add the parts to a module; `begin` is high in the cycle before the region begins."""
        sequencer = self._sequencer
        m.submodules[names.name("tile_sequencer")] = sequencer
        m.d.comb += sequencer.begin.eq(begin)
        m.d.sync += self._rested.eq(~sequencer.working)
        for n, (window, mover) in enumerate(self.movers.items()):
            name = names.name(f"{window}_mover")
            prefix_ports(mover, name)
            m.submodules[name] = mover
            m.d.comb += [
                mover.begin.eq(begin),
                mover.ready.eq(getattr(sequencer, f"ready_{n}")),
            ]
            told = [("claimed", f"claimed_{n}"), ("passed", f"passed_{n}")]
            told += [
                (f"{what}_{k}", f"{what}_{n}_{k}")
                for what in ("will_open", "closes")
                for k in range(len(mover.marks))
            ]
            for its, known_as in told:
                if known_as in sequencer.signature.members:
                    m.d.comb += getattr(sequencer, known_as).eq(getattr(mover, its))

    def kept(self, m: Module, value: Signal) -> Signal:
        """Return a register of its own that shows what does not change in a run, in every tile.

        It takes the value over until it has worked for a cycle. Since it does so on its own terms,
        synthesis does not join it with that of another worker.
        """
        kept = Signal.like(value, name=f"{value.name}_w{self._number_of}", reset_less=True)
        with m.If(self._rested):
            m.d.sync += kept.eq(value)
        return kept

    def stored(self, window: str, gives: Mark) -> Signal | None:
        """Return what says that the store of a window is done with an iteration that counts.

        None where the window is another worker's.
        """
        if window not in self.movers:
            return None
        return self._sequencer.stored(self._number(window), gives)

    def connect_waits(self, m: Module, workers: Sequence[TileParts]) -> None:
        """Tell transfers of the stores that they wait for, and kernels of kernels.

        Parameters
        ----------
        workers: the parts of all workers.
        """
        for n, transfer in enumerate(self._tiled.transfers):
            for k, wait in enumerate(transfer.after):
                found = [parts.stored(wait.window, wait.gives) for parts in workers]
                (stored,) = (signal for signal in found if signal is not None)
                m.d.comb += getattr(self._sequencer, f"credit_{n}_{k}").eq(stored)
        for k, wait in enumerate(self._tiled.waits):
            giver = workers[self._workers.giver(self._number_of, wait)]._sequencer
            handed = getattr(giver, f"handed_{giver.handed.index(wait.gives)}")
            m.d.comb += getattr(self._sequencer, f"credit_kernel_{k}").eq(handed)

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
        finished: Signal = getattr(self._sequencer, f"finished_{self._number(window)}")
        return finished

    def _number(self, window: str) -> int:
        return list(self.movers).index(window)


class HeldScalars:
    """The scalar arguments that a plan uses.

    Workers side by side have registers of their own: one for all of them is far from most of the
    multipliers that it feeds, and was where the slowest path of four workers began.
    """

    def __init__(self, plan: KernelPlan) -> None:
        used = {name for stream in plan.streams for name in sites_of(stream).parameters}
        self.shapes: Mapping[str, Shape] = {
            scalar.name: Shape(scalar.width_bits, scalar.signed)
            for scalar in plan.scalars
            if scalar.name in used
        }
        self._held: dict[str, Signal] = {}
        self._copies: dict[tuple[TileParts, str], Signal] = {}

    def capture(self, m: Module, accepted: Value, ports: Mapping[str, Value]) -> None:
        """Take the arguments over in the cycle of `accepted`."""
        for name, shape in self.shapes.items():
            self._held[name] = held = Signal(shape, name=f"{name}_held", reset_less=True)
            with m.If(accepted):
                m.d.sync += held.eq(ports[name])

    def shown_to(self, m: Module, name: str, parts: TileParts | None) -> Signal:
        """Return the register that shows an argument to a region, which may be tiled."""
        held = self._held[name]
        if parts is None or not parts.is_shared:
            return held
        if (parts, name) not in self._copies:
            self._copies[parts, name] = parts.kept(m, held)
        return self._copies[parts, name]
