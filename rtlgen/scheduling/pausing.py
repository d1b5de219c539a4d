"""Look for pauses with which statements need not wait after each of their instances."""

from __future__ import annotations

from rtlgen.ir.tolerance import is_worth_search
from rtlgen.poly.counting import count_points
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.space import Space
from rtlgen.transforms.pauses import Pause, find_pause
from rtlgen.transforms.precedence import among


def find_pauses(space: Space, decision: Decision) -> tuple[Pause, ...]:
    """Return pauses for the statements by themselves that take fewer issue slots with them.

    Parameters
    ----------
    decision: without pauses.
    """
    found = []
    for unit in space.timing.units:
        name, *others = unit.statements
        ii, placed = decision.iis[name], decision.placements[name]
        domain = space.timing.sets.domains[name]
        if others or ii == 1 or not is_worth_search(ii * placed.count, count_points(domain)):
            continue
        own = among(space.cycles, [name])
        reason = decision.ii_reasons[name]
        found.append(find_pause(name, placed, ii, own, domain, reason))
    return tuple(pause for pause in found if pause is not None)
