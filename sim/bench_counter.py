"""cocotb tests of a counter; one of them is wrong on purpose."""

from __future__ import annotations

import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

STEP_VARIABLE = "EXPECTED_STEP"


@cocotb.test()
async def counts_by_the_expected_step(dut: Any) -> None:
    step = int(os.environ[STEP_VARIABLE])
    Clock(dut.clk, 10, unit="ns").start()
    dut.rst.value = 1
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    for cycle in range(5):
        assert dut.count.value == cycle * step
        assert dut.doubled.value == 2 * cycle * step, "an internal signal can be reached"
        await RisingEdge(dut.clk)
        await FallingEdge(dut.clk)
