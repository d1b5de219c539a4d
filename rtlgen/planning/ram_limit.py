"""Keep a program within the RAM that `--max-bram` or its device gives it, all copies counted.

How many copies an array on chip has is known once the program is planned: one for each read port of
each bank. Where they are more than the limit allows, loops are tried in which statements that need
a value read it soon after each other, so that one port will do; then arrays move off chip, the
largest first, copies counted, and the program is planned again. The device's RAM is a limit where
nobody has set another one; for its sake, arrays move out only where one copy of each is too much.

Where nobody has set a limit, these loops are also taken for half of the block RAMs, if that is some
part of the device's and they cost next to nothing in cycles. `--max-bram` says how much RAM the
loops with the fewest cycles may take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf

from rtlgen.errors import Diagnostic, RtlgenError
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.block_rams import block_rams, memory_ram_bits
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import improving, more_effort, note_limit, note_limits, noting_limits
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.scop import Scop
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import Chosen, InTiles, OnChip
from rtlgen.planning.in_tiles import UNTILED, in_tiles
from rtlgen.planning.lane_choice import (
    LANE_PRAGMAS,
    asked_by_options,
    asked_by_pragmas,
    limit_without_gain,
)
from rtlgen.planning.on_chip import on_chip
from rtlgen.scheduling.errors import WindowsTooLarge
from rtlgen.target import Target, get_target
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.part import ram_bits
from rtlgen.tiling.placement import Placement, place_arrays, ram_limit_bits


class TooLittleRam(RtlgenError):
    """`--max-bram` allows less RAM on chip than the program takes, whatever is tried.

    An array that is on chip takes a copy for each of its read ports, and for each of several
    statements that store to it in one cycle. Rows of an array in place of copies of it, loops in
    which one port does, and arrays off chip take less. The message says what is left of the RAM
    then, the smallest limit that can be met. Here the array is said to stay on chip:

        rtlgen plan gemm.c --max-bram 1 --memory onchip
    """

    code = "E0324"


DEVICE_LOSS = 1.25
"""Times the fewest cycles, up to which loops are taken for the sake of what the device has."""

LEAN_LOSS = 1.05
"""Times the fewest cycles, up to which loops are taken that need little RAM."""

LEAN_RAM = 0.5
"""Share of the block RAMs of those with the fewest cycles that counts as little."""

LEAN_DEVICE = 1 / 4
"""Share of the device's block RAMs that a program takes before fewer of them are looked for."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """The RAM that a program may take with all copies of its arrays.

    Members
    -------
    is_asked: whether it is that of `--max-bram`. Else it is that of the device, and where nothing
        keeps to it the program is built as it is, and says so: there are larger devices.
    """

    bits: int
    is_asked: bool
    device: str

    @staticmethod
    def of(options: CompileOptions, target: Target) -> _Limit:
        """Return the limit that options set."""
        is_asked = options.max_bram_kib is not None
        return _Limit(ram_limit_bits(options, target), is_asked, target.device)

    @property
    def most_slower(self) -> float:
        """How many times the fewest cycles are not too many in loops that keep to it."""
        return inf if self.is_asked else DEVICE_LOSS

    def is_kept(self, built: _Built) -> bool:
        """Tell whether a program takes no more than that."""
        return built.bits <= self.bits

    def __str__(self) -> str:
        if self.is_asked:
            return f"arrays may take {_kib(self.bits):,} KiB on chip"
        return f"{self.device} has {_kib(self.bits):,} KiB for arrays"


@dataclass(frozen=True, slots=True)
class _Built:
    """A program in one of the ways that are tried.

    Members
    -------
    notes: what is said where it is built.
    """

    chosen: Chosen
    notes: tuple[str, ...]

    @property
    def cycles(self) -> int:
        return predicted_cycles(self.chosen.plan)

    @property
    def bits(self) -> int:
        return sum(_ram_taken(self.chosen).values())

    @property
    def kib(self) -> int:
        return _kib(self.bits)

    def blocks(self, target: Target) -> int:
        """Return the block RAMs of a program whose arrays are all on chip."""
        return block_rams(self.chosen.plan, target)


@dataclass(frozen=True, slots=True)
class Within:
    """A program that takes no more RAM than it may.

    Members
    -------
    is_limited: whether it is another one than it would be if it could take more.
    """

    chosen: Chosen
    is_limited: bool


def best_within_limits(program: ParsedProgram, options: CompileOptions) -> Chosen:
    """Return how a program of live statements runs, with a warning where limits undo its lanes.

    Raises
    ------
    TooLittleRam, or whatever `in_places` raises for the first places.
    """
    within = within_limit(program, options)
    if not within.is_limited:
        return within.chosen
    return within.chosen.with_warnings(*_limit_without_gain(program, options, within.chosen))


def within_limit(program: ParsedProgram, options: CompileOptions) -> Within:
    """Return a program that takes no more RAM than it may.

    Raises
    ------
    TooLittleRam, or whatever `in_places` raises for the first places.
    """
    limit = _Limit.of(options, get_target(options.target))
    tried: list[_Built] = []
    refused: RtlgenError | None = None
    try:
        for built in _attempts(program, options, limit):
            tried.append(built)
            if limit.is_kept(built):
                break
    except REFUSALS as error:
        if not tried:
            raise
        refused = error
    chosen = tried[-1]
    if not limit.is_kept(chosen):
        if limit.is_asked:
            raise _too_little(program.scop, limit, tried, refused) from refused
        chosen = _beyond(limit, tried[0])
    note_limits(chosen.notes)
    return Within(chosen.chosen, chosen.chosen is not tried[0].chosen)


def _attempts(program: ParsedProgram, options: CompileOptions, limit: _Limit) -> Iterator[_Built]:
    """Yield a program in the ways that may be tried, as long as they take too much RAM on chip.

    Raises
    ------
    Whatever `in_places` raises.
    """
    target, known = get_target(options.target), dict[str, int]()
    placement = place_arrays(program.scop, options, target)
    may_move = limit.is_asked or (placement.request is not None and not placement.is_asked)
    built = _build(program, options, placement)
    if not placement.is_asked and _waits_in_tiles(built):
        # An array on chip has one write port, for which tiles wait that could overlap.
        every = place_arrays(program.scop, options, target, all_out=True)
        if every.request != placement.request:
            with more_effort():
                other = _build(program, options, every)
            if other.cycles < TOLERANCE * built.cycles:
                placement, built = every, other
    is_free = not limit.is_asked and limit.is_kept(built)
    if is_free and placement.request is None and _may_be_lean(options, built, target):
        lean = _in_leaner_loops(program, options, LEAN_LOSS, built, placement)
        if lean is not None and lean.blocks(target) <= built.blocks(target) * LEAN_RAM:
            remedy = f": --max-bram {built.kib} takes these"
            yield _compared(f"arrays take {lean.kib:,} KiB on chip", lean, built, remedy)
    yield built
    while True:
        if placement.request is None:
            leaner = _in_leaner_loops(program, options, limit.most_slower, built, placement)
            if leaner is not None:
                yield _compared(f"{limit}: they take {leaner.kib:,}", leaner, built)
        if not may_move:
            return
        for name, bits in _ram_taken(built.chosen).items():
            known[name] = max(known.get(name, 0), bits)
        moved = place_arrays(program.scop, options, target, known)
        if moved.request == placement.request or _are_too_large(built, placement, moved):
            return
        placement = moved
        # Whatever one attempt takes, there is as much for the next.
        with more_effort():
            built = _build(program, options, placement)
        yield built


def _waits_in_tiles(built: _Built) -> bool:
    """Tell whether tiles take longer than their statements issue, and than their words are moved.

    Since they wait for what the one before has not done with yet.
    """
    if not isinstance(built.chosen, InTiles):
        return False
    least = sum(part.least_kernel_cycles for part in built.chosen.tiled.parts)
    waiting = sum(part.kernel_cycles for part in built.chosen.tiled.parts)
    return least < TOLERANCE * waiting and least < TOLERANCE * built.cycles


def _are_too_large(built: _Built, placement: Placement, moved: Placement) -> bool:
    """Tell whether tiles are known to take too much RAM with more arrays off chip than in a plan.

    They take what they take with fewer of them there, and windows of the others.
    """
    found, before, after = built.chosen, placement.request, moved.request
    if before is None or after is None or not isinstance(found, OnChip):
        return False
    is_larger = isinstance(found.untiled, WindowsTooLarge) and (
        found.untiled.bits > after.budget_bits
    )
    return is_larger and after.on_chip <= before.on_chip


def _limit_without_gain(
    program: ParsedProgram, options: CompileOptions, found: Chosen
) -> tuple[Diagnostic, ...]:
    """Return a warning where lanes cost what they save, since RAM is limited."""
    by_options = asked_by_options(program.scop, options.unroll, options.pipeline)
    asked = by_options or asked_by_pragmas(program.pragmas)
    if not asked or any(each.code == "W0114" for each in found.warnings):
        return ()
    others = tuple(p for p in program.pragmas if not isinstance(p, LANE_PRAGMAS))
    fewer = program if by_options else replace(program, pragmas=others)
    plain = replace(options, unroll={}, pipeline=())
    single: Chosen | None = None
    # What limits did to it is not said, since it is not built.
    with (
        improving("one lane of each loop"),
        more_effort(),
        noting_limits(),
        suppress(TooLittleRam, *UNTILED),
    ):
        single = within_limit(fewer, plain).chosen
    if single is None:
        return ()
    cycles, single_cycles = predicted_cycles(found.plan), predicted_cycles(single.plan)
    warning = limit_without_gain(asked, cycles, single_cycles)
    return () if warning is None else (warning,)


def in_places(program: ParsedProgram, options: CompileOptions, placement: Placement) -> Chosen:
    """Plan a program of live statements with its arrays in certain places."""
    if placement.request is not None and placement.is_asked:
        found: Chosen = in_tiles(program, options, placement.request)
    elif placement.request is not None:
        try:
            # Whatever this takes, there is as much for a second attempt.
            with more_effort():
                found = in_tiles(program, options, placement.request)
        except UNTILED as error:
            note_limit(f"{error.diagnostic.message}: all arrays are on chip")
            return replace(on_chip(program, options), untiled=error)
    else:
        found = on_chip(program, options)
    return found


def _build(program: ParsedProgram, options: CompileOptions, placement: Placement) -> _Built:
    """Return a program with its arrays in certain places."""
    with noting_limits() as limits:
        found = in_places(program, options, placement)
    # What no tiles suit is on chip all the same, and has said why.
    is_placed = placement.request is None or isinstance(found, InTiles)
    notes = placement.notes if is_placed else ()
    if isinstance(found, InTiles) and not placement.is_asked:
        least = max(n for part in found.tiled.parts for n in part.loops.instances.values())
        takes = f"on chip, on a larger device, it takes at least {least:,} cycles in one lane"
        notes = (*notes, f"{takes}: --memory onchip plans that")
    return _Built(found, (*limits, *notes))


def _in_leaner_loops(
    program: ParsedProgram,
    options: CompileOptions,
    most_slower: float,
    fastest: _Built,
    placement: Placement,
) -> _Built | None:
    """Return a program on chip in PLUTO's loops; None where it is not worth its cycles.

    In these loops, statements that need a value read it soon after each other.

    Parameters
    ----------
    most_slower: times the cycles of `fastest` that are not too many.
    """
    if options.scheduler is not None or options.fuse != "mf3":
        return None
    try:
        with more_effort():
            found = _build(program, replace(options, scheduler="pluto"), placement)
    except PlanUnsound:
        # A judge has found a bug of this compiler, which is never passed over.
        raise
    except RtlgenError:
        # Whatever these loops lack, the program has others.
        return None
    return found if found.cycles <= fastest.cycles * most_slower else None


def _may_be_lean(options: CompileOptions, built: _Built, target: Target) -> bool:
    """Tell whether a program could do with much less RAM: if it has many copies of its arrays.

    And if that is much of what the device has.

    Lanes are asked for the sake of cycles, and shifts are those of the loops as written.
    """
    if options.unroll or options.pipeline or options.max_dsp is not None or options.shifts:
        return False
    taken = built.blocks(target)
    if taken < target.device_block_rams * LEAN_DEVICE:
        return False
    least = sum(
        memory.twins
        * memory.bank_map.banks
        * target.block_rams(memory.ram_words, memory.ram_word_bits)
        for memory in built.chosen.plan.memories
        if memory.is_block_ram and memory.has_host_port
    )
    return least <= taken * LEAN_RAM


def _compared(taken: str, leaner: _Built, fastest: _Built, remedy: str = "") -> _Built:
    """Return a program in PLUTO's loops with a note of what those with the fewest cycles take.

    Parameters
    ----------
    taken: what it takes itself. remedy: how to have the others.
    """
    said = (
        f"{taken} in PLUTO's loops, {leaner.cycles:,} cycles, and {fastest.kib:,} in those with "
        f"the fewest, {fastest.cycles:,}{remedy}"
    )
    return replace(leaner, notes=(*leaner.notes, said))


def _beyond(limit: _Limit, built: _Built) -> _Built:
    """Return a program that is built although it takes more than the device has."""
    said = f"{limit}: they take {built.kib:,} with their copies, which is for a larger device"
    # Where something else keeps arrays on chip, or has them off chip, a limit changes nothing.
    remedy = f"; --max-bram {_kib(limit.bits)} is for this one" if not built.notes else ""
    return replace(built, notes=(*built.notes, said + remedy))


def _ram_taken(found: Chosen) -> dict[str, int]:
    """Return the RAM in bits of every memory that is RAM, with all of its copies."""
    is_tiled, plan = isinstance(found, InTiles), found.plan
    return {
        memory.name: ram_bits([memory]) if is_tiled else memory_ram_bits(plan, memory)
        for memory in plan.memories
        if memory.is_ram
    }


def _kib(bits: int) -> int:
    return -(-bits // 8192)


def _too_little(
    scop: Scop, limit: _Limit, tried: Sequence[_Built], error: RtlgenError | None
) -> TooLittleRam:
    """Return the error for a program that fits in no way.

    Parameters
    ----------
    error: why no more of its arrays are off chip.
    """
    least = min(tried, key=lambda built: built.bits)
    notes = [f"{_kib(limit.bits):,} KiB may be taken"]
    if error is not None:
        notes.append(f"with more arrays off chip, {error.diagnostic.message}")
    return TooLittleRam(
        f"{scop.name} takes {least.kib:,} KiB of RAM on chip, copies counted",
        notes=notes,
        help=f"say --max-bram {least.kib} or more",
    )
