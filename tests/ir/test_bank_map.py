"""Parts of arrays: each element at a place of its own, and nothing that is no box of the array.

Every element has a place of its own, and addresses are those of the elements.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.ir.bank_addresses import bank_address
from rtlgen.ir.bank_map import ArrayPart, BankMap, Cut
from rtlgen.ir.plan import AnyBank, InBank, IndexForm, PlanError


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


@st.composite
def bank_maps(draw: st.DrawFn) -> BankMap:
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    cuts = tuple(
        Cut(dim, draw(st.sampled_from(("cyclic", "block"))), draw(st.integers(2, 4)))
        for dim in range(len(shape))
        if draw(st.booleans())
    )
    return BankMap(shape, cuts)


@given(banks=bank_maps())
def test_every_element_has_a_place_of_its_own(banks: BankMap) -> None:
    numbers = np.arange(np.prod(banks.shape))
    bank, row = banks.of_elements(numbers)
    assert bank.max() < banks.banks and row.max() < banks.rows
    assert len(set(zip(bank.tolist(), row.tolist(), strict=True))) == len(numbers)
    assert sorted(banks.elements[banks.elements >= 0].tolist()) == numbers.tolist()


@given(banks=bank_maps())
def test_the_bank_is_the_parts_that_the_subscripts_are_in(banks: BankMap) -> None:
    for index in np.ndindex(banks.shape):
        expected = 0
        for cut in banks.cuts:
            size = -(-banks.shape[cut.dim] // cut.count)
            part = index[cut.dim] % cut.count if cut.kind == "cyclic" else index[cut.dim] // size
            expected = expected * cut.count + part
        assert banks.of_subscripts(index)[0] == expected


@given(banks=bank_maps(), data=st.data())
def test_an_address_names_the_place_of_its_element(banks: BankMap, data: st.DataObject) -> None:
    extents = tuple(data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=2)))
    small = st.integers(-4, 8)
    forms = [
        IndexForm((data.draw(small), data.draw(small)), data.draw(st.integers(0, 9)))
        for _ in banks.shape
    ]
    found = bank_address(banks, forms, extents)
    if found is None:
        assert not banks.is_sliced
        return
    for counters in np.ndindex(extents):
        index = [form.evaluate(counters) for form in forms]
        if not all(0 <= x < extent for x, extent in zip(index, banks.shape, strict=True)):
            continue
        assert located(found, counters) == banks.of_subscripts(index)
        assert banks.of_subscripts(index)[0] in found.banks


def located(address: InBank | AnyBank, counters: tuple[int, ...]) -> tuple[int, int]:
    """Return bank and row as the circuit takes them from the address."""
    if isinstance(address, InBank):
        return address.bank, address.row.evaluate(counters)
    place = address.place.evaluate(counters)
    bank, row = (
        sum((place >> bit & 1) << n for n, bit in enumerate(bits))
        for bits in (address.bank_bits, address.row_bits)
    )
    return bank, row


def test_an_access_that_steps_by_the_number_of_banks_stays_in_one() -> None:
    banks = BankMap((64,), (Cut(0, "cyclic", 8),))
    assert bank_address(banks, [IndexForm((8,), 3)], (8,)) == InBank(3, IndexForm((1,), 0))
    assert isinstance(bank_address(banks, [IndexForm((4,), 3)], (8,)), AnyBank)


def test_of_three_parts_no_bits_can_choose() -> None:
    banks = BankMap((12,), (Cut(0, "cyclic", 3),))
    assert bank_address(banks, [IndexForm((1,), 0)], (12,)) is None
    assert bank_address(banks, [IndexForm((3,), 1)], (4,)) == InBank(1, IndexForm((1,), 0))


def test_an_access_within_a_block_stays_in_it() -> None:
    banks = BankMap((4, 6), (Cut(1, "block", 2),))
    assert bank_address(banks, [IndexForm((1, 0)), IndexForm((0, 1), 3)], (4, 3)) == InBank(
        1, IndexForm((3, 1), 0)
    )


@pytest.mark.parametrize(
    "cuts",
    [
        (Cut(1, "cyclic", 2),),
        (Cut(0, "cyclic", 2), Cut(0, "block", 2)),
        (Cut(0, "cyclic", 65),),
    ],
)
def test_cuts_that_do_not_fit_are_refused(cuts: tuple[Cut, ...]) -> None:
    with pytest.raises(PlanError):
        BankMap((100,), cuts)
