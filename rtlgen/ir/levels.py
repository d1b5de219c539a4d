"""The levels of a stream's loop nest, and what follows from their counters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rtlgen.ir.plan_error import PlanError


@dataclass(frozen=True, slots=True)
class IndexForm:
    """constant + sum of coefficients[l] * counter[l] over the levels of a stream, outermost first.

    Counters are 0-based iteration numbers of the levels.
    """

    coefficients: tuple[int, ...]
    constant: int = 0

    @staticmethod
    def fixed(value: int, levels: int) -> IndexForm:
        """Return the form that has a value whatever the counters of so many levels are."""
        return IndexForm((0,) * levels, value)

    @staticmethod
    def counter(level: int, levels: int) -> IndexForm:
        """Return the form that is one of so many counters."""
        return IndexForm(tuple(int(n == level) for n in range(levels)))

    def __add__(self, other: IndexForm | int) -> IndexForm:
        if isinstance(other, int):
            return replace(self, constant=self.constant + other)
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return IndexForm(tuple(a + b for a, b in pairs), self.constant + other.constant)

    def __neg__(self) -> IndexForm:
        return self * -1

    def __sub__(self, other: IndexForm | int) -> IndexForm:
        return self + -other

    def __mul__(self, factor: int) -> IndexForm:
        return IndexForm(tuple(factor * c for c in self.coefficients), factor * self.constant)

    def substitute(self, counters: Sequence[IndexForm]) -> IndexForm:
        """Return the form with forms for its counters; further ones are not in it.

        Without any, as of a variable that is no array, it is one of no levels.
        """
        levels = len(counters[0].coefficients) if counters else 0
        total = IndexForm.fixed(self.constant, levels)
        for coefficient, counter in zip(self.coefficients, counters, strict=False):
            if coefficient:
                total += counter * coefficient
        return total

    def range(self, extents: Sequence[int]) -> tuple[int, int]:
        """Return the smallest and the largest value on the box of `extents`."""
        low = high = self.constant
        for c, extent in zip(self.coefficients, extents, strict=True):
            low += min(0, c * (extent - 1))
            high += max(0, c * (extent - 1))
        return low, high

    def evaluate(self, counters: tuple[int, ...]) -> int:
        return self.constant + sum(c * x for c, x in zip(self.coefficients, counters, strict=True))

    def padded(self, levels: int) -> IndexForm:
        """Return the form for a nest of so many levels, which uses none of those further in."""
        return replace(self, coefficients=(self.coefficients + (0,) * levels)[:levels])


@dataclass(frozen=True, slots=True)
class Field:
    """The low `width_bits` bits of a form: its value modulo a power of two."""

    form: IndexForm
    width_bits: int

    def __post_init__(self) -> None:
        if self.width_bits < 1:
            raise PlanError(f"a field of {self.width_bits} bits")


@dataclass(frozen=True, slots=True)
class FoldedForm:
    """An address put together from fields, the lowest first, and from the number of the tile.

    Each dimension of an array is folded by itself, so that nothing has to be divided or wrapped.

    Members
    -------
    tile_bits: low bits of the number of the tile in its run, above all fields: the copy of the
        window that this tile has.
    """

    fields: tuple[Field, ...]
    tile_bits: int = 0

    @property
    def width_bits(self) -> int:
        return sum(field.width_bits for field in self.fields) + self.tile_bits

    @property
    def forms(self) -> tuple[IndexForm, ...]:
        return tuple(field.form for field in self.fields)

    def evaluate(self, counters: tuple[int, ...], tile: int = 0) -> int:
        value, shift = 0, 0
        for field in self.fields:
            value |= field.form.evaluate(counters) % (1 << field.width_bits) << shift
            shift += field.width_bits
        return value | tile % (1 << self.tile_bits) << shift


@dataclass(frozen=True, slots=True)
class InBank:
    """Row `row` of one bank of a memory, see `ir.bank_map`."""

    bank: int
    row: IndexForm

    @property
    def banks(self) -> tuple[int, ...]:
        """The banks that it may be in."""
        return (self.bank,)

    @property
    def forms(self) -> tuple[IndexForm, ...]:
        return (self.row,)


@dataclass(frozen=True, slots=True)
class AnyBank:
    """A place in one of several banks of a memory, see `ir.bank_map`.

    Members
    -------
    bank_bits, row_bits: the bits of the place that number the bank, and the row; lowest first.
    banks: those that it may be in.
    """

    place: IndexForm | FoldedForm
    bank_bits: tuple[int, ...]
    row_bits: tuple[int, ...]
    banks: tuple[int, ...]

    @property
    def forms(self) -> tuple[IndexForm, ...]:
        return forms_of(self.place)


Address: TypeAlias = IndexForm | FoldedForm | InBank | AnyBank


def forms_of(address: Address) -> tuple[IndexForm, ...]:
    """Return the forms that an address is made of."""
    return (address,) if isinstance(address, IndexForm) else address.forms


def banks_named(address: Address) -> tuple[int, ...]:
    """Return the banks of its memory that an address may be in: bank 0 of an array in one piece."""
    return address.banks if isinstance(address, InBank | AnyBank) else (0,)


@dataclass(frozen=True, slots=True)
class Condition:
    """`form >= 0`, or `form == 0` when `equal`."""

    form: IndexForm
    equal: bool = False

    def holds(self, counters: tuple[int, ...]) -> bool:
        value = self.form.evaluate(counters)
        return value == 0 if self.equal else value >= 0


@dataclass(frozen=True, slots=True)
class Predicate:
    """A disjunction of conjunctions of conditions on the counters of a stream."""

    alternatives: tuple[tuple[Condition, ...], ...]

    @property
    def is_true(self) -> bool:
        return () in self.alternatives

    @property
    def is_false(self) -> bool:
        return not self.alternatives

    def holds(self, counters: tuple[int, ...]) -> bool:
        return any(all(c.holds(counters) for c in parts) for parts in self.alternatives)

    def with_forms(self, change: Callable[[IndexForm], IndexForm]) -> Predicate:
        """Return the predicate with its forms changed."""
        return Predicate(
            tuple(
                tuple(replace(c, form=change(c.form)) for c in parts) for parts in self.alternatives
            )
        )


ALWAYS = Predicate(((),))

NEVER = Predicate(())


@dataclass(frozen=True, slots=True)
class LevelBound:
    """form / divisor, rounded inwards: up where it is a lower bound, down where an upper one."""

    form: IndexForm
    divisor: int = 1

    def __post_init__(self) -> None:
        if self.divisor < 1:
            raise PlanError(f"a bound divided by {self.divisor}")

    def ceiling(self, counters: tuple[int, ...]) -> int:
        """Return the smallest counter that keeps the lower bound."""
        return -(-self.form.evaluate(counters) // self.divisor)

    def floor(self, counters: tuple[int, ...]) -> int:
        """Return the largest counter that keeps the upper bound."""
        return self.form.evaluate(counters) // self.divisor

    def kept_by(self, level: int, sign: int) -> Condition:
        """Return what a counter of a level fulfils that keeps a lower bound, `sign` 1, or upper."""
        counter = IndexForm.counter(level, level + 1)
        outer = self.form.padded(level).padded(level + 1)
        return Condition((counter * self.divisor - outer) * sign)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a stream's loop nest.

    Its counter runs from the largest of `lowers` to the smallest of `uppers`, both inclusive and
    functions of the counters of the levels outside of it. In every iteration of those it runs at
    least once.

    Members
    -------
    extent: the counter stays below it; with no bounds given it runs from 0 to extent - 1.
    name: the C iterator it counts, or None for a pad loop.
    lowers: first values, or () for 0. uppers: last values, or () for extent - 1.
    at_least: number of iterations that it runs for even where its bounds give fewer; 0: none.
    """

    extent: int
    name: str | None = None
    lowers: tuple[LevelBound, ...] = ()
    uppers: tuple[LevelBound, ...] = ()
    at_least: int = 0

    def with_forms(self, change: Callable[[IndexForm], IndexForm]) -> Level:
        """Return the level with the forms of its bounds changed."""

        def changed(bounds: tuple[LevelBound, ...]) -> tuple[LevelBound, ...]:
            return tuple(LevelBound(change(bound.form), bound.divisor) for bound in bounds)

        return replace(self, lowers=changed(self.lowers), uppers=changed(self.uppers))

    @property
    def is_box(self) -> bool:
        """Whether the level runs from 0 to extent - 1 in every iteration of the outer levels."""
        return not self.lowers and not self.uppers
