"""The figures that the project promises for its examples, and that the search proves."""

from __future__ import annotations

import pytest

from rtlgen.driver import parse
from rtlgen.ir.block_rams import block_rams
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.target import get_target
from tests.islands import compile_island
from tests.poly.sources import EXAMPLES

FUSED_ITERATIONS = {
    "gemm": 512, "mms": 519, "mms_d": 890, "2mm": 519, "3mm": 568, "atax": 71, "bicg": 64,
    "mvt": 64, "gesummv": 64, "gemver": 71,
}  # fmt: skip
MOST_CYCLES = {"mms": 545, "mms_d": 915, "gemver": 120}


def compiled(name: str, options: CompileOptions | None = None) -> IslandCompilation:
    options = options or CompileOptions()
    return compile_island(parse(EXAMPLES / name / f"{name}.c", options), options)


@pytest.mark.parametrize(("name", "iterations"), FUSED_ITERATIONS.items())
def test_an_example_needs_as_few_iterations_and_cycles_as_promised(
    name: str, iterations: int
) -> None:
    compilation = compiled(name)
    cycles = predicted_cycles(compilation.plan)
    assert compilation.decision.fused_iterations == iterations
    assert compilation.plan.fused_iterations == iterations
    assert cycles <= min(iterations + 50, MOST_CYCLES.get(name, cycles))
    assert all(stream.ii == 1 for stream in compilation.plan.streams)
    assert compilation.replayed


def test_what_counts_is_the_end_of_all_and_not_the_last_issue() -> None:
    """A quotient takes 21 cycles: the nest whose last one is issued first has it end later."""
    path = EXAMPLES.parent / "benchmarks" / "hls19" / "trisolv.c"
    compilation = compile_island(parse(path, CompileOptions()), CompileOptions())
    assert predicted_cycles(compilation.plan) == 168
    assert compilation.replayed


def test_a_word_that_settles_puts_off_no_product_whose_other_factors_can_go_first() -> None:
    plan = compiled("symm").plan
    assert predicted_cycles(plan) == 239
    assert block_rams(plan, get_target()) <= 6


@pytest.mark.parametrize("name", ["mms_d", "gemver", "3mm"])
def test_without_fusion_nests_run_one_after_another(name: str) -> None:
    compilation = compiled(name, CompileOptions(fuse="none"))
    assert len(compilation.plan.regions) == len(compilation.analysis.units)
    counts = sum(stream.count for stream in compilation.plan.streams)
    assert predicted_cycles(compilation.plan) >= counts
    assert compilation.replayed


@pytest.mark.parametrize("style", ["odometer", "divide", "shift"])
def test_an_index_style_changes_only_how_indices_are_counted(style: str) -> None:
    plans = [
        compiled("mms", CompileOptions(index_style=s)).plan  # type: ignore[arg-type]
        for s in ("odometer", style)
    ]
    assert plans[0].regions == plans[1].regions


def test_a_larger_shift_than_needed_is_obeyed() -> None:
    plain, later = (compiled("mms_d", CompileOptions(shifts=shifts)) for shifts in ({}, {"S1": 40}))
    assert (plain.decision.shifts["S1"], later.decision.shifts["S1"]) == (26, 40)
    assert predicted_cycles(later.plan) == predicted_cycles(plain.plan) + 14


def test_compiling_twice_gives_the_same_plan() -> None:
    assert compiled("gemver").plan == compiled("gemver").plan


def test_every_target_gets_a_sound_plan() -> None:
    for target in ("ecp5", "ice40", "xilinx"):
        assert compiled("gemm", CompileOptions(target=target)).replayed
