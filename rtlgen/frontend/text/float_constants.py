"""Floating constants, decimal and hexadecimal, with the types C gives them (C11 6.4.4.2)."""

from __future__ import annotations

import re
from fractions import Fraction

from rtlgen.ir.float_arithmetic import from_fraction
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FloatType

_SUFFIXES = {
    "": FLOAT64, "f": FLOAT32, "f16": FLOAT16, "bf16": BFLOAT16, "f32": FLOAT32, "f64": FLOAT64,
}  # fmt: skip
"""Those of C23's interchange types, and gcc's for `__bf16`, among them."""

_DECIMAL = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?")
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)")
_SUFFIX = re.compile(r"(?:[fF](?:16|32|64)?|[bB][fF]16|[lL])$")

_MAX_EXPONENT = 10_000
"""Beyond it every number is infinite, or 0, in every type; a power of ten may take very long."""


def float_constant(text: str) -> tuple[int, FloatType]:
    """Return the pattern of the number that is nearest to a constant, and its type.

    Raises
    ------
    ValueError: it is malformed, or of a type that is not supported; the message says which.
    """
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    is_hexadecimal = text[:2] in ("0x", "0X")
    # An `f` in front of the exponent of a hexadecimal number is a digit.
    behind = re.search(r"[pP].*", text) if is_hexadecimal else re.search(r".*", text)
    suffix = _SUFFIX.search(behind[0]) if behind is not None else None
    named = suffix[0].lower() if suffix is not None else ""
    if named == "l":
        raise ValueError("`long double` is not supported")
    digits = text[: len(text) - len(named)]
    match = (_HEXADECIMAL if is_hexadecimal else _DECIMAL).fullmatch(digits)
    if match is None or not match[1] + match[2]:
        raise ValueError("it is no floating constant of C")
    type_ = _SUFFIXES[named]
    base, unit = (16, 2) if is_hexadecimal else (10, 10)
    exponent = int(match[3] or 0) - len(match[2]) * (4 if is_hexadecimal else 1)
    number = int(match[1] + match[2], base)
    if number == 0 or exponent + len(match[1] + match[2]) * 4 < -_MAX_EXPONENT:
        return 0, type_
    if exponent > _MAX_EXPONENT:
        return type_.infinity, type_
    return from_fraction(number * Fraction(unit) ** exponent, type_), type_
