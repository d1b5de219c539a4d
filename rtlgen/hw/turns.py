"""Whose turn it is at a port that several parties share.

A party that has been served comes last from then on, so that none waits while others are served
twice. Among the users of one party the first one comes first. In a port that serves an access at a
time a party is a worker: its first mover cannot hold up the others for long, since all of them move
the words of the same tiles. Where offers are merged each mover is a party.

`ir.port_timing.Rotation` is the same in the cycle model.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

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
