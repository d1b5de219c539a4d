"""Values of C types as users have them in NumPy, and the bit patterns that they are.

A user gives and gets `float` as float32, `double` as float64, `_Float16` as float16 and `__bf16` as
bfloat16 of ml_dtypes, or as its patterns in uint16 where that package is not installed. Everything
that computes or compares has integers: those of C as they are, numbers as their bit patterns.
"""

from __future__ import annotations

import contextlib
import importlib
import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rtlgen.ir.float_arithmetic import from_fraction
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FloatType, NumberType

Elements: TypeAlias = npt.NDArray[Any]
"""An array of integers or of numbers."""

Value: TypeAlias = int | np.generic
"""An integer of C, or a number as a scalar of NumPy."""

Limits: TypeAlias = tuple[int, int] | tuple[float, float]
"""The least and the greatest of some values."""


def _dtypes() -> dict[FloatType, np.dtype[Any]]:
    known: dict[FloatType, np.dtype[Any]] = {
        FLOAT16: np.dtype(np.float16),
        FLOAT32: np.dtype(np.float32),
        FLOAT64: np.dtype(np.float64),
    }
    with contextlib.suppress(ImportError):
        known[BFLOAT16] = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
    return known


_FLOATS = _dtypes()


def element_dtype(type_: NumberType) -> np.dtype[Any]:
    """Return the NumPy type of the elements that a user gives and gets."""
    if isinstance(type_, FloatType):
        return _FLOATS.get(type_, stored_dtype(type_))
    return stored_dtype(type_)


def stored_dtype(type_: NumberType) -> np.dtype[np.integer]:
    """Return the NumPy type of what is stored: an integer, or the pattern of a number."""
    return np.dtype(f"{'i' if type_.signed else 'u'}{type_.width_bits // 8}")


def is_scalar(dtype: np.dtype[Any], type_: NumberType) -> bool:
    """Tell whether a scalar of a NumPy type is converted to a type as an argument is in C."""
    if isinstance(type_, FloatType):
        return dtype == element_dtype(type_) or dtype.kind in "fiu"
    return dtype.kind in "iu"


def to_words(array: Elements) -> npt.NDArray[np.unsignedinteger]:
    """Return the bit patterns of `array`, flat in row-major order."""
    native = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="), copy=False)
    return native.view(f"u{array.dtype.itemsize}").reshape(-1)


def pattern_of(value: Any, type_: NumberType) -> int:
    """Return what is stored of a value: the integer, or the pattern of the nearest number.

    Parameters
    ----------
    value: an integer, a float of Python, or a scalar of NumPy: of `element_dtype`, or another one.
    """
    if not isinstance(type_, FloatType):
        return int(value)
    if isinstance(value, np.generic) and value.dtype == element_dtype(type_):
        return int(to_words(np.asarray(value))[0])
    if isinstance(value, int | np.integer):
        return from_fraction(Fraction(int(value)), type_)
    number = float(value)
    sign = type_.sign_bit if math.copysign(1, number) < 0 else 0
    if math.isnan(number):
        return type_.nan
    if math.isinf(number):
        return sign | type_.infinity
    return sign | from_fraction(abs(Fraction(number)), type_)


def value_of(stored: int, type_: NumberType) -> Value:
    """Return the value of what is stored, or of its bits."""
    if not isinstance(type_, FloatType):
        return type_.wrap(stored)
    value: np.generic = np.array([stored], stored_dtype(type_)).view(element_dtype(type_))[0]
    return value


def element_value(element: Any) -> Value:
    """Return the value of an element of an array: an integer of Python, or the number itself."""
    value: Value = int(element) if isinstance(element, np.integer) else element
    return value


def is_same(a: Value | None, b: Value | None) -> bool:
    """Tell whether two values of one type have the same bits."""
    if isinstance(a, np.generic) and isinstance(b, np.generic):
        return bool(to_words(np.asarray(a))[0] == to_words(np.asarray(b))[0])
    return a == b


def is_nan(values: Elements, type_: NumberType) -> npt.NDArray[np.bool_]:
    """Tell of each element whether it is a NaN; no integer is."""
    if not isinstance(type_, FloatType):
        return np.zeros(values.shape, np.bool_)
    magnitudes = to_words(values).reshape(values.shape) & (type_.sign_bit - 1)
    found: npt.NDArray[np.bool_] = magnitudes > type_.infinity
    return found


def value_text(value: Value | None) -> str:
    """Return a value as text: a number in few digits, and its bits, which say all."""
    if not isinstance(value, np.generic):
        return str(value)
    digits = value.dtype.itemsize * 2
    return f"{value!s} (0x{int(to_words(np.asarray(value))[0]):0{digits}x})"


def value_json(value: Value) -> object:
    """Return a value as JSON: a number as an object of its shortest text and its bits."""
    if not isinstance(value, np.generic):
        return value
    text, bits = value_text(value).rstrip(")").split(" (")
    return {"value": text, "bits": bits}
