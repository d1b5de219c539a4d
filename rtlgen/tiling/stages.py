"""A program in tiles as a program, for whoever wants to read or run it."""

from __future__ import annotations

from dataclasses import replace

from rtlgen.ir.schedule import ScalarDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.tiling.plan import TiledProgram


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
