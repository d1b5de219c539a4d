"""Compare what the front end makes of a program with what a C compiler makes of its text."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rtlgen.frontend import ParsedProgram, parse_text
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.accesses import require_in_bounds
from rtlgen.verify.c_oracle import COptions, c_outcomes
from rtlgen.verify.data import DataSet, DataSets, Recipe
from rtlgen.verify.golden import run_golden
from rtlgen.verify.sensitivity import Shown


def assert_as_c(text: str, *, defines: Mapping[str, str] | None = None) -> ParsedProgram:
    """Run `text` as read by the front end and as compiled; all memory must agree."""
    program = parse_text(text, defines=defines)
    assert_scop_as_c(program.scop, defines or {})
    return program


def assert_scop_as_c(scop: Scop, defines: Mapping[str, str]) -> None:
    """Run a program as it was read, and its text as compiled; all memory must agree."""
    require_in_bounds(ScopSets(scop))
    sets = []
    for recipe in (Recipe("full", 1), Recipe("small", 2)):
        inputs = recipe.inputs(scop)
        sets.append(DataSet(str(recipe), inputs, run_golden(scop, inputs), 1))
    data = DataSets(tuple(sets), Shown((), (), (), ()))
    text = scop.source.text
    kept, outcomes = c_outcomes(scop, data, COptions(defines, ()))
    for each, outcome in zip(kept.sets, outcomes, strict=True):
        assert outcome.arrays.keys() == each.golden.arrays.keys()
        for name, expected in outcome.arrays.items():
            mine = each.golden.arrays[name]
            np.testing.assert_array_equal(mine, expected, err_msg=f"{name}\n{text}")
        assert outcome.returned == each.golden.returned, text
