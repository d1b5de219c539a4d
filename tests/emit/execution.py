"""Compile emitted C with gcc, many units at a time, and compare what it computes with the golden.

Units of one batch may define the same names: each is compiled with its own names behind `#define`.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rtlgen.ir.scop import Scop
from rtlgen.ir.types import IntType
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden

Elements = npt.NDArray[np.integer]

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-fwrapv")

_CTYPES: Mapping[IntType, Any] = {
    IntType(width, signed): getattr(ctypes, f"c_{'int' if signed else 'uint'}{width}")
    for width in (8, 16, 32, 64)
    for signed in (False, True)
} | {IntType(8, False, is_bool=True): ctypes.c_uint8}


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Emitted C of `program`, which is as parsed."""

    label: str
    program: Scop
    text: str


def differences(units: Sequence[Unit], *, level: str = "-O1", seed: int = 1) -> list[str]:
    """Compile and run all units; return what each one computes otherwise than the golden model.

    Raises
    ------
    AssertionError: gcc has an error or a warning.
    """
    library = _compiled(units, level)
    return [
        f"{unit.label}: {difference}\n{unit.text}"
        for number, unit in enumerate(units)
        if (difference := _difference(unit, library, f"_{number}", seed))
    ]


def _compiled(units: Sequence[Unit], level: str) -> ctypes.CDLL:
    parts = []
    for number, unit in enumerate(units):
        names = _file_scope_names(unit)
        parts += [f"#define {name} {name}_{number}" for name in names]
        parts += [f'#line 1 "{unit.label}"', unit.text]
        parts += [f"#undef {name}" for name in names]
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name) / "units.c", Path(name) / "units.so"
        source.write_text("\n".join(parts))
        command = ["gcc", *FLAGS, level, "-shared", "-fPIC", str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(library))


def _file_scope_names(unit: Unit) -> list[str]:
    functions = re.findall(r"^static inline \w+ (\w+)\(", unit.text, re.MULTILINE)
    return [*functions, unit.program.name, *(array.name for array in _globals(unit.program))]


def _globals(program: Scop) -> list[Any]:
    return [a for a in program.arrays if a.storage != "parameter" and a.role != "local"]


def _difference(unit: Unit, library: ctypes.CDLL, suffix: str, seed: int) -> str | None:
    program = unit.program
    inputs = random_inputs(program, seed)
    expected = run_golden(program, inputs, engine="interpreter")
    memory = {
        array.name: np.array(inputs.get(array.name, np.zeros(array.shape)), order="C")
        .astype(_dtype(array.element))
        .reshape(array.shape)
        for array in program.arrays
        if array.role != "local"
    }
    stored = {
        array.name: (_CTYPES[array.element] * array.depth).in_dll(library, array.name + suffix)
        for array in _globals(program)
    }
    for name, block in stored.items():
        np.ctypeslib.as_array(block)[...] = memory[name].reshape(-1)
    function = getattr(library, program.name + suffix)
    returned = program.returned
    function.restype = None if returned is None else _CTYPES[program.array(returned).element]
    result = function(*(_argument(p.name, program, memory, inputs) for p in program.parameters))
    for name, block in stored.items():
        memory[name] = np.ctypeslib.as_array(block).reshape(memory[name].shape)
    wrong = [n for n, values in expected.arrays.items() if not np.array_equal(memory[n], values)]
    if wrong:
        return f"{', '.join(wrong)} differ"
    return None if result == expected.returned else f"returns {result}, not {expected.returned}"


def _dtype(element: IntType) -> str:
    return f"{'i' if element.signed else 'u'}{element.width_bits // 8}"


def _argument(
    name: str, program: Scop, memory: Mapping[str, Elements], inputs: Mapping[str, Any]
) -> Any:
    for scalar in program.scalars:
        if scalar.name == name:
            return _CTYPES[scalar.type](int(inputs[name]))
    # A parameter that nothing uses is passed as 0 or a null pointer.
    return ctypes.c_void_p(memory[name].ctypes.data if name in memory else 0)
