"""When a memory behind an AXI4 port answers, and what.

Without anything said here, it is the memory for which the cycles of a run are predicted
(`rtlgen.manifest.memory_map`). `native/axi_behaviour.h` does the same, number for number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["read", "write"]
Response: TypeAlias = Literal["slverr", "decerr"]
Fault: TypeAlias = Literal["surplus", "late", "missing", "early", "never"]

OKAY = 0
RESPONSES: dict[Response, int] = {"slverr": 2, "decerr": 3}
OUT_OF_STEP = 1
"""In place of a response, as the circuit tells it: an answer was not one that was asked for."""
DIRECTIONS: tuple[Direction, ...] = ("read", "write")
FAULTS: tuple[Fault, ...] = ("surplus", "late", "missing", "early", "never")
CHANNELS = ("aw", "w", "b", "ar", "r")

DRAM_OPEN_CYCLES, DRAM_CLOSED_CYCLES, DRAM_CHANCE_CYCLES = 30, 60, 41
"""Of a DRAM: cycles to a word of an open row at least, of another row, and how many there are."""

DRAM_MOST_CYCLES = DRAM_CLOSED_CYCLES + DRAM_CHANCE_CYCLES - 1
"""Cycles after which each burst of a DRAM begins where its bus is free."""

_WORD_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class BurstError:
    """A burst that is answered with an error.

    Members
    -------
    burst: number among those of its direction since the reset, from 0. Of a burst that is read, one
        word alone has the response, the one whose number is that of the burst, modulo its words.
    """

    direction: Direction
    burst: int
    response: Response = "slverr"


@dataclass(frozen=True, slots=True)
class BadWord:
    """A word that cannot be reached one way: each read of it, or each burst that writes it, fails.

    Members
    -------
    byte: of the memory, the first one of the word.
    """

    direction: Direction
    byte: int
    response: Response = "slverr"


@dataclass(frozen=True, slots=True)
class BurstFault:
    """A burst whose answer is not the one that AXI4 asks for: the memory is broken.

    Members
    -------
    burst: number among those of its direction since the reset, from 0.
    kind: of a burst that is read, `surplus`: a word more behind the last one, `late`: the same, and
        `rlast` comes with it, `missing`: a word less, `early`: `rlast` comes with the first word,
        `never`: with none. A burst of one word is never without it, and its `rlast` never early. A
        burst that is written has one answer more.
    """

    direction: Direction
    burst: int
    kind: Fault = "surplus"

    def __post_init__(self) -> None:
        if self.direction == "write" and self.kind != "surplus":
            raise ValueError(f"a write has no fault {self.kind!r}")


@dataclass(frozen=True, slots=True)
class BusError:
    """The first answer of a run that was an error; of two in one cycle that of the read.

    Members
    -------
    address: of the word that was read, or of the first word of the burst that was written.
    response: as on the bus; OUT_OF_STEP, with address 0, where answers are not those asked for.
    """

    direction: Direction
    address: int
    response: int

    def __str__(self) -> str:
        if self.response == OUT_OF_STEP:
            return f"an answer to a {self.direction} that is not one that was asked for"
        name = next(name for name, value in RESPONSES.items() if value == self.response)
        what = "word" if self.direction == "read" else "burst"
        return f"{name.upper()} to the {self.direction} of the {what} at 0x{self.address:x}"

    def code(self) -> int:
        """Return it as one number of 64 bits, as the C++ model has it; 0 is none.

        The address has 61 of them: arrays in simulations are below (see `array_places`).
        """
        return self.address << 3 | DIRECTIONS.index(self.direction) << 2 | self.response

    @staticmethod
    def of_code(code: int) -> BusError | None:
        """Return what a number stands for."""
        if not code:
            return None
        return BusError(DIRECTIONS[code >> 2 & 1], code >> 3, code & 3)


@dataclass(frozen=True, slots=True)
class AxiBehaviour:
    """How a memory differs from the one for which cycles are predicted.

    What a seed gives begins anew with each run.

    Members
    -------
    pauses: seed of the cycles in which a channel is not ready, or has no new answer; 0: none. With
        some seeds the memory also waits for the first word of a burst before it takes its address
        (seed modulo 4 is 1), or the other way round (2).
    outstanding: bursts to read that it takes at a time; 0: any number.
    dram: seed of the latencies of a DRAM with banks, open rows and one bus, 30 to 100 cycles; 0:
        constant latency.
    errors, bad_words: what is answered with an error. faults: what is answered wrongly.
    """

    pauses: int = 0
    outstanding: int = 0
    dram: int = 0
    errors: tuple[BurstError, ...] = ()
    bad_words: tuple[BadWord, ...] = ()
    faults: tuple[BurstFault, ...] = ()

    def __post_init__(self) -> None:
        if min(self.pauses, self.outstanding, self.dram) < 0:
            raise ValueError("a seed or a limit of an AXI4 memory is negative")

    def response(self, direction: Direction, burst: int) -> int:
        """Return the response to a burst."""
        for error in self.errors:
            if (error.direction, error.burst) == (direction, burst):
                return RESPONSES[error.response]
        return OKAY

    def response_at(self, direction: Direction, begin: int, end: int) -> int:
        """Return the response that some bytes of the memory have."""
        for bad in self.bad_words:
            if bad.direction == direction and begin <= bad.byte < end:
                return RESPONSES[bad.response]
        return OKAY

    def fault(self, direction: Direction, burst: int) -> Fault | None:
        """Return how the answer to a burst is wrong."""
        for fault in self.faults:
            if (fault.direction, fault.burst) == (direction, burst):
                return fault.kind
        return None

    def words(self) -> Iterator[int]:
        """Yield what the C++ model is told."""
        yield from (self.pauses, self.outstanding, self.dram, len(self.errors))
        for error in self.errors:
            yield from (DIRECTIONS.index(error.direction), error.burst, RESPONSES[error.response])
        yield len(self.bad_words)
        for bad in self.bad_words:
            yield from (DIRECTIONS.index(bad.direction), bad.byte, RESPONSES[bad.response])
        yield len(self.faults)
        for fault in self.faults:
            yield from (DIRECTIONS.index(fault.direction), fault.burst, FAULTS.index(fault.kind))


class _Random:
    """Numbers of 32 bits by chance, the same ones in every language."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def next(self) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & _WORD_MASK
        return self._state >> 32


