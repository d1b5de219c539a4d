"""What is refused about arrays off chip before any tile is planned."""

from __future__ import annotations

from rtlgen.errors import RtlgenError
from rtlgen.ir.effort import TooComplex
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling.errors import NoLanes, RaggedDomain, WindowsTooLarge

REFUSALS = (IllegalSchedule, NoLanes, RaggedDomain, WindowsTooLarge, TooComplex)
"""Why a program may not be planned in tiles where, with less asked of them, it might."""


class UnknownArray(RtlgenError):
    """`--memory` names an array that the function does not have.

    Arrays are called as in C: parameters, globals, and local ones that were not replaced by their
    values. The message lists them; without a name, `--memory fixed:8` is for all of them.
    """

    code = "E0315"


class BusTooNarrow(RtlgenError):
    """An element of an array off chip is wider than the bus.

    A word of the memory off chip holds one element or several, never a part of one. Give a bus of
    at least the width of the widest element, or keep that array on chip:

        rtlgen plan gemm.c --memory fixed:8 --bus-bits 64
        rtlgen plan gemm.c --memory fixed:8 --memory A=onchip --bus-bits 32
    """

    code = "E0316"


class StaysOnChip(RtlgenError):
    """`--memory` asks for something off chip that is a single element, or holds constants.

    Scalar variables and arrays of one element are registers, constant tables are part of the
    circuit; none would gain anything off chip. `--memory fixed:8` without a name leaves them where
    they are.
    """

    code = "E0317"


class SeveralBuses(RtlgenError):
    """Arrays are to be off chip behind different buses.

    There is one memory off chip, behind one bus, with one latency. Say the same `fixed:L`,
    `axi:L` or `dram:L` for all arrays that are in it.
    """

    code = "E0318"


class NotInTiles(RtlgenError):
    """An option decides how programs are built whose arrays are all on chip.

    A program with arrays off chip is planned in tiles, whose loops, shifts and order the compiler
    finds. Leave the option out, or keep all arrays on chip:

        rtlgen plan gemm.c --fuse none --memory onchip
    """

    code = "E0319"


class NoParallelTiles(RtlgenError):
    """Workers are to share tiles that depend on each other.

    Workers share the iterations of one loop over tiles. Between these, in one iteration of the
    loops outside of it, nothing may pass through an array off chip, and no array on chip may be
    written.
    A recurrence that runs through all tiles has no such loop, whatever their order:

        for (int i = 1; i < N; i++)
          a[i] = a[i - 1] + b[i];

    The source shows a dependence between two tiles. Units of a program that cannot be shared run
    on one worker where others can be; where none can be, this is the answer. It is, too, where all
    arrays are on chip: then there are no tiles.
    """

    code = "E0321"
