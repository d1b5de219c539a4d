"""Parts of arrays: each element at a place of its own, and nothing that is no box of the array."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.ir.array_part import ArrayPart
from rtlgen.ir.plan import PlanError


@st.composite
def parts(draw: st.DrawFn) -> ArrayPart:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    low = [draw(st.integers(0, extent - 1)) for extent in shape]
    extents = [draw(st.integers(1, e - a)) for e, a in zip(shape, low, strict=True)]
    return ArrayPart("a", tuple(shape), tuple(low), tuple(extents), is_hosted=True)


@given(parts())
def test_each_element_of_a_part_has_a_place_of_its_own(part: ArrayPart) -> None:
    elements = np.arange(-1, part.size + 1)
    places = part.places(elements)
    inside = places[places >= 0]
    assert len(set(inside.tolist())) == len(inside) == prod(part.extents)
    assert inside.max() < part.words
    for element, index in enumerate(product(*map(range, part.shape))):
        box = zip(index, part.low, part.extents, strict=True)
        is_inside = all(low <= value < low + extent for value, low, extent in box)
        assert (places[element + 1] >= 0) == is_inside
    assert places[0] == places[-1] == -1


def test_a_place_is_low_bits_of_the_subscripts() -> None:
    part = ArrayPart("a", (8, 9), (3, 5), (2, 4), is_hosted=True)
    assert part.bits == (1, 2) and part.words == 8
    # a[3][5] and a[4][8]
    assert part.places(np.array([3 * 9 + 5, 4 * 9 + 8])).tolist() == [1 << 2 | 1, 0 << 2 | 0]


def test_a_single_element_takes_two_words() -> None:
    assert ArrayPart("a", (8, 9), (3, 5), (1, 1), is_hosted=True).words == 2


@pytest.mark.parametrize(
    ("low", "extents"), [((0,), (1,)), ((0, 0), (1, 0)), ((-1, 0), (1, 1)), ((0, 6), (1, 4))]
)
def test_what_is_no_box_of_the_array_is_refused(
    low: tuple[int, ...], extents: tuple[int, ...]
) -> None:
    with pytest.raises(PlanError, match="part of a"):
        ArrayPart("a", (8, 9), low, extents, is_hosted=False)
