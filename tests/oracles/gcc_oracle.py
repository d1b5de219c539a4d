"""The second oracle: the C text itself, compiled by gcc -fwrapv and run on NumPy arrays.

It takes from the Scop only the names, shapes and types of what goes in and comes out; the order of
the parameters it reads off the preprocessed text. Nothing of the front end's understanding of
loops, statements or expressions is used.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rtlgen.frontend.text.headers import math_functions
from rtlgen.ir.scop import Array, Scop
from rtlgen.verify.c_oracle import STANDARDS, called_library, with_known_nan
from rtlgen.verify.equivalence import Outcome
from rtlgen.verify.golden_state import GoldenResult
from rtlgen.verify.values import Elements, Value, element_dtype
from tests.oracles.c_types import argument, passed_type, result, stored_type

FLAGS = ("-O1", "-fwrapv", "-ffp-contract=off")


@dataclass(frozen=True, slots=True)
class GccResult:
    """What gcc's program left behind: every array that is not local, and the return value."""

    arrays: dict[str, Elements]
    returned: Value | None

    def beside(self, scop: Scop, golden: GoldenResult) -> GccResult:
        """Return it with the golden model's NaN where both have one: C leaves open which it is."""
        known = with_known_nan(scop, Outcome(self.arrays, self.returned), golden)
        return GccResult(dict(known.arrays), known.returned)


def have_gcc() -> bool:
    """Return whether there is a gcc to ask."""
    return shutil.which("gcc") is not None


def run_gcc(
    scop: Scop, inputs: Mapping[str, Elements | Value], define: Sequence[str] = ()
) -> GccResult:
    """Run the function of `scop` as gcc understands its source text.

    Parameters
    ----------
    define: `NAME=VALUE`, what the front end was given too.
    """
    memory = {
        array.name: np.array(inputs[array.name], order="C")
        for array in scop.arrays
        if array.role != "local"
    }
    order, compiled = _compiled(scop.source.text, scop.name, tuple(define))
    with tempfile.TemporaryDirectory() as name:
        # A file of its own for each run: what one leaves in static memory is not seen by the next.
        path = Path(name) / "kernel.so"
        path.write_bytes(compiled)
        library = ctypes.CDLL(str(path))
    visible = [array for array in scop.arrays if array.name in memory]
    global_arrays = [array for array in visible if array.storage == "global"]
    for array in global_arrays:
        _global(library, array)[...] = memory[array.name]
    function = getattr(library, scop.name)
    type_ = None if scop.returned is None else scop.array(scop.returned).element
    function.restype = None if type_ is None else passed_type(type_)
    returned = function(*(_argument(scop, memory, inputs, name) for name in order))
    for array in global_arrays:
        memory[array.name] = _global(library, array).copy()
    return GccResult(memory, None if type_ is None else result(returned, type_))


@lru_cache(maxsize=8)
def _compiled(text: str, function: str, define: tuple[str, ...]) -> tuple[list[str], bytes]:
    """Return the parameters of `function`, in order, and the shared library of a text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, preprocessed, library = (folder / f"kernel.{kind}" for kind in ("c", "i", "so"))
        source.write_text(text)
        flags = [f"-D{pair}" for pair in define]
        # Compilers that do not know `_Float16` do not know how it is rounded, either.
        flags.append(f"-fexcess-precision={'16' if '_Float16' in text else 'standard'}")
        _gcc(["-E", "-P", *flags, str(source), "-o", str(preprocessed)])
        flags += [f"-fno-builtin-{each}" for each in sorted(math_functions())]
        sources = [str(source)]
        if called := called_library(text):
            functions = folder / "library.c"
            functions.write_text(called)
            sources.append(str(functions))
        _gcc([*flags, *FLAGS, "-shared", "-fPIC", *sources, "-o", str(library), "-lm"])
        return parameter_names(function, preprocessed.read_text()), library.read_bytes()


def parameter_names(function: str, preprocessed: str) -> list[str]:
    """Return the names of the parameters of `function`, in order."""
    nested = r"[^()]*(?:\((?:[^()]|\([^()]*\))*\)[^()]*)*"
    old_style = r"(?:[^(){};]+;\s*)*"
    head = rf"\b{re.escape(function)}\s*\(({nested})\)\s*{old_style}\{{"
    match = re.search(head, preprocessed)
    if match is None:
        raise ValueError(f"{function} is not defined in the source")
    names = []
    for parameter in match[1].split(","):
        words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^]]*\]", "", parameter))
        if words and words != ["void"]:
            names.append(words[-1])
    return names


def _argument(
    scop: Scop, memory: Mapping[str, Elements], inputs: Mapping[str, Elements | Value], name: str
) -> Any:
    scalars = {scalar.name: scalar.type for scalar in scop.scalars}
    if name in scalars:
        return argument(inputs[name], scalars[name])
    # A parameter that no statement uses is passed as 0 or a null pointer.
    for parameter in scop.parameters:
        if parameter.name == name and not parameter.is_array:
            return argument(0, parameter.type)
    address = memory[name].ctypes.data if name in memory else 0
    return ctypes.c_void_p(address)


def _global(library: ctypes.CDLL, array: Array) -> Elements:
    """Return a view of a global of the loaded library."""
    block = (stored_type(array.element) * array.depth).in_dll(library, array.name)
    stored: Elements = np.ctypeslib.as_array(block)
    return stored.view(element_dtype(array.element)).reshape(array.shape)


def _gcc(arguments: Sequence[str]) -> None:
    for standard in STANDARDS:
        done = subprocess.run(
            ["gcc", *standard, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return
    raise ValueError(f"gcc refuses the source: {done.stderr}")
