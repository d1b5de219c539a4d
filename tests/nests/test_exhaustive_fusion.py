"""The fused totals of MF3's kernels are the smallest over all loop orders and paddings.

Every combination is excluded or found by a search that shares nothing with the compiler's.
"""

from __future__ import annotations

from functools import cache

import pytest

from rtlgen.driver import parse
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, analyse, expanded
from rtlgen.transforms.normalise import normalise
from tests.islands import compile_island
from tests.oracles.exhaustive_fusion import ExhaustiveFusion
from tests.poly.sources import EXAMPLES

OPTIMA = {
    "gemm": 512, "mms": 519, "mms_d": 890, "2mm": 519, "2mm_d": 874, "3mm": 568, "3mm_d": 1087,
    "atax": 71, "bicg": 64, "mvt": 64, "gesummv": 64, "gemver": 71, "gemver_opt": 71, "syrk": 288,
    "syr2k": 288, "trmm": 225, "doitgen": 4096, "doitgen_d": 8712, "symm": 232,
    "tce": 33279, "dct": 4145,
}  # fmt: skip

# A shallow statement stands beside a triangular nest, into which the compiler sinks it in the
# likeliest ways only.
NOT_PROVEN = ("symm", "trmm")

# The others have no temporary that could be expanded.
EXPANDED = {"symm": 232}

# tce has 120 orders a nest and 32,768 instances a statement.
KERNELS = [pytest.param(name, marks=pytest.mark.long if name == "tce" else ()) for name in OPTIMA]


@cache
def analysis_of(name: str) -> Analysis:
    return analyse(parse(EXAMPLES / name / f"{name}.c", CompileOptions()))


@pytest.mark.sample(
    without=(
        "3mm_d",
        "doitgen",
        "doitgen_d",
        "dct",
    )
)
@pytest.mark.parametrize("name", KERNELS)
def test_no_choice_of_orders_and_pads_is_shorter(name: str) -> None:
    fusion = ExhaustiveFusion(analysis_of(name).scop)
    assert fusion.reaches(OPTIMA[name])
    assert not fusion.reaches(OPTIMA[name] - 1)


@pytest.mark.sample("gesummv", "gemm", "mvt", "bicg", "atax", "syrk", "mms", "trmm", "mms_d")
@pytest.mark.parametrize("name", OPTIMA)
def test_the_compiler_finds_the_shortest(name: str) -> None:
    decision = compile_island(analysis_of(name).program).decision
    assert decision.fused_proven == (name not in NOT_PROVEN)
    assert decision.fused_iterations == OPTIMA[name]


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("name", [name for name in OPTIMA if name != "tce"])
def test_no_kernel_is_shorter_with_its_temporaries_expanded(name: str) -> None:
    wider = next(expanded(analysis_of(name)), None)
    assert (wider is not None) == (name in EXPANDED)
    if wider is not None:
        fusion = ExhaustiveFusion(wider.scop)
        assert EXPANDED[name] == OPTIMA[name]
        assert fusion.reaches(EXPANDED[name])
        assert not fusion.reaches(EXPANDED[name] - 1)


def test_the_compiler_finds_the_shortest_with_temporaries_expanded() -> None:
    options = CompileOptions(expand="always")
    for name, total in EXPANDED.items():
        decision = compile_island(analysis_of(name).program, options).decision
        assert decision.fused_iterations == total


@pytest.mark.parametrize(
    ("body", "optimum"),
    [
        # y[i] needs all of x[i], which takes a row.
        ("for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) x[i] += a[i][j];"
         "for (int i = 0; i < 3; i++) y[i] = x[i];", 12),
        # y[0] needs the last x.
        ("for (int i = 0; i < 4; i++) x[i] += a[0][i];"
         "for (int i = 0; i < 4; i++) y[i] = x[3 - i];", 4 + 3),
        # A scalar carries every value: each row waits for the one before.
        ("for (int i = 0; i < 3; i++) { x[0] = y[i];"
         "for (int j = 0; j < 4; j++) x[0] += a[i][j]; y[i] = x[0]; }", 12),
        # Row 0 of the triangle is empty, and takes an iteration for y all the same.
        ("for (int i = 0; i < 4; i++) { x[0] = 0;"
         "for (int j = 0; j < i; j++) x[0] += a[i][j]; y[i] = x[0]; }", 1 + 1 + 2 + 3),
    ],
)  # fmt: skip
def test_the_search_finds_what_can_be_counted_by_hand(body: str, optimum: int) -> None:
    scop = parse_text(f"void f(int a[4][4], int x[4], int y[4]) {{ {body} }}").scop
    fusion = ExhaustiveFusion(normalise(scop))
    assert fusion.reaches(optimum)
    assert not fusion.reaches(optimum - 1)
