"""What the circuits of IEEE 754 have in common: fields, shifters, normalising, rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from amaranth.hdl import Cat, Const, Mux, Value

from rtlgen.hw.pipeline import Kept, Steps
from rtlgen.ir.types import FloatType


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """What a pattern stands for.

    Members
    -------
    sign: of the number. exponent: as it is stored; 1 of subnormal numbers and zeros, but where a
        format has only zeros there.
    leading: whether it is neither of these. fraction: as it is stored.
    is_special: it is infinite or no number. has_fraction: the fraction is not 0.
    subnormals: the format has some.
    """

    sign: Value
    exponent: Value
    leading: Value
    fraction: Value
    is_special: Value
    has_fraction: Value
    subnormals: bool

    @property
    def significand(self) -> Value:
        """The fraction and the leading bit."""
        if self.subnormals:
            return Cat(self.fraction, self.leading)
        return Cat(self.fraction & self.leading.replicate(len(self.fraction)), self.leading)

    @property
    def factor(self) -> Value:
        """The significand, for a product that is 0 whatever it says where the number is 0."""
        return self.significand if self.subnormals else Cat(self.fraction, Const(1, 1))

    @property
    def is_nan(self) -> Value:
        return self.is_special & self.has_fraction

    @property
    def is_infinite(self) -> Value:
        return self.is_special & ~self.has_fraction

    @property
    def is_zero(self) -> Value:
        return ~self.leading & ~self.has_fraction if self.subnormals else ~self.leading


def fields(steps: Steps, bits: Value, type_: FloatType, name: str) -> Fields:
    """Return the fields of a pattern."""
    stored = bits[type_.fraction_bits : -1]
    fraction = bits[: type_.fraction_bits]
    leading = steps.wire(stored.any(), f"{name}_leading")
    return Fields(
        sign=bits[-1],
        exponent=Cat(stored[0] | ~leading, stored[1:]) if type_.subnormals else stored,
        leading=leading,
        fraction=fraction,
        is_special=steps.wire(stored.all(), f"{name}_special"),
        has_fraction=steps.wire(fraction.any(), f"{name}_has_fraction"),
        subnormals=type_.subnormals,
    )


def flushed(steps: Steps, bits: Value, type_: FloatType, name: str) -> Value:
    """Return a pattern as a format has it: one without subnormals has zeros in their place."""
    if type_.subnormals:
        return bits
    leading = steps.wire(bits[type_.fraction_bits : -1].any(), f"{name}_normal")
    kept = bits[: type_.fraction_bits] & leading.replicate(type_.fraction_bits)
    return steps.wire(Cat(kept, bits[type_.fraction_bits :]), f"{name}_flushed")


def ones(bits: int) -> Const:
    """Return so many ones."""
    return Const((1 << bits) - 1, bits)


def leading_zeros(steps: Steps, value: Value) -> tuple[Value, Value]:
    """Return how many zeros are above the first one, and whether there is no one.

    Where there is none the count is all of its bits, or if these are a power of two one less.
    """
    return _joined(steps, _bits(value)), ~value.any()


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The zeros of a value, counted half of the way; the rest may be done in a later step.

    Members
    -------
    parts: of each group of bits how many zeros are above its first one, and whether it has none.
    """

    parts: Sequence[tuple[Kept, Kept]]

    def leading_zeros(self, steps: Steps) -> Value:
        """Return how many zeros are above the first one of all, as `leading_zeros` does."""
        return _joined(steps, [(count.now, is_zero.now) for count, is_zero in self.parts])


