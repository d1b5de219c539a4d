"""Random inputs: the same on every machine for a seed, of several kinds that show different faults.

    full      any value of the type: carries, signs, wrap-around
    small     -8 to 8: products fit, comparisons go both ways, sums come back above and below 0
    limits    the ends of the type, and what is next to them
    mixed     every number of bits is equally likely, so that large and small values meet
    by array  each array and scalar in a kind of its own, which differs from seed to seed

What these are of numbers is said in `number_data`.

The bytes come from SHAKE-128 of the seed and the array's name, not from a library's generator
whose stream may change between versions. In `full`, an eighth of the elements is drawn from the
corners of the type, where carries, signs and wrap-around go wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rtlgen.ir.scop import Scop
from rtlgen.ir.types import FloatType, IntType, NumberType
from rtlgen.verify.number_data import any_numbers, numbers_within
from rtlgen.verify.values import Elements, Limits, Value, element_dtype, stored_dtype

Kind: TypeAlias = Literal["full", "small", "limits", "mixed", "by array"]

KINDS: tuple[Kind, ...] = ("full", "small", "limits", "mixed")
"""Of the data sets that a seed stands for."""

_CORNERS_IN_256 = 32
_SMALL = 8
_WORD = 1 << 64
_Words: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the inputs of one run are made.

    Members
    -------
    limits: smallest and largest value of an array or scalar, by name, where it is not its type's.
    """

    kind: Kind
    seed: int
    limits: Mapping[str, Limits] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}, seed {self.seed}"

    def inputs(self, scop: Scop) -> dict[str, Elements | Value]:
        """Return contents for every array that is not local, and a value for every scalar.

        Arrays that are only written get contents too: an element that the program never writes
        must still be there after the run.
        """
        limited = replace(self, limits={**bit_field_limits(scop), **self.limits})
        inputs: dict[str, Elements | Value] = {}
        for array in scop.arrays:
            if array.role != "local":
                inputs[array.name] = limited._elements(
                    array.element, array.shape, array.name, array.told
                )
        for scalar in scop.scalars:
            limits = None if scalar.limits is None else self._meaningful(scalar.limits)
            value = limited._elements(scalar.type, (), scalar.name, limits)
            inputs[scalar.name] = int(value) if isinstance(scalar.type, IntType) else value[()]
        return inputs

    def _meaningful(self, limits: tuple[int, int]) -> Limits:
        """Return limits in which most values of a bound let a loop run; its type's end is rare."""
        low, high = limits
        return (low if self.kind == "limits" else min(max(low, -_SMALL), high)), high

    def _elements(
        self, element: NumberType, shape: tuple[int, ...], name: str, limits: Limits | None = None
    ) -> Elements:
        kind = self.kind
        if kind == "by array":
            digest = hashlib.shake_128(f"rtlgen kind {self.seed} {name}".encode()).digest(1)
            kind = KINDS[digest[0] % len(KINDS)]
        limits = self.limits.get(name, limits)
        if limits is None and kind == "full" and isinstance(element, IntType):
            return random_elements(element, shape, self.seed, name)
        count = int(np.prod(shape, dtype=np.int64))
        stream = _Stream(f"rtlgen {self.kind} {self.seed} {name} {element} {shape}", count)
        if isinstance(element, FloatType):
            words = stream.numbers(element, kind, limits)
        else:
            low, high = limits or (element.minimum, element.maximum)
            words = _MAKERS[kind](stream, int(low), int(high))
        unsigned = words.astype(f"u{element.width_bits // 8}")
        result: Elements = unsigned.view(element_dtype(element)).reshape(shape)
        return result


def longest_kind(scop: Scop) -> Kind:
    """Return the kind of the only data set that there is where one run takes long.

    Numbers of any size leave infinities and NaN where there are many operations.
    """
    types = [array.element for array in scop.arrays] + [scalar.type for scalar in scop.scalars]
    return "small" if any(isinstance(type_, FloatType) for type_ in types) else "full"


def bit_field_limits(scop: Scop) -> dict[str, Limits]:
    """Return the smallest and largest values that bit-fields hold, by the names of their arrays."""
    members = (member for record in scop.records for member in record.members)
    return {member.array: member.limits for member in members if member.limits is not None}


