"""Refusals of expressions, assignments, loops and jumps.

Refusals of expressions and assignments.

Refusals of loops and jumps.
"""

from __future__ import annotations

from rtlgen.frontend.errors.program import FrontendError


class IndexWraps(FrontendError):
    """An index expression wraps round in its C type, so it is not the affine function it seems.

        for (unsigned i = 0; i < 8; i++) a[(i - 1) / 2] = 0;

    `i - 1` is computed as an unsigned int; for i = 0 it is 4294967295. Sums and products that
    wrap round on the way and back again, as `a[i - 1 + 1]`, are understood.

    Remedy: use a signed iterator (`int`), or one that is wide enough.
    """

    code = "E0143"


class SubscriptCount(FrontendError):
    """An array is used with the wrong number of subscripts, or a scalar with any.

    A read or write names one element:

        int a[8][8];   a[i] = 0;     one subscript is missing

    Remedy: give one subscript for each dimension.
    """

    code = "E0128"


class CommaOperator(FrontendError):
    """A comma operator stands where it is not known what is done before it.

    Its parts become statements, one after the other, unless something beside it may tell when they
    are done: a call, or a variable that one of them sets.

    Remedy: write one statement, or one loop, for each part.
    """

    code = "E0125"


class SideEffect(FrontendError):
    """An expression has a side effect inside.

    What is surely done, `a[i++]`, and what is done in one case, `c ? a[i++] : b[j--]`, becomes a
    statement of its own. Refused is what depends on an order that C leaves open, `a[i] = i++`, and
    what is set beside others in an expression, `x + (y = 2)`.

    Remedy: write each assignment as a statement of its own.
    """

    code = "E0126"


class ReadOnly(FrontendError):
    """Something that is constant is assigned.

    Constant variables and parameters, arrays of constant elements, and enumeration constants cannot
    be written.

    Remedy: copy the value to a local variable first, or take away the `const`.
    """

    code = "E0130"


class UnsupportedExpression(FrontendError):
    """The expression uses something that has no place in a circuit of integers.

    `&x` as a value, string constants, compound literals and statement expressions.

    Remedy: write the value as an integer expression of array elements and scalars.
    """

    code = "E0140"


class UnsupportedStatement(FrontendError):
    """The statement has no effect that a circuit could have, or is not supported here.

    Supported are assignments (`=`, `+=`, ...), `x++;`, `x--;`, declarations, `for`, `if`,
    blocks, and `return` at the end.
    """

    code = "E0141"


class UnboundedLoop(FrontendError):
    """The most iterations of a loop are not known.

    The circuit's schedule is made before it runs, so a loop has as many iterations as it can ever
    have; those behind its end have no effect. The number follows from

        while (i < 100 && a[i] != key) i++;     a condition on a counter
        while (x != 0) x >>= 1;                 a word that is emptied
        for (;;) { ...; if (++k == 40) break; } a counter that leaves the loop

    Remedy: state it on the line before the loop:

        #pragma rtlgen bound 47
        while (b != 0) { int t = a % b; a = b; b = t; }
    """

    code = "E0113"


class Jump(FrontendError):
    """A jump leads to a place that structured control does not reach.

    `break`, `continue`, an early `return` and `goto` to a label that stands further down, in the
    same block or in one around it, are accepted. A `goto` that leads back is a loop: write it as
    one. A `return` out of the middle of a `#pragma scop` region would leave what stands behind the
    region undone, too.
    """

    code = "E0114"


class SwitchUnsupported(FrontendError):
    """A label of a `switch` stands inside of a statement.

        switch (n & 3) { case 0: do { a++; case 1: b++; } while (--k); }

    Remedy: put the cases directly into the braces of the `switch`.
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

    A bound that is data or a parameter needs another one, which the circuit runs to: a second
    condition `&& j < 64`, an `assert(n <= 64)`, a narrow type, or an array that every iteration
    accesses at `[j]`, beyond whose end C gives the program no meaning.
    """

    code = "E0118"


class IteratorModified(FrontendError):
    """The iterator of a loop is assigned in its body, or by a loop inside, and no bound is found.

        for (int i = 0; i < N; i++) { ...; i += 2; }         at most N / 3 + 1 iterations
        for (int i = 0; i < N; i++) { ...; i += skip[i]; }   refused: skip[i] may be -1

    The scalars that decide how such a loop goes on are run, in all ways that data may choose. Where
    that shows no end, none is known.

    Remedy: put the step into the loop header, use another variable for the inner loop, or state the
    most iterations on the line before the loop: `#pragma rtlgen bound 100`.
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
    """A loop bound or array size depends on a scalar parameter.

    Control is fixed when the circuit is generated; a scalar parameter becomes an input port. A loop
    whose bound is a parameter runs to the most that it may be, which has to be known: from its
    type, from `assert(n <= 64)`, or from an array that every iteration accesses at its iterator. Or
    fix the parameter:

        rtlgen build f.c -D n=64
    """

    code = "E0129"