def groups(steps: Steps, value: Value) -> Groups:
    """Return the zeros of a value, counted in groups of its bits."""
    parts = _bits(value)
    for _ in range((len(parts).bit_length() - 1) // 2):
        parts = _pairs(steps, parts)
    return Groups([(steps.keep(n, "count"), steps.keep(z, "is_zero")) for n, z in parts])


_Counts: TypeAlias = list[tuple[Value, Value]]
"""Of groups of bits: how many zeros are above the first one, and whether there is none."""


def _bits(value: Value) -> _Counts:
    """Return the bits of a value as groups, which are a power of two."""
    bits = (len(value) - 1).bit_length()
    # Bits below make no difference but where there is nothing above.
    return [(Const(0, 0), ~bit) for bit in Cat(ones((1 << bits) - len(value)), value)]


def _pairs(steps: Steps, parts: _Counts) -> _Counts:
    """Return groups of two groups each."""
    return [
        (
            steps.wire(Cat(Mux(high_zero, low_count, high_count), high_zero), "zeros"),
            steps.wire(high_zero & low_zero, "zero"),
        )
        for (low_count, low_zero), (high_count, high_zero) in zip(
            parts[::2], parts[1::2], strict=True
        )
    ]


def _joined(steps: Steps, parts: _Counts) -> Value:
    while len(parts) > 1:
        parts = _pairs(steps, parts)
    return parts[0][0]


def shifted_left(steps: Steps, value: Value, count: Value, kept: int, lowest: int = 0) -> Value:
    """Return the upper bits of value << count; the lowest is 1 if any below them is.

    Parameters
    ----------
    kept: how many bits. lowest: the count has so many zeros below.
    """
    sticky: Value = Const(0, 1)
    for bit in reversed(range(len(count))):
        by = 1 << bit + lowest
        moved = Cat(Const(0, min(by, len(value))), value)[: len(value)]
        # What can no longer come into the bits that are kept.
        further = by - (1 << lowest)
        beyond = max(0, len(value) - (kept + further))
        lost = value[:beyond].any()
        if beyond > by:
            lost = Mux(count[bit], value[: beyond - by].any(), lost)
        else:
            lost &= ~count[bit]
        value = steps.wire(Mux(count[bit], moved, value)[beyond:], f"left_{by}")
        sticky = steps.wire(sticky | lost, f"left_{by}_sticky")
    beyond = max(0, len(value) - kept)
    sticky |= value[:beyond].any()
    value = Cat(Const(0, max(0, kept - len(value))), value[beyond:])
    return Cat(value[0] | sticky, value[1:])


def shifted_right(steps: Steps, value: Value, count: Value) -> Value:
    """Return value >> count; the lowest bit is 1 if any that fell out was."""
    for bit in reversed(range(len(count))):
        by = min(1 << bit, len(value) - 1)
        moved = Cat(value[: by + 1].any(), value[by + 1 :], Const(0, by))
        value = steps.wire(Mux(count[bit], moved, value), f"right_{by}")
    return value


def saturated(value: Value, bits: int) -> Value:
    """Return a value in so many bits, all of them ones where it has more."""
    if len(value) <= bits:
        return value
    return Mux(value[bits:].any(), ones(bits), value[:bits])


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """How far a significand is shifted.

    Members
    -------
    places: to the left; None: not at all. is_right: by a power of two less, which is to the right;
        None: never.
    base: exponent of the result, as it is stored, if its second bit from above is the first one,
        less 1; signed.
    """

    places: Kept | None
    is_right: Kept | None
    base: Kept

    @property
    def kept(self) -> list[Kept]:
        """All of it."""
        return [each for each in (self.places, self.is_right, self.base) if each is not None]


def limited_shift(
    steps: Steps, room: Value, zeros: Value | None, type_: FloatType, *, can_underflow: bool
) -> Shift:
    """Return a shift that brings the first one up, as far as there are exponents.

    Without subnormals it comes up in any case: what is less than the normal numbers is dropped.

    Parameters
    ----------
    room: exponent of the second bit from above, as it is stored, less 1: by how much it may be
        shifted left; signed. Below 0 it has to be shifted right.
    zeros: above the first one, or one less than these; None: there are none, or one.
    type_: of the result. can_underflow: room may be less than 0.
    """
    room = steps.wire(room, "room")
    if zeros is None and not (can_underflow and type_.subnormals):
        return Shift(None, None, steps.keep(room, "base"))
    base: Value = room
    if zeros is not None:
        base = steps.wire(room - zeros, "room_left")
    if not type_.subnormals:
        assert zeros is not None
        return Shift(steps.keep(zeros, "places"), None, steps.keep(base, "base"))
    is_limited = base[-1]
    stored = steps.keep(Mux(is_limited, 0, base).as_signed(), "base")
    if not can_underflow:
        assert zeros is not None
        places = Mux(is_limited, _extended(room, len(zeros)), zeros)
        return Shift(steps.keep(places, "places"), None, stored)
    # To the right by so much that all of it is lost, at most.
    bits = max((type_.fraction_bits + 2).bit_length(), 0 if zeros is None else len(zeros))
    is_right = room[-1]
    is_lost = is_right & ~_extended(room, len(room) + bits)[bits:].all()
    unlimited = Const(0, bits) if zeros is None else zeros
    places = Mux(is_limited, _extended(room, bits), unlimited) & ~is_lost.replicate(bits)
    return Shift(steps.keep(places, "places"), steps.keep(is_right, "is_right"), stored)


def _extended(value: Value, bits: int) -> Value:
    """Return the low bits of a signed value."""
    return Cat(value, value[-1].replicate(max(0, bits - len(value))))[:bits]


@dataclass(frozen=True, slots=True, eq=False)
class Significand:
    """A significand before it is rounded.

    Members
    -------
    kept: its bits, a guard bit, and whether there was anything below. is_top: the leading bit was
        topmost.
    """

    kept: Kept
    is_top: Kept


def shifted(
    steps: Steps,
    value: Value,
    shift: Shift,
    precision: int,
    *,
    begins_early: bool = False,
    slowly: bool = False,
) -> Significand:
    """Shift a significand, and after that by one more bit where its topmost one is 0.

    Parameters
    ----------
    begins_early: choose between left and right in a step before, and end that.
    slowly: take two steps, and end the first of them.
    """
    bits = precision + 3
    value = Cat(Const(0, max(0, bits - len(value))), value)
    if shift.is_right is not None:
        assert shift.places is not None
        by = 1 << len(shift.places.now)
        value = Mux(shift.is_right.now, Cat(value, Const(0, by)), Cat(Const(0, by), value))
    if begins_early:
        begun = steps.keep(value, "begun")
        steps.end()
        value = begun.now
    if shift.places is not None:
        value, fine = steps.wire(value, "unshifted"), 0
        if slowly:
            fine = len(shift.places.now) // 2
            places = shift.places.now[fine:]
            coarse = shifted_left(steps, value, places, bits + (1 << fine) - 1, fine)
            first = steps.keep(coarse, "coarse")
            steps.end()
            value, fine = first.now, fine
        value = shifted_left(steps, value, shift.places.now[: fine or None], bits)
    else:
        low = len(value) - bits + 1
        value = Cat(value[:low].any(), value[low:])
    value = steps.wire(value, "shifted")
    chosen = Mux(value[-1], Cat(value[0] | value[1], value[2:]), value[:-1])
    return Significand(steps.keep(chosen, "kept"), steps.keep(value[-1], "is_top"))


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What makes a result, beside its significand.

    Members
    -------
    sign: of the result. is_zero: it is 0, whatever else is said.
    is_special: it is infinite or no number. is_nan: it is no number.
    """

    sign: Kept
    is_zero: Kept
    is_special: Kept
    is_nan: Kept

    @property
    def kept(self) -> list[Kept]:
        """All of it."""
        return [self.sign, self.is_zero, self.is_special, self.is_nan]


def outcome(
    steps: Steps, *, sign: Value, is_zero: Value, is_special: Value, is_nan: Value
) -> Outcome:
    """Return what makes a result; what is special may look like zero."""
    return Outcome(
        steps.keep(sign, "result_sign"),
        steps.keep(is_zero & ~is_special, "result_zero"),
        steps.keep(is_special, "result_special"),
        steps.keep(is_nan, "result_nan"),
    )


def round_and_pack(
    steps: Steps, value: Significand, base: Kept, result: Outcome, type_: FloatType
) -> Value:
    """Return the pattern that is nearest to a number.

    Parameters
    ----------
    base: see `Shift`.
    """
    fraction, exponent = type_.fraction_bits, type_.exponent_bits
    significand, top, below = value.kept.now[2:], value.is_top.now, base.now
    guard, rest = value.kept.now[1], value.kept.now[0]
    up = steps.wire(guard & (rest | significand[0]), "up")
    # One chain: both bits below, if set, carry into the lowest.
    stored = Cat(below, below[-1].replicate(exponent))[:exponent]
    low = Cat(up, significand[:fraction], stored)
    # The leading bit is one more, and in the topmost place two.
    high = Cat(up, Const(0, fraction), significand[-1] & ~top, top)
    magnitude = steps.wire((low + high)[1 : type_.width_bits], "magnitude")
    # An exponent of all ones: what rounding carries there has no fraction already.
    overflows = below[exponent:].any() | (below[2:exponent].all() & (below[1] | (below[0] & top)))
    if not type_.subnormals:
        overflows &= ~below[-1]
    is_zero, is_nan = result.is_zero.now, result.is_nan.now
    is_special = steps.wire(result.is_special.now | (overflows & ~is_zero), "is_special")
    least: Value = Const(0)
    if not type_.subnormals:
        # Below the normal numbers all is 0 but what rounds to the least one: it is all ones.
        is_next = (below.all() & ~top) | (below[1:].all() & ~below[0] & top)
        least = steps.wire(is_next & significand.all() & ~is_zero, "least")
        is_zero |= below[-1] & ~(below.all() & top)
    clear = steps.wire(is_special | is_zero, "clear")
    return Cat(
        Mux(clear, 0, magnitude[: fraction - 1]),
        Mux(clear, is_nan, magnitude[fraction - 1]),
        Mux(is_special, ones(exponent), Mux(is_zero, least, magnitude[fraction:])),
        result.sign.now & ~is_nan,
    )
