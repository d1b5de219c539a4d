"""The port to the memory off chip, and whose turn it is."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.mover import Mover
from rtlgen.ir.plan import Direction, MemorySide, address_bits


class MemoryPort(wiring.Component):
    """Send one access at a time on its way.

    Parameters
    ----------
    directions: of the users. Stores come first, and among equals the first user: a store frees what
        the kernel waits for.

    Members
    -------
    request_N, addr_N: In, what user N asks for; data_N, strobes_N: In, of one that stores.
    taken_N: Out(1), its access goes on its way. answered_N: Out(1), it is done.
    en, we, addr, wdata: Out, registers that hold still until `ack`; we: one bit a byte, none for a
        read. ack: In(1), in the last cycle of an access.
    """

    def __init__(self, side: MemorySide, directions: Sequence[Direction]) -> None:
        self.side = side
        self.directions = tuple(directions)
        addr, strobes = address_bits(side.depth_words), side.bytes_per_word
        members = {
            "en": Out(1),
            "we": Out(strobes),
            "addr": Out(addr),
            "wdata": Out(side.word_bits),
            "ack": In(1),
        }
        for n, direction in enumerate(self.directions):
            members |= {f"request_{n}": In(1), f"addr_{n}": In(addr)}
            members |= {f"taken_{n}": Out(1), f"answered_{n}": Out(1)}
            if direction == "store":
                members |= {f"data_{n}": In(side.word_bits), f"strobes_{n}": In(strobes)}
        super().__init__(Signature(members))

    def connect_user(self, m: Module, number: int, mover: Mover) -> None:
        """Wire user `number`."""
        m.d.comb += [
            getattr(self, f"request_{number}").eq(mover.request),
            getattr(self, f"addr_{number}").eq(mover.addr),
            mover.taken.eq(getattr(self, f"taken_{number}")),
            mover.answered.eq(getattr(self, f"answered_{number}")),
        ]
        if mover.is_store:
            m.d.comb += [
                getattr(self, f"data_{number}").eq(mover.data),
                getattr(self, f"strobes_{number}").eq(mover.strobes),
            ]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        users = range(len(self.directions))
        order = sorted(users, key=lambda n: self.directions[n] != "store")
        requests = [getattr(self, f"request_{n}") for n in users]
        serves = Signal(len(users))
        free = Signal()
        m.d.comb += free.eq(~self.en | self.ack)
        with m.If(free):
            m.d.sync += [self.en.eq(Cat(requests).any()), self.we.eq(0)]
        before: Value = ~free
        for n in order:
            taken = getattr(self, f"taken_{n}")
            m.d.comb += [
                taken.eq(requests[n] & ~before),
                getattr(self, f"answered_{n}").eq(self.ack & self.en & serves[n]),
            ]
            before = before | requests[n]
            with m.If(taken):
                m.d.sync += [self.addr.eq(getattr(self, f"addr_{n}")), serves.eq(1 << n)]
                if self.directions[n] == "store":
                    m.d.sync += [
                        self.we.eq(getattr(self, f"strobes_{n}")),
                        self.wdata.eq(getattr(self, f"data_{n}")),
                    ]
        return m
