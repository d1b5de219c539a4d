"""Plan a program whose arrays are off chip.

The statements of a unit depend on each other in a cycle and share their tiles. Units run one after
another, and what passes between them passes through the memory off chip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.errors import Label
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.plan import KernelPlan, MemorySide, OffChip
from rtlgen.ir.scop import Scop
from rtlgen.poly.counting import count_points
from rtlgen.poly.errors import NothingToTile
from rtlgen.scheduling.errors import LookupOffChip
from rtlgen.scheduling.lower import memories_of, scalars_of
from rtlgen.scheduling.ports import PortMap
from rtlgen.scheduling.tile_replay import needed_by_host, replay_tiles
from rtlgen.scheduling.versions import VersionMap
from rtlgen.scheduling.workers import WorkerRequest
from rtlgen.target import Target
from rtlgen.tiling.candidates import Candidate
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.part import Chip, TiledPart
from rtlgen.tiling.program import Program, as_written
from rtlgen.tiling.units import UnitPlanner


@dataclass(frozen=True, slots=True, eq=False)
class TiledProgram:
    """A program planned in tiles.

    Members
    -------
    parts: its units, in the order in which they run.
    candidates: by unit, the tiles that were planned. alone: by unit, why it runs on one worker
        where several are asked for, or None.
    workers: what was asked of these.
    replayed: whether the plan was small enough to be replayed exhaustively.
    """

    plan: KernelPlan
    program: Program
    parts: tuple[TiledPart, ...]
    candidates: tuple[tuple[Candidate, ...], ...]
    alone: tuple[str | None, ...]
    workers: WorkerRequest
    replayed: bool


def plan_in_tiles(program: ParsedProgram, request: TileRequest, target: Target) -> TiledProgram:
    """Plan a program whose arrays are off chip.

    Raises
    ------
    NothingToTile: more sizes are asked for than there are loops to cut.
    IllegalSchedule: no order of the tiles keeps a dependence.
    WindowsTooLarge: the memories on chip do not fit the budget.
    PlanUnsound: a bug of this compiler. LookupOffChip, RaggedDomain, TooComplex
    """
    whole = as_written(program.scop)
    side = _memory_side(whole.scop, request)
    if any(array.width_bits < side.word_bits for array in side.arrays):
        target = target.choosing_lanes()
    names = tuple(array.name for array in whole.scop.arrays)
    chip = Chip(
        {array.name: array for array in side.arrays},
        side.word_bits,
        side.bus,
        request.budget_bits,
        request.buffer,
        target,
        request.workers,
        request.lanes,
    )
    units = UnitPlanner(whole, chip, request.sizes, names).plan()
    parts = tuple(unit.part for unit in units)
    _require_as_many(request.sizes, parts)
    plan = _plan(whole, parts, side, target)
    replayed = _replayed(plan, parts, whole)
    candidates = tuple(unit.candidates for unit in units)
    alone = tuple(None if unit.alone is None else str(unit.alone) for unit in units)
    return TiledProgram(plan, whole, parts, candidates, alone, request.workers, replayed)


def _require_as_many(sizes: Sequence[int], parts: Sequence[TiledPart]) -> None:
    """Raise NothingToTile where more loops are to be cut than any unit has cut."""
    deepest = max((part.tiling.depth for part in parts), default=0)
    if len(sizes) > deepest:
        count = "1 loop" if deepest == 1 else f"{deepest} loops"
        raise NothingToTile(
            f"no {len(sizes)} loops can be tiled by {','.join(map(str, sizes))}",
            notes=(f"at most {count} of a nest can be cut",),
            help=f"give {deepest} {'size' if deepest == 1 else 'sizes'}, or none",
        )


def _replayed(plan: KernelPlan, parts: Sequence[TiledPart], whole: Program) -> bool:
    """Prove the data flow, the last part first; return False where one is too large for that."""
    needed = needed_by_host(plan, whole.scop)
    for part in reversed(parts):
        found = replay_tiles(plan, part.workers, part.judged(whole.scop), needed)
        if found is None:
            # What it needs of the parts before it is not known.
            return False
        needed = found
    return True


def _memory_side(scop: Scop, request: TileRequest) -> MemorySide:
    """Return the memory off chip, array after array.

    Raises
    ------
    LookupOffChip
    """
    arrays: list[OffChip] = []
    base = 0
    for array in scop.arrays:
        if array.name in request.on_chip or array.depth == 1 or array.is_table:
            continue
        element = array.element
        arrays.append(
            OffChip(array.name, element.width_bits, element.signed, array.shape, array.role, base)
        )
        base += arrays[-1].words(request.word_bits)
    names = {array.name for array in arrays}
    for access in (read for statement in scop.statements for read in statement.reads):
        if access.is_lookup and access.array in names:
            raise LookupOffChip(
                f"{access.array} is off chip and read at a place that depends on data",
                labels=(Label(access.span, "not known before the tile runs"),),
                help="keep it on chip",
            )
    return MemorySide(request.word_bits, request.bus, tuple(arrays))


def _plan(
    whole: Program, parts: Sequence[TiledPart], side: MemorySide, target: Target
) -> KernelPlan:
    scop = whole.scop
    held = {array.name: 1 for array in scop.arrays}
    for part in parts:
        for name, ports in part.windows.held.items():
            held[name] = max(held[name], ports * len(part.workers.regions))
    kept_out = {array.name for array in side.arrays}
    on_chip = [
        memory
        for memory in memories_of(scop, PortMap({}, held), VersionMap({}, {}, {}, {}), target)
        if memory.name not in kept_out
    ]
    return KernelPlan(
        name=scop.name,
        source_file=scop.source.path,
        scalars=scalars_of(scop),
        memories=(*on_chip, *(m for part in parts for m in part.team.memories)),
        body=tuple(part.workers for part in parts),
        index_style="odometer",
        index_latency_cycles=0,
        checksum=None,
        returned=scop.returned,
        fused_iterations=sum(part.kernel_cycles for part in parts),
        floor_iterations=max(
            -(-count_points(whole.sets.domains[s.name]) // part.kernel.lanes)
            for part in parts
            for s in part.kernel.statements
        ),
        memory_side=side,
    )
