"""Berkeley SoftFloat, as softfloatpy has it compiled, over many operands at once."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from softfloatpy import _core

from rtlgen.ir.expr import FloatOp
from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, FloatType, IntType, NumberType
from rtlgen.system.tools import find_tool, run_tool

FORMATS: Mapping[FloatType, str] = {FLOAT16: "f16", FLOAT32: "f32", FLOAT64: "f64"}

_FUNCTIONS: Mapping[FloatOp, tuple[str, str, int]] = {
    "add": ("binary", "add", 2),
    "sub": ("binary", "sub", 2),
    "mul": ("binary", "mul", 2),
    "div": ("binary", "div", 2),
    "fma": ("ternary", "mulAdd", 3),
    "lt": ("compare", "lt_quiet", 2),
    "le": ("compare", "le_quiet", 2),
    "eq": ("compare", "eq", 2),
}
"""Of operations on several operands: the loop, the function, how many operands there are."""

_DIRECTIONS: Mapping[FloatOp, int] = {"rint": 0, "trunc": 1, "floor": 2, "ceil": 3, "round": 4}
"""Operations that round to an integer, as a direction of rounding."""

_TO_ZERO = _DIRECTIONS["trunc"]


class SoftFloat:
    """The library, and loops over its functions, which are compiled in a folder."""

    def __init__(self, folder: Path) -> None:
        loops = folder / "softfloat.so"
        source = Path(__file__).with_name("softfloat.c")
        options = ["-O2", "-shared", "-fPIC", "-o"]
        command: list[str | Path] = [find_tool("gcc", "cc"), source, *options, loops]
        run_tool(command, log=folder / "softfloat.log")
        self._loops = ctypes.CDLL(str(loops))
        self._library = ctypes.CDLL(_core.__file__)

    def results(
        self, op: FloatOp, of: NumberType, to: NumberType, samples: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]] | None:
        """Return the results of an operation, and of which samples there are any.

        A NaN is that of `FloatType.nan`. What a conversion to an integer makes of what the type
        does not hold is left open. None: the library has no such operation.

        Parameters
        ----------
        samples: patterns, or integers, in 64 bits; a row each, of three operands.
        """
        found = self._called(op, of, to)
        if found is None:
            return None
        loop, function, operands, options = found
        columns = [
            np.ascontiguousarray(column.astype(f"u{of.width_bits // 8}"))
            for column in samples.T[:operands]
        ]
        result = np.empty(len(samples), dtype=f"u{to.width_bits // 8}")
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*columns, result)]
        entry = ctypes.cast(getattr(self._library, function), ctypes.c_void_p)
        getattr(self._loops, loop)(ctypes.c_int64(len(samples)), entry, *pointers, *options)
        known = np.ones(len(samples), dtype=bool)
        if isinstance(to, FloatType):
            is_nan = (result & ~result.dtype.type(to.sign_bit)) > to.infinity
            result[is_nan] = to.nan
        elif op == "to_int" and isinstance(of, FloatType):
            known = _held(columns[0], of, to)
        return result.astype(np.uint64), known

    def _called(
        self, op: FloatOp, of: NumberType, to: NumberType
    ) -> tuple[str, str, int, tuple[int, ...]] | None:
        """Return the loop, the function, the number of operands, and what else there is to say."""
        if isinstance(of, IntType):
            assert op == "from_int" and isinstance(to, FloatType)
            if of.width_bits < 32 or to not in FORMATS:
                return None
            name = f"{'i' if of.signed else 'ui'}{of.width_bits}_to_{FORMATS[to]}"
            return f"unary_{of.width_bits}_{to.width_bits}", name, 1, ()
        if of not in FORMATS:
            return None
        name = FORMATS[of]
        if op == "to_int":
            assert isinstance(to, IntType)
            if to.width_bits < 32:
                return None
            called = f"{name}_to_{'i' if to.signed else 'ui'}{to.width_bits}"
            return f"directed_{of.width_bits}_{to.width_bits}", called, 1, (_TO_ZERO,)
        if op in _DIRECTIONS:
            loop = f"directed_{of.width_bits}_{of.width_bits}"
            return loop, f"{name}_roundToInt", 1, (_DIRECTIONS[op],)
        if op == "sqrt":
            return f"unary_{of.width_bits}_{of.width_bits}", f"{name}_sqrt", 1, ()
        if op == "convert":
            if not isinstance(to, FloatType) or to not in FORMATS:
                return None
            return f"unary_{of.width_bits}_{to.width_bits}", f"{name}_to_{FORMATS[to]}", 1, ()
        if op in _FUNCTIONS:
            loop, function, operands = _FUNCTIONS[op]
            return f"{loop}_{of.width_bits}", f"{name}_{function}", operands, ()
        return None


def _held(patterns: NDArray[np.unsignedinteger], of: FloatType, to: IntType) -> NDArray[np.bool_]:
    """Return of which numbers an integer type holds the integer part."""
    with np.errstate(invalid="ignore"):
        whole = np.trunc(patterns.view(f"f{of.width_bits // 8}").astype(float))
    held: NDArray[np.bool_] = (whole >= float(to.minimum)) & (whole < float(to.maximum + 1))
    return held
