"""Choose in how many lanes tiles run, under a number of multiplier blocks.

The loops that may run in lanes are known from their dependences (`tiling.lanes`). Each is given
twice as many lanes as before as long as that saves cycles and there are blocks for them; tiles are
chosen anew every time, since more lanes ask for more words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.search.lane_choice import LANE_GAIN, Budget, LaneChoice, require_multipliers
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.lanes import LaneRequest, free_loops
from rtlgen.tiling.loops import UnitLoops
from rtlgen.tiling.plan import TiledProgram
from rtlgen.transforms.unroll import MOST_LANES

Attempt: TypeAlias = Callable[[LaneRequest | None], TiledProgram]


def choose_tile_lanes(
    name: str, asked: LaneRequest | None, attempt: Attempt, budget: Budget
) -> LaneChoice[TiledProgram]:
    """Return the lanes with the fewest cycles that were found within a budget.

    Parameters
    ----------
    name: of the program. asked: the lanes that are asked for already: then these are judged alone.
    attempt: plans the program in some lanes.

    Raises
    ------
    TooFewMultipliers: what is asked for takes more. RtlgenError: it cannot be planned.
    """
    best = attempt(asked)
    require_multipliers(name, budget, best.plan, has_lanes=asked is not None)
    lanes: dict[str, int | None] = {}
    refused: dict[str, str] = {}
    if asked is None:
        longest = max(best.parts, key=lambda part: part.kernel_cycles)
        # Units that are cut together in one lane may be faster apart in several.
        units = [unit for part in best.parts for unit in part.loops.apart]
        free = [loop for unit in longest.loops.apart for loop in free_loops(unit).values()]
        for loop in dict.fromkeys(free):
            found, count, why = _climbed(loop, attempt, budget, best, units)
            refused |= why
            if predicted_cycles(found.plan) < predicted_cycles(best.plan):
                best, lanes = found, {loop: count}
    taken = budget.taken(best.plan)
    return LaneChoice(lanes, best, taken, budget.multipliers, refused)


def _climbed(
    loop: str,
    attempt: Attempt,
    budget: Budget,
    best: TiledProgram,
    units: Sequence[UnitLoops],
) -> tuple[TiledProgram, int, dict[str, str]]:
    """Give a loop more and more lanes; return the best plan, its lanes, and what ends them."""
    count = 1
    while 2 * count <= MOST_LANES:
        option = f"--unroll {loop}={2 * count}"
        request, before = LaneRequest(loop, 2 * count), predicted_cycles(best.plan)
        least = _least_cycles(units, request)
        if least >= LANE_GAIN * before:
            why = f"would save no cycles: {least:,} or more, after {before:,}"
            return best, count, {option: why}
        try:
            found = attempt(request)
        except REFUSALS as error:
            return best, count, {option: f"cannot be: {error.diagnostic.message}"}
        excess = budget.excess(found.plan)
        if excess is not None:
            return best, count, {option: f"would {excess}"}
        cycles = predicted_cycles(found.plan)
        if cycles >= LANE_GAIN * before:
            return best, count, {option: f"would save no cycles: {cycles:,}, after {before:,}"}
        best, count = found, 2 * count
    return best, count, {}


def _least_cycles(units: Sequence[UnitLoops], request: LaneRequest) -> int:
    """Return the cycles that a program takes at least, some of whose units run in lanes.

    Those that have the loop may be cut together in lanes, and the others in one, but not both.
    """
    within, without = [0], [0]
    for unit in units:
        has_loop = any(request.names(loop) for s in unit.written.statements for loop in s.loops)
        (within if has_loop else without).append(max(unit.instances.values()))
    assert request.count is not None, "it is asked for"
    return max(within) // request.count + max(without)
