"""The pins of an AXI4 port in a cycle, and the rules that hold for what the circuit drives there.

`native/axi_rules.h` says the same, in the same words.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from rtlgen.manifest.memory_map import AXI_BASE_BYTES, AXI_MOST_BEATS, MemoryMap
from rtlgen.sim.array_places import ArrayPlace, byte_at
from rtlgen.sim.axi_behaviour import DIRECTIONS, BusError
from rtlgen.sim.memory_contents import AccessError

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
