"""What a C declaration says of the type of something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FloatType, IntType, NumberType

MAX_ELEMENTS = 1 << 26
"""Of one array: ten times what the largest FPGAs hold, and what a compiler can hold as well."""

_WIDTHS = {(): 32, ("char",): 8, ("short",): 16, ("long",): 64, ("long", "long"): 64}
"""Bits of an integer type by its size words, sign and `int` left out."""

OPEN = 0
"""The extent of the first dimension of a parameter that does not state it."""


@dataclass(frozen=True, slots=True)
class CType:
    """An arithmetic type, or an array of it. `element` None is `void`.

    The first extent of a parameter is `OPEN` where it is a pointer.
    """

    element: NumberType | None
    shape: tuple[int, ...]
    is_const: bool


_FLOATS = {
    "float": FLOAT32, "double": FLOAT64, "_Float16": FLOAT16, "__bf16": BFLOAT16,
    "_Float32": FLOAT32, "_Float64": FLOAT64, "_Float32x": FLOAT64,
}  # fmt: skip
"""Floating-point types: C's, C23's interchange types, and what gcc calls the short one."""


def arithmetic_type(names: Sequence[str]) -> NumberType | None:
    """Return the type of numbers that keywords spell, if they do."""
    return float_type(names) or integer_type(names)


def float_type(names: Sequence[str]) -> FloatType | None:
    """Return the floating-point type that keywords spell, if they do."""
    return _FLOATS.get(names[0]) if len(names) == 1 else None


def integer_type(names: Sequence[str]) -> IntType | None:
    """Return the integer type that keywords spell, if they do (C11 6.7.2).

    There is one sign at most, and one `int` at most, which `char` does not take.
    """
    words = sorted(names)
    if words == ["_Bool"]:
        return IntType(8, False, is_bool=True)
    signs = [word for word in words if word in ("signed", "unsigned")]
    size = tuple(word for word in words if word not in ("signed", "unsigned", "int"))
    most = 0 if size == ("char",) else 1
    if len(signs) > 1 or words.count("int") > most or size not in _WIDTHS:
        return None
    return IntType(_WIDTHS[size], "unsigned" not in signs)
