"""A shift that is too small is refused with the pair of instances that would meet wrongly."""

from __future__ import annotations

import os

import pytest

from rtlgen.driver import compile_program, parse
from rtlgen.options import CompileOptions
from rtlgen.poly.errors import IllegalShift, UnknownStatement
from tests.poly.sources import EXAMPLES

GOLDEN = (
    "error[E0203]: shift of S1 by 25 breaks a flow dependence\n"
    "  --> mms_d.c:26:20\n"
    "   |\n"
    "26 |         d[i][k] += c[i][j] * e[j][k];\n"
    "   |                    ^^^^^^^ read at n=97 by S1(0,8,0)\n"
    "    = note: written at mms_d.c:22:9 by S0(0,8,10), at n=98\n"
    "    = help: the smallest legal shift is 26"
)


def compile_with(shifts: dict[str, int]) -> None:
    options = CompileOptions(shifts=shifts)
    compile_program(parse(EXAMPLES / "mms_d" / "mms_d.c", options), options)


def test_25_is_too_small_for_mms_d() -> None:
    with pytest.raises(IllegalShift) as caught:
        compile_with({"S1": 25})
    error = caught.value
    assert error.code == "E0203"
    folder = f"{EXAMPLES / 'mms_d'}{os.sep}"
    assert error.diagnostic.render(error.sources).replace(folder, "") == GOLDEN


def test_26_is_not() -> None:
    compile_with({"S1": 26})


def test_10_as_printed_in_the_paper_is_too_small() -> None:
    with pytest.raises(IllegalShift, match="shift of S1 by 10 breaks a flow dependence"):
        compile_with({"S1": 10})


def test_a_statement_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownStatement, match="there is no statement S7"):
        compile_with({"S7": 10})
