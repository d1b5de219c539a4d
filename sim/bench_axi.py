"""cocotb bench of a circuit behind an AXI4 port: cocotbext-axi's RAM, with pauses by chance."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.axi import AxiBus, AxiRam

from rtlgen.manifest.file import read_manifest
from rtlgen.sim.host import CLOCK_PERIOD_NS, Control, Outputs

FOLDER = Path(os.environ["FOLDER"])
SEEDS = [int(seed) for seed in os.environ["SEEDS"].split(",")]
"""Of the pauses of each run; 0: none."""
LIMIT_CYCLES = 100_000


def pauses(rng: random.Random) -> Iterator[bool]:
    """Yield whether a channel pauses, often in some stretches and rarely in others."""
    while True:
        share = rng.choice((0.0, 0.2, 0.5, 0.9))
        for _ in range(rng.randrange(1, 60)):
            yield rng.random() < share


@cocotb.test()
async def computes_with_a_ram_that_pauses(dut: Any) -> None:
    manifest = read_manifest(FOLDER)
    images = np.load(FOLDER / "given.npy")
    size = 1 << max(12, (images.shape[1] - 1).bit_length())
    Clock(dut[manifest.clock], CLOCK_PERIOD_NS, unit="ns").start()
    names = [port.name for port in manifest.ports if port.direction == "out"]
    control = Control(dut, manifest, Outputs(dut, names, four_state=True))
    # In reset every input is 0; from then on the RAM drives its own.
    await control.reset()
    ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut[manifest.clock], size=size)
    control.sampled_with_start.append((dut.mem_base, 5 * size, 0xFFFFFFFF))
    write, read = ram.write_if, ram.read_if
    channels = (
        write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel
    )  # fmt: skip
    left, cycles = [], []
    await FallingEdge(dut[manifest.clock])
    for seed in SEEDS:
        for number, channel in enumerate(channels):
            rng = random.Random(f"{seed}-{number}")
            channel.set_pause_generator(pauses(rng) if seed else None)
            channel.pause = False
        for image in images:
            ram.write(0, image.tobytes())
            cycles.append(await control.run([], LIMIT_CYCLES))
            assert not dut.mem_error.value
            left.append(np.frombuffer(ram.read(0, len(image)), np.uint8))
            await FallingEdge(dut[manifest.clock])
    np.save(FOLDER / "left.npy", np.array(left))
    np.save(FOLDER / "cycles.npy", np.array(cycles))
