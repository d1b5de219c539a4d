"""What the front end makes of a random program of control: as gcc has it, refused, or wrong.

gcc's sanitizers are asked where the two differ: what is undefined for some data may be anything.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.accesses import require_in_bounds
from rtlgen.system.tools import ToolFailedError
from rtlgen.verify.c_oracle import CompiledKernel, COptions, compiled_kernel
from rtlgen.verify.data import Kind, Recipe
from rtlgen.verify.equivalence import Outcome as Left
from rtlgen.verify.errors import InputTypeError
from rtlgen.verify.golden import run_golden
from rtlgen.verify.values import Elements, Value
from tests.oracles.random_control.programs import Program
from tests.oracles.random_control.reuse import OUT_OF_TURNS

Outcome: TypeAlias = Literal["as gcc", "refused", "narrow", "undefined", "wrong"]
_Inputs: TypeAlias = Mapping[str, Elements | Value]

# What is read and never used is read all the same.
_CHECKED = COptions(
    {},
    (),
    flags=(
        OUT_OF_TURNS,
        "-O0",
        "-fsanitize=undefined,float-cast-overflow,address",
        "-fno-sanitize=shift-base",
        "-fno-sanitize-recover=all",
    ),
    seconds=5,
)
_PLAIN = COptions({}, (), flags=(OUT_OF_TURNS,), seconds=2)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a program.

    Members
    -------
    outcome: `narrow` where values of a parameter are refused with which C gives a meaning to the
        program; `undefined` where C gives it none on any of the data.
    code: of the refusal. details: what differs. seconds: that reading it takes.
    """

    outcome: Outcome
    code: str = ""
    details: str = ""
    seconds: float = 0.0


def judge(program: Program, seed: int = 1, runs: int = 4) -> Verdict:
    """Compare the golden model of a program with gcc."""
    start = time.process_time()
    try:
        scop = parse_text(program.text).scop
        require_in_bounds(ScopSets(scop))
    except RtlgenError as error:
        details = error.diagnostic.render(error.sources)
        return Verdict("refused", error.code or "", details, time.process_time() - start)
    except Exception:
        return Verdict("wrong", "traceback", traceback.format_exc())
    seconds = time.process_time() - start
    return replace(_compared(scop, _data(scop, program, seed, runs)), seconds=seconds)


def _data(scop: Scop, program: Program, seed: int, runs: int) -> list[_Inputs]:
    """Return inputs: parameters in the ranges of the program, and wherever they like."""
    scalars = {scalar.name: scalar.type for scalar in scop.scalars}
    ranges = {k: v for k, v in program.ranges.items() if k in scalars}
    kinds: tuple[Kind, ...] = ("small", "by array", "mixed", "full")
    found: list[_Inputs] = [
        Recipe(kinds[run % 4], seed + run, ranges).inputs(scop) for run in range(runs)
    ]
    beyond = {
        name: (max(low - 8, scalars[name].minimum), min(high + 40, scalars[name].maximum))
        for name, (low, high) in ranges.items()
    }
    found.append(Recipe("full", seed, beyond).inputs(scop))
    return found


def _compared(scop: Scop, data: Sequence[_Inputs]) -> Verdict:
    is_narrow, compared = "", 0
    with compiled_kernel(scop, _PLAIN) as kernel:
        for inputs in data:
            try:
                theirs = _left(kernel, inputs)
                if theirs is None:
                    continue
                mine = run_golden(scop, inputs)
                difference = _difference(Left(mine.arrays, mine.returned), theirs)
                difference = difference or ", ".join(str(event) for event in mine.events)
            except InputTypeError as error:
                if not is_narrow and _has_meaning(scop, inputs):
                    is_narrow = str(error)
                continue
            except Exception:
                difference = traceback.format_exc()
            if not difference:
                compared += 1
            elif _has_meaning(scop, inputs):
                shown = {k: v for k, v in inputs.items() if isinstance(v, int)}
                return Verdict("wrong", "", f"{difference}\n{shown}")
    if is_narrow:
        return Verdict("narrow", "", is_narrow)
    return Verdict("as gcc" if compared else "undefined")


def _left(kernel: CompiledKernel, inputs: _Inputs) -> Left | None:
    """Return what the compiled program leaves; None if it does not end, or stops itself."""
    try:
        return kernel.outcome(inputs)
    except ToolFailedError:
        return None


def _has_meaning(scop: Scop, inputs: _Inputs) -> bool:
    """Return whether sanitizers find nothing in a run."""
    os.environ["ASAN_OPTIONS"] = os.environ["UBSAN_OPTIONS"] = "abort_on_error=1:detect_leaks=0"
    with compiled_kernel(scop, _CHECKED) as kernel:
        return _left(kernel, inputs) is not None


def _difference(mine: Left, theirs: Left) -> str:
    if mine.returned != theirs.returned:
        return f"returns {mine.returned}, not {theirs.returned}"
    for name, expected in theirs.arrays.items():
        if not np.array_equal(mine.arrays[name], expected):
            return f"{name} is {mine.arrays[name].tolist()}, not {expected.tolist()}"
    return ""
