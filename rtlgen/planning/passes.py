"""The program after every pass, as what was decided for it asks."""

from __future__ import annotations

from collections.abc import Iterator

from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.options.passes import TRANSFORMS
from rtlgen.planning.analysis import Analysis
from rtlgen.scheduling.decide import Decision
from rtlgen.transforms.distribute import distribute
from rtlgen.transforms.flatten import flatten
from rtlgen.transforms.fuse import fuse
from rtlgen.transforms.pad import pad
from rtlgen.transforms.permute import permute


def passes_of(
    analysis: Analysis, decision: Decision, options: CompileOptions
) -> Iterator[tuple[str, Scop]]:
    """Yield the program after every pass, by its name."""
    scop = analysis.program.scop
    for name in TRANSFORMS[: TRANSFORMS.index("distribute")]:
        # Without a scheduler the passes over loops leave the program as it was.
        scop = analysis.earlier.get(name, scop)
        yield name, scop
    scop = distribute(scop, analysis.units)
    yield "distribute", scop
    single = [unit.statements[0] for unit in analysis.units if len(unit.statements) == 1]
    for name in single:
        loops = decision.placements[name].loops
        scop = permute(scop, name, [x.iterator for x in loops if x.iterator is not None])
    yield "permute", scop
    for name in single:
        scop = pad(scop, name, decision.placements[name].loops)
    yield "pad", scop
    for number, unit in enumerate(analysis.units):
        flats = {
            name: decision.placements[name].flat(decision.nest_shifts[name])
            for name in unit.statements
        }
        scop = flatten(scop, number, flats)
    yield "flatten", scop
    if options.fuse != "none":
        yield "fuse", fuse(scop, decision.shifts, decision.regions)
