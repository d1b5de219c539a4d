"""The simulators that tests are run on; one that is missing is skipped, with the reason."""

from __future__ import annotations

import shutil

import pytest

needs_icarus = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="iverilog is not installed"
)

SIMULATORS = [
    pytest.param("verilator", id="verilator"),
    pytest.param("icarus", id="icarus", marks=needs_icarus),
]
ENGINES = [
    pytest.param("verilator", "cocotb", id="verilator-cocotb"),
    pytest.param("verilator", "native", id="verilator-native"),
    pytest.param("icarus", "cocotb", id="icarus-cocotb", marks=needs_icarus),
]
