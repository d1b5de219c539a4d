"""`run` and `verify`: round trips through files, verdicts, exit status 1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rtlgen
import rtlgen.design
from rtlgen.design import Design, Verification
from rtlgen.ir.plan import KernelPlan
from rtlgen.verilog import GeneratedVerilog, generate
from tests.cli.conftest import rtlgen as run_rtlgen
from tests.simulators import SIMULATORS

pytestmark = [pytest.mark.simulation, pytest.mark.usefixtures("in_checkout")]


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_run_takes_and_gives_arrays_scalars_and_the_result(
    built: Path, tmp_path: Path, simulator: str
) -> None:
    x = np.arange(-4, 4, dtype=np.int16)
    np.savez(tmp_path / "in.npz", gain=np.int32(-7), x=x, total=np.int32(0),
             y=np.zeros(8, dtype=np.int32))  # fmt: skip
    outcome = run_rtlgen(
        "run", built, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
        "--simulator", simulator, "--json",
    )  # fmt: skip
    assert outcome.status == 0
    found = outcome.document
    assert set(found) == {"cycles", "simulator", "checksum", "seconds"}
    assert found["simulator"] == simulator
    assert found["checksum"].startswith("0x")
    with np.load(tmp_path / "out.npz") as out:
        assert set(out.files) == {"total", "x", "y", "return"}
        assert out["y"].dtype == np.int32
        assert out["y"].tolist() == (-7 * x.astype(np.int32)).tolist()
        assert out["x"].tolist() == x.tolist()
        assert int(out["total"]) == int(out["return"]) == 28


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_verify_prints_the_promised_keys(scaled_c: Path, simulator: str) -> None:
    outcome = run_rtlgen("verify", scaled_c, "--simulator", simulator, "--seed", "4", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    found = outcome.document
    kinds = {
        "kernel": str,
        "exact": bool,
        "checksum": str,
        "cycles": int,
        "predicted_cycles": int,
        "simulator": str,
        "seed": int,
    }
    assert {key: type(found[key]) for key in kinds} == kinds
    assert found["exact"] is True
    assert found["cycles"] == found["predicted_cycles"]
    assert (found["kernel"], found["simulator"], found["seed"]) == ("scaled", simulator, 4)


def test_a_circuit_that_differs_is_exit_1_and_names_elements(
    scaled_c: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(plan: KernelPlan) -> GeneratedVerilog:
        verilog = generate(plan)
        wrong = verilog.text.replace(" * ", " + ", 1)
        assert wrong != verilog.text
        return replace(verilog, text=wrong)

    monkeypatch.setattr(rtlgen.design, "generate", broken)
    outcome = run_rtlgen("verify", scaled_c, "--json")
    assert outcome.status == 1
    assert outcome.document["exact"] is False
    first = outcome.document["first_mismatches"][0]
    assert set(first) == {"array", "index", "expected", "got", "cycle"}
    assert isinstance(first["cycle"], int)
    assert outcome.err.startswith("error[E0630]: scaled differs from the golden model")
    assert f"expected {first['expected']}, got {first['got']}" in outcome.err


@pytest.fixture(scope="module")
def verified(scaled_c: Path) -> Verification:
    """A real verification, to be reported in other ways without simulating again."""
    return rtlgen.compile(scaled_c).verify()


def test_a_wrong_prediction_is_exit_1(
    scaled_c: Path, verified: Verification, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = replace(verified, failures=("took 3 cycles, predicted 4",))
    monkeypatch.setattr(Design, "verify", lambda _, **__: late)
    outcome = run_rtlgen("verify", scaled_c)
    assert outcome.status == 1
    assert "scaled: DIFFERENT" in outcome.out
    assert "= note: took 3 cycles, predicted 4" in outcome.err


def test_several_files_are_one_document(
    scaled_c: Path, verified: Verification, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Design, "verify", lambda _, **__: verified)
    outcome = run_rtlgen("verify", scaled_c, scaled_c, "--json")
    assert outcome.status == 0
    assert [entry["exact"] for entry in outcome.document] == [True, True]
