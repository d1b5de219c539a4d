"""What NumPy and gcc make of operations on float and double, and a NaN as the circuits have it."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np

from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, FloatType, IntType, NumberType
from rtlgen.system.tools import find_tool, run_tool
from tests.hw.float.streamed import Case

_FLOATS = {FLOAT16: np.float16, FLOAT32: np.float32, FLOAT64: np.float64}
_BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
_UNARY = {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
}
_COMPARED = {"lt": np.less, "le": np.less_equal, "eq": np.equal}


def _values(patterns: np.ndarray, type_: NumberType) -> np.ndarray:
    unsigned = patterns.astype(f"u{type_.width_bits // 8}")
    if isinstance(type_, IntType):
        return unsigned.view(f"{'i' if type_.signed else 'u'}{type_.width_bits // 8}")
    return unsigned.view(_FLOATS[type_])


def _patterns(values: np.ndarray, type_: FloatType) -> np.ndarray:
    patterns = values.view(f"u{type_.width_bits // 8}").astype(np.uint64)
    return np.where(np.isnan(values), np.uint64(type_.nan), patterns)


def _with_subnormals(type_: NumberType) -> NumberType:
    return replace(type_, subnormals=True) if isinstance(type_, FloatType) else type_


def _flushed(patterns: np.ndarray, type_: NumberType) -> np.ndarray:
    if not isinstance(type_, FloatType):
        return patterns
    exponent, sign = np.uint64(type_.infinity), np.uint64(type_.sign_bit)
    return np.where(patterns & exponent, patterns, patterns & sign)


class Host:
    """The host's arithmetic."""

    def __init__(self, folder: Path) -> None:
        library = folder / "host.so"
        source = Path(__file__).with_name("host.c")
        options = ["-O2", "-shared", "-fPIC", "-ffp-contract=off", "-lm", "-o"]
        command: list[str | Path] = [find_tool("gcc", "cc"), source, *options, library]
        run_tool(command, log=folder / "host.log")
        self._library = ctypes.CDLL(str(library))

    def results(self, case: Case, samples: np.ndarray) -> np.ndarray:
        """Return what a case should make of samples of three patterns, a row each.

        The host has subnormals: of formats without, operands and results are made zeros.
        """
        if any(isinstance(t, FloatType) and not t.subnormals for t in (case.of, case.to)):
            plain = Case(case.op, _with_subnormals(case.of), _with_subnormals(case.to))
            return _flushed(self.results(plain, _flushed(samples, case.of)), case.to)
        columns = np.ascontiguousarray(samples.T)
        a, b, c = (np.ascontiguousarray(_values(column, case.of)) for column in columns)
        with np.errstate(all="ignore"):
            return self._computed(case, a, b, c)

    def _computed(self, case: Case, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        op, to = case.op, case.to
        if op in _COMPARED:
            return np.asarray(_COMPARED[op](a, b), dtype=np.uint64)
        if isinstance(to, IntType):
            return self._integer(a, to)
        if op in _BINARY:
            return _patterns(_BINARY[op](a, b), to)
        if op in _UNARY:
            return _patterns(_UNARY[op](a), to)
        if op in ("from_int", "convert"):
            return _patterns(a.astype(_FLOATS[to]), to)
        if op == "round":
            whole = np.trunc(a)
            away = np.abs(a - whole) >= 0.5
            return _patterns(np.copysign(np.where(away, whole + np.copysign(1, a), whole), a), to)
        if op in ("min", "max"):
            first = a < b if op == "min" else b < a
            first = np.where(np.isnan(a) | np.isnan(b), ~np.isnan(a), first)
            # A NaN stays what it is.
            bits = f"u{to.width_bits // 8}"
            return np.where(first, a.view(bits), b.view(bits)).astype(np.uint64)
        assert op == "fma"
        result = np.empty_like(a)
        function = self._library.fma_float if to == FLOAT32 else self._library.fma_double
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (a, b, c, result)]
        function(ctypes.c_int64(len(a)), *pointers)
        return _patterns(result, to)

    def _integer(self, a: np.ndarray, to: IntType) -> np.ndarray:
        above, below = a >= float(to.maximum + 1), a <= float(to.minimum)
        inside = np.where(above | below | np.isnan(a), 0, a)
        whole = inside.astype(np.int64 if to.signed else np.uint64).astype(np.uint64)
        mask = np.uint64((1 << to.width_bits) - 1)
        whole = np.where(above, np.uint64(to.maximum), whole)
        return np.where(below, np.uint64(to.minimum & int(mask)), whole & mask)
