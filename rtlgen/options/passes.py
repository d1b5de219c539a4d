"""The passes of the compiler, in the order in which a program goes through them: each once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass.

    Members
    -------
    does: what it does to the program, as a help text or a refusal says it.
    on_chip, in_tiles: whether a program goes through it whose arrays are all on chip, or not.
    """

    name: str
    does: str
    on_chip: bool = True
    in_tiles: bool = False


EVERY_PASS = (
    Pass("parse", "reading statements, loops and accesses", in_tiles=True),
    Pass("prune", "leaving out what nobody can observe", in_tiles=True),
    Pass("unroll", "giving loops lanes"),
    Pass("fold", "computing what is known at build time", in_tiles=True),
    Pass("expand", "giving temporaries an element an iteration"),
    Pass("strip", "cutting loops into strips"),
    Pass("normalise", "counting all iterators from 0, by 1", in_tiles=True),
    Pass("reschedule", "ordering loops as a scheduler asks"),
    Pass("tile", "cutting loops into tiles", in_tiles=True),
    Pass("wavefront", "running tiles along their diagonals"),
    Pass("skew", "skewing loops that wait for their own results"),
    Pass("distribute", "distributing the statements into nests"),
    Pass("permute", "interchanging loops"),
    Pass("pad", "padding loops"),
    Pass("flatten", "flattening nests"),
    Pass("fuse", "fusing nests"),
    Pass("transfer", "moving words to the chip and back", on_chip=False, in_tiles=True),
)

TRANSFORMS = tuple(each.name for each in EVERY_PASS if each.on_chip)
"""The passes whose result is a program."""

TILED_PASSES = tuple(each.name for each in EVERY_PASS if each.in_tiles)
"""Those of a program with arrays off chip."""

PASSES = (*TRANSFORMS, "plan")

DUMPED = ("lower", *PASSES)
"""Those whose result can be shown; the first one's is C, as the statements are read from it."""


def does(name: str) -> str:
    """Return what a pass does."""
    return next(each.does for each in EVERY_PASS if each.name == name)
