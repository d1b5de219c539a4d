"""Refusals of functions, of the region of one, and of calls."""

from __future__ import annotations

from rtlgen.frontend.errors.base import FrontendError


class NoFunction(FrontendError):
    """The file defines no function.

    A kernel is one function whose array parameters (or globals) are its memories:

        void scale(int a[64]) { for (int i = 0; i < 64; i++) a[i] *= 3; }

    Remedy: write the loops into a function.
    """

    code = "E0104"


class AmbiguousFunction(FrontendError):
    """The file defines several functions and does not say which one is the kernel.

    A function that others call is not taken for the kernel.

    Remedy: name it with `--function NAME`, or put `#pragma scop` and `#pragma endscop` around
    the loops in exactly one of them.
    """

    code = "E0105"


class UnknownFunction(FrontendError):
    """`--function` names a function that the file does not define.

    Remedy: choose one of the functions in the note; a prototype is not a definition.
    """

    code = "E0106"


class RegionPragma(FrontendError):
    """`#pragma scop` and `#pragma endscop` do not mark one region.

    They stand once, in this order, between statements of the outermost block of a function:

        void f(int a[8]) {
        #pragma scop
          for (int i = 0; i < 8; i++) a[i] = 0;
        #pragma endscop
        }
    """

    code = "E0132"


class EmptyRegion(FrontendError):
    """There is no statement to build a circuit from.

    The function, or its `#pragma scop` region, holds no assignment, or only loops that are
    never entered.
    """

    code = "E0135"


class CallUnsupported(FrontendError):
    """This call cannot be replaced by the text of the function.

    The functions of the same file (and `abs`, `labs`) may be called: a circuit has no call
    stack, so the function's text takes the place of the call. It must therefore be known, and
    where there is no place for statements, as in a loop bound, it must be one expression:

        static int top(int x) { return x > 7 ? 7 : x; }
        for (int i = 0; i < count(a); i++)     refused if `count` has a loop

    Remedy: define the function in this file or in a header that it includes; call it before the
    loop.
    """

    code = "E0116"


class CallArguments(FrontendError):
    """The arguments of a call do not fit the function's parameters.

    There must be as many as parameters. An array, a row of one (`a[i]`), or the part behind an
    element (`&a[4]`, `a + 4`) may be passed where the element type is the same and the extents
    behind the first are equal:

        void scale(int row[8]);     int a[4][8];     scale(a[i]);

    Remedy: declare both with the same element type and extents.
    """

    code = "E0145"


class Recursion(FrontendError):
    """A function calls itself, directly or by way of others.

    Each call is replaced by the function's text, which would never end, and a circuit has no
    stack for the data of unfinished calls.

    Remedy: write the recursion as loops; tail recursion is a `for`.
    """

    code = "E0144"


class ReturnUnsupported(FrontendError):
    """The function's return value cannot be returned.

    The return value is a scalar integer, and `return` is the last statement:

        int sum(int a[8]) { int s = 0; ...; return s; }
    """

    code = "E0139"
