"""`run` and `verify`: round trips through files, verdicts, exit status 1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rtlgen
import rtlgen.design
from rtlgen.design import Design
from rtlgen.ir.plan import KernelPlan
from rtlgen.manifest.contents import FileEntry
from rtlgen.manifest.file import read_manifest, sha256_of, write_manifest
from rtlgen.options import Top
from rtlgen.output.verilog import GeneratedVerilog, generate
from tests.cli.conftest import SCALED
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


@pytest.mark.long
def test_verify_runs_on_data_that_the_user_chooses(scaled_c: Path, tmp_path: Path) -> None:
    ranged = run_rtlgen(
        "verify", scaled_c, "--range", "x=3..3", "--range", "gain=-2..0x7", "--seeds", "2",
        "--oracle", "gcc", "--json",
    ).document  # fmt: skip
    assert (ranged["exact"], ranged["oracle"]) == (True, "gcc")
    assert len(ranged["data_sets"]) >= 8 and ranged["unseen"] == []
    x = np.arange(-4, 4, dtype=np.int16)
    y = np.zeros(8, dtype=np.int32)
    np.savez(tmp_path / "in.npz", gain=np.int32(0), x=x, y=y, total=np.int32(0))
    given = run_rtlgen("verify", scaled_c, "--inputs", tmp_path / "in.npz", "--json").document
    assert (given["exact"], given["data_sets"]) == (True, ["as given"])
    # A factor of 0 hides the other one.
    assert "x[i]" in [entry["operand"] for entry in given["unseen_operands"]]


@pytest.mark.parametrize(
    ("option", "code"),
    [("x", "E0403"), ("x=1..", "E0403"), ("w=1..2", "E0422"), ("x=2..1", "E0423"),
     ("x=0..32768", "E0423")],
)  # fmt: skip
def test_a_range_that_is_none_is_refused(scaled_c: Path, option: str, code: str) -> None:
    refused = run_rtlgen("verify", scaled_c, "--range", option)
    assert refused.status == 2 and f"error[{code}]" in refused.err


@pytest.mark.long
def test_run_compares_with_the_program_it_was_built_from(tmp_path: Path) -> None:
    source, folder = tmp_path / "scaled.c", tmp_path / "build"
    source.write_text(SCALED)
    assert run_rtlgen("build", source, "-o", folder).status == 0
    x = np.arange(-4, 4, dtype=np.int16)
    y = np.zeros(8, dtype=np.int32)
    np.savez(tmp_path / "in.npz", gain=np.int32(-7), x=x, y=y, total=np.int32(0))
    files = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    checked = run_rtlgen("run", folder, *files, "--check")
    assert checked.status == 0 and checked.out.startswith("scaled: exact, ")

    # A circuit that computes something else, with a manifest that says it should.
    verilog = folder / "scaled.v"
    right = verilog.read_text()
    wrong = right.replace(" * ", " + ", 1)
    verilog.write_text(wrong)
    entry = FileEntry("scaled.v", sha256_of(wrong))
    write_manifest(folder, replace(read_manifest(folder), verilog=entry))
    differs = run_rtlgen("run", folder, *files, "--check")
    assert differs.status == 1 and "error[E0630]: scaled differs" in differs.err

    source.write_text(SCALED + "\n")
    changed = run_rtlgen("run", folder, *files, "--check")
    assert changed.status == 2 and "error[E0416]" in changed.err and "has changed" in changed.err
    source.unlink()
    gone = run_rtlgen("run", folder, *files, "--check")
    assert gone.status == 2 and "error[E0416]: cannot read" in gone.err


def test_a_circuit_that_differs_is_exit_1_and_names_elements(
    scaled_c: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(plan: KernelPlan, top_kind: Top) -> GeneratedVerilog:
        verilog = generate(plan, top_kind)
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
def verified(scaled_c: Path) -> rtlgen.Verification:
    """A real verification, to be reported in other ways without simulating again."""
    return rtlgen.compile(scaled_c).verify()


def test_a_wrong_prediction_is_exit_1(
    scaled_c: Path, verified: rtlgen.Verification, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = replace(verified, failures=("took 3 cycles, predicted 4",))
    monkeypatch.setattr(Design, "verify", lambda _, **__: late)
    outcome = run_rtlgen("verify", scaled_c)
    assert outcome.status == 1
    assert "scaled: DIFFERENT" in outcome.out
    assert "= note: took 3 cycles, predicted 4" in outcome.err


def test_several_files_are_one_document(
    scaled_c: Path, verified: rtlgen.Verification, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Design, "verify", lambda _, **__: verified)
    outcome = run_rtlgen("verify", scaled_c, scaled_c, "--json")
    assert outcome.status == 0
    assert [entry["exact"] for entry in outcome.document] == [True, True]
