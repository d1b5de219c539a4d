"""A whole network in one loop: the 16 + 3 layers of VGG-19, as 62 statements."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rtlgen.design import Design, compile_design
from rtlgen.driver import CompileOptions
from rtlgen.frontend import parse_file
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, run_gcc
from tests.simulators import needs_icarus

SOURCE = Path(__file__).parent / "vgg.c"

FLOOR = 32 * 32 * 3 * 9
"""The first convolution: every pixel, three colours, nine neighbours."""

FUSED = 58_146


@cache
def fused() -> Design:
    return compile_design(SOURCE, CompileOptions())


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_the_golden_model_and_gcc_agree_on_scores_that_differ() -> None:
    scop = parse_file(SOURCE).scop
    inputs = random_inputs(scop, 1)
    golden = run_golden(scop, inputs, engine="compiled").arrays
    assert compare_memories(golden, run_gcc(scop, inputs).arrays).exact
    assert len(np.unique(golden["scores"])) > 1


def test_all_layers_issue_from_one_loop_without_a_bubble_inside_of_a_layer() -> None:
    report = fused().report()
    assert len(report["statements"]) == 16 * 3 + 5 + 3 * 3
    assert report["perfect"]
    assert {stream["ii"] for stream in report["streams"]} == {1}
    assert report["figures"]["data_flow_replayed"]
    assert report["floor_iterations"] == FLOOR
    assert report["fused_iterations"] <= FUSED
    assert report["predicted_cycles"] <= FUSED + 200


@pytest.mark.long
@pytest.mark.simulation
def test_the_network_is_exact() -> None:
    outcome = fused().verify(simulator="verilator", seed=3)
    assert outcome.failures == ()


@pytest.mark.long
@pytest.mark.simulation
@needs_icarus
def test_the_network_is_exact_on_icarus() -> None:
    outcome = fused().verify(simulator="icarus", seed=3)
    assert outcome.failures == ()


@pytest.mark.long
def test_layers_one_after_another_take_more_than_twice_as_long() -> None:
    apart = compile_design(SOURCE, CompileOptions(fuse="none"))
    assert predicted_cycles(apart.plan) > 2 * predicted_cycles(fused().plan)
