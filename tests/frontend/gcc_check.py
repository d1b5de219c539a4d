"""Compare what the front end understands with what gcc does, on random data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rtlgen.frontend import ParsedProgram, parse_text
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import run_gcc


def assert_as_gcc(
    text: str, *, seed: int = 1, defines: Mapping[str, str] | None = None, runs: int = 2
) -> ParsedProgram:
    """Run `text` as read by the front end and as compiled by gcc; all memory must agree."""
    program = parse_text(text, defines=defines)
    scop = program.scop
    options = [f"{name}={value}" for name, value in (defines or {}).items()]
    for run in range(runs):
        inputs = random_inputs(scop, seed + run)
        mine = run_golden(scop, inputs, engine="interpreter")
        theirs = run_gcc(scop, inputs, options)
        assert mine.arrays.keys() == theirs.arrays.keys()
        for name, expected in theirs.arrays.items():
            np.testing.assert_array_equal(mine.arrays[name], expected, err_msg=f"{name}\n{text}")
        assert mine.returned == theirs.returned, text
    return program
