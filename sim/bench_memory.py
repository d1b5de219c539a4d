"""cocotb bench of a block RAM with a host port: random traffic against a model."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

DEPTH = int(os.environ["DEPTH"])
WIDTH = int(os.environ["WIDTH"])
SEED = int(os.environ["SEED"])


class Model:
    """The array, the RAM's output and the register behind it."""

    def __init__(self) -> None:
        self.words = [0] * DEPTH
        self.output = 0
        self.register = 0

    def clock(self, drive: dict[str, int]) -> None:
        """Take the values that the inputs have at a clock edge."""
        self.register = self.output
        idle = drive["idle"]
        host_reads = drive["host_en"] and not drive["host_we"]
        if host_reads if idle else drive["load_0_en"]:
            self.output = self.words[drive["host_addr"] if idle else drive["load_0_addr"]]
        if idle and drive["host_en"]:
            lanes = [0xFF * (drive["host_we"] >> n & 1) << 8 * n for n in range(WIDTH // 8)]
            mask = sum(lanes)
            address, data = drive["host_addr"], drive["host_wdata"]
            self.words[address] = self.words[address] & ~mask | data & mask
        elif not idle and drive["store_0_en"]:
            self.words[drive["store_0_addr"]] = drive["store_0_data"]


def traffic(rng: random.Random) -> dict[str, int]:
    """Return random inputs, of which no read meets a write of the same element."""
    drive = {
        "idle": rng.random() < 0.5,
        "load_0_addr": rng.randrange(DEPTH),
        "load_0_en": rng.random() < 0.7,
        "store_0_addr": rng.randrange(DEPTH),
        "store_0_en": rng.random() < 0.7,
        "store_0_data": rng.getrandbits(WIDTH),
        "host_addr": rng.randrange(DEPTH),
        "host_en": rng.random() < 0.7,
        "host_we": rng.getrandbits(WIDTH // 8) if rng.random() < 0.5 else 0,
        "host_wdata": rng.getrandbits(WIDTH),
    }
    if drive["load_0_addr"] == drive["store_0_addr"]:
        drive["load_0_en"] = 0
    return {name: int(value) for name, value in drive.items()}


def every_byte(address: int, word: int) -> dict[str, int]:
    """Return inputs with which the host writes a whole element."""
    drive = dict.fromkeys(traffic(random.Random(0)), 0)
    written = {"idle": 1, "host_addr": address, "host_en": 1, "host_wdata": word}
    return {**drive, **written, "host_we": (1 << WIDTH // 8) - 1}


@cocotb.test()
async def does_what_the_model_does(dut: Any) -> None:
    rng = random.Random(SEED)
    model = Model()
    for name in traffic(rng):
        getattr(dut, name).value = 0
    dut.rst.value = 1
    Clock(dut.clk, 10, unit="ns").start()
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    # A RAM begins with anything: each element is written before it is read.
    loads = [every_byte(address, rng.getrandbits(WIDTH)) for address in range(DEPTH)]
    for cycle, drive in enumerate([*loads, *(traffic(rng) for _ in range(1500))]):
        for name, value in drive.items():
            getattr(dut, name).value = value
        await FallingEdge(dut.clk)
        model.clock(drive)
        assert dut.host_rdata.value.is_resolvable and dut.read_0.value.is_resolvable
        assert int(dut.host_rdata.value) == model.output, f"host in cycle {cycle}"
        assert int(dut.read_0.value) == model.register, f"kernel in cycle {cycle}"
