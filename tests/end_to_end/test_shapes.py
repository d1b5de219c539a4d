"""Domains of every shape: one iteration a cycle from the first to the last, and exact."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from tests.end_to_end.judge import assert_plan_exact, compiled, simulation_failures

SHAPES = sorted((Path(__file__).parent / "shapes").glob("*.c"))

OVERHEAD_CYCLES = 40
"""What a nest may take on top of one cycle an instance: pipeline depth, start and done."""


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_no_iteration_is_empty(path: Path) -> None:
    accepted = compiled(path.read_text())
    assert accepted is not None
    for stream in accepted.plan.streams:
        assert stream.count == stream.instances, stream.statement
    longest = max(stream.instances for stream in accepted.plan.streams)
    assert predicted_cycles(accepted.plan) <= longest + OVERHEAD_CYCLES
    assert_plan_exact(accepted)


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_nests_one_after_another_have_no_empty_iteration_either(path: Path) -> None:
    accepted = compiled(path.read_text(), CompileOptions(fuse="none"))
    assert accepted is not None
    streams = accepted.plan.streams
    steps = sum(stream.instances for stream in streams)
    assert predicted_cycles(accepted.plan) <= steps + OVERHEAD_CYCLES * len(streams)
    assert_plan_exact(accepted)


@pytest.mark.sample("strides")
@pytest.mark.simulation
@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_the_circuit_is_exact(path: Path, tmp_path: Path) -> None:
    accepted = compiled(path.read_text())
    assert accepted is not None
    assert simulation_failures(accepted.plan, accepted.program, tmp_path, "icarus") == []
