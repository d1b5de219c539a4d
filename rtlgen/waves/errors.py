"""What cannot be read from waves."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class TraceUnreadableError(RtlgenError):
    """A wave file cannot be read, or it does not show the circuit of the build directory.

    `rtlgen trace` takes a .vcd or .fst file that any simulator wrote, and the directory of the
    circuit in it. It looks for the circuit anywhere in the hierarchy, by the names of its control
    ports and of the controls of its statements. So all its levels have to be in the file:

        rtlgen run build/gemm --inputs in.npz --outputs out.npz --trace gemm.vcd
        rtlgen trace gemm.vcd build/gemm --at 100

    A directory that an earlier version of rtlgen wrote has no `instances.json`; build it again.
    """

    code = "E0425"


class NotInTraceError(RtlgenError):
    """A run, a cycle or an instance was asked for that the trace or the program does not have.

    Runs are counted from 1. Cycle 0 is the first one after the clock edge that sees `start`, and
    the last one is that of `done`. An instance is written as `S1(3,4,2)`, with the values of C's
    iterators from the outermost loop inwards, or as `S1(i=3, j=4, k=2)`.
    """

    code = "E0426"
