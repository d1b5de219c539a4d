"""C types as ctypes has them, numbers given and got by their bits."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from rtlgen.ir.types import FLOAT32, FLOAT64, NumberType
from rtlgen.verify.values import Value, pattern_of, stored_dtype, value_of


def stored_type(type_: NumberType) -> Any:
    """Return what an element is in memory: an integer, or the pattern of a number."""
    return getattr(ctypes, f"c_{'int' if type_.signed else 'uint'}{type_.width_bits}")


def passed_type(type_: NumberType) -> Any:
    """Return what an argument or a result is; of narrow numbers, ctypes has none."""
    if type_ == FLOAT32:
        return ctypes.c_float
    return ctypes.c_double if type_ == FLOAT64 else stored_type(type_)


def argument(value: Any, type_: NumberType) -> Any:
    """Return a scalar argument."""
    bits = np.array(pattern_of(value, type_), stored_dtype(type_))
    return passed_type(type_).from_buffer_copy(bits.tobytes())


def result(value: Any, type_: NumberType) -> Value:
    """Return what a function of `passed_type` has returned."""
    return value_of(pattern_of(value, type_), type_)
