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

from rtlgen.ir.scop import Scop
from rtlgen.verify.c_oracle import with_known_nan
from rtlgen.verify.data import Kind, Recipe
from rtlgen.verify.equivalence import Outcome
from rtlgen.verify.golden import run_golden
from rtlgen.verify.values import Elements, element_dtype, is_same, to_words
from tests.oracles.c_types import argument, passed_type, result, stored_type

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-fwrapv", "-ffp-contract=off")


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Emitted C of `program`, which is as parsed."""

    label: str
    program: Scop
    text: str


def differences(
    units: Sequence[Unit], *, level: str = "-O1", seed: int = 1, kind: Kind = "full"
) -> list[str]:
    """Compile and run all units; return what each one computes otherwise than the golden model.

    Raises
    ------
    AssertionError: gcc has an error or a warning.
    """
    library = _compiled(units, level)
    return [
        f"{unit.label}: {difference}\n{unit.text}"
        for number, unit in enumerate(units)
        if (difference := _difference(unit, library, f"_{number}", Recipe(kind, seed)))
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
        command = ["gcc", *FLAGS, level, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(library))


def _file_scope_names(unit: Unit) -> list[str]:
    functions = re.findall(r"^static inline \w+ (\w+)\(", unit.text, re.MULTILINE)
    return [*functions, unit.program.name, *(array.name for array in _globals(unit.program))]


def _globals(program: Scop) -> list[Any]:
    return [a for a in program.arrays if a.storage != "parameter" and a.role != "local"]


def _difference(unit: Unit, library: ctypes.CDLL, suffix: str, recipe: Recipe) -> str | None:
    program = unit.program
    inputs = recipe.inputs(program)
    expected = run_golden(program, inputs, engine="interpreter")
    memory = {
        array.name: np.array(inputs.get(array.name, np.zeros(array.shape)), order="C")
        .astype(element_dtype(array.element))
        .reshape(array.shape)
        for array in program.arrays
        if array.role != "local"
    }
    stored = {
        array.name: (stored_type(array.element) * array.depth).in_dll(library, array.name + suffix)
        for array in _globals(program)
    }
    for name, block in stored.items():
        np.ctypeslib.as_array(block)[...] = memory[name].reshape(-1).view(block._type_)
    function = getattr(library, program.name + suffix)
    type_ = None if program.returned is None else program.array(program.returned).element
    function.restype = None if type_ is None else passed_type(type_)
    returned = function(*(_argument(p.name, program, memory, inputs) for p in program.parameters))
    for name, block in stored.items():
        image: Elements = np.ctypeslib.as_array(block)
        memory[name] = image.view(memory[name].dtype).reshape(memory[name].shape)
    found = Outcome(memory, None if type_ is None else result(returned, type_))
    found = with_known_nan(program, found, expected)
    wrong = [
        name
        for name, values in expected.arrays.items()
        if not np.array_equal(to_words(found.arrays[name]), to_words(values))
    ]
    if wrong:
        return f"{', '.join(wrong)} differ"
    if is_same(found.returned, expected.returned):
        return None
    return f"returns {found.returned}, not {expected.returned}"


def _argument(
    name: str, program: Scop, memory: Mapping[str, Elements], inputs: Mapping[str, Any]
) -> Any:
    for scalar in program.scalars:
        if scalar.name == name:
            return argument(inputs[name], scalar.type)
    # A parameter that nothing uses is passed as 0 or a null pointer.
    for parameter in program.parameters:
        if parameter.name == name and not parameter.is_array:
            return argument(0, parameter.type)
    return ctypes.c_void_p(memory[name].ctypes.data if name in memory else 0)
