"""What a stream brings and takes while everything else stands still, and what goes wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from amaranth.sim import Simulator, SimulatorContext

from rtlgen.hw.queues import SkidBuffer
from rtlgen.hw.stream_ports import SinkPort, SourcePort
from rtlgen.ir.plan import Memory, MemoryKind

DEPTH = 5


def array(kind: MemoryKind, depth: int = DEPTH) -> Memory:
    role = "in" if kind == "source" else "out"
    return Memory("x", 8, False, (depth,), role, "parameter", kind, 1, 0, True)  # type: ignore[arg-type]


def simulate(
    component: SkidBuffer | SourcePort | SinkPort,
    bench: Callable[[SimulatorContext], object],
) -> None:
    async def process(context: SimulatorContext) -> None:
        found = bench(context)
        await found  # type: ignore[misc]

    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


@pytest.mark.parametrize(("puts", "takes"), [(0.9, 0.3), (0.3, 0.9), (0.6, 0.6), (1.0, 1.0)])
def test_a_skid_buffer_loses_no_word_and_shows_registers(puts: float, takes: float) -> None:
    rng, buffer = random.Random(3), SkidBuffer(8)
    sent: list[int] = []
    got: list[int] = []

    async def bench(context: SimulatorContext) -> None:
        for cycle in range(300):
            context.set(buffer.w_en, 0)
            context.set(buffer.r_en, 0)
            shown = context.get(buffer.w_rdy), context.get(buffer.r_rdy)
            put, take, word = rng.random() < puts, rng.random() < takes, rng.randrange(256)
            context.set(buffer.w_en, put)
            context.set(buffer.r_en, take)
            context.set(buffer.w_data, word)
            # No path leads from one side to the other.
            assert (context.get(buffer.w_rdy), context.get(buffer.r_rdy)) == shown
            if put and shown[0]:
                sent.append(word)
            if take and shown[1]:
                got.append(context.get(buffer.r_data))
            assert 0 <= len(sent) - len(got) <= 2
            if puts == takes == 1.0:
                assert len(got) == cycle
            await context.tick()

    simulate(buffer, bench)
    assert len(got) > 50
    assert got == sent[: len(got)]


@dataclass
class Taken:
    """What a kernel saw of a run."""

    words: list[int] = field(default_factory=list)
    short: bool = False
    long: bool = False


async def run_of(
    context: SimulatorContext, port: SourcePort, words: list[tuple[int, int]], until: int = DEPTH
) -> Taken:
    """Take words as a kernel would, from a source that offers `words`, removed as they are taken.

    Parameters
    ----------
    until: the run is broken off before word number `until`; DEPTH: it is not.
    """
    found = Taken()
    context.set(port.begin, 1)
    waited = 0
    while len(found.words) < until:
        if words:
            context.set(port.tdata, words[0][0])
            context.set(port.tlast, words[0][1])
        context.set(port.tvalid, bool(words))
        context.set(port.wants, 1)
        goes = context.get(port.can)
        context.set(port.moves, goes)
        if goes:
            found.words.append(context.get(port.word))
        else:
            waited += 1
            assert waited < 40, "the port hangs"
        found.short, found.long = bool(context.get(port.short)), bool(context.get(port.long))
        if words and context.get(port.tready):
            words.pop(0)
        await context.tick()
        context.set(port.begin, 0)
    context.set(port.wants, 0)
    context.set(port.moves, 0)
    if until < DEPTH:
        context.set(port.flush, 1)
        context.set(port.tvalid, 0)
        await context.tick()
        context.set(port.flush, 0)
    return found


def frame(first: int, length: int = DEPTH, *, ends: bool = True) -> list[tuple[int, int]]:
    return [(first + n, int(ends and n == length - 1)) for n in range(length)]


@pytest.mark.parametrize(
    ("name", "words", "runs"),
    [
        ("right", frame(10) + frame(20), [(10, False, False), (20, False, False)]),
        ("short", frame(10, 3) + frame(20), [(None, True, False), (20, False, False)]),
        ("one word", frame(10, 1) + frame(20), [(None, True, False), (20, False, False)]),
        ("long", frame(10, 7) + frame(20), [(10, False, True), (20, False, False)]),
        (
            "short, then long",
            frame(10, 4) + frame(20, 6) + frame(30),
            [(None, True, False), (20, False, True), (30, False, False)],
        ),
    ],
)
def test_a_frame_of_another_length_is_told_and_the_next_run_is_clean(
    name: str, words: list[tuple[int, int]], runs: list[tuple[int | None, bool, bool]]
) -> None:
    port = SourcePort(array("source"))

    async def bench(context: SimulatorContext) -> None:
        for first, short, long in runs:
            found = await run_of(context, port, words)
            assert (found.short, found.long) == (short, long)
            if first is not None:
                assert found.words == list(range(first, first + DEPTH))
        assert not words

    simulate(port, bench)


@pytest.mark.parametrize("until", range(DEPTH))
def test_the_rest_of_a_frame_whose_run_was_broken_off_is_dropped(until: int) -> None:
    port = SourcePort(array("source"))
    words = frame(10) + frame(20)

    async def bench(context: SimulatorContext) -> None:
        await run_of(context, port, words, until)
        found = await run_of(context, port, words)
        # A run that took nothing leaves its frame to the next one.
        first = 20 if until else 10
        assert found.words == list(range(first, first + DEPTH))
        assert not (found.short or found.long)

    simulate(port, bench)


@pytest.mark.parametrize("until", [*range(DEPTH), DEPTH])
def test_what_goes_out_ends_with_tlast_whatever_happens(until: int) -> None:
    port, rng = SinkPort(array("sink")), random.Random(until)
    got: list[tuple[int, int]] = []

    async def bench(context: SimulatorContext) -> None:
        for first, stop in ((10, until), (20, DEPTH)):
            sent = 0
            while sent < stop or (stop == DEPTH and len(got) < 2 * DEPTH and first == 20):
                if first == 20 and sent == DEPTH and not context.get(port.tvalid):
                    break
                context.set(port.tready, rng.random() < 0.5)
                wants = sent < stop
                context.set(port.wants, wants)
                context.set(port.word, first + sent)
                goes = wants and context.get(port.can)
                context.set(port.moves, goes)
                if context.get(port.tvalid) and context.get(port.tready):
                    got.append((context.get(port.tdata), context.get(port.tlast)))
                sent += int(goes)
                await context.tick()
            context.set(port.wants, 0)
            context.set(port.moves, 0)
            if stop < DEPTH:
                context.set(port.tready, 0)
                context.set(port.flush, 1)
                await context.tick()
                context.set(port.flush, 0)

    simulate(port, bench)
    ends = [n for n, (_, last) in enumerate(got) if last]
    broken_off = 0 if until in (0, DEPTH) else until + 1
    assert got[-DEPTH:] == frame(20)
    if until == DEPTH:
        assert got == frame(10) + frame(20)
    elif until:
        assert got[:until] == frame(10, until, ends=False)
        assert ends == [broken_off - 1, broken_off + DEPTH - 1]
    else:
        assert got == frame(20)
