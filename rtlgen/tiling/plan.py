"""Plan a program whose arrays are off chip, its lanes in tiles or written out.

Plan a program whose arrays are off chip.

The statements of a unit depend on each other in a cycle and share their tiles. Units run one after
another, and what passes between them passes through the memory off chip.

A program in tiles as a program, for whoever wants to read or run it.

Lanes that cannot be those of a tile: written out, as statements side by side or as longer sums.

Lanes of a tile are iterations of a loop that all of its statements share, and issue in step or one
behind the other. A sum along the lanes, or a loop that some statements do not have, is no such
thing; but a statement may add several terms, and tiles may have more statements:

    for k  y[i] += a[i][k] * x[k]    ->    for k by 2  y[i] += a[i][k] * x[k] + a[i][k+1] * x[k+1]

Each of these reads has a copy of its window, and each statement windows of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from rtlgen.datapath.binding import with_units
from rtlgen.errors import Label, RtlgenError
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.block_rams import with_small_memories
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import more_effort, note_limits, noting_limits
from rtlgen.ir.judged_part import JudgedPart
from rtlgen.ir.plan import KernelPlan, MemorySide, OffChip
from rtlgen.ir.schedule import ScalarDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.memories.ports import PortMap, VersionMap
from rtlgen.poly.accesses import require_in_bounds
from rtlgen.poly.counting import count_points
from rtlgen.poly.errors import IllegalSchedule, NothingToTile, OutOfBounds
from rtlgen.scheduling.errors import LookupOffChip, NoLanes, RaggedDomain, WindowsTooLarge
from rtlgen.scheduling.lower import memories_of, scalars_of
from rtlgen.target import Target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.cut import Chip
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.form import Candidate
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.loops import Program, as_written
from rtlgen.tiling.part import TiledPart
from rtlgen.tiling.units import OUT_OF_LANES, SoonerAlone, UnitPlan, UnitPlanner
from rtlgen.transforms.lanes import LaneWishes, NotUnrollable, unroll
from rtlgen.transforms.normalise import strided_statements
from rtlgen.transforms.simplify import folded_program
from rtlgen.transforms.storage import UNLIMITED, collapse_short_rows, expand
from rtlgen.transforms.units import dependence_units
from rtlgen.windows.workers import WorkerRequest


@dataclass(frozen=True, slots=True, eq=False)
class TiledProgram:
    """A program planned in tiles.

    Members
    -------
    parsed: with the arrays and iterators of C. program: as it is planned.
    parts: its units, in the order in which they run.
    candidates: by unit, the tiles that were planned. alone: by unit, why it runs on one worker
        where several are asked for, or None. apart: likewise, why it is not in common tiles with
        the next one, where workers are in the way.
    single: by unit, why it runs in one lane where several are asked for, or None.
    sooner: by unit, by how much one worker is done sooner than those that are asked for, or as
        soon; None where it is not.
    workers: what was asked of these.
    """

    plan: KernelPlan
    parsed: Scop
    program: Program
    parts: tuple[TiledPart, ...]
    candidates: tuple[tuple[Candidate, ...], ...]
    alone: tuple[str | None, ...]
    apart: tuple[str | None, ...]
    single: tuple[RtlgenError | None, ...]
    sooner: tuple[SoonerAlone | None, ...]
    workers: WorkerRequest

    @property
    def judged_parts(self) -> tuple[JudgedPart, ...]:
        """What the replay of each part of the plan has to know of it."""
        return tuple(part.judged(self.program.scop) for part in self.parts)


def plan_in_tiles(program: ParsedProgram, request: TileRequest, target: Target) -> TiledProgram:
    """Plan a program whose arrays are off chip.

    Raises
    ------
    NothingToTile: more sizes are asked for than there are loops to cut.
    IllegalSchedule: no order of the tiles keeps a dependence.
    WindowsTooLarge: the memories on chip do not fit the budget.
    LookupOffChip, RaggedDomain, TooComplex
    """
    scop = collapse_short_rows(program.scop, request.word_bits // 2, request.on_chip)
    found = None if scop is program.scop else _attempt(program, scop, request, target)
    if found is None:
        return _in_rows(program, program.scop, request, target)
    if any(found[0].single):
        # Lanes of a loop may need rows that begin on words.
        other = _attempt(program, program.scop, request, target) or found
        found = min(found, other, key=lambda attempt: predicted_cycles(attempt[0].plan))
    tiled, limits = found
    note_limits(limits)
    return tiled


def _attempt(
    program: ParsedProgram, scop: Scop, request: TileRequest, target: Target
) -> tuple[TiledProgram, Collection[str]] | None:
    """Return a plan as of `_in_rows`, and what limits did; None where there is none."""
    with suppress(*REFUSALS), noting_limits() as limits, more_effort():
        return _in_rows(program, scop, request, target), limits
    return None


def _in_rows(
    program: ParsedProgram, scop: Scop, request: TileRequest, target: Target
) -> TiledProgram:
    """Plan a program whose arrays are off chip.

    Parameters
    ----------
    scop: the same with the rows that arrays have off chip.
    """
    plain = as_written(scop)
    try:
        return _planned(program, plain, plain, frozenset(), request, target)
    except (IllegalSchedule, NoLanes, RaggedDomain):
        # In a cycle, a statement may have to share its tiles with others that run more often.
        kept = _strided_in_cycles(plain, strided_statements(scop))
        if not kept:
            raise
        written = as_written(scop, kept)
        if not _is_in_bounds(written):
            raise
        with more_effort():
            return _planned(program, plain, written, kept, request, target)


def _strided_in_cycles(plain: Program, strided: Collection[str]) -> frozenset[str]:
    """Return those of some statements that others depend on and that depend on these."""
    units = dependence_units(plain.scop, plain.dependences)
    circular = [unit.statements for unit in units if len(unit.statements) > 1]
    return frozenset(name for names in circular for name in names if name in strided)


def _is_in_bounds(whole: Program) -> bool:
    """Tell whether statements stay in their arrays in iterations that they have gained, too."""
    try:
        require_in_bounds(whole.sets)
    except OutOfBounds:
        return False
    return True


def _planned(
    program: ParsedProgram,
    plain: Program,
    written: Program,
    kept: frozenset[str],
    request: TileRequest,
    target: Target,
) -> TiledProgram:
    """Plan a program whose arrays are off chip.

    Parameters
    ----------
    plain: in the iterators of C, with short rows as one. written: the same where statements that
        are kept, strided ones, run in all iterations.
    """
    as_in_c = {array.name for array in program.scop.arrays if array.depth > 1} & request.on_chip
    refused: RtlgenError | None = None
    while True:
        whole, copies = _expanded(plain, written, kept, as_in_c)
        side = _memory_side(whole.scop, program.scop, request, copies)
        has_lanes = any(array.width_bits < side.word_bits for array in side.arrays)
        chosen = target.choosing_lanes() if has_lanes else target
        try:
            units = _units(whole, written, side, request, chosen)
        except REFUSALS as error:
            if not copies:
                raise refused or error from None
            refused = refused or error
            as_in_c |= set(copies.values())
            continue
        transfers = [t for unit in units for t in unit.part.region.transfers]
        # What goes from tile to tile all the same is an array of C, off chip or on.
        moved = {copies[t.array] for t in transfers if t.array in copies}
        if not moved:
            break
        as_in_c |= moved
    parts = tuple(unit.part for unit in units)
    _require_as_many(request.sizes, parts)
    # Temporaries are the last of its arrays: nothing else moves when they go.
    there = tuple(array for array in side.arrays if array.name not in copies)
    nowhere = {array.name for array in side.arrays} & copies.keys()
    plan = _plan(whole, parts, replace(side, arrays=there), chosen, nowhere)
    return TiledProgram(
        plan,
        program.scop,
        whole,
        parts,
        tuple(unit.candidates for unit in units),
        tuple(None if unit.alone is None else str(unit.alone) for unit in units),
        tuple(None if unit.apart is None else str(unit.apart) for unit in units),
        tuple(unit.single for unit in units),
        tuple(unit.sooner for unit in units),
        request.workers,
    )


def _expanded(
    plain: Program,
    written: Program,
    kept: frozenset[str],
    as_in_c: Collection[str],
) -> tuple[Program, dict[str, str]]:
    """Return a program with temporaries expanded, and whose values each of the new arrays has.

    What one iteration leaves for itself alone keeps its tiles in the order of C else. In tiles an
    element a value costs nothing, as long as it is read in the tile that writes it. Statements that
    are kept read what they leave as it is, which those of C do not.
    """
    # What is not moved takes no memory.
    wider = expand(plain.scop, plain.sets, plain.flows, UNLIMITED, as_in_c)
    if not wider.expansions:
        return written, {}
    copies = {copy.name: e.array for e in wider.expansions for copy in e.copies}
    return as_written(wider.scop, kept), copies


def _units(
    whole: Program, written: Program, side: MemorySide, request: TileRequest, target: Target
) -> Sequence[UnitPlan]:
    """Return the plans of all units of a program.

    Parameters
    ----------
    written: the program with the arrays of C. side: with all that may be off chip.
    """
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
    names = tuple(array.name for array in whole.scop.arrays)
    # What shares a temporary shares its tiles, in which the temporary's values stay.
    planner = UnitPlanner(
        whole, written.dependences, chip, request.sizes, names, or_on_chip=request.or_on_chip
    )
    return planner.plan()


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


def _memory_side(
    scop: Scop, in_c: Scop, request: TileRequest, expanded: Collection[str]
) -> MemorySide:
    """Return the memory off chip, array after array.

    Parameters
    ----------
    in_c: the program with the arrays as in C.
    expanded: what temporaries became, off chip all.

    Raises
    ------
    LookupOffChip
    """
    arrays: list[OffChip] = []
    shapes = {array.name: array.shape for array in in_c.arrays}
    base = 0
    for array in scop.arrays:
        is_kept = array.name in request.on_chip and array.name not in expanded
        if is_kept or array.depth == 1 or array.is_table:
            continue
        element = array.element
        arrays.append(
            OffChip(
                array.name,
                element.width_bits,
                element.signed,
                array.shape,
                array.role,
                base,
                None if array.name in expanded else shapes[array.name],
            )
        )
        base += arrays[-1].words(request.word_bits)
        base += -base % request.bus.alignment_words(request.word_bits)
    names = {array.name for array in arrays}
    for access in (read for statement in scop.statements for read in statement.reads):
        if access.is_lookup and access.array in names:
            raise LookupOffChip(
                f"{access.array} is off chip, and touched at a place that is not affine",
                labels=(Label(access.span, "not known before the tile runs"),),
                help="keep it on chip",
            )
    return MemorySide(request.word_bits, request.bus, tuple(arrays))


def _plan(
    whole: Program,
    parts: Sequence[TiledPart],
    side: MemorySide,
    target: Target,
    nowhere: Collection[str],
) -> KernelPlan:
    """Return the plan; arrays that are `nowhere` are neither off chip nor on it."""
    scop = whole.scop
    held = {array.name: 1 for array in scop.arrays}
    for part in parts:
        for name, ports in part.windows.held.items():
            held[name] = max(held[name], ports * len(part.workers.regions))
    kept_out = {*nowhere, *(array.name for array in side.arrays)}
    on_chip = [
        memory
        for memory in memories_of(scop, PortMap({}, held), VersionMap({}, {}, {}, {}), target)
        if memory.name not in kept_out
    ]
    plan = KernelPlan(
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
    return with_units(with_small_memories(plan, target), whole.sets.context)


def program_in_tiles(tiled: TiledProgram) -> Scop:
    """Return the whole program with its units in tiles, one after another."""
    parts = [part.tiled.scop for part in tiled.parts]
    return replace(
        tiled.program.scop,
        statements=tuple(statement for scop in parts for statement in scop.statements),
        tree=tuple(node for scop in parts for node in scop.tree),
        schedule=Schedule(
            {
                name: (ScalarDim(number), *dims)
                for number, scop in enumerate(parts)
                for name, dims in scop.schedule.dims.items()
            }
        ),
    )


UNTILED = (*REFUSALS, NotUnrollable, NothingToTile)
"""Why a program cannot be planned with its lanes written out."""


def plan_in_lanes(program: ParsedProgram, request: TileRequest, target: Target) -> TiledProgram:
    """Plan a program whose arrays are off chip, its lanes written out where they cannot be others.

    Where some units can run in lanes, the others have one lane each, or all are written out:
    whatever takes fewer cycles.

    Raises
    ------
    NoLanes, WindowsTooLarge: it can be planned in neither way; what `plan_in_tiles` raises.
    """
    lanes = request.lanes
    if lanes is None:
        return plan_in_tiles(program, request, target)
    try:
        some = replace(request, lanes=replace(lanes, where_possible=True))
        found = plan_in_tiles(program, some, target)
    except OUT_OF_LANES as error:
        if isinstance(error, NoLanes) and error.is_of_sizes:
            raise
        written, limits = _written_out(program, request, target)
        if written is None:
            if isinstance(error, WindowsTooLarge):
                # How much RAM the lanes would take is known of no other tiles than those tried.
                remedy = "ask for fewer lanes, or leave out --unroll"
                error.diagnostic = replace(error.diagnostic, help=remedy)
            raise
        how = f"{error.diagnostic.message}: {_how(program, written, lanes)}"
        return _noted(written, [*limits, how])
    without = [
        (part, why) for part, why in zip(found.parts, found.single, strict=True) if why is not None
    ]
    if not without:
        return found
    written, limits = _written_out(program, request, target)
    if written is not None and predicted_cycles(written.plan) < predicted_cycles(found.plan):
        first = without[0][1].diagnostic.message
        return _noted(written, [*limits, f"{first}: {_how(program, written, lanes)}"])
    return _noted(found, [f"{why.diagnostic.message}: {_in_one(part)}" for part, why in without])


def _noted(found: TiledProgram, limits: Iterable[str]) -> TiledProgram:
    """Return a plan, and say what limits have changed in it."""
    note_limits(limits)
    return found


def _in_one(part: TiledPart) -> str:
    names = [statement.name for statement in part.program.scop.statements]
    return f"{', '.join(names)} {'runs' if len(names) == 1 else 'run'} in one lane"


def _written_out(
    program: ParsedProgram, request: TileRequest, target: Target
) -> tuple[TiledProgram | None, Collection[str]]:
    """Return a program whose lanes are written out, if it can be planned, and what limits did."""
    lanes = request.lanes
    assert lanes is not None, "they are asked for"
    wishes = LaneWishes(unroll={lanes.loop: lanes.count})
    if lanes.place is not None:
        wishes = LaneWishes(marked={lanes.place: lanes.count})
    try:
        # Whatever the lanes of tiles took, there is as much for these.
        with more_effort(), noting_limits() as limits:
            wider = replace(program, scop=folded_program(unroll(program.scop, wishes)))
            return plan_in_tiles(wider, replace(request, lanes=None), target), limits
    except UNTILED:
        return None, ()


def _how(program: ParsedProgram, found: TiledProgram, lanes: LaneRequest) -> str:
    """Return what became of the lanes."""
    written, before = len(found.program.scop.statements), len(program.scop.statements)
    if written <= before:
        return f"the lanes of {lanes.loop} are terms of one sum"
    return (
        f"the lanes of {lanes.loop} are statements, {written} instead of {before}, "
        "each with windows of its own"
    )
