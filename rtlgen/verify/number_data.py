"""Random numbers of a floating-point format, of the kinds that `data` has for integers.

    full    any pattern: all exponents are equally likely; in an eighth something changes
    small   1/8 to 8, of both signs, with all digits: every operation rounds, and nothing overflows
    limits  zeros, the ends of the subnormal and of the normal numbers, neighbours of 1, halves of
            its last place, and, one in sixteen, infinities and NaN
    mixed   few exponents, and runs of ones and zeros as digits: sums cancel, and products and sums
            lie halfway between two numbers

Between limits that the user gives, `full` and `small` are spread evenly over the numbers between,
and `mixed` over their patterns, so that every order of magnitude is as likely as another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from rtlgen.ir.float_arithmetic import to_fraction
from rtlgen.ir.types import FloatType
from rtlgen.verify.values import element_dtype, pattern_of, to_words

Words = npt.NDArray[np.uint64]
Choices = npt.NDArray[np.uint8]

_SPECIAL_IN_256 = 16
_CORNERS_IN_256 = 32
_LARGEST_EXPONENT, _EXPONENTS = 2, 6
"""Of `small`: from 1/8 to below 8."""


def any_numbers(
    type_: FloatType, choices: Choices, words: Words
) -> Mapping[str, Callable[[], Words]]:
    """Return what makes patterns of a kind, by the kind's name.

    Parameters
    ----------
    choices, words: random ones, of 8 and of 64 bits, for each element.
    """
    sign, low, fraction = _fields(type_, words)
    f, bias = type_.fraction_bits, type_.bias

    def full() -> Words:
        corners = _of(_corners(type_), words >> np.uint64(8)) | sign
        return np.where(choices < _CORNERS_IN_256, corners, words & np.uint64(type_.maximum))

    def small() -> Words:
        down = low % np.uint64(_EXPONENTS)
        return sign | (np.uint64(bias + _LARGEST_EXPONENT) - down) << np.uint64(f) | fraction

    def limits() -> Words:
        special = _of([type_.infinity, type_.nan], low)
        plain = _of(_corners(type_), low)
        return sign | np.where(choices < _SPECIAL_IN_256, special, plain)

    def mixed() -> Words:
        steps = (0, 0, 0, 1, -1, f // 2, -(f // 2), f + 1)
        exponents = [(bias + step) << f for step in steps if 0 < bias + step < 2 * bias]
        place = choices.astype(np.uint64) % np.uint64(f)
        one, ones = np.uint64(1), np.uint64((1 << f) - 1)
        runs = [
            np.zeros_like(place), one << place, ones >> place, (ones << place) & ones,
            one << place | one, np.broadcast_to(ones, place.shape),
        ]  # fmt: skip
        which = low % np.uint64(len(runs))
        digits: Words = np.choose(which.astype(np.intp), runs)
        return sign | _of(exponents, low >> np.uint64(3)) | digits

    return {"full": full, "small": small, "limits": limits, "mixed": mixed}


def numbers_within(
    type_: FloatType, bounds: tuple[float, float], choices: Choices, words: Words
) -> Mapping[str, Callable[[], Words]]:
    """Return what makes patterns of a kind between two numbers, by the kind's name."""
    first, last = (_key(pattern_of(bound, type_), type_) for bound in bounds)
    low, high = (_float(_pattern(key, type_), type_) for key in (first, last))
    inside = [key for key in _corner_keys(type_) if first <= key <= last]
    corners = sorted({first, last, min(first + 1, last), max(first, last - 1), *inside})
    patterns = [_pattern(key, type_) for key in corners]

    def even() -> Words:
        # 53 bits are as many as a share of 1 has; the ends are numbers, so rounding stays between.
        share = (words >> np.uint64(11)).astype(np.float64) / (1 << 53)
        found = low * (1 - share) + high * share
        return np.where(choices < _CORNERS_IN_256, _of(patterns, choices), _nearest(found, type_))

    def limits() -> Words:
        return _of(patterns, words)

    def mixed() -> Words:
        # Modulo 2**64, as all that is negative here.
        keys = (words % np.uint64(last - first + 1) + np.uint64(first % (1 << 64))).view(np.int64)
        magnitudes = np.abs(keys).astype(np.uint64)
        return np.where(keys < 0, magnitudes | np.uint64(type_.sign_bit), magnitudes)

    return {"full": even, "small": even, "limits": limits, "mixed": mixed}


def _fields(type_: FloatType, words: Words) -> tuple[Words, Words, Words]:
    """Return signs in their place, bits to choose by, and digits."""
    negative = (words >> np.uint64(63)) * np.uint64(type_.sign_bit)
    # The digits are the low bits of a word, and no format has more than 52 of them.
    return (
        negative,
        words >> np.uint64(53) & np.uint64(1023),
        words & np.uint64((1 << type_.fraction_bits) - 1),
    )


def _of(patterns: Sequence[int], choices: npt.NDArray[np.unsignedinteger]) -> Words:
    table = np.array(patterns, np.uint64)
    found: Words = table[(choices % np.array(len(patterns), choices.dtype)).astype(np.intp)]
    return found


def _corners(type_: FloatType) -> list[int]:
    """Return the positive finite numbers at which something changes."""
    f, one = type_.fraction_bits, type_.bias << type_.fraction_bits
    # The last place of 1, and half of it; the numbers from which on the last place is 1, and 2.
    powers = [type_.bias + step for step in (-f - 1, -f, f, f + 1)]
    around = [e << f for e in powers if 0 < e < 2 * type_.bias]
    subnormal = [0, 1, 2, (1 << f) - 1]
    normal = [1 << f, (1 << f) + 1, one - 1, one, one + 1, one | 1 << (f - 1), one + (1 << f)]
    return [*subnormal, *normal, *around, *(p + 1 for p in around), type_.infinity - 1]


def _corner_keys(type_: FloatType) -> list[int]:
    corners = _corners(type_)
    return [*corners, *(-corner for corner in corners)]


def _nearest(values: npt.NDArray[np.float64], type_: FloatType) -> Words:
    """Return the patterns of the numbers that are nearest to some values."""
    dtype = element_dtype(type_)
    if dtype.kind == "f":
        return to_words(values.astype(dtype)).astype(np.uint64)
    return np.array([pattern_of(float(value), type_) for value in values], np.uint64)


def _key(pattern: int, type_: FloatType) -> int:
    """Return an integer that is ordered as the numbers are; both zeros are 0."""
    magnitude = pattern & ~type_.sign_bit
    return -magnitude if pattern & type_.sign_bit else magnitude


def _pattern(key: int, type_: FloatType) -> int:
    return key if key >= 0 else type_.sign_bit | -key


def _float(pattern: int, type_: FloatType) -> float:
    return float(to_fraction(pattern, type_))
