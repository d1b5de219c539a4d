"""Traffic on the pins of an AXI4 port, and both models of a memory that answer it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from random import Random
from typing import TypeAlias

import numpy as np

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import AXI_BASE_BYTES, AXI_MOST_BEATS, MemoryMap
from rtlgen.sim import native_engine
from rtlgen.sim.axi_behaviour import AxiBehaviour, BusError
from rtlgen.sim.axi_model import Address, AxiModel, Inputs, Outputs, Word
from rtlgen.sim.off_chip import AccessError, address_of, array_places, over_store, owners, pattern
from rtlgen.system.tools import find_tool, run_tool

Pins: TypeAlias = tuple[int, ...]
"""Of the memory, in the order of `Inputs`."""
Step: TypeAlias = tuple[int, Outputs]
"""Cycle of the run, and what the circuit drives."""

_MAIN = Path(__file__).with_name("axi_main.cpp")
_DATA_BYTES = 64
_NO_ADDRESS = Address(*(0,) * 7)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a model did with some traffic.

    Members
    -------
    pins: of each cycle until a rule was broken, that one included.
    message: the broken rule, or nothing.
    left, written: as in `rtlgen.sim.job.MemoryLeft`. error: the first answer that was one.
    """

    pins: tuple[Pins, ...]
    message: str
    left: np.ndarray
    written: np.ndarray
    error: BusError | None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Traffic, and the memory that it is for."""

    manifest: Manifest
    steps: Sequence[Step]
    behaviour: AxiBehaviour = field(default_factory=AxiBehaviour)


def python_answer(case: Case) -> Answer:
    """Return what the model in Python does."""
    model = AxiModel(case.manifest, case.behaviour)
    pins: list[Pins] = []
    message = ""
    try:
        for cycle, seen in case.steps:
            pins.append(astuple(model.drive(cycle)))
            model.look(seen, cycle)
    except AccessError as error:
        message = str(error)
    left = model.contents.left()
    return Answer(tuple(pins), message, left.bytes, left.written, model.error)


def compile_native(folder: Path) -> Path:
    """Compile the model in C++ behind a program that drives it."""
    executable = folder / "axi"
    options = ["-std=gnu++17", "-Wall", "-Wextra", "-Werror", f"-I{native_engine.FOLDER}"]
    command: list[str | Path] = [find_tool("g++", "c++"), *options, _MAIN, "-o", executable]
    run_tool(command, log=folder / "build.log")
    return executable


def native_answers(executable: Path, cases: Sequence[Case], folder: Path) -> list[Answer]:
    """Return what the model in C++ does."""
    given, taken = folder / "inputs.bin", folder / "outputs.bin"
    words = [len(cases), *(word for case in cases for word in _case_words(case))]
    np.array(words, dtype="<u8").tofile(given)
    printed = run_tool([executable, given, taken], log=folder / "axi.log").splitlines()
    answers = iter(np.fromfile(taken, dtype="<u8").tolist())
    return [_answer(case, answers, message) for case, message in zip(cases, printed, strict=True)]


def _case_words(case: Case) -> Iterator[int]:
    memory = case.manifest.memory
    assert memory is not None
    yield from (memory.word_bytes, memory.depth_words, memory.latency_cycles)
    yield memory.kind == "dram"
    yield from place_words(memory)
    yield from case.behaviour.words()
    yield from owners(case.manifest).tolist()
    yield from pattern(memory).tolist()
    yield len(case.steps)
    for cycle, seen in case.steps:
        yield cycle
        yield from _address_words(seen.aw)
        word = seen.w or Word(0, 0, 0)
        yield from (int(seen.w is not None), word.strobes, word.last)
        yield from _data_words(word.data)
        yield from _address_words(seen.ar)
        yield from (seen.bready, seen.rready)


def place_words(memory: MemoryMap) -> Iterator[int]:
    """Yield where the arrays behind an AXI4 port are, as the programs in C++ take it."""
    places = array_places(memory)
    yield len(places)
    for place in places:
        yield from (place.address, place.first_byte, place.bytes)


def _address_words(address: Address | None) -> Iterator[int]:
    yield int(address is not None)
    yield from astuple(address or _NO_ADDRESS)


def _data_words(data: int) -> list[int]:
    words: list[int] = np.frombuffer(data.to_bytes(_DATA_BYTES, "little"), "<u8").tolist()
    return words


def _answer(case: Case, words: Iterator[int], message: str) -> Answer:
    assert case.manifest.memory is not None
    pins = []
    for _ in range(next(words)):
        row = [next(words) for _ in range(10)]
        data = np.array([next(words) for _ in range(_DATA_BYTES // 8)], dtype="<u8")
        pins.append((*row, int.from_bytes(data.tobytes(), "little")))
    size = case.manifest.memory.bytes
    left = np.array([next(words) for _ in range(size)], np.uint8)
    written = np.array([next(words) for _ in range(size)], np.uint32)
    error = BusError.of_code(next(words))
    if message.startswith("an over-store"):
        cycle, byte = map(int, message.split()[-2:])
        message = over_store(case.manifest, cycle, byte)
    return Answer(tuple(pins), message, left, written, error)


@dataclass(slots=True)
class _Burst:
    address: Address
    words: deque[Word]


class RandomMaster:
    """A circuit that does random things by the rules.

    Parameters
    ----------
    writable: words of an array that may be written.
    """

    def __init__(self, manifest: Manifest, seed: int, writable: range, bursts: int) -> None:
        assert manifest.memory is not None
        self._random = Random(seed)
        self._memory = manifest.memory
        self._writable = writable
        self._left = bursts
        self._places = array_places(self._memory)
        size = self._memory.word_bytes
        ends = ((place.first_byte, place.first_byte + place.bytes) for place in self._places)
        self._readable = [range(first // size, end // size) for first, end in ends]
        self._reads: deque[Address] = deque()
        self._writes: deque[_Burst] = deque()
        self._to_send: deque[_Burst] = deque()
        self._open = 0
        self._seen = Outputs()
        self.is_over = False

    def steps(
        self, drive: Callable[[int], Inputs], look: Callable[[Outputs, int], None]
    ) -> list[Step]:
        """Act on a memory until all is over; return what was done in each cycle."""
        found: list[Step] = []
        while self._left or self._open or not found:
            cycle = len(found) + 1
            drives = drive(cycle)
            seen = self._act(drives)
            found.append((cycle, seen))
            look(seen, cycle)
        return found

    def _act(self, drives: Inputs) -> Outputs:
        """Return what is driven in a cycle, and take note of what is over with it."""
        often = self._random.choice((1, 1, 4))
        if self._left and self._random.randrange(often) == 0:
            self._left -= 1
            self._open += 1
            self._begin()
        aw, w, ar = self._seen.aw, self._seen.w, self._seen.ar
        if aw is None and self._writes and self._random.randrange(often) == 0:
            burst = self._writes.popleft()
            aw = burst.address
            self._to_send.append(burst)
        if ar is None and self._reads and self._random.randrange(often) == 0:
            ar = self._reads.popleft()
        if w is None and self._to_send and self._random.randrange(often) == 0:
            w = self._to_send[0].words.popleft()
            if not self._to_send[0].words:
                self._to_send.popleft()
        ready = [self._random.randrange(often) == 0 for _ in range(2)]
        seen = Outputs(aw, w, ar, int(ready[0]), int(ready[1]))
        self._open -= drives.bvalid & seen.bready
        self._open -= drives.rvalid & drives.rlast & seen.rready
        self._seen = Outputs(
            None if drives.awready else aw,
            None if drives.wready else w,
            None if drives.arready else ar,
        )
        return seen

    def _begin(self) -> None:
        size = self._memory.word_bytes
        is_write = self._random.random() < 0.5
        words = self._writable if is_write else self._random.choice(self._readable)
        begin = self._random.choice(words)
        first = address_of(self._places, begin * size)
        page = AXI_BASE_BYTES - first % AXI_BASE_BYTES
        beats = self._random.randint(1, min(AXI_MOST_BEATS, words.stop - begin, page // size))
        address = Address(0, first, beats - 1, size.bit_length() - 1, 1, 3, 0)
        if not is_write:
            self._reads.append(address)
            return
        strobes = (self._random.getrandbits(size) for _ in range(beats))
        sent = [Word(each, 0, self._random.getrandbits(8 * size)) for each in strobes]
        sent[-1] = Word(sent[-1].strobes, 1, sent[-1].data)
        self._writes.append(_Burst(address, deque(sent)))


def random_case(
    manifest: Manifest, seed: int, writable: range, behaviour: AxiBehaviour, bursts: int = 40
) -> Case:
    """Return traffic by the rules, which depends on what the memory answers."""
    model = AxiModel(manifest, behaviour)
    master = RandomMaster(manifest, seed, writable, bursts)
    steps = master.steps(model.drive, model.look)
    return Case(manifest, [*steps, (0, Outputs()), (0, Outputs())], behaviour)
