"""cocotb bench of an operation on floats: a result a cycle, against `ir.float_arithmetic`."""

from __future__ import annotations

import os
import random
from typing import Any, cast

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from rtlgen.ir.expr import FloatOp
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.types import FloatType

OP = cast("FloatOp", os.environ["OP"])
TYPE = FloatType(int(os.environ["EXPONENT_BITS"]), int(os.environ["FRACTION_BITS"]))
OPERANDS = int(os.environ["OPERANDS"])
LATENCY = int(os.environ["LATENCY"])
SAMPLES = 400


@cocotb.test()
async def begins_an_operation_every_cycle(dut: Any) -> None:
    Clock(dut.clk, 10, unit="ns").start()
    rng = random.Random(int(os.environ["SEED"]))
    samples = [
        tuple(rng.getrandbits(TYPE.width_bits) for _ in range(OPERANDS)) for _ in range(SAMPLES)
    ]
    dut.rst.value = 0
    await FallingEdge(dut.clk)
    for cycle in range(SAMPLES + LATENCY):
        for n, operand in enumerate(samples[min(cycle, SAMPLES - 1)]):
            getattr(dut, f"operand{n}").value = operand
        if cycle >= LATENCY:
            sample = samples[cycle - LATENCY]
            assert dut.result.value.is_resolvable, f"the result of {sample} is unknown"
            assert int(dut.result.value) == evaluate(OP, sample, TYPE, TYPE), sample
        await FallingEdge(dut.clk)
