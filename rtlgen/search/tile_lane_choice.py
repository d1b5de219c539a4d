"""Choose in how many lanes tiles run, under a number of multiplier blocks.

The loops that may run in lanes are known from their dependences (`tiling.lanes`). Each is given
twice as many lanes as before as long as that saves cycles and there are blocks for them; tiles are
chosen anew every time, since more lanes ask for more words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rtlgen.frontend import ParsedProgram
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import more_effort
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.planning.planned import Tried
from rtlgen.scheduling.binding import with_units
from rtlgen.search.lane_choice import (
    Budget,
    LaneChoice,
    lanes_text,
    require_multipliers,
    superseded,
)
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.lanes import LaneRequest, free_loops
from rtlgen.tiling.loops import UnitLoops
from rtlgen.tiling.plan import TiledProgram, plan_in_tiles
from rtlgen.transforms.unroll import MOST_LANES


def choose_tile_lanes(
    program: ParsedProgram, request: TileRequest, budget: Budget
) -> LaneChoice[TiledProgram]:
    """Return the lanes with the fewest cycles that were found within a budget.

    Parameters
    ----------
    request: if it asks for lanes already, these are judged alone.

    Raises
    ------
    TooFewMultipliers: what is asked for takes more. RtlgenError: it cannot be planned.
    """
    asked = request.lanes
    best = _attempt(program, request, budget)
    require_multipliers(program.scop.name, budget, best.plan, has_lanes=asked is not None)
    lanes: dict[str, int | None] = {}
    tried: list[Tried] = []
    if asked is None:
        longest = max(best.parts, key=lambda part: part.kernel_cycles)
        # Units that are cut together in one lane may be faster apart in several.
        units = [unit for part in best.parts for unit in part.loops.apart]
        free = [loop for unit in longest.loops.apart for loop in free_loops(unit).values()]
        for loop in dict.fromkeys(free):
            found, count, said = _climbed(loop, program, request, budget, best, units)
            tried += said
            if predicted_cycles(found.plan) < predicted_cycles(best.plan):
                best, lanes = found, {loop: count}
    taken = budget.taken(best.plan)
    refused = {each.form: each.why_not for each in tried if each.why_not}
    noted = (superseded(each, lanes, predicted_cycles(best.plan)) for each in tried)
    return LaneChoice(lanes, best, taken, budget.multipliers, refused, tuple(noted))


def _climbed(
    loop: str,
    program: ParsedProgram,
    request: TileRequest,
    budget: Budget,
    best: TiledProgram,
    units: Sequence[UnitLoops],
) -> tuple[TiledProgram, int, list[Tried]]:
    """Give a loop more and more lanes; return the best plan, its lanes, and what was tried."""
    count, tried = 1, list[Tried]()

    def ended(why: str, cycles: int | None = None) -> tuple[TiledProgram, int, list[Tried]]:
        return best, count, [*tried, Tried("lanes", option, cycles, why)]

    while 2 * count <= MOST_LANES:
        option = lanes_text({loop: 2 * count})
        lanes, before = LaneRequest(loop, 2 * count), predicted_cycles(best.plan)
        least = _least_cycles(units, lanes)
        if least >= TOLERANCE * before:
            return ended(f"would save no cycles: {least:,} or more, after {before:,}")
        try:
            found = _attempt(program, replace(request, lanes=lanes), budget)
        except REFUSALS as error:
            return ended(f"cannot be: {error.diagnostic.message}")
        excess, cycles = budget.excess(found.plan), predicted_cycles(found.plan)
        if excess is not None:
            return ended(f"would {excess}", cycles)
        if cycles >= TOLERANCE * before:
            return ended(f"would save no cycles: {cycles:,}, after {before:,}", cycles)
        best, count = found, 2 * count
        tried.append(Tried("lanes", option, cycles))
    return best, count, tried


def _attempt(program: ParsedProgram, request: TileRequest, budget: Budget) -> TiledProgram:
    """Plan a program in tiles; where it takes too many multipliers, they are shared."""
    # Whatever one attempt takes, there is as much for the next.
    with more_effort():
        tiled = plan_in_tiles(program, request, budget.target)
    if budget.taken(tiled.plan) <= budget.multipliers:
        return tiled
    shared = with_units(tiled.plan, tiled.program.sets.context, everywhere=True)
    return replace(tiled, plan=shared)


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
