"""What the polyhedral half refuses: illegal schedules and accesses outside of their arrays."""

from __future__ import annotations

from rtlgen.errors import Diagnostic, RtlgenError


class OutOfBounds(RtlgenError):
    """A subscript leaves its array.

    Every subscript is an affine function of the loop iterators, so the compiler decides exactly
    whether some iteration leaves the array, and names the first one that does. In C such an access
    is undefined; in hardware it would read or overwrite a neighbour. Correct the loop bounds or the
    array's size: for `for (i = 0; i < 8; i++) a[i + 1] = 0;` declare `a[9]`.
    """

    code = "E0201"


class LookupOutOfRange(RtlgenError):
    """A subscript that depends on data lies outside of its array, whatever the data are.

    C gives such an access no meaning. The compiler follows the values that feed a subscript through
    types, masks, shifts, remainders, conditions, the contents of constant tables and the statements
    before:

        y[i] = t[(x[i] & 15) + 16];                  16 to 31: refused for int t[16]
        y[i] = t[x[i]];                              may be inside: a warning, W0205
        y[i] = t[x[i] & 15];                         0 to 15
        y[i] = x[i] >= 0 && x[i] < 16 ? t[x[i]] : 0; 0 to 15 where it is read
        y[i] = t[(unsigned)x[i] % 16];               0 to 15; of a negative number % is negative

    The same holds of what is written. All such subscripts of a program are named at once. Correct
    the subscript, or declare the array as long as it has to be.

    Members
    -------
    others: the further subscripts of the program, in the order of the text.
    """

    code = "E0220"
    others: tuple[LookupOutOfRange, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every such subscript of the program, this one first."""
        return (self.diagnostic, *(error.diagnostic for error in self.others))


class IllegalSchedule(RtlgenError):
    """A change of order breaks a dependence.

    Two instances that touch the same array element, at least one of them writing, must run in
    the order of the C program. The message names one pair of instances that the requested order
    would swap. Choose another loop order or let the search choose.
    """

    code = "E0202"


class IllegalShift(RtlgenError):
    """A statement would start too early in the fused loop.

    In a fused loop statement s runs in iterations shift <= n < shift + count. A statement that
    reads what another one writes must be shifted far enough that every value is written in an
    earlier iteration, or in the same one by a statement that stands before it. The message names
    the first pair of instances that meet in the wrong order, and the smallest shift that is legal.
    Example: in `rtlgen plan examples/mms_d/mms_d.c --shift S1=25`, S1(0,8,0) would read c[0][8] at
    n=97 while S0(0,8,10) writes it at n=98; S1=26 is the smallest legal shift.
    """

    code = "E0203"


class UnknownStatement(RtlgenError):
    """An option names a statement that the function does not have.

    Statements are named S0, S1, ... in program order of the C text; a C label names its statement
    instead. `rtlgen check FILE.c` lists them.
    """

    code = "E0204"


class NoLegalSchedule(RtlgenError):
    """No fused schedule was found for statements that depend on each other in a cycle.

    Statements in one loop that feed each other across its iterations are given a common period by
    padding. This error means that no period up to the sequential length satisfies every dependence
    under the options given; remove `--shift` overrides for these statements.
    """

    code = "E0205"


class OuterShiftRefused(RtlgenError):
    """Outer loop shifting does not bring the nests of this program into one perfect nest.

    `--fuse ols` builds what outer loop shifting (OLS) makes, the published forerunner of this
    compiler's own fusion. It has three restrictions: the nests are adjacent, each one is perfect,
    and all have equal trip counts. The message names those that do not hold, with their lines.
    Example: in examples/2mm/2mm.c each nest holds an initialisation beside its inner loop. Without
    `--fuse ols` any of these programs is fused.
    """

    code = "E0206"


class NoHyperplane(RtlgenError):
    """A scheduler found no loop that statements depending on each other in a cycle could share.

    PLUTO looks for loops whose time is a sum of iterators with coefficients that are not negative.
    Statements that feed each other in a cycle must share such a loop. This error means that the
    dependences of a cycle allow none; `--scheduler isl` also tries negative coefficients, and
    without `--scheduler` the loops stay as written. isl's own schedulers, Feautrier's above all,
    find no loops for some cycles either, and then this error names them.
    """

    code = "E0210"


class RewriteUnsound(RtlgenError):
    """A transform changed what the instances of a statement do: an error of the compiler.

    After every change of iterators the compiler proves that each instance of the C program is still
    there, once, and touches the same array elements; and when dead statements are left out, that
    all others read and leave the same values. This message means that a proof failed, so nothing
    was built. Leave out `--scheduler` and `--tile`, and report the program.
    """

    code = "E0211"


class NothingToTile(RtlgenError):
    """No loops fit the tile sizes that were asked for.

    `--tile 8,8` cuts two loops that stand directly inside each other and may be interchanged, a
    permutable band, into tiles of 8 by 8 iterations. The schedule has no such band of two loops.
    Give fewer sizes, or try another `--scheduler`; `rtlgen plan` prints the bands.
    """

    code = "E0212"


class ReadBeforeWrite(RtlgenError):
    """A local variable is read before anything has written it.

    C leaves such a value open: a circuit would give whatever the last run left in its memory. The
    compiler follows every value to the write that it comes from, and names the first iteration and
    element for which there is none:

        int t[8];
        for (int i = 1; i < 8; i++) t[i] = a[i];
        for (int i = 0; i < 8; i++) b[i] = t[i];     t[0] has no value

    Remedy: give the variable a value where it is declared, or correct the bounds of the loop that
    should have written it. Where only data decides whether it is read, it is a warning, W0204.
    """

    code = "E0230"


class StreamOutOfOrder(RtlgenError):
    """An array of `--memory A=stream` is not accessed once each, in row-major order.

    Over a stream, elements come in, or go out, one at a time, from the first to the last one, and
    none comes back. The message names the first access in the program that goes back. What is read
    again has to be kept by the program: in local variables, or in a local array, which is RAM or
    registers of the circuit:

        for (int i = 0; i < N; i++) {
            for (int k = TAPS - 1; k > 0; k--) window[k] = window[k - 1];
            window[0] = x[i];                            x once, and in order
            int sum = 0;
            for (int k = 0; k < TAPS; k++) sum += h[k] * window[k];
            y[i] = sum;                                  y too
        }

    Two elements of one statement are read at once: `a = x[2 * i]; b = x[2 * i + 1];` reads them one
    after the other, `y[i] = x[2 * i] + x[2 * i + 1];` does not. So do lanes of an unrolled loop.
    """

    code = "E0231"
