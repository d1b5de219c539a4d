"""What can be chosen of a design: lines of options, each of which goes on from the one before.

An axis on which the user has chosen is not searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rtlgen.ir.scop import Scop
from rtlgen.options import INDEX_STYLES, POLICIES, CompileOptions

Line = list[CompileOptions]
"""Options to be tried one after the other, as long as each gains on the one before."""

MOST_LANES = 64
MOST_WORKERS = 16
TILE_SIZES = (8, 16, 32)


def lines(
    asked: CompileOptions, options: CompileOptions, program: Scop, in_tiles: bool
) -> Iterator[Line]:
    """Yield what may be tried beside a design: lanes, threads and their strategies, and tiles.

    Parameters
    ----------
    asked: the user's options. options: the design's. in_tiles: whether it has arrays off chip.
    """
    if asked.max_dsp is None and not asked.pipeline:
        # In tiles, one loop runs in lanes.
        chosen = tuple(options.unroll) if in_tiles else ()
        for loop in chosen or _loops(program):
            if loop not in asked.unroll:
                yield list(_more_lanes(options, loop))
    if not in_tiles:
        return
    if asked.threads == 1:
        for strategy in POLICIES if options.threads == 1 else (options.strategy,):
            yield [
                replace(options, threads=threads, strategy=strategy)
                for threads in _doubled(options.threads, MOST_WORKERS)
            ]
    if not asked.tile and not options.tile and asked.buffer:
        depth = max(len(statement.loops) for statement in program.statements)
        yield from ([replace(options, tile=(size,) * depth)] for size in TILE_SIZES)


def index_styles(asked: CompileOptions) -> tuple[CompileOptions, ...]:
    """Return the same with every way to recover indices; the cycles are the same in all."""
    if asked.index_style != CompileOptions().index_style:
        return (asked,)
    return tuple(replace(asked, index_style=style) for style in INDEX_STYLES)


def options_text(asked: CompileOptions, options: CompileOptions) -> str:
    """Return what the command line has to say beside what was asked for."""
    words = [
        f"--unroll {loop}={lanes}"
        for loop, lanes in options.unroll.items()
        if asked.unroll.get(loop) != lanes
    ]
    if options.threads != asked.threads:
        words.append(f"--threads {options.threads}")
        if options.strategy != CompileOptions().strategy:
            words.append(f"--strategy {options.strategy}")
    if options.tile != asked.tile:
        words.append(f"--tile {','.join(map(str, options.tile))}")
    if options.index_style != asked.index_style:
        words.append(f"--index {options.index_style}")
    return " ".join(words)


def _loops(program: Scop) -> tuple[str, ...]:
    """Return the loops of the program, by label or variable, the innermost ones first."""
    loops = [loop for statement in program.statements for loop in reversed(statement.loops)]
    return tuple(dict.fromkeys(loop.label or loop.iterator for loop in loops))


def _more_lanes(options: CompileOptions, loop: str) -> Iterator[CompileOptions]:
    for lanes in _doubled(options.unroll.get(loop) or 1, MOST_LANES):
        yield replace(options, unroll={**options.unroll, loop: lanes})


def _doubled(begin: int, most: int) -> Iterator[int]:
    value = 2 * begin
    while value <= most:
        yield value
        value *= 2
