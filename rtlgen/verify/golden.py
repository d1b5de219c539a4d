"""The golden model: what the C program computes, straight from the Scop.

It walks the loop tree in program order with C's integer semantics and knows nothing of schedules,
transforms or hardware: that is what makes it an oracle for them. There are two engines of one
meaning: an interpreter that is plainly right, and compiled C for runs of millions of instances.

Where C leaves the result open, it is defined here as the hardware gives it, and the run is marked
with an event: x / 0 is -1 (all ones) and x % 0 is x; the smallest value / -1 wraps; a shift count
is taken modulo the width; a local variable that was never written reads as 0; a number that an
integer type does not hold becomes its nearest value, and a NaN 0. Numbers are their bit patterns
all the way, and an operation on them is what `ir.float_arithmetic` says, NaN included.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Literal, TypeAlias

from rtlgen.ir.scop import Scop
from rtlgen.verify.golden_compiled import COMPILERS, CompiledProgram
from rtlgen.verify.golden_interpreter import Interpreter
from rtlgen.verify.golden_ranges import run_bounds
from rtlgen.verify.golden_state import (
    GoldenEvent,
    GoldenResult,
    SubscriptError,
    contents_of,
    memory_image,
    scalar_values,
)
from rtlgen.verify.values import Elements, Value, value_of

__all__ = [
    "Engine",
    "GoldenEvent",
    "GoldenResult",
    "SubscriptError",
    "run_golden",
]

Engine: TypeAlias = Literal["auto", "interpreter", "compiled"]

_WORTH_COMPILING_INSTANCES = 4_000
"""Where the interpreter takes about as long as a C compiler does."""


def run_golden(
    scop: Scop, inputs: Mapping[str, Elements | Value], *, engine: Engine = "auto"
) -> GoldenResult:
    """Run the program of `scop` in program order.

    Parameters
    ----------
    inputs: by C name, an array of the exact type and shape for each array that is not local, and
        an integer or a number for each scalar. Arrays of role `out` may be left out: they start as
        zeros. The given arrays are not changed.
    engine: `auto` compiles long runs when there is a compiler.

    Raises
    ------
    MissingInputError, UnknownInputError, InputTypeError: the inputs are not the program's.
    SubscriptError: an instance leaves an array.
    MissingToolError: engine `compiled`, and there is no C compiler.
    """
    memory = memory_image(scop, inputs)
    scalars = scalar_values(scop, inputs)
    program: Interpreter | CompiledProgram
    if _choose(scop, engine) == "compiled":
        program = CompiledProgram(scop, memory, scalars)
    else:
        program = Interpreter(scop, memory, scalars)
    program.run()
    returned = None
    if scop.returned is not None:
        returned = value_of(int(memory[scop.returned]), scop.array(scop.returned).element)
    return GoldenResult(
        arrays={
            array.name: contents_of(memory[array.name], array.element)
            for array in scop.arrays
            if array.role != "local"
        },
        returned=returned,
        counts=program.counts,
        events=program.events,
    )


def _choose(scop: Scop, engine: Engine) -> Engine:
    if engine == "interpreter":
        return engine
    bounds = run_bounds(scop)
    if engine == "compiled":
        if not bounds.fit_64_bits:
            raise ValueError(f"{scop.name}: an iterator or subscript may not fit 64 bits")
        return engine
    worth_it = bounds.instances >= _WORTH_COMPILING_INSTANCES
    possible = bounds.fit_64_bits and any(map(shutil.which, COMPILERS))
    return "compiled" if worth_it and possible else "interpreter"
