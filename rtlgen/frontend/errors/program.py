"""Refusals of text, types, declarations, names and functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from rtlgen.errors import Diagnostic, RtlgenError


class FrontendError(RtlgenError):
    """Base of the refusals of a C program.

    Members
    -------
    others: further refusals found in the same file, in the order of the text.
    loop: line of the place of a loop whose header is refused.
    call: line of the place of a call that cannot stay inside of its expression.
    inside: the function that is called, and in which this is refused.
    missing: the function of which there is no text.
    deciding: the parameters of the kernel on which control depends here.
    is_told_once: one place says it for the program: what changes that changes all of them.
    """

    is_told_once: ClassVar[bool] = False
    others: tuple[FrontendError, ...] = ()
    loop: int | None = None
    call: int | None = None
    inside: str | None = None
    missing: str | None = None
    deciding: tuple[str, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every refusal of the file, this one first."""
        told: dict[type[FrontendError], list[FrontendError]] = {}
        for error in (self, *self.others):
            told.setdefault(type(error), []).append(error)
        return tuple(
            _with_places(error.diagnostic, told[type(error)][1:])
            if error.is_told_once
            else error.diagnostic
            for error in (self, *self.others)
            if not error.is_told_once or error is told[type(error)][0]
        )

    @property
    def position(self) -> tuple[int, int]:
        """Line and column of its first place, to sort refusals by."""
        labels = self.diagnostic.labels
        return (labels[0].span.line, labels[0].span.column) if labels else (0, 0)


def _with_places(diagnostic: Diagnostic, others: Sequence[FrontendError]) -> Diagnostic:
    """Return a diagnostic with a note of the other places of which it speaks."""
    if not others:
        return diagnostic
    here = diagnostic.labels[0].span.file if diagnostic.labels else ""
    spans = [label.span for error in others for label in error.diagnostic.labels[:1]]
    lines = dict.fromkeys(str(span.line) for span in spans if span.file == here)
    elsewhere = dict.fromkeys(f"{span.file}:{span.line}" for span in spans if span.file != here)
    places = [f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}"] if lines else []
    is_one = len(others) == 1
    note = f"so {'is' if is_one else 'are'} {len(others)} more: {', '.join((*places, *elsewhere))}"
    return replace(diagnostic, notes=(*diagnostic.notes, note))


class CSyntaxError(FrontendError):
    """The text is not C.

    The parser reads C99 with a few later additions, after preprocessing. Compiler extensions
    (statement expressions, inline assembly) are not C and end here too, and so does a type name
    that no declaration or included header introduces:

        void f(u32 a[8]) { ... }     `u32` is not declared

    Remedy: compile the file with `gcc -std=c99 -pedantic -fsyntax-only` and mend what it reports.
    """

    code = "E0101"


class PreprocessorError(FrontendError):
    """A preprocessor directive could not be carried out.

    The usual causes are an `#if` without `#endif`, a macro call with the wrong number of
    arguments, an `#error` that was reached, or a malformed `#define`:

        #define MAX(a b) ...         a comma is missing

    Remedy: mend the directive. Sizes that the program wants from outside are given with
    `-D NAME=VALUE`.
    """

    code = "E0102"


class IncludeNotFound(FrontendError):
    """An included file does not exist.

    Headers of the project are looked for beside the including file and in the `-I` folders.
    Of the standard headers `<stdint.h>`, `<stdbool.h>`, `<stddef.h>` and `<limits.h>` are
    built in, and `<stdio.h>`, `<stdlib.h>`, `<string.h>`, `<math.h>`, `<assert.h>`,
    `<inttypes.h>` and `<time.h>` are accepted and ignored.

    Remedy: add `-I DIR` with the folder that holds the header.
    """

    code = "E0103"


class TooDeep(FrontendError):
    """The text is nested too deeply, or is too large.

    Brackets may be nested 200 deep, expressions and blocks 200 levels, files included 50 levels,
    and the program may have 100,000 tokens with macros expanded. What calls inside of expressions
    become may have 20,000 operations, all of them together.

    Remedy: build a long sum in a loop or in several statements, and keep the result of a call in a
    variable where it is needed several times.
    """

    code = "E0133"


class BadConstant(FrontendError):
    """A constant is malformed, too large, or divides by zero.

    Integer constants have C's types (C11 6.4.4.1): the first of `int`, `long` (and `unsigned`
    ones for hexadecimal or with suffix `u`) that holds the value. Character constants hold one
    character. Strings are not supported.
    """

    code = "E0134"


class FileUnreadable(FrontendError):
    """The file cannot be read as text.

    It does not exist, is a folder, may not be read, or is not UTF-8.
    """

    code = "E0137"


class VendorHeader(FrontendError):
    """The program includes a header of a C++ tool for high-level synthesis.

    rtlgen reads C: there are no templates, classes or operators of a program's own. For what such
    headers declare, C has other words:

    | header | in C |
    |---|---|
    | `ap_int.h` | `int8_t` to `int64_t`, and a mask where a value wraps: `x & 0xfff` |
    | `ap_fixed.h` | integers with a scale: `(a * b) >> 8` |
    | `hls_stream.h` | an array, written by one loop and read by the next |
    | `hls_math.h` | integers, or a constant table |

    The page docs/how-to/come-from-vitis-hls.md has an example of each, and what becomes of pragmas
    and interfaces. A header of this name that you wrote yourself is found with `-I DIR`.
    """

    code = "E0147"


