"""Refusals of text that is not C, or cannot be read."""

from __future__ import annotations

from rtlgen.frontend.errors.base import FrontendError


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
