"""Which values workers hand over to each other on chip."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from rtlgen.ir.sets import attempt
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Flow
from rtlgen.scheduling.doacross import SharedLoop
from rtlgen.scheduling.folds import smallest_fold
from rtlgen.scheduling.passing import HandingOver
from rtlgen.scheduling.peer_folds import Hands, PeerCollisions
from rtlgen.tiling.chip import Chip
from rtlgen.tiling.cut import CutPart

COUNT_OPERATIONS = 20_000
"""isl operations that counting values may take."""

FOLD_OPERATIONS = 300_000
"""isl operations that finding a fold may take; where it takes more, there is no room."""


def handing_over(cut: CutPart, chip: Chip, shared: SharedLoop | None) -> HandingOver | None:
    """Return what can be handed over in the RAM that each worker has; None for nothing.

    Those who ask for windows as well may have less. Not to count on what has no room at all keeps
    other orders of tiles from looking worse.
    """
    if shared is None or shared.across is None or not chip.buffer:
        return None
    if shared not in cut.handed:
        cut.handed[shared] = _found(cut, chip, shared)
    return cut.handed[shared]


def _found(cut: CutPart, chip: Chip, shared: SharedLoop) -> HandingOver | None:
    assert shared.across is not None, "rows wait for one another"
    hands = Hands(shared.across, chip.workers.count, shared.across.room is not None)
    by_writer: dict[str, list[Flow]] = {}
    for number, flow in enumerate(cut.relations.flows.flows):
        beside = cut.crossings.beside(number, shared.number)
        array = cut.relations.sets.scop.statement(flow.source).write.array
        if array in chip.off_chip and not beside.is_empty():
            found = Flow(flow.source, flow.sink, flow.sink_read, beside)
            by_writer.setdefault(flow.source, []).append(found)
    having_room = [
        name for name, flows in by_writer.items() if _has_room(cut, chip, name, flows, hands)
    ]
    return HandingOver(shared.number, frozenset(having_room)) if having_room else None


def _has_room(cut: CutPart, chip: Chip, name: str, flows: Sequence[Flow], hands: Hands) -> bool:
    """Tell whether what some reads take from a statement fits, in a copy for each of them."""
    sets = cut.relations.sets
    statement = sets.scop.statement(name)
    shape = sets.scop.array(statement.write.array).shape
    words = chip.worker_bits // (chip.off_chip[statement.write.array].width_bits * len(flows))
    if not words:
        return False
    written = reduce(isl.Set.union, (flow.relation.domain() for flow in flows)).coalesce()
    # All workers together have room for a row's values at least.
    rows = cut.tile_loops[hands.across.space].extent * hands.workers
    values = attempt(sets.context, COUNT_OPERATIONS, lambda: count_points(written))
    if values is not None and values > rows * words:
        return False

    def fits() -> bool:
        losing = PeerCollisions(sets, statement, written, flows, cut.relations.depth, hands)
        fold = smallest_fold(losing, shape, most_bits=words.bit_length() - 1)
        return fold.is_enough

    return bool(attempt(sets.context, FOLD_OPERATIONS, fits))
