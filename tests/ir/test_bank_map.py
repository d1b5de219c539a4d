"""Every element has a place of its own, and addresses are those of the elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.ir.bank_addresses import bank_address
from rtlgen.ir.bank_map import BankMap, Cut
from rtlgen.ir.plan import AnyBank, InBank, IndexForm, PlanError


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
