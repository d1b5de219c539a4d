"""Scalars that step on when others go round, and what they are, found by running the loop.

    if (++x == 5) { x = 0; y++; }       x is i % 5, y is i / 5

What a statement makes of `y` is found for every value of `x`. It carries if these moves are those
of a quotient whose dividend the statement moves: k * ((p + m + c) / n) - k * ((p + c) / n).

    for (n = r = c = 0; n < 64; n++, c++) {
      if (c == 8) { c = 0; r++; }
      y[r][c] = x[n];                            c is 0, 1, .. 7, 0, 1, ..: n % 8;  r is n / 8
    }

At the start of an iteration `c` is 0 once, and then 1 to 8 in turn: no law that is worth having.
Where it is read it has one. So what is fitted is not what the loop carries, but the values at each
place: any scalar that begins with a number and follows from numbers is known there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pycparser import c_ast

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.turn import (
    Observation,
    Rotation,
    Seen,
    Turn,
    law_in,
    rotation,
    values_of,
)
from rtlgen.frontend.evolution.effects import Effects, Run
from rtlgen.frontend.evolution.induction import State, by_constant, number_in, numbers_of
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.frontend.syntax.assigned import below
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import IntType

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

    def extended(self, name: str, turn: Turn) -> Driver:
        """Return a driver with one more scalar, which goes round and is driven by these."""
        return Driver((*self.turns, (name, turn)))


def is_multiple(form: Affine, divisor: int) -> bool:
    """Return whether a form is a multiple wherever it is, but for its constant."""
    return all(c % divisor == 0 for _, c in form.terms)


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
) -> Carry | None:
    """Return how a scalar is carried to; None if it is not.

    Parameters
    ----------
    moves: of the scalar, by the state of what drives it. states: how many there are.
    gone: by how many of its states the driver moves, give or take whole turns.
    modulus: of the scalar, if it goes round.
    """
    for pace in _paces(set(moves.values()), modulus):
        for move in _moves(moves, states, gone, modulus, pace):
            for offset in _offsets(moves, states, move):
                found = Carry(pace, move, offset)
                off = [found.by(p, states) - by for p, by in moves.items()]
                if all(o == 0 if modulus is None else o % modulus == 0 for o in off):
                    return found
    return None


def _paces(moves: set[int], modulus: int | None) -> list[int]:
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


@dataclass(slots=True)
class _Watch(Run):
    """Runs one iteration after the other, and notes all reads of scalars.

    Members
    -------
    seen: by the identity of the name that is read; None: it may have several values.
    iteration: the number of the present one.
    """

    seen: dict[int, Seen | None] = field(default_factory=dict)
    iteration: int = 0

    def carry_out(self, node: c_ast.Node | None) -> None:
        """Change the state as a statement does, and note what it reads."""
        match node:
            case None:
                return
            case c_ast.Compound() | c_ast.Label():
                pass
            case c_ast.If():
                # What stands under it is read only where the condition holds.
                self._note(node.cond)
            case c_ast.For() if self.effects.concerns(node):
                # Inside, each iteration of its own has other values.
                self._overlook(node)
            case _:
                self._note(node)
                if not self.effects.concerns(node):
                    return
        self._try(node)

    def _forget(self, node: c_ast.Node) -> None:
        Run._forget(self, node)
        self._overlook(node)

    def _overlook(self, node: c_ast.Node) -> None:
        self.seen |= {id(name): None for name in _names(node)}

    def _note(self, node: c_ast.Node) -> None:
        for name in _names(node):
            if not self.effects.asks_for(name.name):
                continue
            variable = self.effects.declarations.scopes.stored(name.name)
            value = None if variable is None else self.state.get(variable.name)
            known = self.seen.setdefault(id(name), {})
            if value is None or not value.is_constant or known is None:
                self.seen[id(name)] = None
            else:
                known[self.iteration] = value.constant


def _names(node: c_ast.Node) -> Iterator[c_ast.ID]:
    return (part for part in below(node) if isinstance(part, c_ast.ID))


def observed(
    body: c_ast.Node,
    effects: Effects,
    loop: Loop,
    iterator: str,
    type_: IntType,
    before: Mapping[str, Affine | None],
) -> dict[int, Observation]:
    """Return what scalars are, by the identity of the name with which the body reads them.

    Parameters
    ----------
    effects: of the body. iterator, type_: of the loop, as the text has them.
    before: numbers that scalars hold before the loop, by their unique names.
    """
    numbers = numbers_of(loop, MAX_POSITIONS)
    watch = _Watch(effects, effects.ranges, effects.followed(before))
    for watch.iteration, number in enumerate(numbers):
        effects.run_iteration(iterator, type_, number, watch)
    # A form counts iterations; of larger steps of the iterator, it counts parts of them.
    gone = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
    found: dict[int, Observation] = {}
    for name, values in watch.seen.items():
        if values:
            law = law_in(values)
            law = None if law is None else law.finer(abs(loop.step)).moved(gone)
            at = {numbers[k]: value for k, value in values.items()}
            found[name] = Observation(loop.iterator, law, at)
    return found
