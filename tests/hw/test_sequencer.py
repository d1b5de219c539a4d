"""Phases follow each other without a gap, and events come in the cycle they are for."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.sim import Simulator

from rtlgen.hw.sequencer import Phase, Sequencer, event_name

PHASES = [
    (Phase(1, (0,)),),
    (Phase(2, (0, 1)),),
    (Phase(7, (0, 3, 6)),),
    (Phase(1, (0,)), Phase(1, (0,)), Phase(3, (2,))),
    (Phase(5, (0, 4)), Phase(9, (0, 5)), Phase(2, (1,))),
]


@pytest.mark.parametrize(
    "phases", PHASES, ids=lambda phases: str([p.length_cycles for p in phases])
)
@pytest.mark.parametrize("hold_start", [False, True])
def test_events_done_and_idle_come_on_time(phases: tuple[Phase, ...], hold_start: bool) -> None:
    sequencer = Sequencer(phases)
    lengths = [phase.length_cycles or 0 for phase in phases]
    length = sum(lengths)
    seen: list[tuple[int, str]] = []
    idle: list[int] = []

    async def bench(ctx: Any) -> None:
        for cycle in range(-1, 2 * length + 3):
            ctx.set(sequencer.start, cycle in (-1, length) or (hold_start and 0 <= cycle < length))
            await ctx.delay(0)
            idle.append(ctx.get(sequencer.idle))
            if ctx.get(sequencer.done):
                seen.append((cycle, "done"))
            for p, phase in enumerate(phases):
                for event in phase.events:
                    if ctx.get(getattr(sequencer, event_name(p, event))):
                        seen.append((cycle + 1, event_name(p, event)))
            await ctx.tick()

    simulator = Simulator(sequencer)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    expected = []
    for run in (0, length + 1):
        base = run
        for p, phase in enumerate(phases):
            expected += [(base + event, event_name(p, event)) for event in phase.events]
            base += lengths[p]
        expected.append((run + length - 1, "done"))
    assert sorted(seen) == sorted(expected)
    assert idle == [1, *[0] * length, 1, *[0] * length, 1, 1]


def test_an_event_outside_its_phase_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves a phase"):
        Phase(3, (4,))
