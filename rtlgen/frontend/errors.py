"""Everything the front end refuses, one class a failure: codes E0101 to E0149."""

from __future__ import annotations

from rtlgen.errors import Diagnostic, RtlgenError


class FrontendError(RtlgenError):
    """Base of the refusals of a C program.

    Members
    -------
    others: further refusals found in the same file, in the order of the text.
    """

    others: tuple[FrontendError, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every refusal of the file, this one first."""
        return (self.diagnostic, *(other.diagnostic for other in self.others))


class CSyntaxError(FrontendError):
    """The text is not C.

    The parser reads C99 with a few later additions, after preprocessing. Compiler extensions
    (`__attribute__`, statement expressions, inline assembly) are not C and end here too, and so
    does a type name that no declaration or included header introduces:

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


class UnknownIdentifier(FrontendError):
    """A name is used that is not declared.

    Often it is a size that the program expects from a macro:

        for (int i = 0; i < N; i++)      `N` is not declared

    Remedy: declare it, or give it with `-D N=64`.
    """

    code = "E0107"


class FloatingPoint(FrontendError):
    """Floating-point types and constants are not supported.

    The circuits compute with integers of 8 to 64 bits, exactly. Rewrite the kernel in fixed
    point, with the scaling made explicit by shifts:

        acc += ((int64_t)a[i] * b[i]) >> 16;     Q16.16
    """

    code = "E0108"


class PointerUnsupported(FrontendError):
    """Pointers are supported as parameters only, and read as the arrays that they point to.

    Each array becomes a memory of its own. A parameter `int *a`, `int a[]` or `int (*a)[8]` is an
    array that ends with the last element the function touches, or has the extent that
    `-D a_EXTENT=64` gives. There are neither pointer variables nor pointers to pointers:

        void f(int *a)  { a[3] = *(a + 1); }         accepted: 4 elements
        void f(int **a) { int *p = a[0]; *p++; }     refused

    Remedy: declare the parameter as an array with its sizes, and use subscripts.
    """

    code = "E0109"


class AggregateUnsupported(FrontendError):
    """Structures, unions and bit-fields are not supported.

    Remedy: use one array for each member (a "structure of arrays"). Each of them then is a
    memory with ports of its own, which is faster as well.
    """

    code = "E0110"


class ArraySize(FrontendError):
    """The size of an array is not a positive constant.

    The memories of a circuit have a fixed depth. A size is a constant expression of literals,
    macros, enumeration constants, constant variables and parameters fixed by `-D`:

        #define N 64
        void f(int a[N][N + 1])

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


class LoopHeader(FrontendError):
    """The header of a `for` loop is not of the supported form.

    One iterator, of any integer type, is set, compared and stepped by a constant:

        for (int i = START; i < STOP; i += STEP)

    with any of `<`, `<=`, `>`, `>=`, `!=`, either way round (`STOP > i`), and any of `i++`,
    `--i`, `i += 2`, `i -= 3`, `i = i + 1`. START and STOP are affine in the outer iterators.
    """

    code = "E0117"


class NonAffineBound(FrontendError):
    """A loop bound is not affine.

    A bound is a constant plus constant multiples of the outer iterators:

        for (int j = 0; j < 2*i + 1; j++)       affine
        for (int j = 0; j < i*i; j++)           not: product of iterators
        for (int j = 0; j < len[i]; j++)        not: depends on data

    Remedy: for a bound that depends on data, loop to its largest value and select the results
    with a conditional expression.
    """

    code = "E0118"


class NonAffineSubscript(FrontendError):
    """An array subscript is not affine.

    A subscript is a constant plus constant multiples of the enclosing iterators; then all
    addresses are known before the run, conflicts can be excluded by proof, and no multiplier
    is needed for an address:

        a[i*8 + j]       affine
        a[idx[i]]        not: depends on data
        a[i*j], a[i/2]   not: product, quotient

    Remedy: an index `i/2` or `i%2` becomes affine with two loops instead of one:
    `for (ih) for (il = 0; il < 2; il++)` with `i = 2*ih + il`.
    """

    code = "E0119"


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


class CommaOperator(FrontendError):
    """The comma operator is not supported.

    Remedy: write one statement, or one loop, for each part.
    """

    code = "E0125"


class SideEffect(FrontendError):
    """An expression has a side effect inside.

    One statement writes one place: `a = b = c`, `a[i++]` and `x + (y = 2)` are refused, since
    what they compute depends on an order that a circuit does not have.

    Remedy: write each assignment as a statement of its own.
    """

    code = "E0126"


class InitialiserUnsupported(FrontendError):
    """This variable may not have an initial value here.

    Global variables that are not constant get their contents from the host before each run; an
    initialiser would be lost. Local variables and everything that is `const` may be initialised,
    arrays by constants in braces, one pair a dimension, and up to 256 elements:

        static const short taps[2][3] = {{1, 2, 1}, {-1}};

    Remedy: make it `const` or local, or fill it in a loop.
    """

    code = "E0127"


class SubscriptCount(FrontendError):
    """An array is used with the wrong number of subscripts, or a scalar with any.

    A read or write names one element:

        int a[8][8];   a[i] = 0;     one subscript is missing

    Remedy: give one subscript for each dimension.
    """

    code = "E0128"


class ParameterInControl(FrontendError):
    """A loop bound, array size or subscript depends on a scalar parameter.

    Control is fixed when the circuit is generated; a scalar parameter that is used in
    expressions only becomes an input port. To fix a parameter:

        rtlgen build f.c -D n=64
    """

    code = "E0129"


class ReadOnly(FrontendError):
    """Something that is constant is assigned.

    Constant variables, arrays of constant elements, enumeration constants and scalar parameters
    (which are input ports) cannot be written.

    Remedy: for a scalar parameter, copy it to a local variable first.
    """

    code = "E0130"


class DuplicateName(FrontendError):
    """Two things of one kind share a name.

    Remedy: rename one of them. A label names its statement, so it may neither stand twice nor
    be one of the names S0, S1, ... that another statement gets by its position.
    """

    code = "E0131"


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


class TooDeep(FrontendError):
    """The text is nested too deeply, or is too large.

    Brackets may be nested 200 deep, expressions and blocks 200 levels, files included 50 levels,
    and the program may have 100,000 tokens with macros expanded.

    Remedy: build a long sum in a loop or in several statements.
    """

    code = "E0133"


class BadConstant(FrontendError):
    """A constant is malformed, too large, or divides by zero.

    Integer constants have C's types (C11 6.4.4.1): the first of `int`, `long` (and `unsigned`
    ones for hexadecimal or with suffix `u`) that holds the value. Character constants hold one
    character. Strings are not supported.
    """

    code = "E0134"


class EmptyRegion(FrontendError):
    """There is no statement to build a circuit from.

    The function, or its `#pragma scop` region, holds no assignment, or only loops that are
    never entered.
    """

    code = "E0135"


class IteratorOutsideLoop(FrontendError):
    """The variable of a loop is used outside of the loop.

        int i;
        for (i = 0; i < N; i++) ...
        last = i;

    Iterators are counters of the circuit's schedule, not storage.

    Remedy: write the value it has there, or use another variable.
    """

    code = "E0136"


class FileUnreadable(FrontendError):
    """The file cannot be read as text.

    It does not exist, is a folder, may not be read, or is not UTF-8.
    """

    code = "E0137"


class BadDefinition(FrontendError):
    """A `-D` option is malformed.

    A macro is `-D NAME` or `-D NAME=VALUE`. For a scalar parameter of the function the value is
    an integer constant in the range of the parameter's type:

        rtlgen check gemm.c -D N=64
    """

    code = "E0138"


class ReturnUnsupported(FrontendError):
    """The function's return value cannot be returned.

    The return value is a scalar integer, and `return` is the last statement:

        int sum(int a[8]) { int s = 0; ...; return s; }
    """

    code = "E0139"


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


class UnsupportedDeclaration(FrontendError):
    """The declaration is of a kind that is not supported.

    Not supported are variable numbers of arguments, parameters without a name, old-style
    parameter lists, `static` variables inside functions (they keep state between runs), and
    `_Alignas`, `_Atomic`, `_Thread_local` and `volatile`.
    """

    code = "E0142"


class IndexWraps(FrontendError):
    """An index expression wraps round in its C type, so it is not the affine function it seems.

        for (unsigned i = 0; i < 8; i++) a[i - 1 + 1] = 0;

    `i - 1` is computed as an unsigned int; for i = 0 it is 4294967295.

    Remedy: use a signed iterator (`int`), or one that is wide enough.
    """

    code = "E0143"


class Recursion(FrontendError):
    """A function calls itself, directly or by way of others.

    Each call is replaced by the function's text, which would never end, and a circuit has no
    stack for the data of unfinished calls.

    Remedy: write the recursion as loops; tail recursion is a `for`.
    """

    code = "E0144"


class CallArguments(FrontendError):
    """The arguments of a call do not fit the function's parameters.

    There must be as many as parameters. An array, a row of one (`a[i]`), or the part behind an
    element (`&a[4]`, `a + 4`) may be passed where the element type is the same and the extents
    behind the first are equal:

        void scale(int row[8]);     int a[4][8];     scale(a[i]);

    Remedy: declare both with the same element type and extents.
    """

    code = "E0145"