class Pauses:
    """Which channels pause in a cycle. How often each does is drawn anew every 64 cycles."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = _Random(seed)
        self._cycle = self._often = 0
        self._paused = dict.fromkeys(CHANNELS, False)
        self.address_waits_for_word = seed % 4 == 1
        self.word_waits_for_address = seed % 4 == 2

    def next_cycle(self) -> None:
        """Go on to the next cycle."""
        if not self._seed:
            return
        if self._cycle % 64 == 0:
            self._often = self._random.next()
        self._cycle += 1
        drawn = self._random.next()
        for number, channel in enumerate(CHANNELS):
            self._paused[channel] = (drawn >> 4 * number & 15) < (self._often >> 4 * number & 15)

    def on(self, channel: str) -> bool:
        """Return whether a channel pauses."""
        return self._paused[channel]


class Dram:
    """Cycles of bursts in a DRAM: banks with an open row in each, and one bus for both ways.

    Parameters
    ----------
    seed: of the latencies; 0: each burst has the one that is given.
    """

    _ROW_BYTES, _BANKS, _TURN_CYCLES = 2048, 8, 4

    def __init__(self, seed: int, latency_cycles: int) -> None:
        self._latency_cycles = 0 if seed else latency_cycles
        self._random = _Random(seed)
        self._open: dict[int, int] = {}
        self._free = 0

    def begin(self, address: int, beats: int, now: int) -> int:
        """Return the first cycle with data of a burst that is asked for in cycle `now`."""
        row = address // self._ROW_BYTES
        bank = row % self._BANKS
        latency = self._latency_cycles
        if not latency:
            is_open = self._open.get(bank) == row
            latency = DRAM_OPEN_CYCLES if is_open else DRAM_CLOSED_CYCLES
            latency += self._random.next() % DRAM_CHANCE_CYCLES
        self._open[bank] = row
        first = max(now + latency, self._free)
        self._free = first + beats + self._TURN_CYCLES
        return first
