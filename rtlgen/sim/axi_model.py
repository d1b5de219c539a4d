"""A memory behind an AXI4 port, and the monitor of that port, apart from any simulator.

`native/axi_memory.h` is the same in C++, cycle for cycle. Each cycle has two steps: when it has
begun, the memory drives its pins; before the edge that ends it, it looks at those of the circuit.
The rules of what the circuit may drive there are those of `native/axi_rules.h`, in the same words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import AXI_BASE_BYTES, AXI_MOST_BEATS, MemoryMap
from rtlgen.sim.axi_behaviour import (
    DIRECTIONS,
    OKAY,
    OUT_OF_STEP,
    RESPONSES,
    AxiBehaviour,
    BusError,
    Direction,
    Dram,
    Fault,
    Pauses,
)
from rtlgen.sim.off_chip import (
    AccessError,
    ArrayPlace,
    MemoryContents,
    address_of,
    array_places,
    byte_at,
)

INCR = 1


@dataclass(frozen=True, slots=True)
class Address:
    """What channel AW or AR has while it is valid."""

    id: int
    addr: int
    len: int
    size: int
    burst: int
    cache: int
    prot: int

    def change(self, later: Address) -> str | None:
        """Return what a later look sees changed, or None."""
        for each in fields(Address):
            if getattr(self, each.name) != getattr(later, each.name):
                return each.name
        return None


@dataclass(frozen=True, slots=True)
class Word:
    """What channel W has while it is valid."""

    strobes: int
    last: int
    data: int

    def change(self, later: Word) -> str | None:
        """Return what a later look sees changed, or None."""
        if self.strobes != later.strobes:
            return "strb"
        if self.last != later.last:
            return "last"
        mask = sum(0xFF << 8 * n for n in range(self.strobes.bit_length()) if self.strobes >> n & 1)
        return "data" if (self.data ^ later.data) & mask else None


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the circuit drives; None where a channel is not valid."""

    aw: Address | None = None
    w: Word | None = None
    ar: Address | None = None
    bready: int = 0
    rready: int = 0


@dataclass(slots=True)
class Inputs:
    """What the memory drives."""

    awready: int = 0
    wready: int = 0
    arready: int = 0
    bvalid: int = 0
    bid: int = 0
    bresp: int = 0
    rvalid: int = 0
    rlast: int = 0
    rid: int = 0
    rresp: int = 0
    rdata: int = 0


def broken(cycle: int, what: str) -> AccessError:
    """Return the error for what the circuit does in a cycle of the run."""
    return AccessError(f"cycle {cycle} {what}")


def require_held(waits: Outputs, seen: Outputs, cycle: int) -> None:
    """Require that what waited for its ready is still there as it was.

    Raises
    ------
    AccessError
    """
    for channel in ("aw", "w", "ar"):
        before, now = getattr(waits, channel), getattr(seen, channel)
        if before is not None:
            changed = "valid" if now is None else before.change(now)
            if changed:
                raise broken(cycle, f"changes {channel}{changed} before {channel}ready was high")


def require_burst(
    channel: str, now: Address, memory: MemoryMap, places: tuple[ArrayPlace, ...], cycle: int
) -> None:
    """Require that a burst is one of those that are allowed, in an array.

    Raises
    ------
    AccessError
    """
    size, beats = memory.word_bytes, now.len + 1
    last = now.addr + beats * size - 1
    what = None
    if now.burst != INCR:
        what = f"a burst of type {now.burst}"
    elif 1 << now.size != size:
        what = f"words of size {now.size}, which are not of {size} bytes"
    elif beats > AXI_MOST_BEATS:
        what = f"a burst of {beats} words"
    elif now.addr % size:
        what = f"address 0x{now.addr:x}, not on a word of {size} bytes"
    elif now.addr // AXI_BASE_BYTES != last // AXI_BASE_BYTES:
        what = f"a burst across address 0x{last // AXI_BASE_BYTES * AXI_BASE_BYTES:x}"
    elif byte_at(places, now.addr, beats * size) is None:
        what = f"addresses 0x{now.addr:x} to 0x{last:x}, which are in no array"
    if what:
        raise broken(cycle, f"asks on {channel} for {what}")


def require_told(address: int, write: int, response: int, was: BusError | None) -> None:
    """Require that the circuit tells of the first answer that was an error, or of none.

    Raises
    ------
    AccessError
    """
    told = address, write, response
    expected = (was.address, DIRECTIONS.index(was.direction), was.response) if was else (0, 0, 0)
    if told != expected:
        raise AccessError(
            f"the circuit tells of {_response(*told)}; "
            + (f"the first error was {_response(*expected)}" if was else "there was none")
        )


def _response(address: int, write: int, response: int) -> str:
    return f"response {response} to a {DIRECTIONS[write]} at 0x{address:x}"


