"""Co-simulation gives what the circuit did, and catches a circuit that breaks the rules."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pywellen import Waveform

from rtlgen.errors import RtlgenError
from rtlgen.manifest.file import StaleVerilogError
from rtlgen.sim.cocotb_runner import NoSharedPythonError, Simulator
from rtlgen.sim.models import compile_verilated
from rtlgen.sim.verilator import has_header
from rtlgen.system.tools import MissingToolError
from rtlgen.verify import loading
from rtlgen.verify.cosim import Engine, SimulationResult, simulate, simulate_all
from rtlgen.verify.errors import (
    HangError,
    ProtocolError,
    UnknownOutputError,
    UnrepeatableError,
)
from rtlgen.verify.loading import OPTIMISED_FROM_CYCLES
from sim.designs import (
    SCALE_ADD_CYCLES,
    build_scale_add,
    expected_c,
    expected_checksum,
    random_inputs,
    sabotaged,
)
from tests.simulators import ENGINES, needs_icarus

pytestmark = pytest.mark.simulation


def assert_right(result: SimulationResult, seed: int) -> None:
    inputs = random_inputs(seed)
    c = expected_c(inputs)
    np.testing.assert_array_equal(result.arrays["C"], c, strict=True)
    np.testing.assert_array_equal(result.arrays["A"], np.asarray(inputs["A"]), strict=True)
    np.testing.assert_array_equal(result.arrays["B"], np.asarray(inputs["B"]), strict=True)
    assert result.returned == c[3, 3]
    assert result.checksum == expected_checksum(c)
    assert result.cycles == SCALE_ADD_CYCLES


@pytest.mark.sample("icarus-cocotb")
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_every_engine_gives_arrays_results_and_cycles(
    tmp_path: Path, simulator: Simulator, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Compiled here, whoever has simulated the same circuit.
    monkeypatch.setattr(loading, "cache_folder", lambda: tmp_path / "cache")
    folder = tmp_path / "a folder with spaces"
    manifest = build_scale_add(folder)
    result = simulate(
        folder, manifest, random_inputs(5), simulator=simulator, engine=engine, runs=2
    )
    assert_right(result, 5)
    assert (result.simulator, result.engine) == (simulator, engine)
    assert not list(folder.glob("sim-*/run-*")), "a good run leaves no files"
    data = [random_inputs(seed) for seed in (6, 7, 8)]
    several = simulate_all(folder, manifest, data, simulator=simulator, engine=engine, runs=2)
    for seed, each in zip((6, 7, 8), several, strict=True):
        assert_right(each, seed)
    again = several[0]
    if simulator == "verilator":
        assert again.build_seconds < 0.2, "the same Verilog is not compiled twice"


FAULTS = [
    pytest.param("if (last) done <= 1;", "", HangError, "no done within", id="hang"),
    pytest.param("if (done) idle <= 1;", "", ProtocolError, "idle is low in the cycle after done",
                 id="never-idle"),
    pytest.param("if (done) idle <= 1;", "if (last) idle <= 1;", ProtocolError,
                 "idle is high in cycle 18 of a run", id="idle-early"),
    pytest.param("done <= 0;\n", "if (rst) done <= 0;\n", ProtocolError,
                 "done is high in the cycle after done", id="done-stays"),
    pytest.param("idle <= 0; issue <= 1; n <= 0;", "idle <= 0; issue <= 1; n <= return_value[3:0];",
                 UnrepeatableError, "2 runs on the same inputs", id="state-left"),
]  # fmt: skip


@pytest.mark.sample("icarus-cocotb-state-left", "icarus-cocotb-idle-early")
@pytest.mark.parametrize(("old", "new", "error", "message"), FAULTS)
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_a_broken_rule_is_reported(
    tmp_path: Path,
    simulator: Simulator,
    engine: Engine,
    old: str,
    new: str,
    error: type[RtlgenError],
    message: str,
) -> None:
    manifest = build_scale_add(tmp_path, sabotaged(old, new))
    with pytest.raises(error, match=message):
        simulate(tmp_path, manifest, random_inputs(3), simulator=simulator, engine=engine, runs=2)
    (log,) = tmp_path.glob("sim-*/run-*/simulation.log")
    assert log.exists(), "a failed run keeps its log"


@pytest.mark.sample("icarus-cocotb")
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_read_data_that_does_not_hold_is_reported(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    verilog = sabotaged("if (en) begin", "if (!en) rdata <= ~rdata; else begin")
    manifest = build_scale_add(tmp_path, verilog)
    with pytest.raises(ProtocolError, match="A: read data does not hold while enable is low"):
        simulate(tmp_path, manifest, random_inputs(3), simulator=simulator, engine=engine)


@pytest.mark.sample("icarus-cocotb")
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_a_scalar_that_is_not_captured_gives_wrong_results(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    held = "{{16{k_held[15]}}, k_held}"
    manifest = build_scale_add(tmp_path, sabotaged(held, "{{16{k[15]}}, k}"))
    result = simulate(tmp_path, manifest, random_inputs(3), simulator=simulator, engine=engine)
    assert not np.array_equal(result.arrays["C"], expected_c(random_inputs(3)))


@needs_icarus
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("return_value = 0; checksum = 0;", "checksum = 0;", "output return_value is x+ in reset"),
        ("checksum <= 0;\n", "checksum <= 64'bx;\n", "output checksum is [x0-9]+ in cycle 1"),
        ("rdata = 0;\n", "", "output A_rdata is x+ in reset"),
        (
            "idle ? C_wdata : result",
            "idle ? C_wdata : 32'bx",
            "output C_rdata is x+ where the host reads C",
        ),
    ],
)
def test_an_unknown_output_is_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    manifest = build_scale_add(tmp_path, sabotaged(old, new))
    with pytest.raises(UnknownOutputError, match=f"(?i){message}"):
        simulate(tmp_path, manifest, random_inputs(3), simulator="icarus")


@needs_icarus
def test_what_the_circuit_reads_and_does_not_use_may_be_unknown(tmp_path: Path) -> None:
    nowhere = sabotaged(
        ".addr(idle ? C_addr : n1), .en(idle ? C_en : valid)",
        ".addr(idle ? C_addr : valid ? n1 : 4'bx), .en(idle ? C_en : 1'b1)",
    )
    manifest = build_scale_add(tmp_path, nowhere)
    assert_right(simulate(tmp_path, manifest, random_inputs(3), simulator="icarus"), 3)


def test_verilog_that_was_changed_is_not_run(tmp_path: Path) -> None:
    manifest = build_scale_add(tmp_path)
    (tmp_path / "scale_add.v").write_text(sabotaged("n <= n + 4'd1;", "n <= n + 4'd2;"))
    with pytest.raises(StaleVerilogError):
        simulate(tmp_path, manifest, random_inputs(3))


@pytest.mark.sample(
    without=(
        "verilator-cocotb-.vcd",
        "verilator-native-.vcd",
    )
)
@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_a_trace_names_the_signals(
    tmp_path: Path, simulator: Simulator, engine: Engine, suffix: str
) -> None:
    manifest = build_scale_add(tmp_path)
    trace = tmp_path / f"waves{suffix}"
    if simulator == "verilator" and suffix == ".fst" and not has_header("lz4.h"):
        with pytest.raises(MissingToolError, match=r"lz4\.h is not installed"):
            simulate(tmp_path, manifest, random_inputs(1), engine=engine, trace=trace)
        return
    simulate(tmp_path, manifest, random_inputs(1), simulator=simulator, engine=engine, trace=trace)
    content = trace.read_bytes()
    assert len(content) > 500
    if suffix == ".vcd":
        assert b"k_held" in content
        assert b"$enddefinitions" in content


@pytest.mark.long
@pytest.mark.sample("cocotb")
@pytest.mark.parametrize("engine", ["native", "cocotb"])
def test_only_models_of_long_runs_are_optimised(tmp_path: Path, engine: Engine) -> None:
    manifest = build_scale_add(tmp_path)
    for cycles in (manifest.predicted_cycles, OPTIMISED_FROM_CYCLES):
        for model in tmp_path.glob("sim-verilator/model-*"):
            shutil.rmtree(model)
        asked = replace(manifest, predicted_cycles=cycles)
        assert_right(simulate(tmp_path, asked, random_inputs(1), engine=engine), 1)
        (log,) = tmp_path.glob("sim-verilator/model-*/build.log")
        (call,) = (line for line in log.read_text().splitlines() if "simulation.cpp" in line)
        assert (" -O1 " in call) == (cycles == OPTIMISED_FROM_CYCLES)
        assert (" -O0 " in call) == (cycles < OPTIMISED_FROM_CYCLES)


@pytest.mark.sample("native")
@pytest.mark.parametrize("engine", ["native", "cocotb"])
def test_a_model_is_compiled_once_for_all_folders(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []

    def counted(*given: Any) -> Path:
        compiled.append(given)
        return compile_verilated(*given)

    monkeypatch.setattr(loading, "compile_verilated", counted)
    monkeypatch.setattr(loading, "cache_folder", lambda: tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    for folder in (tmp_path / "one", tmp_path / "two"):
        manifest = build_scale_add(folder)
        assert_right(simulate(folder, manifest, random_inputs(1), engine=engine), 1)
        (log,) = folder.glob("sim-verilator/model-*/build.log")
        assert "simulation.cpp" in log.read_text()
    assert len(compiled) == 1
    held = "{{16{k_held[15]}}, k_held}"
    manifest = build_scale_add(tmp_path / "other", sabotaged(held, "{{16{k[15]}}, k}"))
    wrong = simulate(tmp_path / "other", manifest, random_inputs(3), engine=engine)
    assert len(compiled) == 2
    assert not np.array_equal(wrong.arrays["C"], expected_c(random_inputs(3)))


def test_verilator_is_driven_from_cpp_and_icarus_by_cocotb(tmp_path: Path) -> None:
    manifest = build_scale_add(tmp_path)
    assert simulate(tmp_path, manifest, random_inputs(1)).engine == "native"
    for wrong in ({"engine": "native"}, {"reset_cycle": 3}):
        with pytest.raises(ValueError, match="the native engine needs Verilator"):
            simulate(tmp_path, manifest, random_inputs(1), simulator="icarus", **wrong)


def test_a_python_without_shared_library_simulates_natively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = build_scale_add(tmp_path)
    monkeypatch.setattr("rtlgen.sim.cocotb_runner.shared_python", lambda: None)
    assert_right(simulate(tmp_path, manifest, random_inputs(4)), 4)
    with pytest.raises(NoSharedPythonError) as caught:
        simulate(tmp_path, manifest, random_inputs(4), engine="cocotb")
    assert caught.value.exit_code == 3


@pytest.mark.sample(without=("verilator-cocotb",))
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_a_trace_shows_inputs_before_the_edge_that_samples_them(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    manifest = build_scale_add(tmp_path)
    trace = tmp_path / "waves.vcd"
    simulate(tmp_path, manifest, random_inputs(1), simulator=simulator, engine=engine, trace=trace)
    signals = {var.full_name: var.tv for var in Waveform(str(trace)).all_vars()}
    (prefix,) = (name.removesuffix("k_held") for name in signals if name.endswith(".k_held"))

    def edges(name: str, value: int) -> list[int]:
        return [time for time, found in signals[prefix + name] if found == value and time]

    (start,), (idle,) = edges("start", 1), edges("idle", 0)
    rising, falling = edges("clk", 1), edges("clk", 0)
    assert start in falling
    assert idle == next(edge for edge in rising if edge > start)
    assert edges("done", 1) == [idle + 10_000 * (SCALE_ADD_CYCLES - 1)]
