"""What the iterations of one loop make of the scalars that its body moves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.turn import (
    MAX_VALUES,
    Effect,
    Rotation,
    Turn,
    begun,
    inside_loop,
    law_in,
    period_of,
    rotation,
    values_of,
)
from rtlgen.frontend.evolution.carries import (
    MAX_POSITIONS,
    Carry,
    Driver,
    carry,
    driven,
    is_multiple,
)
from rtlgen.frontend.evolution.effects import Effects
from rtlgen.frontend.evolution.induction import (
    State,
    by_constant,
    distance,
    moved_behind,
    moved_inside,
    number_in,
    numbers_of,
    trip_count,
)
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Cast, Expr
from rtlgen.ir.quasi_affine import quasi_affine
from rtlgen.ir.quotients import quotient
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import IntType
from rtlgen.ir.value_ranges import value_range

Known: TypeAlias = Affine | Turn | Expr
"""What a scalar is, as a function of the iterators."""


@dataclass(slots=True)
class LoopMoves:
    """Finds the values of one scalar after the other.

    Members
    -------
    loop: what repeats the moves. ranges: inside of it.
    iterator, type: of the loop, as the text has them.
    known: what the scalars found so far are at the start of each iteration, by unique name.
    drivers: those of them that may drive others.
    """

    loop: Loop
    ranges: Ranges
    iterator: str
    type: IntType
    known: dict[str, Affine] = field(default_factory=dict)
    drivers: list[Driver] = field(default_factory=list)

    def find(
        self, variable: Variable, before: Known, effects: Effects
    ) -> tuple[Known, Known | None] | None:
        """Return what a scalar is at the start of every iteration, and behind the loop.

        Parameters
        ----------
        before: the value before the loop. effects: of the body.
        """
        after = effects.after(self.known, [variable]).get(variable.name)
        move = by_constant(after, variable)
        found = None if move is None else self._moved(variable, before, move)
        if found is None and isinstance(before, Affine) and isinstance(after, Affine):
            found = self._set_again(variable, before, after)
        if found is None and isinstance(before, Affine | Turn):
            found = self._turned(variable, before, effects) or self._driven(
                variable, before, effects
            )
        if found is not None and isinstance(found[0], Affine):
            self.known[variable.name] = found[0]
        return found

    def _moved(
        self, variable: Variable, before: Known, move: int
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar that every iteration moves by a constant."""
        if isinstance(before, Turn):
            return (before, before) if move == 0 else None
        inside = fitting(variable, moved_inside(before, self.loop, move), self.ranges)
        if inside is None:
            return None
        behind = moved_behind(before, self.loop, move, self.ranges)
        return inside, fitting(variable, behind, self.ranges)

    def _set_again(
        self, variable: Variable, before: Affine, after: Affine
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar that every iteration leaves as its iterator says.

        k = 0; for (...) { a[k] = 0; k += 8; ...; k = i + 1; }       k is i
        """
        loop, boxes = self.loop, self.ranges.boxes()
        if any(name not in boxes for name, _ in after.terms):
            # It depends on what this scalar, or another one, was before.
            return None
        left = after.substitute({loop.iterator: Affine.variable(loop.iterator) - loop.step})
        inside = fitting(variable, left, self.ranges)
        if inside is None or left.substitute({loop.iterator: loop.start}) != before:
            return None
        whole = distance(loop, loop.step, self.ranges)
        if whole is None:
            return inside, None
        behind = left.substitute({loop.iterator: loop.start + whole})
        return inside, fitting(variable, behind, self.ranges)

    def _turned(
        self, variable: Variable, before: Affine | Turn, effects: Effects
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar that goes round by itself."""

        def effect(value: int) -> int | None:
            state = {**self.known, variable.name: Affine((), value)}
            return number_in(effects.after(state), variable)

        found = rotation(values_of(before, self.ranges), effect)
        if found is None and isinstance(before, Affine) and before.is_constant:
            entered = self._entered(variable, before.constant, effect, effects)
            if entered is not None:
                before = Affine((), entered)
                found = rotation((entered,), effect)
        return None if found is None else self._rotating(variable, before, found)

    def _entered(
        self, variable: Variable, first: int, effect: Effect, effects: Effects
    ) -> int | None:
        """Return a later value of a scalar that may as well be its first one.

        k = 0; for (...) { if (k == 5) k = 0; ...; k++; }       5 in place of 0
        """
        trips = trip_count(self.loop)
        if trips is None or not trips.is_constant or trips.constant < 1:
            return None
        values = [first]
        while (value := effect(values[-1])) is not None and value not in values:
            values.append(value)
            if len(values) > MAX_VALUES:
                return None
        if value is None or values.index(value) != 1 or len(values) < 2:
            return None
        return values[-1] if effects.begins_alike(variable, first, values[-1]) else None

    def _rotating(
        self, variable: Variable, before: Affine | Turn, found: Rotation
    ) -> tuple[Known, Known | None] | None:
        if found.move == 0:
            return before, before
        turn = begun(before, found)
        if turn is None:
            return None
        turn = turn.finer(abs(self.loop.step))
        whole = distance(self.loop, found.move * turn.scale, self.ranges)
        inside = inside_loop(turn, found.move, self.loop)
        self.drivers.append(Driver(((variable.name, inside),)))
        return inside, None if whole is None else turn.moved(whole)

    def counted(
        self, variable: Variable, before: Known, effects: Effects
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar that the iterations move by what their iterator says.

        if (i % 4 == 3) k++;        k is i / 4
        """
        loop, numbers = self.loop, numbers_of(self.loop, MAX_POSITIONS)
        if not (numbers and isinstance(before, Affine) and effects.asks_for(self.iterator)):
            return None
        moves = []
        for at in numbers:
            state = {
                n: v.substitute({loop.iterator: Affine((), at)}) for n, v in self.known.items()
            }
            after = effects.in_iteration(self.iterator, self.type, at, state, variable)
            move = by_constant(after.get(variable.name), variable)
            if move is None:
                return None
            moves.append(move)
        period = period_of(moves)
        if period == 1:
            return self._moved(variable, before, moves[0])
        way = carry(dict(enumerate(moves[:period])), period, 1, None)
        if way is None:
            return None
        size = abs(loop.step)
        ahead = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
        form = ahead * way.move + way.offset * size
        inside = Turn(before, None, form, frozenset(), period * size, way.pace)
        if fitting(variable, inside, self.ranges) is None:
            return None
        return inside, fitting(variable, before + sum(moves), self.ranges)

    def in_turn(
        self, variable: Variable, first: State, effects: Effects
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar that changes places with others.

        t = a; a = b; b = t;

        Parameters
        ----------
        first: the numbers that scalars hold before the loop.
        """
        states = effects.cycle(first, MAX_VALUES)
        if states is None:
            return None
        values = [number_in(state, variable) for state in states]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        period = period_of(known)
        turn = law_in(dict(enumerate(known[:period] * 2)))
        if turn is None or not turn.period or turn.growth(period) != 0:
            return None
        turn = turn.finer(abs(self.loop.step))
        whole = distance(self.loop, turn.scale, self.ranges)
        return inside_loop(turn, 1, self.loop), None if whole is None else turn.moved(whole)

    # Driven by others.

    def _driven(
        self, variable: Variable, before: Affine | Turn, effects: Effects
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar that steps on when others have gone round."""
        for driver in self.drivers:
            if not driver.is_small:
                continue
            found = self._carried(variable, before, effects, driver)
            if found is not None:
                return found
        return None

    def _carried(
        self, variable: Variable, before: Affine | Turn, effects: Effects, driver: Driver
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar that one driver drives."""
        found = driven(variable, before, effects, self.known, driver, self.ranges)
        if found is None:
            return None
        if len(set(found.moves.values())) == 1:
            (move,) = set(found.moves.values())
            if found.turning is None:
                return self._moved(variable, before, move)
            return self._rotating(variable, before, replace(found.turning, move=move))
        per_step = driver.form.coefficient(self.loop.iterator) * self.loop.step
        modulus = None if found.turning is None else found.turning.modulus
        states = driver.period // driver.unit
        way = carry(found.moves, states, per_step // driver.unit, modulus)
        return None if way is None else self._placed(variable, before, driver, found.turning, way)

    def _placed(
        self,
        variable: Variable,
        before: Affine | Turn,
        driver: Driver,
        turning: Rotation | None,
        way: Carry,
    ) -> tuple[Known, Known | None] | None:
        """Return the values of a scalar of which it is known how it is carried to."""
        loop, unit = self.loop, driver.unit
        # The driver may have made whole turns more than its own values tell.
        more = way.move * unit // loop.step - driver.form.coefficient(loop.iterator)
        if more % driver.period:
            return None
        ahead = Affine.variable(loop.iterator) - loop.start
        form = driver.form + ahead * more + way.offset * unit
        first = form.substitute({loop.iterator: loop.start})
        if isinstance(before, Turn):
            turn = _continued(before.finer(abs(loop.step)), first, driver.period, way, turning)
        else:
            turn = _beginning(before, first, driver.period, way, turning, self.ranges)
        if turn is None:
            return None
        inside = turn.moved(form - first)
        if fitting(variable, inside, self.ranges) is None:
            return None
        if turning is not None:
            self.drivers.append(driver.extended(variable.name, inside))
        whole = distance(loop, way.move * unit, self.ranges)
        behind = None if whole is None else turn.moved(whole)
        return inside, fitting(variable, behind, self.ranges)


def _beginning(
    before: Affine, form: Affine, period: int, way: Carry, turning: Rotation | None, ranges: Ranges
) -> Turn | None:
    """Return an affine value as one that is driven by the given form from here on."""
    steps = quotient(form, period, ranges.boxes())
    if steps is None:
        return None
    if turning is None:
        return Turn(before - steps * way.pace, None, form, frozenset(), period, way.pace)
    missing = before - turning.low - steps * way.pace
    if way.pace == 1:
        form += missing * period
    elif missing.is_constant:
        ahead = (
            k
            for k in range(turning.modulus)
            if (way.pace * k - missing.constant) % turning.modulus == 0
        )
        first = next(ahead, None)
        if first is None:
            return None
        form += first * period
    else:
        return None
    low = Affine((), turning.low)
    return Turn(low, turning.modulus, form, turning.values, period, way.pace)


def _continued(
    before: Turn, form: Affine, period: int, way: Carry, turning: Rotation | None
) -> Turn | None:
    """Return a value that was driven before as one that is driven on; None if it is not."""
    ahead = form - before.form
    is_same = before.pace == way.pace and before.scale == period
    if not is_same or not is_multiple(ahead, period) or ahead.constant % period:
        return None
    if turning is None:
        return before if before.modulus is None else None
    if before.modulus != turning.modulus or before.low != Affine((), turning.low):
        return None
    return replace(before, values=turning.values)


def fitting(variable: Variable, value: Known | None, ranges: Ranges) -> Known | None:
    """Return the value of a scalar that was moved, if its type holds it."""
    type_ = variable.element
    if isinstance(value, Affine):
        low, high = ranges.minimum(value), ranges.maximum(value)
    elif isinstance(value, Turn):
        low, high = value.range(ranges)
    elif value is not None and quasi_affine(value, ranges.boxes()) is not None:
        low, high = value_range(value, ranges.boxes())
        value = Cast(value, type_)
    else:
        return None
    return value if type_.minimum <= low and high <= type_.maximum else None
