"""Loop nests whose bounds depend on outer counters, enumerated with no bubble between any levels.

When a level advances, every level inside of it starts again at its lower bound, an affine function
of the outer counters. So the next value of any affine form f is another affine form of the counters
up to that level alone: f with x_l + 1 for x_l, and each inner counter replaced by its lower bound.
That form stands ready in a register of its own, which moves only when an outer level does, and by
the same rule. No bound is ever multiplied or added up in the cycle that needs it, and the smaller
of several upper bounds is never computed: a level has come to its end when it meets any of them.
A level that must run for a number of iterations has come to its end when those are over too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeAlias

from amaranth.hdl import Module, Signal, Value

from rtlgen.hw.index_units import IndexUnit, pace
from rtlgen.ir.plan import IndexForm, Level


@dataclass(frozen=True, slots=True)
class Nest:
    """The levels that count anything, outermost first.

    Members
    -------
    extents: every counter stays below its extent.
    lowers: first value of each counter. uppers: last values of each; the first one met ends it.
    at_least: iterations that each level runs for, even past its last value; 0: no such number.
    """

    extents: tuple[int, ...]
    lowers: tuple[IndexForm, ...]
    uppers: tuple[tuple[IndexForm, ...], ...]
    at_least: tuple[int, ...]

    def is_box_level(self, level: int) -> bool:
        """Return whether a level runs from 0 to its extent - 1 whatever the outer counters are."""
        zero = IndexForm.fixed(0, len(self.extents))
        last = zero + (self.extents[level] - 1)
        return self.lowers[level] == zero and self.uppers[level] == (last,)

    def first(self) -> tuple[int, ...]:
        """Return the counters of the first iteration."""
        counters = [0] * len(self.extents)
        for level, lower in enumerate(self.lowers):
            counters[level] = lower.evaluate(tuple(counters))
        return tuple(counters)

    def advanced(self, form: IndexForm, level: int) -> IndexForm:
        """Return, as a form of the present counters, what `form` is when `level` has advanced."""
        depth = len(self.extents)
        starts = [IndexForm.counter(number, depth) for number in range(level + 1)]
        starts[level] += 1
        for lower in self.lowers[level + 1 :]:
            starts.append(lower.substitute(starts))
        return form.substitute(starts)


def nest_of(levels: Sequence[Level]) -> Nest | None:
    """Return the nest that `levels` are, or None where a bound is a quotient or a maximum."""
    zero = IndexForm.fixed(0, len(levels))
    if any(
        len(level.lowers) > 1 or any(b.divisor > 1 for b in (*level.lowers, *level.uppers))
        for level in levels
    ):
        return None
    return Nest(
        tuple(level.extent for level in levels),
        tuple(level.lowers[0].form if level.lowers else zero for level in levels),
        tuple(
            tuple(bound.form for bound in level.uppers) or (zero + (level.extent - 1),)
            for level in levels
        ),
        tuple(level.at_least for level in levels),
    )


@dataclass(frozen=True, slots=True)
class Add:
    """The form grows by a constant."""

    amount: int


@dataclass(frozen=True, slots=True)
class Jump:
    """The form takes the value that `form` has had so far."""

    form: IndexForm


Move: TypeAlias = Add | Jump


def moves(form: IndexForm, nest: Nest) -> tuple[Move, ...]:
    """Return how `form` changes for each step code: 0 to all of the innermost levels have ended."""
    depth = len(nest.extents)
    found: list[Move] = []
    for ended in range(depth):
        level = depth - 1 - ended
        inner = [n for n in range(level + 1, depth) if form.coefficients[n]]
        if all(nest.is_box_level(n) for n in inner):
            rewind = sum(form.coefficients[n] * (nest.extents[n] - 1) for n in inner)
            found.append(Add(form.coefficients[level] - rewind))
        else:
            found.append(Jump(nest.advanced(form, level)))
    return (*found, Jump(IndexForm.fixed(form.evaluate(nest.first()), depth)))


class Followers:
    """Registers that follow forms through a nest, at any stage.

    Parameters
    ----------
    enable: stage -> whether an iteration is in it. step: stage -> its step code.
    """

    def __init__(
        self,
        m: Module,
        nest: Nest,
        enable: Callable[[int], Value],
        step: Callable[[int], Value],
    ) -> None:
        self._m = m
        self._nest = nest
        self._enable = enable
        self._step = step
        self._registers: dict[tuple[IndexForm, int, int], Signal] = {}

    def at(self, form: IndexForm, width_bits: int, stage: int, name: str) -> Signal:
        """Return the low `width_bits` bits of `form` for the iteration in `stage`."""
        key = (form, width_bits, stage)
        if key not in self._registers:
            initial = form.evaluate(self._nest.first()) % (1 << width_bits)
            register = Signal(width_bits, name=name, init=initial)
            self._registers[key] = register
            if any(form.coefficients):
                self._follow(register, form, stage, name)
        return self._registers[key]

    def _follow(self, register: Signal, form: IndexForm, stage: int, name: str) -> None:
        width, sync = len(register), self._m.d
        # All that these need registers for is made first, outside of the conditional blocks.
        enable, step = self._enable(stage), self._step(stage)
        targets = [
            self.at(move.form, width, stage, f"{name}_{code}") if isinstance(move, Jump) else None
            for code, move in enumerate(moves(form, self._nest))
        ]
        with self._m.If(enable), self._m.Switch(step):
            for code, move in enumerate(moves(form, self._nest)):
                with self._m.Case(code):
                    target = targets[code]
                    if target is not None:
                        sync.sync += register.eq(target)
                    elif isinstance(move, Add) and move.amount:
                        sync.sync += register.eq(register + move.amount % (1 << width))


class RaggedOdometer(IndexUnit):
    """Count through a nest whose bounds depend on outer counters.

    Timing
    ------
    The first iteration is issued in the cycle after `begin`.
    """

    def __init__(self, nest: Nest, ii: int, outer_levels: int = 0) -> None:
        self.nest = nest
        super().__init__(nest.extents, ii, outer_levels=outer_levels)

    def is_box_level(self, level: int) -> bool:
        return self.nest.is_box_level(level)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        issue = pace(m, self.begin, self.pauses, self.ii)
        m.d.comb += self.valid.eq(issue)
        followers = Followers(m, self.nest, lambda stage: issue, lambda stage: self.step)
        for level, (counter, last) in enumerate(zip(self.counters, self.lasts, strict=True)):
            own = IndexForm.counter(level, len(self.extents))
            m.d.comb += counter.eq(followers.at(own, len(counter), 0, f"count_{level}"))
            m.d.comb += last.eq(self._ended(followers, level))
        self.encode_step(m)
        return m

    def _ended(self, followers: Followers, level: int) -> Value:
        """Return whether a level is at its last value."""
        nest = self.nest
        counter = IndexForm.counter(level, len(nest.extents))
        least = nest.at_least[level]

        def left(form: IndexForm, name: str) -> Signal:
            # A distance that is left over by a bound that is never met, or was met, is negative.
            return followers.at(form, _width(form, self.extents), 0, f"left_{level}_{name}")

        met = []
        for number, upper in enumerate(nest.uppers[level]):
            distance = left(upper - counter, str(number))
            met.append(_passed(distance) if least else distance == 0)
        if least <= 1:
            return reduce(or_, met)
        final = nest.lowers[level] + (least - 1)
        return reduce(or_, met) & _passed(left(final - counter, "least"))


def _passed(distance: Signal) -> Value:
    return (distance == 0) | distance[-1]


def _width(form: IndexForm, extents: tuple[int, ...]) -> int:
    reach = abs(form.constant) + sum(
        abs(c) * (extent - 1) for c, extent in zip(form.coefficients, extents, strict=True)
    )
    return reach.bit_length() + 1
