"""Where an element is, from its number in C's order: what the host and the checksum unit ask with.

With powers of two, and dimensions that are full, that is the choice of wires. Other numbers are
divided by products with a reciprocal, in the cycle of the address.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Signal, Value

from rtlgen.hw.constant_product import constant_product
from rtlgen.ir.bank_map import BankMap
from rtlgen.ir.plan import address_bits
from rtlgen.ir.reciprocal import reciprocal
from rtlgen.ir.scop import row_major_strides


def bank_and_row(m: Module, banks: BankMap, number: Value, name: str) -> tuple[Value, Value]:
    """Return the bank and the row of an element, in the cycle in which its number is there."""
    if not banks.cuts:
        return Const(0, 1), number
    if banks.is_sliced and banks.place_strides == row_major_strides(banks.shape):
        return chosen_wires(number, banks.bank_bits), chosen_wires(number, banks.row_bits)
    subscripts: list[Value] = []
    for extent in reversed(banks.shape):
        number, subscript = quotient_and_remainder(number, extent)
        subscripts.insert(0, subscript)
    bank, row = _of_subscripts(banks, subscripts)
    shown = (
        Signal(address_bits(banks.banks), name=f"{name}_bank"),
        Signal(address_bits(banks.rows), name=f"{name}_row"),
    )
    m.d.comb += [shown[0].eq(bank), shown[1].eq(row)]
    return shown


def _of_subscripts(banks: BankMap, subscripts: Sequence[Value]) -> tuple[Value, Value]:
    bank: Value = Const(0, 1)
    row: Value = Const(0, 1)
    rests = list(subscripts)
    for cut in banks.cuts:
        extent = banks.shape[cut.dim]
        size = cut.count if cut.kind == "cyclic" else cut.part_extent(extent)
        quotient, remainder = quotient_and_remainder(subscripts[cut.dim], size)
        digit, rest = (remainder, quotient) if cut.kind == "cyclic" else (quotient, remainder)
        bank = constant_product(bank, cut.count) + digit
        rests[cut.dim] = rest
    for rest, stride in zip(rests, banks.row_strides, strict=True):
        row = row + constant_product(rest, stride)
    return bank, row


def quotient_and_remainder(number: Value, divisor: int) -> tuple[Value, Value]:
    """Return both for an unsigned number, combinationally."""
    most = (1 << len(number)) - 1
    if divisor > most:
        return Const(0, 1), number
    bits = divisor.bit_length() - 1
    if divisor == 1 << bits:
        return number[bits:], number[:bits]
    exact = reciprocal(divisor, most)
    product = constant_product(number, exact.factor)
    quotient = (product >> exact.shift)[: (most // divisor).bit_length()]
    remainder = (number - constant_product(quotient, divisor))[: (divisor - 1).bit_length()]
    return quotient, remainder


def chosen_wires(number: Value, bits: Sequence[int]) -> Value:
    """Return some bits of a number, the first one lowest; those that it does not have are 0."""
    wires = [number[bit] if bit < len(number) else Const(0, 1) for bit in bits]
    return Cat(*wires) if wires else Const(0, 1)
