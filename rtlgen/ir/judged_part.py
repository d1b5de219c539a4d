"""What the judge of a plan in tiles is told of a part of the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rtlgen.ir.affine import Affine
from rtlgen.ir.plan import IndexForm
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Scop

Before: TypeAlias = Mapping[str, Sequence[Affine]]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPart:
    """A part of a program in tiles, and what its plan says of it.

    Members
    -------
    written: in the order of C. tiled: in tiles. before: by statement, the iterators of the first as
        functions of those of the second.
    loops: of every statement, as one worker would run them; where it has lanes, that over these is
        the innermost. counters: of each worker, the counters of the tile loops among these by those
        of its own.
    lanes: how many streams each statement has.
    """

    written: Scop
    tiled: Scop
    before: Before
    loops: Mapping[str, Sequence[NestLoop]]
    counters: Sequence[Sequence[IndexForm]]
    lanes: int
