"""Refusals of types, declarations and names."""

from __future__ import annotations

from rtlgen.frontend.errors.base import FrontendError


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
    `-D a_EXTENT=64` gives. A pointer that moves is a position in one array, which all that it is
    set to must name; it may be compared with others into that array. There are no pointers to
    pointers, and none that functions return:

        void f(int *a)  { int *p = a + 8; p[1] = 0; }          accepted: p[1] is a[9]
        void f(int *a)  { int *p = a; *p++ = 0; }              accepted: a[0]
        void f(int *a, int *b, int n) { int *p = n ? a : b; }  refused: two arrays
        void f(int **a) { a[0][1] = 0; }                       refused

    Remedy: declare the parameter as an array with its sizes. In place of a pointer that may point
    into several arrays, put them into one, or choose between the elements.
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
