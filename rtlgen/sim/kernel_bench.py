"""The cocotb test that carries out a job on a generated circuit.

It runs inside the simulator. A broken rule is an answer, not a failed test: it is written to the
result, where the caller turns it into a diagnostic.
"""

from __future__ import annotations

import os
from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.task import Task
from cocotb.triggers import FallingEdge, First

from rtlgen.sim.host import (
    CLOCK_PERIOD_NS,
    Dut,
    HangError,
    Host,
    Outputs,
    PinHost,
    ProtocolError,
    UnknownOutputError,
)
from rtlgen.sim.job import (
    DRIVERS_VARIABLE,
    FOLDER_VARIABLE,
    Job,
    MemoryLeft,
    Outcome,
    Result,
    RunRecord,
)
from rtlgen.sim.memory_drivers import AxiMemory, FixedMemory
from rtlgen.sim.off_chip import AccessError
from rtlgen.sim.register_host import RegisterHost
from rtlgen.sim.streams import Streams

_OUTCOMES: dict[type[Exception], Outcome] = {
    HangError: "hang",
    ProtocolError: "protocol",
    UnknownOutputError: "unknown",
    AccessError: "memory",
}

_NOTHING = MemoryLeft(np.zeros(0, np.uint8), np.zeros(0, np.uint32))


class KernelBench:
    """A generated circuit with drivers on its ports."""

    def __init__(self, dut: Dut, job: Job) -> None:
        self.job = job
        manifest = job.manifest
        self.outputs = Outputs(dut, manifest, job.four_state)
        self.host: Host
        if manifest.registers is None:
            self.host = PinHost(dut, manifest, self.outputs)
        else:
            driver = Path(os.environ[DRIVERS_VARIABLE]) / f"{manifest.name}.py"
            self.host = RegisterHost(dut, manifest, self.outputs, driver)
        self.memory: FixedMemory | AxiMemory | None = None
        if manifest.memory is not None:
            given = (dut, manifest, self.host, job.four_state)
            is_axi = manifest.memory.is_axi
            self.memory = AxiMemory(*given, job.axi) if is_axi else FixedMemory(*given)
        self.streams: Streams | None = None
        if manifest.streams:
            self.streams = Streams(dut, manifest, job.four_state, job.axi.pauses)
        self.runs: list[RunRecord] = []
        self.images: list[list[list[int]]] = []
        self.left: list[MemoryLeft] = []
        self.repeatable = True

    async def carry_out(self) -> None:
        """Reset once, then load, run and read back each data set, as often as the job says."""
        await self.host.reset()
        tasks: list[Task[None]] = []
        if self.memory is not None:
            tasks.append(cocotb.start_soon(self.memory.serve()))
        if self.streams is not None:
            host = self.host
            serves = self.streams.serve(host.clock, lambda: host.cycle)
            tasks.append(cocotb.start_soon(serves))
        if not tasks:
            await self._run_all()
            return
        # Whichever ends first: memory and streams do, if the circuit breaks one of their rules.
        tasks.append(cocotb.start_soon(self._run_all()))
        await First(*tasks)
        for task in tasks:
            task.cancel()

    async def _run_all(self) -> None:
        for _ in range(self.job.runs):
            for number in range(self.job.data_sets):
                await self._run(number)

    async def _run(self, number: int) -> None:
        job, manifest = self.job, self.job.manifest
        words = {name: rows[number].tolist() for name, rows in job.words.items()}
        await self.host.load([words[array.name] for array in manifest.held_arrays])
        if self.streams is not None:
            self.streams.load([words[array.name] for array in manifest.streams])
            # A source that never waits offers its first word with the start.
            await FallingEdge(self.host.clock)
        if self.memory is not None and job.memory is not None:
            self.memory.contents.load(job.memory[number])
        cycles = await self.host.run(job.scalars[number], job.limit_cycles)
        held = await self.host.read()
        names = [array.name for array in manifest.held_arrays]
        if self.streams is not None:
            held += await self.streams.read(self.host.clock)
            names += [array.name for array in manifest.streams]
        found = dict(zip(names, held, strict=True))
        images = [found[array.name] for array in manifest.host_arrays]
        self.outputs.check("while idle")
        self._keep(number, images, self._record(cycles))

    def _keep(self, number: int, images: list[list[int]], record: RunRecord) -> None:
        """Keep what a run has left, and compare it with what an earlier one has."""
        left = _NOTHING if self.memory is None else self.memory.contents.left()
        if len(self.images) < self.job.data_sets:
            self.images.append(images)
            self.left.append(left)
        else:
            same = images == self.images[number] and record == self.runs[number]
            if not same or not np.array_equal(left.bytes, self.left[number].bytes):
                self.repeatable = False
            self.images[number] = images
            self.left[number] = left
        self.runs.append(record)

    def _record(self, cycles: int) -> RunRecord:
        error = self.memory.error(self.host.told) if isinstance(self.memory, AxiMemory) else None
        return RunRecord(cycles, self.host.returned, self.host.checksum, error)

    def result(self, outcome: Outcome, message: str) -> Result:
        """Return what has been found out so far."""
        words = {
            array.name: np.array(
                [images[place] for images in self.images], dtype=f"u{array.element_bytes}"
            )
            for place, array in enumerate(self.job.manifest.host_arrays)
        }
        memory = None
        if self.memory is not None:
            shape = (-1, len(self.memory.contents.image))
            memory = MemoryLeft(
                np.array([left.bytes for left in self.left], np.uint8).reshape(shape),
                np.array([left.written for left in self.left], np.uint32).reshape(shape),
            )
        return Result(outcome, message, tuple(self.runs), words, self.repeatable, memory)


@cocotb.test()
async def carry_out_job(dut: Dut) -> None:
    """Carry out the job that the environment names, and write its result."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    job = Job.read(folder)
    # The first edge comes when all inputs are known.
    Clock(dut[job.manifest.clock], CLOCK_PERIOD_NS, unit="ns").start(start_high=False)
    bench = KernelBench(dut, job)
    outcome: Outcome = "done"
    message = ""
    try:
        await bench.carry_out()
    except tuple(_OUTCOMES) as error:
        outcome, message = _OUTCOMES[type(error)], str(error)
    bench.result(outcome, message).write(folder)
