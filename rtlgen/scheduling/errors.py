"""What the scheduler refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.scop import Access, Array, Statement


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

    `divide` takes the indices as quotients and remainders of the flat counter, so the bounds of a
    loop must not depend on those around it. `shift` takes them as bit fields, so every loop but the
    outermost must have a power of two of iterations, too, padding included. `odometer` suits all:

        rtlgen build mms_d.c -o build --index odometer
    """

    code = "E0303"


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
    def of(
        cls, firsts: Sequence[Statement], bits: Sequence[int], budget_bits: int
    ) -> WindowsTooLarge:
        """Return the error for units that need so many bits each, named by their first statement.

        They run one after another, each with memories of its own.
        """
        needs = [f"the tiles of {s.name} need {_kib(b)}" for s, b in zip(firsts, bits, strict=True)]
        if len(needs) > 1:
            needs.append(f"together {_kib(sum(bits))}")
        return cls(
            f"{', '.join(needs)} of RAM on chip",
            bits=sum(bits),
            labels=tuple(Label(statement.span) for statement in firsts),
            notes=(f"{budget_bits // 8192:,} KiB may be taken",),
            help="give smaller tiles, or more RAM",
        )


def _kib(bits: int) -> str:
    return f"{-(-bits // 8192):,} KiB"


class NoLanes(RtlgenError):
    """A loop of a program in tiles cannot be run in as many lanes as were asked for.

    In tiles, lanes are neighbouring iterations of one loop that issue in the same cycle:

        rtlgen plan gemm.c --memory axi --unroll j=8 --tile 32,32,32

    All statements of a tile share that loop, and its part of a tile is a multiple of the lanes. No
    two lanes write to one bank of a memory. Where a lane needs what another one computes, each runs
    some cycles behind the one before, if no lane needs what a later one has not computed by then.

    What cannot be lanes of a tile is written out: a sum over lanes adds several terms at a time,
    and other statements stand there several times, with windows of their own. `plan` says so. This
    error means that such a program cannot be planned either, or that tiles of other sizes could
    run in these lanes.
    """

    code = "E0323"

    is_of_sizes = False
    """Whether tiles of other sizes than those asked for may have such lanes."""

    @classmethod
    def of_sizes(cls, message: str, **told: Any) -> NoLanes:
        """Return the error for tiles of sizes that have no such lanes, as others may."""
        found = cls(message, **told)
        found.is_of_sizes = True
        return found

    @classmethod
    def of_store(cls, statement: Statement, why: str) -> NoLanes:
        """Return the error for lanes that would store through one port."""
        return cls(
            f"lanes of {statement.name} cannot store in one cycle",
            labels=(Label(statement.write.span, why),),
            help="run another loop in lanes",
        )

    @classmethod
    def of_banks(cls, statement: Statement) -> NoLanes:
        """Return the error for lanes that run behind each other, and would share banks."""
        return cls(
            f"lanes of {statement.name} have no banks of their own to store to",
            labels=(
                Label(statement.write.span, "moves among the lanes from iteration to iteration"),
            ),
            notes=("one waits for another, so they run behind each other",),
            help="run another loop in lanes, or share tiles among workers: --threads",
        )


class LookupOffChip(RtlgenError):
    """An array off chip is read or written at a place that is not affine in the iterators.

    It depends on data, or on the iterators by a mask or another such operation, `w[i & 15]`. What a
    tile reads is fetched before it starts, and what it writes goes in bursts behind it, so both
    must be known from the loops alone. Keep such an array on chip.
    """

    code = "E0308"


class BankUnknown(RtlgenError):
    """An access is to several banks of an array, in numbers between which no bits can choose.

    An array that is cut into a number of parts that is no power of two needs a division to tell the
    bank of an element. That is done before the circuit is built, so every access must stay in one
    bank:

        for (int i = 0; i < 12; i += 3)     a[i + 1] is in bank 1 of --partition a=cyclic:1:3
          a[i + 1] = 0;

    Unroll the loop so that the accesses of each statement do, or cut the array into a power of two
    of parts; with `block`, of as many elements each.
    """

    code = "E0309"
    array: str = ""
    """The one that is in banks."""

    @classmethod
    def of(cls, array: Array, access: Access, text: str) -> BankUnknown:
        cut = next(c for c in array.cuts if not c.is_power_of_two(array.shape[c.dim]))
        parts = f"{cut.count} parts"
        if cut.kind == "block":
            parts += f" of {cut.part_extent(array.shape[cut.dim])}"
        found = cls(
            f"{text} is in several banks of {array.name}, in {parts}",
            labels=(Label(access.span, "in more than one of them"),),
            notes=(
                "only where the parts are powers of two is the bank a few bits of the subscript",
            ),
            help="cut it into a power of two of parts, or unroll the loop so that it stays in one",
        )
        found.array = array.name
        return found