class BadDefinition(FrontendError):
    """A `-D` option is malformed.

    A macro is `-D NAME` or `-D NAME=VALUE`. For a scalar parameter of the function the value is
    an integer constant in the range of the parameter's type:

        rtlgen check gemm.c -D N=64
    """

    code = "E0138"


class UnknownIdentifier(FrontendError):
    """A name is used that is not declared.

    Often it is a size that the program expects from a macro:

        for (int i = 0; i < N; i++)      `N` is not declared

    Remedy: declare it, or give it with `-D N=64`.
    """

    code = "E0107"


class FloatingPoint(FrontendError):
    """A floating-point type, constant or way of rounding is none that a circuit computes with.

    There are `float`, `double`, `_Float16` and `__bf16`, each operation of which is rounded as IEEE
    754 has it. There is no `long double`, whose format differs from machine to machine, and no
    complex type: keep the two parts in variables of their own. Operations are rounded to nearest,
    whatever `fesetround` asks for.

        double re = a_re * b_re - a_im * b_im;
        double im = a_re * b_im + a_im * b_re;
    """

    code = "E0108"
    is_told_once = True


class PointerUnsupported(FrontendError):
    """The text does not tell which array a pointer points into, or what is done with it.

    Each array becomes a memory of its own. A parameter `int *a`, `int a[]` or `int (*a)[8]` is an
    array that ends with the last element the function touches, or has the extent that
    `-D a_EXTENT=64` gives. A pointer that moves is a position in one array, or in one of several,
    which all that it is set to must name; it may be compared with others into that array. Pointers
    to pointers are known where the function itself has set them, and not from the host:

        void f(int *a)  { int *p = a + 8; p[1] = 0; }          accepted: p[1] is a[9]
        void f(int *a)  { int *p = a; *p++ = 0; }              accepted: a[0]
        void f(int *a)  { int *p[2] = {a, a + 8}; *p[1] = 0; } accepted: a[8]
        void f(int **a) { a[0][1] = 0; }                       refused: rows that lie anywhere
        int f(int *a, int *b) { return a < b; }                refused: they have no order

    Remedy: declare the parameter as an array with its sizes, `int a[8][64]`. In place of a pointer
    that may point anywhere, put what it points into into one array, and count in an integer.
    """

    code = "E0109"


class AggregateUnsupported(FrontendError):
    """A structure, union or bit-field is used in a way that has no meaning for its members.

    A structure is stored as one variable for each of its members, so that it has no address:

        p[i].v[k] = q->x; p[i] = p[j]; f(&p[i]);     accepted
        struct node { struct node *next; ... }       refused where `next` is followed
        union { int i; short s[2]; }                 refused: the members differ in size
        struct { long wide : 40; }                   refused: more than 32 bits

    Pointers to structures cannot be compared, returned or chosen by a condition, and a call that
    returns a structure must be evaluated exactly once.

    Remedy: in place of a pointer to a structure, keep its subscript. In place of a union, use
    shifts and masks.
    """

    code = "E0110"


class ArraySize(FrontendError):
    """The size of an array is not a positive constant, or too large for any circuit.

    The memories of a circuit have a fixed depth. A size is a constant expression of literals,
    macros, enumeration constants, constant variables and parameters fixed by `-D`:

        #define N 64
        void f(int a[N][N + 1])

    An array may have 2^26 elements, which is more than any memory on a chip holds.

    Remedy: fix the size with a macro or `-D NAME=VALUE`.
    """

    code = "E0111"


class UnsupportedType(FrontendError):
    """The type is not one of C's integer types of 8 to 64 bits.

    Supported are `char`, `short`, `int`, `long`, `long long`, signed and unsigned, the
    `intN_t` and `uintN_t` of `<stdint.h>`, `size_t`, and typedefs of these. `_Bool`, enumeration
    types as variables, 128-bit and vector types are not.

    Remedy: use the integer type of the wanted width.
    """

    code = "E0112"


class InitialiserUnsupported(FrontendError):
    """This initial value is not supported.

    Arrays are initialised by values in braces, or characters by a string, up to 65,536 elements;
    what outlives a run takes constants only, what is local any values:

        static const short taps[2][3] = {{1, 2, 1}, [1][2] = -1};

    Remedy: give constants in braces, or fill the array in a loop.
    """

    code = "E0127"


class DuplicateName(FrontendError):
    """Two things of one kind share a name.

    Remedy: rename one of them. A label names its statement, so it may neither stand twice nor
    be one of the names S0, S1, ... that another statement gets by its position.
    """

    code = "E0131"


class UnsupportedDeclaration(FrontendError):
    """The declaration is of a kind that is not supported.

    Not supported are variable numbers of arguments, parameters without a name, old-style
    parameter lists, `extern` variables inside functions, and `_Alignas`, `_Atomic`
    and `_Thread_local`.
    """

    code = "E0142"


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
