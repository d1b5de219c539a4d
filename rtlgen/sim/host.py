"""Drivers for the ports that a generated circuit has (see rtlgen.manifest.contents), for cocotb.

All of them act on the falling clock edge: they change inputs and look at outputs half a cycle
away from the edge that matters, so no simulator's order of events makes a difference. What is
seen on a falling edge is what the next rising edge samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cocotb.simtime import get_sim_time
from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

from rtlgen.manifest.contents import ArrayEntry, Manifest
from rtlgen.manifest.memory_map import AXI_ADDRESS_BITS, AxiPorts

# What a name of the design stands for is known at run time only.
Dut: TypeAlias = Any
Handle: TypeAlias = Any

CLOCK_PERIOD_NS = 10


class HangError(Exception):
    """`done` did not come."""


class ProtocolError(Exception):
    """A control or host port did something that the manifest rules out."""


class UnknownOutputError(Exception):
    """An output port is X or Z after reset."""


class Outputs:
    """Watch that no output port is unknown.

    What a host port shows is known until the first start. From then on the circuit may read there,
    at places that are anything. `HostPort.word` looks at what the host has read.

    On a two-state simulator the checks can never fail, and are left out.
    """

    def __init__(self, dut: Dut, manifest: Manifest, four_state: bool) -> None:
        hosts = {entry.ports.rdata for entry in manifest.arrays if entry.ports is not None}
        names = [port.name for port in manifest.ports if port.direction == "out"]
        self._shown: list[tuple[str, Handle]] = [(name, dut[name]) for name in names]
        self._always = [(name, handle) for name, handle in self._shown if name not in hosts]
        self.four_state = four_state

    def check(self, when: str) -> None:
        """Raise UnknownOutputError when a bit of an output is X or Z, but of what is read."""
        self._check(self._always, when)

    def check_before_start(self, when: str) -> None:
        """Raise UnknownOutputError when a bit of any output is X or Z."""
        self._check(self._shown, when)

    def _check(self, outputs: Iterable[tuple[str, Handle]], when: str) -> None:
        if not self.four_state:
            return
        for name, handle in outputs:
            if not handle.value.is_resolvable:
                raise UnknownOutputError(f"output {name} is {handle.value!s} {when}")


def known_value(name: str, handle: Handle, four_state: bool, cycle: int) -> int:
    """Return the value of an output in a cycle of the run, or while idle, which is cycle 0.

    Raises
    ------
    UnknownOutputError: a bit is X or Z.
    """
    if four_state and not handle.value.is_resolvable:
        when = f"in cycle {cycle}" if cycle else "while idle"
        raise UnknownOutputError(f"output {name} is {handle.value!s} {when}")
    return int(handle.value)


@dataclass(slots=True)
class HostPort:
    """The memory port of one array. Words are bit patterns, not signed values."""

    entry: ArrayEntry
    addr: Handle
    en: Handle
    we: Handle
    wdata: Handle
    rdata: Handle

    @staticmethod
    def of(dut: Dut, entry: ArrayEntry) -> HostPort:
        """Return the port of `entry` on `dut`."""
        ports = entry.ports
        if ports is None:
            raise ValueError(f"array {entry.name} has no host port")
        names = (ports.addr, ports.en, ports.we, ports.wdata, ports.rdata)
        return HostPort(entry, *(dut[name] for name in names))

    def request_write(self, address: int, word: int) -> None:
        """Ask for all bytes of `word` to be written on the next rising edge."""
        self.addr.value = address
        self.en.value = 1
        self.we.value = (1 << self.entry.element_bytes) - 1
        self.wdata.value = word

    def request_read(self, address: int) -> None:
        """Ask for a word that `rdata` has from the next rising edge on."""
        self.addr.value = address
        self.en.value = 1
        self.we.value = 0

    def release(self) -> None:
        """Ask for nothing."""
        self.en.value = 0
        self.we.value = 0

    def word(self) -> int:
        """Return the word that was asked for.

        Raises
        ------
        UnknownOutputError: a bit is X or Z.
        """
        try:
            return int(self.rdata.value)
        except ValueError:
            name = self.entry.name
            raise UnknownOutputError(
                f"output {self.rdata._name} is {self.rdata.value!s} where the host reads {name}"
            ) from None


async def write_arrays(clock: Handle, contents: Sequence[tuple[HostPort, Sequence[int]]]) -> None:
    """Write every word of every array, all ports side by side. Starts on a falling edge."""
    for address in range(max((len(words) for _, words in contents), default=0)):
        for port, words in contents:
            if address < len(words):
                port.request_write(address, words[address])
            else:
                port.release()
        await FallingEdge(clock)
    for port, _ in contents:
        port.release()


async def read_arrays(clock: Handle, ports: Sequence[HostPort]) -> list[list[int]]:
    """Return every word of every array, all ports side by side. Starts on a falling edge.

    Raises
    ------
    ProtocolError: `rdata` does not hold while `en` is low.
    """
    images: list[list[int]] = [[] for _ in ports]
    for address in range(max((port.entry.depth for port in ports), default=0)):
        for port in ports:
            if address < port.entry.depth:
                port.request_read(address)
            else:
                port.release()
        await FallingEdge(clock)
        for port, image in zip(ports, images, strict=True):
            if address < port.entry.depth:
                image.append(port.word())
    for port in ports:
        port.release()
    await FallingEdge(clock)
    for port, image in zip(ports, images, strict=True):
        if port.word() != image[-1]:
            raise ProtocolError(f"{port.entry.name}: read data does not hold while enable is low")
    return images


@dataclass(frozen=True, slots=True)
class Told:
    """What a circuit says of the first answer of the memory that was an error."""

    error: bool
    address: int
    write: int
    response: int


class RunClock:
    """The clock edges of a run, told from the simulated time."""

    def __init__(self) -> None:
        self._start_ns: float | None = None

    def begin(self) -> None:
        """Say, on a falling edge, that the next rising one sees the start."""
        self._start_ns = get_sim_time("ns") + CLOCK_PERIOD_NS / 2

    def end(self) -> None:
        """Say that nothing runs."""
        self._start_ns = None

    @property
    def cycle(self) -> int:
        """The number of the clock edge that comes next, the one that sees start being 0.

        0 also while nothing runs.
        """
        if self._start_ns is None:
            return 0
        since = get_sim_time("ns") - self._start_ns
        return round((since + CLOCK_PERIOD_NS / 2) / CLOCK_PERIOD_NS)


def inputs_of(dut: Dut, manifest: Manifest) -> list[Handle]:
    """Return all inputs but the clock."""
    ports = (port for port in manifest.ports if port.direction == "in")
    return [dut[port.name] for port in ports if port.name != manifest.clock]


class Control:
    """Reset, start, and the wait for done, with the manifest's rules checked on the way.

    Members
    -------
    sampled_with_start: inputs besides scalars that have a value at every start: handle, value and
        mask of the port's width.
    """

    def __init__(self, dut: Dut, manifest: Manifest, outputs: Outputs) -> None:
        self.clock: Handle = dut[manifest.clock]
        self._inputs = inputs_of(dut, manifest)
        self._reset: Handle = dut[manifest.reset]
        self._start: Handle = dut[manifest.start]
        self._swap: Handle | None = dut[manifest.swap] if manifest.swap is not None else None
        self._done: Handle = dut[manifest.done]
        self._idle: Handle = dut[manifest.idle]
        self._scalars: list[tuple[Handle, int]] = [
            (dut[scalar.port], (1 << scalar.width) - 1) for scalar in manifest.scalars
        ]
        self.sampled_with_start: list[tuple[Handle, int, int]] = []
        self._outputs = outputs
        self.run_clock = RunClock()

    @property
    def cycle(self) -> int:
        """See `RunClock`."""
        return self.run_clock.cycle

    async def reset(self) -> None:
        """Hold reset for two cycles with every other input 0; end on a falling edge, idle."""
        for handle in self._inputs:
            handle.value = 0
        self._reset.value = 1
        await FallingEdge(self.clock)
        await FallingEdge(self.clock)
        self._outputs.check_before_start("in reset")
        self._reset.value = 0
        await FallingEdge(self.clock)
        self._outputs.check_before_start("after reset")
        self._expect_idle("after reset")

    async def run(self, scalars: Sequence[int], limit_cycles: int) -> int:
        """Start, wait for done, and return the number of cycles between their clock edges.

        Starts on a falling edge, and ends on one with the circuit idle again.

        Raises
        ------
        HangError: `done` does not come within `limit_cycles`.
        ProtocolError: `done` or `idle` is not what the manifest says.
        """
        given = [
            *(
                (handle, value, mask)
                for (handle, mask), value in zip(self._scalars, scalars, strict=True)
            ),
            *self.sampled_with_start,
        ]
        for handle, value, _ in given:
            handle.value = value
        self._start.value = 1
        self.run_clock.begin()
        await FallingEdge(self.clock)
        self._start.value = 0
        # They are captured at start: from here on they may be anything.
        for handle, value, mask in given:
            handle.value = ~value & mask
        wait = self._wait_checking if self._outputs.four_state else self._wait
        await wait(limit_cycles)
        cycles = self.cycle
        self.run_clock.end()
        await FallingEdge(self.clock)
        self._outputs.check("after done")
        self._expect_idle(f"in the cycle after done (cycle {cycles})")
        await self._take_copies()
        return cycles

    async def _take_copies(self) -> None:
        """Give the host the copies that the run has left."""
        if self._swap is not None:
            self._swap.value = 1
            await FallingEdge(self.clock)
            self._swap.value = 0

    async def _wait(self, limit_cycles: int) -> None:
        """Wait without a wake-up in every cycle."""
        while not self._done.value:
            self._expect_busy()
            left_cycles = limit_cycles + 1 - self.cycle
            if left_cycles <= 0:
                raise HangError(f"no done within {limit_cycles} cycles")
            await First(
                RisingEdge(self._done),
                RisingEdge(self._idle),
                Timer(left_cycles * CLOCK_PERIOD_NS, unit="ns"),
            )
            await FallingEdge(self.clock)
        self._expect_busy()

    async def _wait_checking(self, limit_cycles: int) -> None:
        """Wait, and look at every output in every cycle."""
        for cycle in range(1, limit_cycles + 1):
            self._outputs.check(f"in cycle {cycle}")
            self._expect_busy()
            if self._done.value:
                return
            await FallingEdge(self.clock)
        raise HangError(f"no done within {limit_cycles} cycles")

    def _expect_busy(self) -> None:
        if self._idle.value:
            raise ProtocolError(f"idle is high in cycle {self.cycle} of a run")

    def _expect_idle(self, when: str) -> None:
        if not self._idle.value:
            raise ProtocolError(f"idle is low {when}")
        if self._done.value:
            raise ProtocolError(f"done is high {when}")


class Host(ABC):
    """What drives a circuit. Images are words of arrays held on chip, in the order of the manifest.

    Members
    -------
    bases: of arrays off chip, the address of each, for the next run.
    returned, checksum: of the last run; None where there is none. told: of its memory.
    """

    def __init__(self, dut: Dut, manifest: Manifest) -> None:
        self._manifest = manifest
        self.clock: Handle = dut[manifest.clock]
        self.bases: dict[str, int] = {}
        self.returned: int | None = None
        self.checksum: int | None = None
        self.told = Told(False, 0, 0, 0)

    @property
    @abstractmethod
    def cycle(self) -> int:
        """See `RunClock`."""

    @abstractmethod
    async def reset(self) -> None:
        """Hold reset for some cycles with every other input 0; end on a falling edge, idle."""

    @abstractmethod
    async def load(self, images: Sequence[Sequence[int]]) -> None:
        """Write every word of every array on chip."""

    @abstractmethod
    async def run(self, scalars: Sequence[int], limit_cycles: int) -> int:
        """Start, wait for the end, and return the number of cycles.

        Raises
        ------
        HangError: it does not come within `limit_cycles`.
        ProtocolError: the circuit does what the manifest rules out.
        """

    @abstractmethod
    async def read(self) -> list[list[int]]:
        """Return every word of every array on chip."""


class PinHost(Host):
    """Drive a kernel by its pins."""

    def __init__(self, dut: Dut, manifest: Manifest, outputs: Outputs) -> None:
        super().__init__(dut, manifest)
        self._dut = dut
        self._control = Control(dut, manifest, outputs)
        self._ports = [HostPort.of(dut, entry) for entry in manifest.held_arrays]

    @property
    def cycle(self) -> int:
        return self._control.cycle

    async def reset(self) -> None:
        await self._control.reset()

    async def load(self, images: Sequence[Sequence[int]]) -> None:
        await write_arrays(self.clock, list(zip(self._ports, images, strict=True)))

    async def read(self) -> list[list[int]]:
        return await read_arrays(self.clock, self._ports)

    async def run(self, scalars: Sequence[int], limit_cycles: int) -> int:
        memory = self._manifest.memory
        mask = (1 << AXI_ADDRESS_BITS) - 1
        self._control.sampled_with_start = [
            (self._dut[place.base_port], self.bases[place.name], mask)
            for place in (memory.arrays if memory is not None else ())
            if place.base_port is not None
        ]
        cycles = await self._control.run(scalars, limit_cycles)
        for port in self._manifest.stream_errors:
            if self._value(port):
                raise ProtocolError(f"{port} is high after a run")
        returned = self._manifest.returned
        self.returned = self._value(None if returned is None else returned.port)
        self.checksum = self._value(self._manifest.checksum)
        if memory is not None and isinstance(memory.ports, AxiPorts):
            ports = memory.ports
            told = (ports.error, ports.error_address, ports.error_write, ports.error_response)
            error, address, write, response = (self._value(port) or 0 for port in told)
            self.told = Told(bool(error), address, write, response)
        return cycles

    def _value(self, port: str | None) -> int | None:
        if port is None:
            return None
        if not self._dut[port].value.is_resolvable:
            raise UnknownOutputError(f"output {port} is {self._dut[port].value!s} while idle")
        return int(self._dut[port].value)
