"""The circuit finds the bank and the row of an element by its number in C's order."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from rtlgen.hw.memory import bank_and_row
from rtlgen.ir.bank_map import BankMap, Cut
from rtlgen.ir.plan import address_bits


@pytest.mark.parametrize(
    ("shape", "cuts"),
    [
        ((16,), (Cut(0, "cyclic", 4),)),
        ((13,), (Cut(0, "cyclic", 3),)),
        ((13,), (Cut(0, "block", 4),)),
        ((7, 5), (Cut(0, "cyclic", 2),)),
        ((7, 5), (Cut(0, "block", 2), Cut(1, "cyclic", 3))),
        ((8, 8), (Cut(0, "cyclic", 2), Cut(1, "block", 4))),
        ((3, 4, 5), (Cut(1, "cyclic", 4),)),
        ((3, 3), (Cut(0, "cyclic", 3), Cut(1, "cyclic", 3))),
        ((6,), ()),
    ],
    ids=str,
)
def test_it_is_where_the_map_says(shape: tuple[int, ...], cuts: tuple[Cut, ...]) -> None:
    banks, count = BankMap(shape, cuts), int(np.prod(shape))
    m = Module()
    number = Signal(address_bits(count))
    shown = [Signal(16), Signal(16)]
    place = bank_and_row(m, banks, number, "host")
    m.d.comb += [signal.eq(value) for signal, value in zip(shown, place, strict=True)]
    expected = banks.of_elements(np.arange(count))

    async def check(ctx) -> None:  # type: ignore[no-untyped-def]
        for element in range(count):
            ctx.set(number, element)
            found = [ctx.get(signal) for signal in shown]
            assert found == [int(values[element]) for values in expected]

    simulator = Simulator(m)
    simulator.add_testbench(check)
    simulator.run()
