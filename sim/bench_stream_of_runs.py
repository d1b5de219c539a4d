"""cocotb bench of a kernel whose arrays are there twice: one run behind the other.

While one runs, the results of the one before are read, and the data of the next one written.
`start` stays high, so that nothing but the kernel decides when the next one begins.
"""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.simtime import get_sim_time
from cocotb.triggers import FallingEdge

from rtlgen.manifest.file import read_manifest
from rtlgen.sim.host import CLOCK_PERIOD_NS, HostPort, read_arrays, write_arrays

FOLDER = Path(os.environ["FOLDER"])


def words_of(file: str, number: int, name: str, size: int) -> list[int]:
    """Return the words of an array in a data set."""
    with np.load(FOLDER / f"{file}{number}.npz") as archive:
        words: list[int] = np.ascontiguousarray(archive[name]).view(f"u{size}").reshape(-1).tolist()
    return words


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def runs_follow_each_other(dut: Any) -> None:
    manifest = read_manifest(FOLDER)
    runs = int(os.environ["RUNS"])
    clock = dut[manifest.clock]
    ports = [HostPort.of(dut, entry) for entry in manifest.host_arrays]
    results = [port for port in ports if "out" in port.entry.role]
    for port in manifest.ports:
        if port.direction == "in":
            dut[port.name].value = 0
    dut[manifest.reset].value = 1
    Clock(clock, CLOCK_PERIOD_NS, unit="ns").start(start_high=False)
    for _ in range(2):
        await FallingEdge(clock)
    dut[manifest.reset].value = 0
    await FallingEdge(clock)
    scalars = json.loads((FOLDER / "scalars.json").read_text(encoding="utf-8"))
    for scalar in manifest.scalars:
        dut[scalar.port].value = scalars[scalar.name]
    starts: list[float] = []
    done, idle = dut[manifest.done], dut[manifest.idle]

    async def load(number: int) -> None:
        sizes = [(port, port.entry.element_bytes) for port in ports]
        given = [(p, words_of("inputs", number, p.entry.name, size)) for p, size in sizes]
        await write_arrays(clock, given)

    async def require_right(number: int) -> None:
        for port, image in zip(results, await read_arrays(clock, results), strict=True):
            name, size = port.entry.name, port.entry.element_bytes
            assert image == words_of("expected", number, name, size), f"{name} of run {number}"

    await load(0)
    dut[manifest.start].value = 1
    for number in range(runs):
        assert idle.value, f"run {number} does not begin at once"
        starts.append(get_sim_time("ns"))
        await FallingEdge(clock)
        if number + 1 == runs:
            dut[manifest.start].value = 0
        if number:
            await require_right(number - 1)
        if number + 1 < runs:
            await load(number + 1)
        assert not idle.value and not done.value, "the run was over before the next data were there"
        while not done.value:
            await FallingEdge(clock)
        await FallingEdge(clock)
    dut[manifest.swap].value = 1
    await FallingEdge(clock)
    dut[manifest.swap].value = 0
    await require_right(runs - 1)
    apart = {round((after - before) / CLOCK_PERIOD_NS) for before, after in pairwise(starts)}
    (FOLDER / "apart.json").write_text(json.dumps(sorted(apart)), encoding="utf-8")
