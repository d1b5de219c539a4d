"""What a mover offers to the port of the memory off chip, and whose turn it is there.

An offer is an iteration of a transfer: a word to move, or the mere end of a tile. It stands until
the port takes it; the port says, by itself, when a tile is done.

A party that has been served comes last from then on, so that none waits while others are served
twice. Among the users of one party the first one comes first. In a port that serves an access at a
time a party is a worker: its first mover cannot hold up the others for long, since all of them move
the words of the same tiles. Where offers are merged each mover is a party.

`ir.port_timing.Rotation` is the same in the cycle model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.memory import BYTE_BITS
from rtlgen.ir.memory_side import MemorySide
from rtlgen.ir.plan import Transfer, address_bits

OUT_OF_STEP = 1
"""In place of a response: an answer was not one that was asked for. On the bus it is EXOKAY, which
only exclusive accesses have."""


def offer_signature(transfer: Transfer, side: MemorySide) -> Signature:
    """Return what a mover has to show, seen from the mover.

    Members
    -------
    valid: there is an offer. moves: it is a word to move; else it does nothing but end a tile.
    last: a tile ends with it. follows: the word is the one behind that of the offer before, and
    belongs to the same burst; where the bus has bursts. word: its number in the memory.
    row: of a load, where it goes in the window. strobes: of a store, which bytes to write. data: of
    a store, the word of the offer that was taken in the cycle before. taken: the port has it.
    """
    members: dict[str, Member] = {
        "valid": Out(1),
        "moves": Out(1),
        "last": Out(1),
        "word": Out(address_bits(side.depth_words)),
        "taken": In(1),
    }
    if side.bus.has_bursts:
        members["follows"] = Out(1)
    if transfer.direction == "load":
        members["row"] = Out(transfer.at.width_bits)
    else:
        members |= {"data": Out(side.word_bits), "strobes": Out(side.bytes_per_word)}
    return Signature(members)


def user_bits(users: int) -> int:
    """Return the width of the number of one of some users."""
    return max(1, (users - 1).bit_length())


def merged_signature(transfers: Sequence[Transfer], side: MemorySide) -> Signature:
    """Return what a stream shows that is merged of the offers of some movers, of one direction.

    Members
    -------
    user: number of the mover whose offer it is. The others as of an offer, rows as the widest ones.
    """
    widest = max(transfers, key=lambda transfer: transfer.at.width_bits)
    members = dict(offer_signature(widest, side).members.items())
    return Signature({**members, "user": Out(user_bits(len(transfers)))})


def user_members(transfers: Sequence[Transfer], side: MemorySide) -> Mapping[str, Member]:
    """Return the members of a port that serves some transfers, each with a number of its own.

    Members
    -------
    offer_N: In, of user N. finished_N: Out(1), all words of a tile are moved.
    fill_N: Out(1), of a load: the port's word belongs into its window now.
    """
    members: dict[str, Member] = {}
    for n, transfer in enumerate(transfers):
        members[f"offer_{n}"] = In(offer_signature(transfer, side))
        members[f"finished_{n}"] = Out(1)
        if transfer.direction == "load":
            members[f"fill_{n}"] = Out(1)
    return members


def error_members(side: MemorySide) -> Mapping[str, Member]:
    """Return the members of an AXI4 port that tell of answers that are errors; see `AxiRead`."""
    return {
        "error": Out(1),
        "error_word": Out(address_bits(side.depth_words)),
        "error_response": Out(2),
    }


def row_bits(transfers: Sequence[Transfer]) -> int:
    """Return the width of a row of the widest window that is filled."""
    loads = [t.at.width_bits for t in transfers if t.direction == "load"]
    return max(loads, default=1)


def chosen_of(chosen: Value, values: Sequence[Value]) -> Value:
    """Return the value of the one that is chosen; 0 where none is."""
    found: Value = Mux(chosen[0], values[0], 0)
    for n, value in enumerate(values[1:], 1):
        found = found | Mux(chosen[n], value, 0)
    return found


def written_bytes(chosen: Value, strobes: Value, words: Sequence[Value]) -> Value:
    """Return the word that is chosen, with 0 in bytes that are not written.

    A window may hold nothing there yet.
    """
    places = [slice(n * BYTE_BITS, (n + 1) * BYTE_BITS) for n in range(len(strobes))]
    return Cat(
        chosen_of(chosen & strobe.replicate(len(chosen)), [word[place] for word in words])
        for place, strobe in zip(places, strobes, strict=True)
    )


ALONE = -1
"""The number of a worker that nobody runs beside."""


class Turns:
    """Choose one user of those that want it.

    Parameters
    ----------
    parties: of every user, the number of its party; in order.
    """

    def __init__(self, parties: Sequence[int]) -> None:
        self.parties = tuple(parties)
        self._groups = sorted(set(parties))

    def build(
        self, m: Module, wanted: Sequence[Value], free: Value, begin: Value, served: Value
    ) -> Value:
        """Return a bit for each user: it has its turn.

        Parameters
        ----------
        free: whether there is a turn. begin: before a run, in which the first party comes first.
        served: a bit for each user: it is being served, on this turn or an earlier one.
        """
        first = self.first_of(m, "first_turn", wanted, free)
        if len(self._groups) < 2:
            return first
        behind = {group: Signal(name=f"behind_{group}") for group in self._groups[1:]}
        later = [
            wants & behind.get(group, Const(0))
            for wants, group in zip(wanted, self.parties, strict=True)
        ]
        serves = {
            group: Cat(served[n] for n, own in enumerate(self.parties) if own == group).any()
            for group in self._groups
        }
        with m.If(begin):
            m.d.sync += [flag.eq(0) for flag in behind.values()]
        with m.Elif(served.any()):
            for group, flag in behind.items():
                before = [serves[other] for other in self._groups if other < group]
                m.d.sync += flag.eq(Cat(before).any())
        turn = Signal(len(wanted), name="turn")
        next_one = self.first_of(m, "next_turn", later, free)
        m.d.comb += turn.eq(Mux(Cat(later).any(), next_one, first))
        return turn

    @staticmethod
    def first_of(m: Module, name: str, wanted: Sequence[Value], free: Value) -> Signal:
        """Return a bit for each that wants a turn: it is the first one, where there is a turn."""
        found = Signal(len(wanted), name=name)
        before: Value = ~free
        for n, wants in enumerate(wanted):
            m.d.comb += found[n].eq(wants & ~before)
            before = before | wants
        return found


class RoundRobin:
    """Choose one user of those that want it, where each is a party of its own.

    The first user that wants a turn is found among those behind the one that was served last, and
    among all of them, side by side. Whether some user before one wants a turn is all that both the
    choice and what comes last from now on are made of.

    Parameters
    ----------
    users: how many there are.
    """

    def __init__(self, users: int) -> None:
        self.users = range(users)

    def build(self, m: Module, wanted: Value, begin: Value, served: Value) -> Signal:
        """Return a bit for each user: it has its turn.

        Parameters
        ----------
        begin: before a run, in which the first user comes first. served: whether the one that has
        its turn is served.
        """
        behind = Signal(len(self.users))
        later = Signal(len(self.users))
        before = Signal(len(self.users))
        turn = Signal(len(self.users), name="turn")
        m.d.comb += later.eq(wanted & behind)
        for n in self.users:
            m.d.comb += [
                before[n].eq(Mux(later.any(), later[:n].any(), wanted[:n].any())),
                turn[n].eq(Mux(later.any(), later[n], wanted[n]) & ~before[n]),
            ]
        with m.If(begin):
            m.d.sync += behind.eq(0)
        with m.Elif(served & wanted.any()):
            m.d.sync += behind.eq(before)
        return turn
