"""What is raised for a plan that cannot be."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class PlanError(ValueError):
    """A KernelPlan that contradicts itself: a bug of the planner, never of the user."""


class TooManyTiles(PlanError):
    """More tiles, or rows of tiles, than can be followed."""


class PlanUnsound(RtlgenError):
    """The compiler's own check of its plan failed: this is a bug of the compiler.

    Before a plan is built it is replayed cycle by cycle: every load must see the value of the store
    that the C program says, no port may be used twice, and the final memory must hold the last
    writes. This plan did not pass, and no circuit is made from it. Please report the program.
    """

    code = "E0304"
    exit_code = 1


class BankContended(RtlgenError):
    """Two elements of one bank are wanted in one cycle, of an array that was asked to be in banks.

    A bank reads one element and writes one element a cycle. `--partition` says how the elements are
    dealt out, and this is a proof that some of them are not dealt out well: the message names two
    accesses that meet, with their iterations, the cycle and the bank.

        for (int i = 0; i < 64; i += 4) {   --partition a=cyclic:1:2: a[0] and a[2] are both in
          a[i] += 1; a[i + 2] += 1;         bank 0; with cyclic:1:4 each has a bank of its own
        }

    Arrays that are only read are never refused: their banks get a copy for each further reader. So
    do banks in which statements of different nests meet.
    """

    code = "E0312"
    array: str = ""
    """The one that is in banks."""
