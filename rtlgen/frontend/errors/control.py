"""Refusals of loops and jumps."""

from __future__ import annotations

from rtlgen.frontend.errors.base import FrontendError


class UnboundedLoop(FrontendError):
    """`while` and `do` loops are not supported.

    The circuit's schedule is made before it runs, so the number of iterations must follow from
    the bounds. A counting `while` is a `for`:

        i = 0; while (i < N) { ...; i++; }
        for (int i = 0; i < N; i++) { ... }

    Remedy: write it as a `for` loop with bounds affine in the outer iterators.
    """

    code = "E0113"


class Jump(FrontendError):
    """`goto`, `break`, `continue` and `return` from the middle are not supported.

    Every iteration must take the same path, or it could not be issued one a cycle. A `continue`
    under an affine condition is the `if` turned round:

        if (i == j) continue; a[i] = 0;
        if (i < j) a[i] = 0;   if (i > j) a[i] = 0;
    """

    code = "E0114"


class SwitchUnsupported(FrontendError):
    """`switch` is not supported.

    Remedy: for a value, use nested conditional expressions `c == 0 ? x : c == 1 ? y : z`, which
    become multiplexers; for control that is affine in the iterators, use `if`.
    """

    code = "E0115"


class LoopHeader(FrontendError):
    """The header of a `for` loop is not of the supported form.

    One iterator, of any integer type, is set, compared and stepped by a constant:

        for (int i = START; i < STOP; i += STEP)

    with any of `<`, `<=`, `>`, `>=`, `!=`, either way round (`STOP > i`), and any of `i++`,
    `--i`, `i += 2`, `i -= 3`, `i = i + 1`. START and STOP are affine in the outer iterators.

    A loop that steps in another way, such as `for (n = 16; n > 1; n >>= 1)`, is written out if all
    values of its iterator, 32 at most, are known.
    """

    code = "E0117"


class NonAffineBound(FrontendError):
    """A loop bound is not affine.

    A bound is a constant plus constant multiples of the outer iterators:

        for (int j = 0; j < 2*i + 1; j++)       affine
        for (int j = 0; j < MIN(i, 8); j++)     the least of such: accepted, too
        for (int j = 0; j < i % 4; j++)         a loop for each remainder, up to 16: accepted, too
        for (int j = 0; j < i % 100; j++)       not: too many of them
        for (int j = 0; j < i*i; j++)           not: product of iterators
        for (int j = 0; j < len[i]; j++)        not: depends on data

    Remedy: for a bound that depends on data, loop to its largest value and select the results
    with a conditional expression.
    """

    code = "E0118"


class IteratorModified(FrontendError):
    """The iterator of a loop is assigned in its body, or reused by a loop inside.

        for (int i = 0; i < N; i++) { ...; i += 2; }

    Remedy: put the step into the loop header; use another variable for the inner loop.
    """

    code = "E0120"


class IteratorOverflow(FrontendError):
    """The type of an iterator cannot hold the value that ends the loop.

    In C the iterator then wraps and the loop never ends:

        for (unsigned i = N - 1; i >= 0; i--)     an unsigned is never below 0
        for (uint8_t i = 0; i < 256; i++)         a uint8_t is always below 256

    Remedy: use a signed or a wider type (`int`).
    """

    code = "E0121"


class LoopNeverEnds(FrontendError):
    """The loop never reaches its end.

    Either it steps away from its bound, or `!=` is compared with a value that the steps jump
    over:

        for (int i = 0; i < 8; i--)
        for (int i = 0; i != 8; i += 3)

    Remedy: turn the step round, or compare with `<` or `>`.
    """

    code = "E0122"


class TooManyIterations(FrontendError):
    """A nest of loops has more iterations than any run would finish.

    The circuit starts one iteration a clock cycle: 2^48 of them, which its counters could hold,
    take 32 days at 100 MHz. The usual cause is a bound with a digit too many, or a bound for whole
    images or files where the kernel is meant for a part of them:

        for (long i = 0; i < 1000000000000000; i++) ...

    Remedy: give a smaller bound, such as `-D N=64`; let the host call the circuit repeatedly.
    """

    code = "E0146"


class ParameterInControl(FrontendError):
    """A loop bound, array size or subscript depends on a scalar parameter.

    Control is fixed when the circuit is generated; a scalar parameter that is used in
    expressions only becomes an input port. To fix a parameter:

        rtlgen build f.c -D n=64
    """

    code = "E0129"


class IteratorOutsideLoop(FrontendError):
    """The parameter of a function that is called counts a loop in it, and is used as data.

        static int sum(int n, const int a[8]) {
          int s = 0;
          for (; n > 0; n--) s += a[n];
          return s;
        }

    Iterators are counters of the circuit's schedule, not storage. The parameter holds what the
    caller gave, which a counter cannot begin with.

    Remedy: count with a variable of its own: for (int k = n; k > 0; k--).
    """

    code = "E0136"
