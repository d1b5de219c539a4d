"""What the command line itself refuses."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class UnknownCode(RtlgenError):
    """`rtlgen explain` was asked for a code that does not exist.

    Codes look like E0203 and stand in brackets at the start of a diagnostic. `rtlgen explain`
    without a code lists them all.
    """

    code = "E0404"


class SourceMoved(RtlgenError):
    """The C file of a build directory is not there any more, or has changed.

    `rtlgen run --check` compares a run with what the C program computes. The manifest names the
    file that the circuit was built from, as it was called then, with its SHA-256. Run from the same
    folder; where the file has changed, build again:

        rtlgen build gemm.c -o build/gemm
        rtlgen run build/gemm --inputs in.npz --outputs out.npz --check
    """

    code = "E0416"


class CheckFailed(RtlgenError):
    """What a check found wrong, after its results have been printed in full."""

    exit_code = 1


class NotEquivalent(CheckFailed):
    """The simulated circuit does not do what the C program does.

    `rtlgen verify` found an element of memory, the checksum, the return value or the cycle count
    different from the golden model's. The message names the first elements with their expected and
    actual values and the cycle of the write. This is a bug of the generator: please report it with
    the C file and the seed.
    """

    code = "E0630"


class TargetMissed(CheckFailed):
    """A row of a benchmark is not exact, took other cycles than predicted, or missed its target.

    `rtlgen bench` verifies every kernel that it measures, fused and unfused, and compares its fused
    iterations and cycles with the targets of the row (`target` in the JSON form). The message names
    the rows and what each one missed. Inexact results and wrong predictions are bugs of the
    generator: please report them.
    """

    code = "E0631"


class Crashed(RtlgenError):
    """The process that does the work was ended by a signal.

    SIGKILL comes from a user, or from the system when the machine is out of memory: see
    RTLGEN_MEMORY_MB in `rtlgen explain E0209`. Any other signal is a crash of a library: please
    report it with the C file and the command.
    """

    code = "E0413"
