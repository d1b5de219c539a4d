"""What is behind the streams of a generated circuit, for cocotb: sources of words, and sinks.

As in `rtlgen.sim.host`, inputs change and outputs are looked at on the falling clock edge.
`native/streams.h` does the same, number for number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict

from cocotb.triggers import FallingEdge

from rtlgen.manifest.contents import ArrayEntry, Manifest
from rtlgen.sim.axi_behaviour import Pauses
from rtlgen.sim.host import Dut, Handle, HangError, ProtocolError, known_value

MOST_WAITING_CYCLES = 1000
"""Until the next word of a frame goes out when the run is over; a sink pauses far less."""


class Streams:
    """All streams of a circuit. Images are words of arrays, in the order of `Manifest.streams`.

    Parameters
    ----------
    pauses: seed of the cycles in which a source has no word, or a sink no room; 0: none. It begins
        anew with each run. See `AxiBehaviour`.
    """

    def __init__(self, dut: Dut, manifest: Manifest, four_state: bool, pauses: int) -> None:
        self.entries = manifest.streams
        self._pauses = pauses
        self._ends: list[_Source | _Sink] = [
            (_Source if entry.role == "in" else _Sink)(dut, entry, four_state)
            for entry in self.entries
        ]

    def reset(self) -> None:
        """Forget all words; nothing is offered, and nothing taken, until the next `load`."""
        for end in self._ends:
            end.forget()

    def load(self, images: Sequence[Sequence[int]]) -> None:
        """Give each source the words of the next run."""
        for number, (end, image) in enumerate(zip(self._ends, images, strict=True)):
            end.begin(image, Pauses(self._pauses and self._pauses + number))

    async def serve(self, clock: Handle, cycle: Callable[[], int]) -> None:
        """Offer and take words from now on; starts on a falling edge.

        Parameters
        ----------
        cycle: of the run, see `Control.cycle`.

        Raises
        ------
        ProtocolError: the circuit breaks a rule of AXI4-Stream. UnknownOutputError
        """
        while True:
            for end in self._ends:
                end.step(cycle())
            await FallingEdge(clock)

    async def read(self, clock: Handle) -> list[list[int]]:
        """Return the words of each array behind a run, when all have come; those of sources stay.

        Raises
        ------
        ProtocolError: a word is left over. HangError: one does not come.
        """
        for end in self._ends:
            for _ in range(MOST_WAITING_CYCLES * len(end.image)):
                if end.is_done:
                    break
                await FallingEdge(clock)
            if not end.is_done:
                raise HangError(f"the stream {end.name} has not ended behind the run")
        return [list(end.image) for end in self._ends]


class _End:
    """One end of a stream: what drives some of its pins.

    Members
    -------
    image: the words of the array, as far as they have gone by.
    """

    def __init__(self, dut: Dut, entry: ArrayEntry, four_state: bool) -> None:
        assert entry.stream is not None
        self.name = entry.name
        self.depth = entry.depth
        self.image: list[int] = []
        self._names: dict[str, str] = asdict(entry.stream)
        self._pins: dict[str, Handle] = {pin: dut[port] for pin, port in self._names.items()}
        self._four_state = four_state
        self._pauses = Pauses(0)

    def _value(self, pin: str, cycle: int) -> int:
        return known_value(self._names[pin], self._pins[pin], self._four_state, cycle)


class _Source(_End):
    """Offer the words of an array, and hold what is offered until it is taken."""

    def __init__(self, dut: Dut, entry: ArrayEntry, four_state: bool) -> None:
        super().__init__(dut, entry, four_state)
        self._left: deque[int] = deque()
        self._is_offered = self._is_taken = False

    @property
    def is_done(self) -> bool:
        return not self._left

    def forget(self) -> None:
        self._left.clear()
        self._is_offered = self._is_taken = False

    def begin(self, image: Sequence[int], pauses: Pauses) -> None:
        self.image = list(image)
        self._left.extend(image)
        self._pauses = pauses

    def step(self, cycle: int) -> None:
        self._pauses.next_cycle()
        if self._is_taken:
            self._left.popleft()
            self._is_offered = False
        self._is_offered |= bool(self._left) and not self._pauses.on("r")
        self._pins["tvalid"].value = self._is_offered
        if self._is_offered:
            self._pins["tdata"].value = self._left[0]
            self._pins["tlast"].value = len(self._left) == 1
        self._is_taken = self._is_offered and bool(self._value("tready", cycle))


class _Sink(_End):
    """Take the words of an array, and look that they are offered as they should be."""

    def __init__(self, dut: Dut, entry: ArrayEntry, four_state: bool) -> None:
        super().__init__(dut, entry, four_state)
        self._has_begun = False
        self._waits: tuple[int, int] | None = None

    @property
    def is_done(self) -> bool:
        return len(self.image) == self.depth

    def forget(self) -> None:
        self._has_begun, self._waits = False, None

    def begin(self, image: Sequence[int], pauses: Pauses) -> None:
        del image
        self.image = []
        self._has_begun = True
        self._pauses = pauses

    def step(self, cycle: int) -> None:
        self._pauses.next_cycle()
        takes = self._has_begun and not self._pauses.on("w")
        self._pins["tready"].value = takes
        offered = None
        if self._value("tvalid", cycle):
            offered = self._value("tdata", cycle), self._value("tlast", cycle)
        if self._waits is not None and offered != self._waits:
            raise ProtocolError(
                f"the stream {self.name} does not hold a word that waits, in cycle {cycle}"
            )
        self._waits = None if takes else offered
        if not takes or offered is None:
            return
        word, is_last = offered
        self.image.append(word)
        if len(self.image) > self.depth or bool(is_last) != (len(self.image) == self.depth):
            raise ProtocolError(
                f"word {len(self.image)} of {self.depth} of the stream {self.name} "
                f"{'is' if is_last else 'is not'} its last one, in cycle {cycle}"
            )
