"""Where an access finds its elements in an array in banks: one bank and its row, or any of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from rtlgen.ir.bank_map import BankMap, Cut
from rtlgen.ir.levels import AnyBank, InBank, IndexForm


def bank_address(
    banks: BankMap, subscripts: Sequence[IndexForm], extents: Sequence[int]
) -> InBank | AnyBank | None:
    """Return the address of an access; None if it is to banks between which no bits choose.

    Parameters
    ----------
    subscripts: forms of the counters of levels that stay below `extents`.
    """
    parts = [_part(banks, cut, subscripts[cut.dim], extents) for cut in banks.cuts]
    known = [part for part in parts if part is not None]
    if len(known) == len(parts):
        bank, rests = 0, list(subscripts)
        for cut, (digit, rest) in zip(banks.cuts, known, strict=True):
            bank = bank * cut.count + digit
            rests[cut.dim] = rest
        return InBank(bank, _weighted(rests, banks.row_strides))
    if not banks.is_sliced:
        return None
    digits = [
        tuple(range(cut.count)) if part is None else part[:1]
        for cut, part in zip(banks.cuts, parts, strict=True)
    ]
    place = _weighted(subscripts, banks.place_strides)
    return AnyBank(place, banks.bank_bits, banks.row_bits, tuple(_numbers(banks, digits)))


def _numbers(banks: BankMap, digits: Sequence[Sequence[int]]) -> Iterator[int]:
    for each in product(*digits):
        bank = 0
        for cut, digit in zip(banks.cuts, each, strict=True):
            bank = bank * cut.count + digit
        yield bank


def _part(
    banks: BankMap, cut: Cut, form: IndexForm, extents: Sequence[int]
) -> tuple[int, IndexForm] | None:
    """Return the digit of a subscript, where it has but one, and the rest as a form."""
    levels = zip(form.coefficients, extents, strict=True)
    moving = tuple(c if extent > 1 else 0 for c, extent in levels)
    if cut.kind == "cyclic":
        if any(c % cut.count for c in moving):
            return None
        quotient, digit = divmod(form.constant, cut.count)
        return digit, IndexForm(tuple(c // cut.count for c in moving), quotient)
    low, high = IndexForm(moving, form.constant).range(extents)
    size = cut.part_extent(banks.shape[cut.dim])
    part = low // size
    if part != high // size:
        return None
    return part % cut.count, IndexForm(moving, form.constant - part * size)


def _weighted(forms: Sequence[IndexForm], strides: Sequence[int]) -> IndexForm:
    return IndexForm(tuple(strides)).substitute(forms)
