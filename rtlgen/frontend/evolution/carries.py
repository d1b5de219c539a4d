"""Scalars that step on when others go round, as the minutes of a clock step on with its seconds.

    if (++x == 5) { x = 0; y++; }       x is i % 5, y is i / 5

What a statement makes of `y` is found for every value of `x`. It carries if these moves are those
of a quotient whose dividend the statement moves: k * ((p + m + c) / n) - k * ((p + c) / n).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.turn import Rotation, Turn, rotation, values_of
from rtlgen.frontend.evolution.effects import Effects
from rtlgen.frontend.evolution.induction import State, by_constant, number_in
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.ir.affine import Affine

MAX_POSITIONS = 4096
"""States of the scalars that drive another one, up to which each is tried."""


@dataclass(frozen=True, slots=True)
class Driver:
    """Scalars that go round, each but the first driven by the one before it.

    Members
    -------
    turns: by unique name; the period of each is the scale of the next.
    """

    turns: tuple[tuple[str, Turn], ...]

    @property
    def form(self) -> Affine:
        """What says where all of them are."""
        return self.turns[-1][1].form

    @property
    def unit(self) -> int:
        """By how much the form grows from one state to the next."""
        return self.turns[0][1].scale

    @property
    def period(self) -> int:
        """By how much the form is larger when all are the same again."""
        return self.turns[-1][1].period

    @property
    def is_small(self) -> bool:
        """Whether every state can be tried."""
        return 0 < self.period <= MAX_POSITIONS * self.unit

    def states(self) -> dict[int, tuple[tuple[str, Affine], ...]]:
        """Return the values of all scalars, in every state in which they can be, by number."""
        found = {}
        for position in range(self.period // self.unit):
            at = [
                (name, turn, turn.at(position * self.unit + (turn.form - self.form).constant))
                for name, turn in self.turns
            ]
            if all(value in turn.values for _, turn, value in at):
                found[position] = tuple((name, Affine((), value)) for name, _, value in at)
        return found

    def offset(self, turn: Turn) -> int | None:
        """Return how far a scalar that these drive is ahead; None if they do not drive it."""
        ahead = turn.form - self.form
        if turn.scale != self.period or ahead.constant % self.unit:
            return None
        return ahead.constant // self.unit if is_multiple(ahead, self.period) else None

    def extended(self, name: str, turn: Turn) -> Driver:
        """Return a driver with one more scalar, which goes round and is driven by these."""
        return Driver((*self.turns, (name, turn)))


def is_multiple(form: Affine, divisor: int) -> bool:
    """Return whether a form is a multiple wherever it is, but for its constant."""
    return all(c % divisor == 0 for _, c in form.terms)


def drivers_of(turns: Mapping[str, Turn]) -> list[Driver]:
    """Return all chains of scalars of which each is driven by the one before it."""
    found = [Driver(((name, turn),)) for name, turn in turns.items() if turn.period]
    for driver in found:
        for name, turn in turns.items():
            if turn.period and driver.offset(turn) is not None:
                found.append(driver.extended(name, turn))
    return found


@dataclass(frozen=True, slots=True)
class Driven:
    """What a statement makes of a scalar in each state of what drives it.

    Members
    -------
    turning: how it goes round; None if it does not.
    moves: by the number of the state.
    """

    turning: Rotation | None
    moves: Mapping[int, int]


def driven(
    variable: Variable,
    before: Affine | Turn,
    effects: Effects,
    known: State,
    driver: Driver,
    ranges: Ranges,
) -> Driven | None:
    """Return what a statement makes of a scalar; None if the driver does not decide it.

    Parameters
    ----------
    before: what the scalar may be. effects: of the statement. known: of other scalars.
    """
    moves: dict[int, int] = {}
    open_: dict[int, State] = {}
    found: dict[object, int | None] = {}
    values = sorted(values_of(before, ranges))
    for number, state in driver.states().items():
        for size in range(1, len(state) + 1):
            part = state[:size]
            if part not in found:
                after = effects.after({**known, **dict(part)}, [variable]).get(variable.name)
                found[part] = by_constant(after, variable)
            if (move := found[part]) is not None:
                moves[number] = move
                break
        else:
            open_[number] = {**known, **dict(state)}
            if not values or _after(effects, open_[number], variable, values[0]) is None:
                return None
    if not open_:
        return Driven(None, moves)
    if any(moves.values()):
        return None
    return _driven_round(variable, frozenset(values), effects, moves, open_)


def _driven_round(
    variable: Variable,
    possible: frozenset[int],
    effects: Effects,
    moves: Mapping[int, int],
    states: Mapping[int, State],
) -> Driven | None:
    """Return what a statement makes of a scalar that goes round by itself in some states."""

    def turned(state: State, values: Iterable[int]) -> Rotation | None:
        return rotation(values, lambda value: _after(effects, state, variable, value))

    reached: frozenset[int] = frozenset()
    found: list[Rotation] = []
    while possible != reached:
        reached, found = possible, []
        for state in states.values():
            one = turned(state, possible)
            if one is None:
                return None
            found.append(one)
            possible |= one.values
    real = {(one.low, one.modulus) for one in found if one.modulus}
    if len(real) != 1:
        return None
    ((low, modulus),) = real
    turns = {n: one.move % modulus for n, one in zip(states, found, strict=True)}
    return Driven(Rotation(low, modulus, 0, possible), {**moves, **turns})


def _after(effects: Effects, state: State, variable: Variable, value: int) -> int | None:
    return number_in(effects.after({**state, variable.name: Affine((), value)}), variable)


@dataclass(frozen=True, slots=True)
class Carry:
    """A move of pace * ((p + move + offset) / n - (p + offset) / n) in each state p of n."""

    pace: int
    move: int
    offset: int

    def by(self, position: int, states: int) -> int:
        """Return by how much the scalar moves in a state."""
        at = position + self.offset
        return self.pace * ((at + self.move) // states - at // states)


def carry(
    moves: Mapping[int, int],
    states: int,
    gone: int,
    modulus: int | None,
    known: Carry | None = None,
) -> Carry | None:
    """Return how a scalar is carried to; None if it is not.

    Parameters
    ----------
    moves: of the scalar, by the state of what drives it. states: how many there are.
    gone: by how many of its states the driver moves, give or take whole turns.
    modulus: of the scalar, if it goes round.
    known: the pace and the offset, where they are known.
    """
    for pace in _paces(set(moves.values()), modulus, known):
        for move in _moves(moves, states, gone, modulus, pace):
            for offset in _offsets(moves, states, move) if known is None else [known.offset]:
                found = Carry(pace, move, offset)
                off = [found.by(p, states) - by for p, by in moves.items()]
                if all(o == 0 if modulus is None else o % modulus == 0 for o in off):
                    return found
    return None


def _paces(moves: set[int], modulus: int | None, known: Carry | None) -> list[int]:
    if known is not None:
        return [known.pace]
    if len(moves) == 1:
        return [] if moves == {0} else [*moves]
    if len(moves) != 2:
        return []
    gap = max(moves) - min(moves)
    return [gap, -gap] if modulus is None else [gap, modulus - gap]


def _moves(
    moves: Mapping[int, int], states: int, gone: int, modulus: int | None, pace: int
) -> list[int]:
    """Return by how many states the driver may move to make such moves."""
    if modulus is not None:
        return [gone % states + states * turns for turns in range(modulus)]
    # All moves together are those of one whole turn from every state.
    whole, rest = divmod(sum(moves.values()) * states, len(moves) * pace)
    return [] if rest or (whole - gone) % states else [whole]


def _offsets(moves: Mapping[int, int], states: int, move: int) -> set[int]:
    """Return where a driver may be that carries once more from some state on."""
    positions = sorted(moves)
    around = zip([positions[-1], *positions], positions, strict=False)
    starts = [position for before, position in around if moves[before] != moves[position]]
    return {(states - move % states - position) % states for position in starts} or {0}
