"""Arrays on chip behind the words of a bus: each element at its place of C's memory."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.memory import WINDOW_CYCLES
from rtlgen.hw.offers import chosen_of
from rtlgen.manifest.registers import REGISTER_BYTES, Window


class ArrayWindows(wiring.Component):
    """Turn an access to a word into those to its elements, one a cycle.

    Members
    -------
    access: In(1), high until `over`. is_write, word, wdata, wstrb: In, of the access, until then.
    here: Out(1), `word` is in the window of an array, whether there is an element or not.
    idle: In(1), the kernel leaves the arrays alone. over: Out(1), the access is over.
    failed: Out(1), with `over`: there is no element, or the kernel runs, and has the only copy.
    rdata: Out, in the cycle behind `over`, and until the next access.
    addr_N, en_N, we_N, wdata_N: Out; rdata_N: In, of the host port of array N, `WINDOW_CYCLES`
        behind a read.
    """

    def __init__(self, windows: Sequence[Window], address_bits: int) -> None:
        self.windows = tuple(windows)
        members: dict[str, Member] = {
            "access": In(1),
            "is_write": In(1),
            "word": In(address_bits - 2),
            "wdata": In(8 * REGISTER_BYTES),
            "wstrb": In(REGISTER_BYTES),
            "idle": In(1),
            "here": Out(1),
            "over": Out(1),
            "failed": Out(1),
            "rdata": Out(8 * REGISTER_BYTES),
        }
        for n, window in enumerate(windows):
            members |= {
                f"addr_{n}": Out(max(1, (window.elements - 1).bit_length())),
                f"en_{n}": Out(1),
                f"we_{n}": Out(window.element_bytes),
                f"wdata_{n}": Out(8 * window.element_bytes),
                f"rdata_{n}": In(8 * window.element_bytes),
            }
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        chosen = Signal(len(self.windows))
        step = Signal(2)
        last = Signal()
        exists = Signal()
        # An element comes some cycles behind its access: the last one when all are over.
        asks = Signal()
        ends = Signal()
        shown = [self._bring(m, n, step) for n in range(len(self.windows))]
        free = [Const(1) if window.is_double else self.idle for window in self.windows]
        m.d.comb += [
            chosen.eq(Cat(self._holds(window) for window in self.windows)),
            self.here.eq(chosen.any()),
            last.eq(chosen_of(chosen, [step == steps_of(w) - 1 for w in self.windows])),
            exists.eq(chosen_of(chosen, [found for found, _ in shown])),
            self.failed.eq(~chosen_of(chosen, free) | (~exists & ~step.any())),
        ]
        reading = _delayed(m, asks, "reading")
        ending = _delayed(m, ends, "ending")
        was_last = ending[-1]
        read_from = Signal(len(self.windows), reset_less=True)
        goes_on = self.access & self.here & ~Cat(ending).any()
        m.d.comb += self.over.eq(
            (self.access & self.here) & (self.failed | was_last | (last & self.is_write))
        )
        m.d.comb += ends.eq(goes_on & last & ~self.over)
        m.d.comb += asks.eq(goes_on & ~self.is_write & ~self.over)
        m.d.sync += read_from.eq(chosen)
        with m.If(self.over):
            m.d.sync += step.eq(0)
        with m.Elif(goes_on & ~last):
            m.d.sync += step.eq(step + 1)
        taken = chosen_of(read_from, [value for _, value in shown])
        with m.If(reading[-1]):
            m.d.sync += self.rdata.eq(taken)
        for n in range(len(self.windows)):
            # An element is read or written where it is, and nowhere else.
            enabled = goes_on & chosen[n] & shown[n][0] & free[n]
            m.d.comb += getattr(self, f"en_{n}").eq(enabled)
        return m

    def _holds(self, window: Window) -> Value:
        shift = (window.size // REGISTER_BYTES - 1).bit_length()
        return self.word[shift:] == window.offset // REGISTER_BYTES >> shift

    def _bring(self, m: Module, n: int, step: Value) -> tuple[Value, Value]:
        """Wire the port of an array; return whether there is an element, and the word so far."""
        window = self.windows[n]
        size, steps = window.element_bytes, steps_of(window)
        index = self.word[: (window.size // REGISTER_BYTES - 1).bit_length()]
        if size > REGISTER_BYTES:
            upper, element = index[0], index[1:]
        else:
            upper, element = Const(0), Cat(step[: (steps - 1).bit_length()], index)
        strobes, word = self.wstrb, self.wdata
        if steps > 1:
            strobes = Array(strobes[size * k : size * (k + 1)] for k in range(steps))[step]
            word = Array(word[8 * size * k : 8 * size * (k + 1)] for k in range(steps))[step]
        elif size > REGISTER_BYTES:
            strobes = Cat(
                strobes & ~upper.replicate(REGISTER_BYTES),
                strobes & upper.replicate(REGISTER_BYTES),
            )
            word = Cat(word, word)
        addr: Signal = getattr(self, f"addr_{n}")
        m.d.comb += [
            addr.eq(element),
            getattr(self, f"we_{n}").eq(strobes & self.is_write.replicate(len(strobes))),
            getattr(self, f"wdata_{n}").eq(word),
        ]
        read: Value = getattr(self, f"rdata_{n}")
        if steps > 1:
            # The first element ends up lowest.
            read = Cat(self.rdata[8 * size :], read)
        elif size > REGISTER_BYTES:
            read = Mux(upper, read[8 * REGISTER_BYTES :], read[: 8 * REGISTER_BYTES])
        return element < window.elements, read


def _delayed(m: Module, event: Value, name: str) -> list[Signal]:
    """Return whether an event was one cycle ago, two, and so on."""
    found: list[Signal] = []
    for cycle in range(WINDOW_CYCLES):
        found.append(Signal(name=f"{name}_{cycle}"))
        m.d.sync += found[-1].eq(found[-2] if cycle else event)
    return found


def steps_of(window: Window) -> int:
    """Return the elements of a word."""
    return max(1, REGISTER_BYTES // window.element_bytes)
