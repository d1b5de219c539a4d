"""The pins through which a kernel reaches the memory off chip, and what is behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out

from rtlgen.hw.axi_read import AxiRead
from rtlgen.hw.axi_write import AxiWrite
from rtlgen.hw.bursts import ADDRESS_BITS, PAGE_BITS, ArrayPages, far_members
from rtlgen.hw.fixed_port import FixedPort
from rtlgen.hw.memory import ArrayStorage
from rtlgen.hw.mover import Mover
from rtlgen.hw.names import Namer, memory_ports
from rtlgen.hw.offers import error_members
from rtlgen.hw.windows import FilledStorage
from rtlgen.ir.plan import MemorySide, address_bits

_CHANNELS = (("load", "ar", AxiRead), ("store", "aw", AxiWrite))
_INCREMENTING = 1
_BUFFERABLE_AND_MODIFIABLE = 3
"""What memory controllers ask of masters that do not care (AXI4 specification, A4.4)."""


def memory_pins(side: MemorySide) -> Mapping[str, Member]:
    """Return the pins of a kernel by their names."""
    if side.bus.has_bursts:
        pins = {
            "error": Out(1),
            "error_address": Out(ADDRESS_BITS),
            "error_write": Out(1),
            "error_response": Out(2),
            **{f"aw{name}": member for name, member in _address_pins().items()},
            "wdata": Out(side.word_bits),
            "wstrb": Out(side.bytes_per_word),
            "wlast": Out(1),
            "wvalid": Out(1),
            "wready": In(1),
            "bid": In(1),
            "bresp": In(2),
            "bvalid": In(1),
            "bready": Out(1),
            **{f"ar{name}": member for name, member in _address_pins().items()},
            "rid": In(1),
            "rdata": In(side.word_bits),
            "rresp": In(2),
            "rlast": In(1),
            "rvalid": In(1),
            "rready": Out(1),
        }
    else:
        pins = {
            "en": Out(1),
            "we": Out(side.bytes_per_word),
            "addr": Out(address_bits(side.depth_words)),
            "wdata": Out(side.word_bits),
            "rdata": In(side.word_bits),
            "ack": In(1),
        }
    names = asdict(memory_ports(side))
    return {names[pin]: member for pin, member in pins.items()}


def _address_pins() -> dict[str, Member]:
    return {
        "id": Out(1),
        "addr": Out(ADDRESS_BITS),
        "len": Out(8),
        "size": Out(3),
        "burst": Out(2),
        "cache": Out(4),
        "prot": Out(3),
        "valid": Out(1),
        "ready": In(1),
    }


class OffChipPort:
    """What carries the words of all movers to the pins and back.

    Parameters
    ----------
    movers: by window. workers: by window, the number of its worker; in order.
    pins: of the kernel, which has the attributes of `memory_pins`. bases: by array, of its pins
        too: the address at which it begins.
    """

    def __init__(
        self,
        side: MemorySide,
        movers: Mapping[str, Mover],
        workers: Mapping[str, int],
        pins: Any,
        bases: Mapping[str, Value],
    ) -> None:
        self._side = side
        self._workers = workers
        self._movers = movers
        self._pins = {pin: getattr(pins, name) for pin, name in asdict(memory_ports(side)).items()}
        self._bases = bases
        self._fills: dict[str, tuple[Value, Value, Value]] = {}
        """Of each window that is filled: when, where, and with what."""

    def build(
        self, m: Module, names: Namer, accepted: Value, finished: Mapping[str, Signal]
    ) -> None:
        """Add the ports to a module.

        Parameters
        ----------
        accepted: high in the cycle before a run. finished: by window, what a port has to drive.
        """
        if self._side.bus.has_bursts:
            self._build_axi(m, names, accepted, finished)
            return
        movers = list(self._movers.values())
        transfers = [mover.transfer for mover in movers]
        port = FixedPort(self._side, transfers, [self._workers[t.window] for t in transfers])
        m.submodules[names.name("memory_port")] = port
        pins = self._pins
        m.d.comb += [pins[pin].eq(getattr(port, pin)) for pin in ("en", "we", "addr", "wdata")]
        m.d.comb += [port.ack.eq(pins["ack"]), port.begin.eq(accepted)]
        self._connect(m, port, movers, finished, port.fill_row, pins["rdata"])

    def _build_axi(
        self, m: Module, names: Namer, accepted: Value, finished: Mapping[str, Signal]
    ) -> None:
        pins, side = self._pins, self._side
        misplaced = Signal(name="mem_misplaced", reset_less=True)
        far = self._hold_bases(m, accepted, misplaced)
        # A cycle late, since what it stops is all over the circuit: a word more does no harm.
        failed = Signal(name="mem_failed")
        m.d.sync += failed.eq(pins["error"])
        ports: dict[str, AxiRead | AxiWrite] = {}
        for direction, prefix, kind in _CHANNELS:
            movers = [v for v in self._movers.values() if v.transfer.direction == direction]
            m.d.comb += [
                pins[f"{prefix}size"].eq((side.bytes_per_word - 1).bit_length()),
                pins[f"{prefix}burst"].eq(_INCREMENTING),
                pins[f"{prefix}cache"].eq(_BUFFERABLE_AND_MODIFIABLE),
            ]
            if not movers:
                continue
            transfers = [mover.transfer for mover in movers]
            port = kind(side, transfers, [self._workers[t.window] for t in transfers])
            m.submodules[names.name(f"axi_{direction}")] = port
            for pin, member in port.signature.members.items():
                if pin in pins and pin not in error_members(side):
                    mine, theirs = getattr(port, pin), pins[pin]
                    m.d.comb += theirs.eq(mine) if member.flow == Out else mine.eq(theirs)
            m.d.comb += [
                port.begin.eq(accepted),
                port.failed.eq(failed),
                *(
                    getattr(port, member).eq(far[array])
                    for member, array in zip(far_members(port.pages), port.pages.names, strict=True)
                ),
            ]
            ports[direction] = port
            fills = (port.fill_row, port.fill_data) if isinstance(port, AxiRead) else (None, None)
            self._connect(m, port, movers, finished, *fills)
        m.d.comb += pins["error"].eq(misplaced | Cat(port.error for port in ports.values()).any())
        self._tell_first_error(m, accepted, far, ports)

    def _hold_bases(self, m: Module, accepted: Value, misplaced: Signal) -> dict[str, Signal]:
        """Return of each array how far it is from its place in the map of this run, in pages.

        Where one begins inside of a page, or goes round, nothing is asked for.
        """
        side, wrong, far = self._side, [], {}
        everything = ArrayPages(side, set(self._bases))
        words = {array.name: array.words(side.word_bits) for array in side.arrays}
        for name, start in zip(everything.names, everything.starts, strict=True):
            base = self._bases[name]
            page = base[PAGE_BITS:]
            wrong.append(base[:PAGE_BITS].any())
            highest = (1 << ADDRESS_BITS) - words[name] * side.bytes_per_word >> PAGE_BITS
            # An array of one page ends in time wherever it begins.
            if highest < (1 << len(page)) - 1:
                wrong.append(page > highest)
            far[name] = Signal(len(page), name=f"{name}_far", reset_less=True)
            with m.If(accepted):
                m.d.sync += far[name].eq(page - start)
        with m.If(accepted):
            m.d.sync += misplaced.eq(Cat(wrong).any())
        return far

    def _tell_first_error(
        self,
        m: Module,
        accepted: Value,
        far: Mapping[str, Value],
        ports: Mapping[str, AxiRead | AxiWrite],
    ) -> None:
        """Show which answer was the first one that was an error; of two in one cycle the read's."""
        pins, side = self._pins, self._side
        is_write: Value = Const("store" in ports)
        if len(ports) == len(_CHANNELS):
            load, store = ports["load"].error, ports["store"].error
            store_first = Signal(name="mem_store_failed_first")
            with m.If(accepted):
                m.d.sync += store_first.eq(0)
            with m.Elif(store & ~load):
                m.d.sync += store_first.eq(1)
            is_write = store & (store_first | ~load)
        word = Signal(address_bits(side.depth_words), name="mem_error_word")
        response: Signal = pins["error_response"]
        for direction, port in ports.items():
            with m.If(is_write if direction == "store" else ~is_write):
                m.d.comb += [word.eq(port.error_word), response.eq(port.error_response)]
        m.d.comb += pins["error_write"].eq(is_write & response.any())
        pages = ArrayPages(side, set(far))
        address = pages.address(word, pages.array_of(word), [far[name] for name in pages.names])
        with m.If(response[1]):
            # No error leaves the address 0, whatever the base was.
            m.d.comb += pins["error_address"].eq(address)

    def _connect(
        self,
        m: Module,
        port: FixedPort | AxiRead | AxiWrite,
        movers: Sequence[Mover],
        finished: Mapping[str, Signal],
        row: Value | None,
        word: Value | None,
    ) -> None:
        """Wire a port to its users."""
        for n, mover in enumerate(movers):
            window = mover.transfer.window
            wiring.connect(m, mover.offer, getattr(port, f"offer_{n}"))
            m.d.comb += finished[window].eq(getattr(port, f"finished_{n}"))
            if not mover.is_store:
                assert row is not None
                assert word is not None
                self._fills[window] = getattr(port, f"fill_{n}"), row, word

    def fill(self, m: Module, window: str, storage: ArrayStorage) -> None:
        """Wire a window that is filled."""
        if isinstance(storage, FilledStorage):
            en, row, word = self._fills[window]
            m.d.comb += [
                storage.fill_en.eq(en),
                storage.fill_addr.eq(row),
                storage.fill_data.eq(word),
            ]
