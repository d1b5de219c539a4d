"""Where an element of an array is: in which bank and row of its memory, or in a part beside it.

An array is *cut* along some of its dimensions. A subscript x along a cut into N parts becomes a
digit, the number of the part, and a rest, the place in it:

    cyclic   digit = x mod N    rest = x div N
    block    digit = x div B    rest = x mod B      B = ceil(extent / N)

The digits together are the number of the bank, the first cut's weighing most. The *row* in the bank
numbers what is left: the dimensions that are not cut, row-major, and innermost the rests. An array
that is not cut has one bank, whose rows are its elements in C's order.

With powers of two all of this is the choice of bits from one number, the *place*, which is linear
in the subscripts: so an access may be to any bank. With other numbers each access must stay in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.ir.plan_error import PlanError


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """A box of an array. The place of an element is low bits of its subscripts, the last lowest.

    So many neighbours differ in these bits, wherever the box begins: no two have one place.

    Members
    -------
    array, shape: the whole. low, extents: the first subscript of each dimension, and how many.
    is_hosted: whether the host sees the array: what it writes there it writes here too.
    """

    array: str
    shape: tuple[int, ...]
    low: tuple[int, ...]
    extents: tuple[int, ...]
    is_hosted: bool

    def __post_init__(self) -> None:
        if not len(self.shape) == len(self.low) == len(self.extents) > 0:
            raise PlanError(f"a part of {self.array} has other dimensions than {self.shape}")
        for whole, low, extent in zip(self.shape, self.low, self.extents, strict=True):
            if extent < 1 or low < 0 or low + extent > whole:
                raise PlanError(f"{self.low} + {self.extents} is no part of {self.array}")

    @property
    def bits(self) -> tuple[int, ...]:
        """Low bits of each subscript in a place; a memory has two words at least."""
        found = [(extent - 1).bit_length() for extent in self.extents]
        if not any(found):
            found[-1] = 1
        return tuple(found)

    @property
    def words(self) -> int:
        return 1 << sum(self.bits)

    @property
    def size(self) -> int:
        """Elements of the whole array."""
        return prod(self.shape)

    def places(self, elements: Ints) -> Ints:
        """Return the places of elements of the whole array, row-major; -1: not in this part."""
        found = np.zeros_like(elements)
        inside = np.ones(len(elements), dtype=np.bool_)
        subscripts = np.unravel_index(np.clip(elements, 0, self.size - 1), self.shape)
        for values, low, extent, bits in zip(
            subscripts, self.low, self.extents, self.bits, strict=True
        ):
            inside &= (values >= low) & (values < low + extent)
            found = found << bits | values & ((1 << bits) - 1)
        return np.where(inside & (elements >= 0) & (elements < self.size), found, -1)


Number = TypeVar("Number", int, Ints)

CutKind: TypeAlias = Literal["cyclic", "block"]

MOST_BANKS = 64
"""Of one array: what chooses between more is slower and larger than what they save."""

MOST_OF_PAIRS = MOST_BANKS**2
"""Banks of what lanes write by one subscript and read by another: each is between two of them."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Dimension `dim` (from 0) of an array in `count` parts."""

    dim: int
    kind: CutKind
    count: int

    def __post_init__(self) -> None:
        if self.dim < 0 or self.count < 1:
            raise PlanError(f"a cut of dimension {self.dim} into {self.count} parts")

    def __str__(self) -> str:
        return f"{self.kind}:{self.dim + 1}:{self.count}"

    def part_extent(self, extent: int) -> int:
        """Return how many values of the subscript the largest part has."""
        return -(-extent // self.count)

    def is_power_of_two(self, extent: int) -> bool:
        """Return whether digit and rest are bits of the subscript."""
        return _is_power(self.count) and (
            self.kind == "cyclic" or _is_power(self.part_extent(extent))
        )

    def digit(self, subscript: Number, extent: int) -> Number:
        """Return the part in which a value of the subscript is."""
        if self.kind == "cyclic":
            return subscript % self.count
        return subscript // self.part_extent(extent)

    def rest(self, subscript: Number, extent: int) -> Number:
        """Return the place of a value in its part."""
        if self.kind == "cyclic":
            return subscript // self.count
        return subscript % self.part_extent(extent)


@dataclass(frozen=True)
class BankMap:
    """The banks of an array of `shape`, which is cut in at most one way along each dimension."""

    shape: tuple[int, ...]
    cuts: tuple[Cut, ...] = ()

    def __post_init__(self) -> None:
        dims = [cut.dim for cut in self.cuts]
        if len(set(dims)) != len(dims) or any(dim >= len(self.shape) for dim in dims):
            raise PlanError(f"cuts of dimensions {dims} do not fit {self.shape}")
        if self.banks > MOST_OF_PAIRS or any(cut.count > MOST_BANKS for cut in self.cuts):
            raise PlanError(f"{self.banks} banks are too many")

    @property
    def banks(self) -> int:
        return prod(cut.count for cut in self.cuts)

    @cached_property
    def _uncut(self) -> tuple[int, ...]:
        cut = {cut.dim for cut in self.cuts}
        return tuple(dim for dim in range(len(self.shape)) if dim not in cut)

    @cached_property
    def _rests(self) -> tuple[int, ...]:
        """Extents of the rests in a row, one a cut; all but the first are powers of two."""
        parts = [cut.part_extent(self.shape[cut.dim]) for cut in self.cuts]
        return (*parts[:1], *(1 << (part - 1).bit_length() for part in parts[1:]))

    @property
    def rows(self) -> int:
        """Elements that a bank has room for."""
        return prod(self.shape[dim] for dim in self._uncut) * prod(self._rests)

    @cached_property
    def row_strides(self) -> tuple[int, ...]:
        """What a step of each dimension, or of the rest of a cut one, moves in the bank."""
        return self._strides(self._rests)

    @cached_property
    def place_strides(self) -> tuple[int, ...]:
        """What a step of each dimension moves the place by."""
        return self._strides([r * c.count for r, c in zip(self._rests, self.cuts, strict=True)])

    def _strides(self, cut_extents: Sequence[int]) -> tuple[int, ...]:
        strides, step = [0] * len(self.shape), 1
        for cut, extent in zip(reversed(self.cuts), reversed(cut_extents), strict=True):
            strides[cut.dim] = step
            step *= extent
        for dim in reversed(self._uncut):
            strides[dim] = step
            step *= self.shape[dim]
        return tuple(strides)

    @property
    def places(self) -> int:
        """What every place is below."""
        return self.banks * self.rows

    @property
    def is_sliced(self) -> bool:
        """Whether the bank of a place, and the row, are bits of it."""
        return all(cut.is_power_of_two(self.shape[cut.dim]) for cut in self.cuts)

    @cached_property
    def bank_bits(self) -> tuple[int, ...]:
        """The bits of a place that number its bank, lowest first, where they do."""
        found: list[int] = []
        for cut, rest in zip(reversed(self.cuts), reversed(self._rests), strict=True):
            low = self.place_strides[cut.dim].bit_length() - 1
            if cut.kind == "block":
                low += rest.bit_length() - 1
            found += range(low, low + cut.count.bit_length() - 1)
        return tuple(found)

    @cached_property
    def row_bits(self) -> tuple[int, ...]:
        """The other bits of a place, lowest first: they number the row."""
        width = max(1, (self.places - 1).bit_length())
        return tuple(bit for bit in range(width) if bit not in self.bank_bits)

    def of_subscripts(self, subscripts: Sequence[Number]) -> tuple[Number, Number]:
        """Return bank and row of an element."""
        bank: Number = subscripts[0] * 0
        row: Number = bank
        for cut in self.cuts:
            extent, value = self.shape[cut.dim], subscripts[cut.dim]
            bank = bank * cut.count + cut.digit(value, extent)
            row = row + cut.rest(value, extent) * self.row_strides[cut.dim]
        for dim in self._uncut:
            row = row + subscripts[dim] * self.row_strides[dim]
        return bank, row

    def of_elements(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return bank and row of elements, given by their row-major numbers."""
        if not self.cuts:
            return np.zeros_like(numbers), numbers
        subscripts: list[Ints] = []
        for extent in reversed(self.shape):
            subscripts.insert(0, numbers % extent)
            numbers = numbers // extent
        return self.of_subscripts(subscripts)

    @cached_property
    def elements(self) -> Ints:
        """The row-major number of the element in each (bank, row), -1 where there is none."""
        found = np.full((self.banks, self.rows), -1, dtype=np.int64)
        numbers = np.arange(prod(self.shape), dtype=np.int64)
        found[self.of_elements(numbers)] = numbers
        return found


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0


@lru_cache(maxsize=256)
def bank_map(shape: tuple[int, ...], cuts: tuple[Cut, ...]) -> BankMap:
    """Return the banks of an array, computed once."""
    return BankMap(shape, cuts)
