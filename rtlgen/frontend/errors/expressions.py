"""Refusals of expressions and assignments."""

from __future__ import annotations

from rtlgen.frontend.errors.base import FrontendError


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
