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
from rtlgen.manifest.memory_map import AXI_ADDRESS_BITS, AXI_BASE_BYTES, MemoryMap
from rtlgen.sim.host import CLOCK_PERIOD_NS, Control, Outputs

FOLDER = Path(os.environ["FOLDER"])
SEEDS = [int(seed) for seed in os.environ["SEEDS"].split(",")]
"""Of the pauses of each run; 0: none."""
LIMIT_CYCLES = 100_000
BEYOND = 5 << 32
"""Of the addresses; the RAM is at every multiple of its size."""
NOBODYS = 0x5A


class Places:
    """Where the arrays are in the RAM: in another order than in the map, and apart."""

    def __init__(self, memory: MemoryMap) -> None:
        self._places = []
        self.bases = {}
        end = AXI_BASE_BYTES
        for array in sorted(memory.arrays, key=lambda array: -array.base_bytes):
            self._places.append((array, end))
            assert array.base_port is not None
            self.bases[array.base_port] = BEYOND + end
            end += array.end_bytes - array.base_bytes
            end += AXI_BASE_BYTES + -end % AXI_BASE_BYTES
        self.size = 1 << (end - 1).bit_length()

    def spread(self, image: np.ndarray) -> np.ndarray:
        """Return what is in the RAM for an image of the map."""
        ram = np.full(self.size, NOBODYS, np.uint8)
        for array, first in self._places:
            ram[first:][: array.end_bytes - array.base_bytes] = image[
                array.base_bytes : array.end_bytes
            ]
        return ram

    def gathered(self, ram: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Return an image with the arrays that are in the RAM."""
        found = image.copy()
        for array, first in self._places:
            size = array.end_bytes - array.base_bytes
            found[array.base_bytes : array.end_bytes] = ram[first:][:size]
        return found


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
    assert manifest.memory is not None
    places = Places(manifest.memory)
    Clock(dut[manifest.clock], CLOCK_PERIOD_NS, unit="ns").start()
    control = Control(dut, manifest, Outputs(dut, manifest, four_state=True))
    # In reset every input is 0; from then on the RAM drives its own.
    await control.reset()
    ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut[manifest.clock], size=places.size)
    for port, address in places.bases.items():
        control.sampled_with_start.append((dut[port], address, (1 << AXI_ADDRESS_BITS) - 1))
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
            ram.write(0, places.spread(image).tobytes())
            cycles.append(await control.run([], LIMIT_CYCLES))
            assert not dut.mem_error.value
            found = np.frombuffer(ram.read(0, places.size), np.uint8)
            left.append(places.gathered(found, image))
            # Between arrays nothing has changed.
            np.testing.assert_array_equal(places.spread(left[-1]), found)
            await FallingEdge(dut[manifest.clock])
    np.save(FOLDER / "left.npy", np.array(left))
    np.save(FOLDER / "cycles.npy", np.array(cycles))
