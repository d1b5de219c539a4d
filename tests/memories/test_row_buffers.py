"""The bits of subscripts that tell values apart, against all other choices of bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from rtlgen.memories.folds import fewest_bits

SHAPE = (8, 8)

Values = Sequence[tuple[tuple[int, int], int]]
"""Values in the order of their stores, one a cycle: the element of each, and how long it lives."""


def clashes(values: Values, bits: Sequence[int]) -> list[tuple[int, ...]]:
    """Return how far values are apart that share a place while the first of them is alive."""
    found = []
    for first, (element, life) in enumerate(values):
        for other, _ in values[first + 1 : first + 1 + life]:
            if all((a - b) % (1 << w) == 0 for a, b, w in zip(element, other, bits, strict=True)):
                found.append(tuple(b - a for a, b in zip(element, other, strict=True)))
    return found


VALUES = st.lists(
    st.tuples(st.tuples(st.integers(0, 7), st.integers(0, 7)), st.integers(0, 6)),
    min_size=1,
    max_size=20,
    unique_by=lambda value: value[0],
)


@given(VALUES)
def test_no_fewer_bits_of_a_subscript_keep_all_values(values: Values) -> None:
    bits = fewest_bits(SHAPE, lambda tried: clashes(values, tried))
    assert not clashes(values, bits)
    # The last subscript has the fewest bits that are enough beside all of the others, and so on.
    for place in range(len(bits)):
        fewer = [*(3 for _ in bits[:place]), bits[place] - 1, *bits[place + 1 :]]
        assert bits[place] == 0 or clashes(values, fewer)


def test_rows_that_are_alive_together_are_told_apart_by_the_low_bits_of_their_number() -> None:
    every = list(product(range(8), range(8)))
    # Each is read by the one a row and an element behind it.
    assert fewest_bits(SHAPE, lambda bits: clashes([(e, 9) for e in every], bits)) == (1, 3)
    assert fewest_bits(SHAPE, lambda bits: clashes([(e, 17) for e in every], bits)) == (2, 3)
    assert fewest_bits(SHAPE, lambda bits: clashes([(e, 7) for e in every], bits)) == (0, 3)
