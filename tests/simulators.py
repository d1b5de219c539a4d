"""The simulators that tests are run on; one that is missing is skipped, with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import get_args

import pytest
from _pytest.mark import ParameterSet

from rtlgen.sim.cocotb_runner import Simulator

needs_icarus = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="iverilog is not installed"
)

SIMULATORS = [
    pytest.param("verilator", id="verilator"),
    pytest.param("icarus", id="icarus", marks=needs_icarus),
]


def marks_in_turn(number: int, simulator: Simulator) -> tuple[pytest.MarkDecorator, ...]:
    """Return the marks of a case on a simulator: every case is long on one of the two."""
    needed = (needs_icarus,) if simulator == "icarus" else ()
    other = (simulator == "icarus") != bool(number % 2)
    return (*needed, pytest.mark.long) if other else needed


def on_one_in_turn(cases: Mapping[str, Sequence[object]]) -> list[ParameterSet]:
    """Return the cases, by name, each with a simulator."""
    return [
        pytest.param(*case, simulator, id=f"{name}-{simulator}", marks=marks)
        for number, (name, case) in enumerate(cases.items())
        for simulator in get_args(Simulator)
        for marks in [marks_in_turn(number, simulator)]
    ]


ENGINES = [
    pytest.param("verilator", "cocotb", id="verilator-cocotb"),
    pytest.param("verilator", "native", id="verilator-native"),
    pytest.param("icarus", "cocotb", id="icarus-cocotb", marks=needs_icarus),
]
