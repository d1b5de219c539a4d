"""A part of an array that has a memory of its own besides: a box of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

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
