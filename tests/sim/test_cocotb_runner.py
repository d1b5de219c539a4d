"""Component tests run on both simulators; a failing cocotb test is an error with its log."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.errors import long_forms, registered_codes
from rtlgen.sim.cocotb_runner import CocotbTestFailedError, Simulator, run_tests
from sim.bench_counter import STEP_VARIABLE
from tests.simulators import SIMULATORS

pytestmark = pytest.mark.simulation

COUNTER = """
module counter (input clk, input rst, output reg [7:0] count);
    wire [7:0] doubled = count << 1;
    always @(posedge clk) count <= rst ? 8'd0 : count + 8'd1;
endmodule
"""


def run(folder: Path, simulator: Simulator, step: int, trace: Path | None = None) -> None:
    source = folder / "counter.v"
    source.write_text(COUNTER)
    run_tests(
        [source],
        "counter",
        ["sim.bench_counter"],
        simulator,
        folder / "work",
        environment={STEP_VARIABLE: str(step)},
        trace=trace,
    )


@pytest.mark.sample("icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_passing_test_passes_and_traces(
    tmp_path: Path, simulator: Simulator, capfd: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "waves.vcd"
    run(tmp_path, simulator, 1, trace)
    assert "doubled" in trace.read_text()
    assert capfd.readouterr().out == "", "standard output belongs to the caller"


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_failing_test_is_an_error(tmp_path: Path, simulator: Simulator) -> None:
    with pytest.raises(CocotbTestFailedError, match="counts_by_the_expected_step failed") as caught:
        run(tmp_path, simulator, 2)
    assert "assert" in (tmp_path / "work" / "simulation.log").read_text()
    assert caught.value.diagnostic.help is not None


def test_each_error_has_a_long_form() -> None:
    own = [code for code in registered_codes() if code.startswith(("E04", "E05", "E06"))]
    assert len(own) >= 4
    assert all(len(long_forms()[code].split()) >= 20 for code in own)
