"""The cycle model: how many cycles a KernelPlan takes, from the plan alone.

Cycles are counted from the clock edge that sees `start` to the edge that sees `done`. Cycle 0
begins at the first of the two; `done` is high in the cycle of the last store (or of the checksum's
last step), so a kernel of L busy cycles takes exactly L.

Of kernels side by side, joined by streams, one of `L` cycles does in its cycle `c` what its plan
says, and stands still before it where a port has no word yet, or no room. So
`T(c) = max(T(c - 1) + 1, what its ports wait for)`. Between two kernels are two ports, each of
which holds two words and shows one in the cycle behind that in which it came. Of word `n`, which is
sent at `s(n)`, goes over at `x(n)` and is taken at `t(n)`:

    s(n) > x(n - 2)     x(n) > s(n), x(n - 1), t(n - 2)     t(n) > x(n)

All are as early as that lets them be. A stream that leads out of the circuit never waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.iterations import predicate_mask, stream_iterations
from rtlgen.ir.plan import KernelPlan, LoadOp, PlanError, Region, Stream, Workers
from rtlgen.ir.timeline import workers_cycles

CHECKSUM_LATENCY_CYCLES = 3
"""From the address of the last element to the finished checksum: RAM, output register, CRC step."""


def region_cycles(plan: KernelPlan, region: Region) -> int:
    """Return the cycles between the start of `region` and the start of what follows it."""
    return plan.index_latency_cycles + region.length_cycles


def body_cycles(plan: KernelPlan) -> tuple[int, ...]:
    """Return for every part of the body the cycles between its start and that of what follows."""
    return tuple(_part_cycles(plan, part) for part in plan.body)


def _part_cycles(plan: KernelPlan, part: Region | Workers) -> int:
    if isinstance(part, Region):
        return region_cycles(plan, part)
    if plan.memory_side is None:
        raise PlanError(f"{plan.name} has tiles and no memory off chip")
    return workers_cycles(part, plan.memory_side.bus)


def checksum_cycles(plan: KernelPlan) -> int:
    """Return the cycles that the checksum unit adds: one an element, and its latency once."""
    if plan.checksum is None:
        return 0
    return sum(plan.memory(name).depth for name in plan.checksum) + CHECKSUM_LATENCY_CYCLES


def predicted_cycles(plan: KernelPlan) -> int:
    """Return the exact number of cycles from start to done."""
    return sum(body_cycles(plan)) + checksum_cycles(plan)


def cycles_behind(plan: KernelPlan, latency_cycles: int) -> int:
    """Return how many cycles a plan takes whose memory off chip has another latency."""
    side = plan.memory_side
    if side is None:
        raise PlanError(f"{plan.name} has nothing off chip")
    return predicted_cycles(
        replace(plan, memory_side=replace(side, bus=side.bus.behind(latency_cycles)))
    )


PORT_WORDS = 2
"""That a port of a stream holds."""


def stream_cycles(plan: KernelPlan, memory: str) -> Ints:
    """Return in which cycles of a run the words of a stream are taken, or sent, in order."""
    found = [np.zeros(0, np.int64)]
    base = 0
    for part in plan.body:
        if not isinstance(part, Region):
            raise PlanError(f"{plan.name} has tiles, and streams")
        for stream in part.streams:
            for stage, mask in _uses(stream, memory):
                cycles = stream.offset_cycles + stream.ii * np.arange(stream.count) + stage
                cycles = cycles[mask & (cycles < part.length_cycles)]
                found.append(base + plan.index_latency_cycles + cycles)
        base += region_cycles(plan, part)
    return np.sort(np.concatenate(found))


def _uses(stream: Stream, memory: str) -> list[tuple[int, Bools]]:
    """Return the stage of each access of a stream to a memory, and in which iterations it is."""
    uses = [(store.stage, store.when) for store in stream.stores if store.memory == memory]
    operations = (stream.operations[number] for number in stream.live)
    uses += [
        (op.stage, op.needed) for op in operations if isinstance(op, LoadOp) and op.memory == memory
    ]
    if not uses:
        return []
    counters = stream_iterations(stream)
    return [(stage, predicate_mask(when, counters)) for stage, when in uses]


@dataclass(frozen=True, slots=True)
class Joint:
    """A stream from one kernel to another one, each with its number and the name of its array."""

    source: tuple[int, str]
    sink: tuple[int, str]


class NeverEnds(Exception):
    """Kernels wait for each other: none of these moves again. `waiting` are their numbers."""

    def __init__(self, waiting: Sequence[int]) -> None:
        super().__init__(f"kernels {waiting} wait for each other")
        self.waiting = tuple(waiting)


@dataclass(slots=True)
class _Link:
    """A joint while kernels run: when its words were sent, went over, and were taken."""

    sent: list[int] = field(default_factory=list)
    over: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)

    def pass_on(self) -> None:
        """Let words go over of which it is known when they can."""
        while (n := len(self.over)) < len(self.sent) and n - PORT_WORDS < len(self.taken):
            times = [self.sent[n]]
            times += self.over[-1:]
            times += self.taken[n - PORT_WORDS : n - PORT_WORDS + 1] if n >= PORT_WORDS else []
            self.over.append(max(times) + 1)

    def room_from(self) -> int | None:
        """Return from which cycle on one more word may be sent; None where that is not known."""
        n = len(self.sent) - PORT_WORDS
        if n < 0:
            return 0
        return self.over[n] + 1 if n < len(self.over) else None

    def word_from(self) -> int | None:
        """Return from which cycle on the next word may be taken; None where that is not known."""
        n = len(self.taken)
        return self.over[n] + 1 if n < len(self.over) else None


class _Run:
    """A kernel while it runs: the cycle of the circuit in which each of its own is."""

    def __init__(self, plan: KernelPlan, ports: Sequence[tuple[str, _Link, bool]]) -> None:
        events: dict[int, list[tuple[_Link, bool]]] = {}
        for memory, link, sends in ports:
            for cycle in stream_cycles(plan, memory).tolist():
                events.setdefault(cycle, []).append((link, sends))
        self._events = sorted(events.items())
        self._last = predicted_cycles(plan) - 1
        self._next = 0
        self._waited = 0

    @property
    def has_ended(self) -> bool:
        return self._next == len(self._events)

    @property
    def end(self) -> int:
        """The cycle of its `done`."""
        return self._last + self._waited

    def go_on(self) -> bool:
        """Run as far as it is known; return whether that was anywhere."""
        before = self._next
        while not self.has_ended:
            own, uses = self._events[self._next]
            now = own + self._waited
            for link, sends in uses:
                link.pass_on()
                earliest = link.room_from() if sends else link.word_from()
                if earliest is None:
                    return self._next > before
                now = max(now, earliest)
            for link, sends in uses:
                (link.sent if sends else link.taken).append(now)
            self._waited = now - own
            self._next += 1
        return self._next > before


def joined_cycles(plans: Sequence[KernelPlan], joints: Sequence[Joint]) -> int:
    """Return the cycles from the common start to the last `done`, behind ends that never wait.

    Raises
    ------
    NeverEnds
    """
    ports: list[list[tuple[str, _Link, bool]]] = [[] for _ in plans]
    for joint in joints:
        link = _Link()
        ports[joint.source[0]].append((joint.source[1], link, True))
        ports[joint.sink[0]].append((joint.sink[1], link, False))
    runs = [_Run(plan, own) for plan, own in zip(plans, ports, strict=True)]
    # A list, not a generator: each of them runs.
    while any([run.go_on() for run in runs]):
        pass
    waiting = [number for number, run in enumerate(runs) if not run.has_ended]
    if waiting:
        raise NeverEnds(waiting)
    return max(run.end for run in runs) + 1