@dataclass(slots=True)
class _Read:
    id: int
    word: int
    beats: int
    number: int
    ready: int
    fault: Fault | None = None
    done: int = 0

    @property
    def given(self) -> int:
        """Words that come, one at least."""
        more = {"surplus": 1, "late": 1, "missing": -1}.get(self.fault or "", 0)
        return max(1, self.beats + more)

    @property
    def has_last(self) -> bool:
        """Whether `rlast` comes with the next word."""
        if self.fault == "early" and self.beats > 1:
            return self.done == 0
        if self.fault == "surplus":
            return self.done == self.beats - 1
        return self.fault != "never" and self.done == self.given - 1


@dataclass(slots=True)
class _Write:
    """A burst to write, from the first cycle in which its address is valid."""

    id: int
    word: int
    beats: int
    number: int
    ready: int = 0
    is_taken: bool = False
    is_offered: bool = False
    words: list[Word] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.words) == self.beats


class AxiModel:
    """A memory, its pins and its monitor.

    Members
    -------
    contents: its bytes.
    error: the first response of this run that was an error. From the first answer on that was not
        asked for, every run has one, until the reset.
    """

    def __init__(self, manifest: Manifest, behaviour: AxiBehaviour) -> None:
        assert manifest.memory is not None
        self._memory = manifest.memory
        self.places = array_places(self._memory)
        self._behaviour = behaviour
        self.contents = MemoryContents(manifest)
        self._reads: deque[_Read] = deque()
        self._writes: deque[_Write] = deque()
        # Cycles and bursts since the reset.
        self._now = self._read_count = self._write_count = 0
        self._surplus_answers = 0
        self._out_of_step: BusError | None = None
        self._begin()
        self._waits = Outputs()
        self._drives = Inputs()

    def _begin(self) -> None:
        """Do what is done at each start: the same run takes the same cycles."""
        self._pauses = Pauses(self._behaviour.pauses)
        self._dram = Dram(self._behaviour.dram, self._memory.latency_cycles)
        self.error: BusError | None = self._out_of_step

    def drive(self, cycle: int) -> Inputs:
        """Return what the memory drives in the cycle that has just begun.

        What is read in the cycle in which a write is done is what was there before.

        Parameters
        ----------
        cycle: of the run, 0 while nothing runs.
        """
        self._now += 1
        if not cycle:
            self._require_nothing_open()
        if cycle == 1:
            self._begin()
        pauses, drives = self._pauses, self._drives
        pauses.next_cycle()
        self._offer_word()
        self._offer_answer(cycle)
        limit = self._behaviour.outstanding
        drives.arready = int(not pauses.on("ar") and (not limit or len(self._reads) < limit))
        to_take, to_fill = next(self._untaken(), None), next(self._unfilled(), None)
        drives.awready = int(
            not pauses.on("aw")
            and (not pauses.address_waits_for_word or (to_take is not None and to_take.is_offered))
        )
        drives.wready = int(
            not pauses.on("w")
            and (not pauses.word_waits_for_address or (to_fill is not None and to_fill.is_taken))
        )
        return drives

    def look(self, seen: Outputs, cycle: int) -> None:
        """Look at what both sides drive just before the edge that ends the cycle.

        Raises
        ------
        AccessError: of the first rule that is broken.
        """
        require_held(self._waits, seen, cycle)
        if not cycle and (seen.aw or seen.w or seen.ar):
            raise AccessError("the circuit asks for a burst while it is idle")
        drives = self._drives
        if seen.aw:
            self._look_at_write_address(seen.aw, cycle)
        if seen.w:
            self._look_at_word(seen.w, cycle)
        if seen.ar:
            self._look_at_read_address(seen.ar, cycle)
        if drives.rvalid and seen.rready:
            read = self._reads[0]
            if drives.rresp != OKAY and not self.error:
                address = self._address_of(read.word + read.done)
                self.error = BusError("read", address, drives.rresp)
            if read.done >= read.beats or drives.rlast != (read.done == read.beats - 1):
                self._lose_step("read")
            drives.rvalid = 0
            read.done += 1
            if read.done == read.given:
                self._reads.popleft()
        if drives.bvalid and seen.bready:
            drives.bvalid = 0
            if self._surplus_answers:
                self._surplus_answers -= 1
                self._lose_step("write")
            else:
                write = self._writes.popleft()
                if drives.bresp != OKAY and not self.error:
                    self.error = BusError("write", self._address_of(write.word), drives.bresp)
                if self._behaviour.fault("write", write.number):
                    self._surplus_answers += 1
        self._waits = Outputs(
            None if drives.awready else seen.aw,
            None if drives.wready else seen.w,
            None if drives.arready else seen.ar,
        )

    def _lose_step(self, direction: Direction) -> None:
        """Note that an answer was taken that was not asked for."""
        if not self._out_of_step:
            self._out_of_step = self.error = BusError(direction, 0, OUT_OF_STEP)

    def _untaken(self) -> Iterator[_Write]:
        return (write for write in self._writes if not write.is_taken)

    def _unfilled(self) -> Iterator[_Write]:
        return (write for write in self._writes if not write.is_full)

    def _is_due(self, write: _Write) -> bool:
        is_here = write.is_taken and write.is_full
        return is_here and write.ready <= self._now and not self._pauses.on("b")

    def _require_nothing_open(self) -> None:
        # Who is out of step does not know what else comes.
        if (self._reads or self._writes) and not self._behaviour.faults:
            raise AccessError(
                "bursts that are not over when the circuit is idle: "
                f"{len(self._reads)} to read, {len(self._writes)} to write"
            )

    @property
    def _has_one_bus(self) -> bool:
        return self._memory.kind == "dram" or self._behaviour.dram > 0

    def _word_of(self, seen: Address) -> int:
        byte = byte_at(self.places, seen.addr)
        assert byte is not None, "a burst is in an array"
        return byte // self._memory.word_bytes

    def _address_of(self, word: int) -> int:
        return address_of(self.places, word * self._memory.word_bytes)

    def _look_at_write_address(self, seen: Address, cycle: int) -> None:
        if self._waits.aw is None:
            require_burst("aw", seen, self._memory, self.places, cycle)
            number = self._write_count
            self._write_count += 1
            self._writes.append(_Write(seen.id, self._word_of(seen), seen.len + 1, number))
        if self._drives.awready:
            write = next(self._untaken())
            write.is_taken = True
            if write.is_full:
                self._arrive(write)

    def _look_at_word(self, seen: Word, cycle: int) -> None:
        write = next(self._unfilled(), None)
        if write is None:
            raise broken(cycle, "offers a word to write before the address of its burst")
        write.is_offered = True
        place = len(write.words)
        if seen.last != (place == write.beats - 1):
            level = "high" if seen.last else "low"
            raise broken(
                cycle, f"has wlast {level} with word {place + 1} of a burst of {write.beats}"
            )
        self.contents.require_writable(write.word + place, seen.strobes, cycle)
        if self._drives.wready:
            write.words.append(seen)
            if write.is_full and write.is_taken:
                self._arrive(write)

    def _look_at_read_address(self, seen: Address, cycle: int) -> None:
        if self._waits.ar is None:
            require_burst("ar", seen, self._memory, self.places, cycle)
        if self._drives.arready:
            beats, number = seen.len + 1, self._read_count
            self._read_count += 1
            ready = self._now + self._memory.latency_cycles
            if self._has_one_bus:
                ready = self._dram.begin(seen.addr, beats, self._now)
            fault = self._behaviour.fault("read", number)
            self._reads.append(_Read(seen.id, self._word_of(seen), beats, number, ready, fault))

    def _arrive(self, write: _Write) -> None:
        """Note that all of a write is here."""
        write.ready = self._now + self._memory.latency_cycles
        if self._has_one_bus:
            address = self._address_of(write.word)
            write.ready = self._dram.begin(address, write.beats, self._now) + write.beats

    def _response_at(self, direction: Direction, word: int, words: int) -> int:
        size = self._memory.word_bytes
        return self._behaviour.response_at(direction, word * size, (word + words) * size)

    def _offer_word(self) -> None:
        """Offer the next word that is read. While none is valid, all about it is wrong."""
        drives = self._drives
        if drives.rvalid:
            return
        drives.rlast, drives.rresp = 1, RESPONSES["slverr"]
        if not self._reads:
            drives.rdata = self.contents.complement(0)
            return
        read = self._reads[0]
        # What nobody has asked for is no word of the memory.
        is_asked = read.done < read.beats
        word = read.word + (read.done if is_asked else 0)
        drives.rvalid = int(read.ready <= self._now and not self._pauses.on("r"))
        if drives.rvalid:
            drives.rid = read.id
            drives.rlast = int(read.has_last)
            # One word of the burst alone says that there is an error.
            is_marked = read.number % read.beats == read.done
            drives.rresp = self._response_at("read", word, 1)
            if is_marked and drives.rresp == OKAY:
                drives.rresp = self._behaviour.response("read", read.number)
        is_right = drives.rvalid and drives.rresp == OKAY and is_asked
        drives.rdata = self.contents.word(word) if is_right else self.contents.complement(word)

    def _offer_answer(self, cycle: int) -> None:
        """Offer the next answer to a write, and write."""
        drives = self._drives
        if drives.bvalid:
            return
        drives.bresp = RESPONSES["slverr"]
        if self._surplus_answers:
            drives.bvalid, drives.bresp = 1, OKAY
            return
        if not self._writes or not self._is_due(self._writes[0]):
            return
        write = self._writes[0]
        drives.bvalid, drives.bid = 1, write.id
        drives.bresp = self._response_at("write", write.word, write.beats)
        if drives.bresp == OKAY:
            drives.bresp = self._behaviour.response("write", write.number)
        if drives.bresp == OKAY:
            for place, word in enumerate(write.words):
                self.contents.store(write.word + place, word.strobes, word.data, cycle)
