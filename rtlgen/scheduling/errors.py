"""What the scheduler refuses."""

from __future__ import annotations

from typing import Any

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.scop import Scop


class RaggedDomain(RtlgenError):
    """The instances of a statement cannot be told by comparisons of loop counters.

    The hardware decides with a few comparisons of affine functions which iterations are real. The
    domain of this statement needs a modulus (for example a condition that holds for every third
    iteration) or more comparisons than are worth building. Write the stride as the step of a loop,
    or split the loop.
    """

    code = "E0301"


class IndexStyleUnsuitable(RtlgenError):
    """The index style asked for does not fit the program's loops.

    `shift` takes the indices as bit fields of the flat counter, so every loop but the outermost
    must have a power of two of iterations, padding included. `divide` and `odometer` suit any loop:

        rtlgen build mms_d.c -o build --index odometer
    """

    code = "E0303"


class PlanUnsound(RtlgenError):
    """The compiler's own check of its plan failed: this is a bug of the compiler.

    Before a plan is built it is replayed cycle by cycle: every load must see the value of the store
    that the C program says, no port may be used twice, and the final memory must hold the last
    writes. This plan did not pass, and no circuit is made from it. Please report the program.
    """

    code = "E0304"
    exit_code = 1


class NothingToBuild(RtlgenError):
    """No statement of the function ever runs.

    The function, or its `#pragma scop` region, has no assignment, or all of its loops are empty.
    """

    code = "E0305"


class NothingObservable(RtlgenError):
    """The circuit would have no result that anybody could see.

    What a function computes is visible in arrays that it is given, in globals and in its return
    value. This one writes local variables only:

        void f(const int a[8]) {
          int s = 0;
          for (int i = 0; i < 8; i++)
            s += a[i];
        }

    Return the value, or write it to a parameter or a global.
    """

    code = "E0306"


class WindowsTooLarge(RtlgenError):
    """The memories on chip that a program in tiles needs do not fit the RAM that they may take.

    Windows hold what a tile reads and writes, twice; kept memories hold what tiles leave for later
    ones. Smaller tiles need smaller windows, and the order of the tiles decides how long a value
    must be kept. The message says what the smallest of the tiles that were looked at need.
    """

    code = "E0307"

    def __init__(self, message: str, *, bits: int, **parts: Any) -> None:
        super().__init__(message, **parts)
        self.bits = bits

    @classmethod
    def of(cls, scop: Scop, bits: int, budget_bits: int) -> WindowsTooLarge:
        first = scop.statements[0]
        return cls(
            f"the tiles of {first.name} need {-(-bits // 8192):,} KiB of RAM on chip",
            bits=bits,
            labels=(Label(first.span),),
            notes=(f"{budget_bits // 8192:,} KiB may be taken",),
            help="give smaller tiles, or more RAM",
        )


class LookupOffChip(RtlgenError):
    """An array off chip is read at a place that depends on data.

    What a tile reads is fetched before it starts, so it must be known from the loops alone. Keep
    such an array on chip.
    """

    code = "E0308"
