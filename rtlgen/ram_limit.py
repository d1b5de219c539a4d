"""Keep a program within the RAM that `--max-bram` gives it, with all copies of its arrays.

How many copies an array on chip has is known once the program is planned: one for each read port of
each bank. Where they are more than the limit allows, loops are tried in which statements that need
a value read it soon after each other, so that one port will do; then arrays move off chip, the
largest first, copies counted, and the program is planned again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from rtlgen.compilation import Compilation, TiledCompilation
from rtlgen.errors import RtlgenError
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import more_effort, note_limit, noting_limits
from rtlgen.ir.ram_copies import memory_ram_bits
from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.target import get_target
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.part import ram_bits
from rtlgen.tiling.placement import Placement, place_arrays


class TooLittleRam(RtlgenError):
    """`--max-bram` allows less RAM on chip than the program takes, whatever is tried.

    An array that is on chip takes a copy for each of its read ports, and for each of several
    statements that store to it in one cycle. Rows of an array in place of copies of it, loops in
    which one port does, and arrays off chip take less. The message says what is left of the RAM
    then, the smallest limit that can be met. Here the array is said to stay on chip:

        rtlgen plan gemm.c --max-bram 1 --memory onchip
    """

    code = "E0324"


Compiled: TypeAlias = Callable[[CompileOptions, Placement], Compilation]
"""Compiles a program with its arrays in certain places."""


def within_limit(scop: Scop, options: CompileOptions, compiled: Compiled) -> Compilation:
    """Return a program that takes no more RAM than it may.

    Raises
    ------
    TooLittleRam, or whatever `compiled` raises for the first places.
    """
    target, known = get_target(options.target), dict[str, int]()
    placement = place_arrays(scop, options, target)
    with noting_limits() as limits:
        found = least = compiled(options, placement)
    while _takes_too_much(found, options):
        if placement.request is None:
            leaner = _in_loops_with_less_ram(options, found, placement, compiled)
            if not _takes_too_much(leaner, options):
                return leaner
            least = min(least, leaner, key=_bits)
        before, taken = placement.request, _ram_taken(found)
        for array in scop.arrays:
            known[array.name] = max(known.get(array.name, 0), taken.get(array.name, 0))
        placement = place_arrays(scop, options, target, known)
        if placement.request == before:
            raise _too_little(scop, options, least)
        try:
            with noting_limits() as limits, more_effort():
                found = compiled(options, placement)
        except REFUSALS as error:
            raise _too_little(scop, options, least, error) from error
        least = min(least, found, key=_bits)
    # What no tiles suit is on chip all the same, and has said why.
    is_placed = placement.request is None or isinstance(found, TiledCompilation)
    for note in (*limits, *(placement.notes if is_placed else ())):
        note_limit(note)
    return found


def _in_loops_with_less_ram(
    options: CompileOptions, fastest: Compilation, placement: Placement, compiled: Compiled
) -> Compilation:
    """Return a program on chip in PLUTO's loops, where it takes less RAM there; or the fastest."""
    if options.scheduler is not None or options.fuse != "mf3":
        return fastest
    found = fastest
    with noting_limits() as limits, suppress(*REFUSALS), more_effort():
        found = compiled(replace(options, scheduler="pluto"), placement)
    if _takes_too_much(found, options):
        return min(fastest, found, key=_bits)
    for note in (*limits, *placement.notes):
        note_limit(note)
    note_limit(
        f"arrays may take {options.max_bram_kib} KiB on chip: they take {_kib(found)} in PLUTO's "
        f"loops, {predicted_cycles(found.plan):,} cycles, and {_kib(fastest)} in those with the "
        f"fewest, {predicted_cycles(fastest.plan):,}"
    )
    return found


def _ram_taken(found: Compilation) -> dict[str, int]:
    """Return the RAM in bits of every memory that is RAM, with all of its copies."""
    is_tiled, plan = isinstance(found, TiledCompilation), found.plan
    return {
        memory.name: ram_bits([memory]) if is_tiled else memory_ram_bits(plan, memory)
        for memory in plan.memories
        if memory.is_ram
    }


def _takes_too_much(found: Compilation, options: CompileOptions) -> bool:
    """Tell whether a program takes more RAM than it was said to take at most."""
    kib = options.max_bram_kib
    return kib is not None and _bits(found) > kib * 8192


def _bits(found: Compilation) -> int:
    return sum(_ram_taken(found).values())


def _kib(found: Compilation) -> int:
    return -(-_bits(found) // 8192)


def _too_little(
    scop: Scop, options: CompileOptions, found: Compilation, error: RtlgenError | None = None
) -> TooLittleRam:
    """Return the error for a program that fits in no way.

    Parameters
    ----------
    found: takes the least of what was tried. error: why no more of its arrays are off chip.
    """
    notes = [f"{options.max_bram_kib} KiB may be taken"]
    if error is not None:
        notes.append(f"with more arrays off chip, {error.diagnostic.message}")
    return TooLittleRam(
        f"{scop.name} takes {_kib(found)} KiB of RAM on chip, copies counted",
        notes=notes,
        help=f"say --max-bram {_kib(found)} or more",
    )
