"""cocotb bench of an index unit: what it issues, against a model that enumerates the box."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

EXTENTS = tuple(int(extent) for extent in os.environ["EXTENTS"].split(","))
II = int(os.environ["II"])
LATENCY = int(os.environ["LATENCY"])


class Monitor:
    """Note cycle and counters of every issue, and that no output is ever unknown after reset."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.seen: list[tuple[int, tuple[int, ...]]] = []

    def sample(self, cycle: int) -> None:
        counters = [getattr(self.dut, f"counter_{n}") for n in range(len(EXTENTS))]
        for signal in (self.dut.valid, self.dut.step, *counters):
            assert signal.value.is_resolvable, f"{signal._name} is {signal.value}"
        if int(self.dut.valid.value):
            self.seen.append((cycle, tuple(int(counter.value) for counter in counters)))


def model(first: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return (cycle, counters) of a run whose first issue is in cycle `first`."""
    points = product(*map(range, EXTENTS))
    return [(first + II * rank, counters) for rank, counters in enumerate(points)]


@cocotb.test()
async def enumerates_the_box_after_reset_and_again(dut: Any) -> None:
    Clock(dut.clk, 10, unit="ns").start()
    dut.begin.value = 0
    dut.rst.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    first = model(1 + LATENCY)
    second = model(first[-1][0] + 3 + LATENCY)
    begins = {0, second[0][0] - 1 - LATENCY}
    monitor = Monitor(dut)
    for cycle in range(second[-1][0] + 4):
        dut.begin.value = cycle in begins
        monitor.sample(cycle)
        await FallingEdge(dut.clk)
    assert monitor.seen == first + second