def random_inputs(scop: Scop, seed: int) -> dict[str, Elements | Value]:
    """Return inputs over the full range of every type."""
    return Recipe("full", seed).inputs(scop)


def random_elements(element: IntType, shape: tuple[int, ...], seed: int, name: str) -> Elements:
    """Return an array of `shape` that depends on all four arguments and on nothing else."""
    count = int(np.prod(shape, dtype=np.int64))
    width_bytes = element.width_bits // 8
    key = f"rtlgen {seed} {name} {element} {shape}".encode()
    stream = hashlib.shake_128(key).digest(count * (width_bytes + 2))
    choice, corner, value = np.split(np.frombuffer(stream, dtype=np.uint8), [count, 2 * count])
    dtype = stored_dtype(element)
    # The stream is little-endian by definition, whatever the machine is.
    values = value.view(dtype.newbyteorder("<")).astype(dtype)
    corners = _corners(element.minimum, element.maximum)
    if element.is_bool:
        values = values & 1
    drawn = np.array(corners, dtype=dtype)[corner % len(corners)]
    result: Elements = np.where(choice < _CORNERS_IN_256, drawn, values).reshape(shape)
    return result


class _Stream:
    """A choice of 8 bits and a word of 64 for each element. Values are modulo 2**64 on the way."""

    def __init__(self, key: str, count: int) -> None:
        stream = hashlib.shake_128(key.encode()).digest(9 * count)
        self.choices: npt.NDArray[np.uint8] = np.frombuffer(stream, np.uint8, count)
        self.words: _Words = np.frombuffer(stream, "<u8", count, count).astype(np.uint64)

    def within(self, low: int, high: int) -> _Words:
        """Return a number from `low` to `high` for each element."""
        span = high - low + 1
        words = self.words if span == _WORD else self.words % np.uint64(span)
        return words + np.uint64(low % _WORD)

    def numbers(self, type_: FloatType, kind: str, limits: Limits | None) -> _Words:
        """Return the pattern of a number for each element."""
        if limits is None:
            return any_numbers(type_, self.choices, self.words)[kind]()
        return numbers_within(type_, limits, self.choices, self.words)[kind]()

    def among(self, values: Collection[int]) -> _Words:
        """Return one of `values` for each element."""
        table = np.array([value % _WORD for value in sorted(values)], np.uint64)
        drawn: _Words = table[self.choices % len(table)]
        return drawn


def _full(stream: _Stream, low: int, high: int) -> _Words:
    corners = stream.among(_corners(low, high))
    return np.where(stream.choices < _CORNERS_IN_256, corners, stream.within(low, high))


def _small(stream: _Stream, low: int, high: int) -> _Words:
    nearest = min(max(0, low), high)
    return stream.within(max(low, nearest - _SMALL), min(high, nearest + _SMALL))


def _limits(stream: _Stream, low: int, high: int) -> _Words:
    return stream.among({min(low + 1, high), max(high - 1, low), *_corners(low, high)})


def _mixed(stream: _Stream, low: int, high: int) -> _Words:
    nearest = min(max(0, low), high)
    above, below = np.uint64(high - nearest), np.uint64(nearest - low)
    widths = (stream.choices >> 1) % (int(max(above, below)).bit_length() + 1)
    masks = np.array([(1 << width) - 1 for width in range(65)], np.uint64)
    distances = stream.words & masks[widths]
    # What one side does not have is on the other.
    goes_down = np.where(stream.choices & 1 == 1, distances <= below, distances > above)
    distances = np.minimum(distances, np.where(goes_down, below, above))
    start = np.uint64(nearest % _WORD)
    found: _Words = np.where(goes_down, start - distances, start + distances)
    return found


_MAKERS: Mapping[Kind, Callable[[_Stream, int, int], _Words]] = {
    "full": _full,
    "small": _small,
    "limits": _limits,
    "mixed": _mixed,
}


def _corners(low: int, high: int) -> list[int]:
    """Return the values at which something changes, distinct."""
    return sorted({low, high, *(value for value in (-1, 0, 1) if low <= value <= high)})
