"""`rtlgen trace` tells of waves what the reader of the C program asks."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import rtlgen as run_rtlgen

pytestmark = [pytest.mark.simulation, pytest.mark.usefixtures("in_checkout")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a trace of three runs, and the build directory of its circuit."""
    folder = tmp_path_factory.mktemp("recorded")
    kernel = Path(__file__).resolve().parents[2] / "examples" / "gemm" / "gemm.c"
    sizes = ("-D", "N=4")
    assert run_rtlgen("build", kernel, *sizes, "-o", folder / "gemm").status == 0
    trace = folder / "waves.vcd"
    outcome = run_rtlgen("verify", kernel, *sizes, "--trace", trace)
    assert outcome.status == 0
    return folder


def trace(folder: Path, *arguments: object) -> list[str]:
    outcome = run_rtlgen("trace", folder / "waves.vcd", folder / "gemm", *arguments)
    assert (outcome.status, outcome.err) == (0, "")
    return outcome.out.splitlines()


def test_without_a_question_the_runs_are_listed(recorded: Path) -> None:
    first, *runs = trace(recorded)
    assert first == f"gemm: {len(runs)} runs"
    assert runs[0] == "  run 1: 71 cycles (predicted 71)"
    outcome = run_rtlgen("trace", recorded / "waves.vcd", recorded / "gemm", "--json")
    assert outcome.document == {
        "kernel": "gemm", "predicted_cycles": 71, "runs": [71] * len(runs),
    }  # fmt: skip


def test_a_cycle_shows_what_is_on_its_way(recorded: Path) -> None:
    title, *rows = trace(recorded, "--at", 70, "--run", 2)
    assert title.startswith("gemm: run 2, cycle 70 of 71, ")
    assert rows == ["  S1(i=3, j=3, k=3)  stage 7 of 8  store C"]
    found = run_rtlgen(
        "trace", recorded / "waves.vcd", recorded / "gemm", "--at", 4, "--json"
    ).document
    assert {"kernel", "run", "cycle", "cycles", "nanoseconds", "instances", "tiles"} == set(found)
    assert [each["instance"] for each in found["instances"]] == [
        "S0(i=0, j=0)", *(f"S1(i=0, j={n // 4}, k={n % 4})" for n in range(5)),
    ]  # fmt: skip
    assert found["instances"][1] == {
        "instance": "S1(i=0, j=0, k=0)",
        "statement": "S1",
        "iterators": {"i": 0, "j": 0, "k": 0},
        "module": "S1",
        "tile": None,
        "stage": 4,
        "stages": 8,
        "does": ["mul"],
    }


@pytest.mark.parametrize("text", ["S1(1,2,3)", " S1( k=3, i=1,j=2 )"])
def test_an_instance_shows_its_cycles(recorded: Path, text: str) -> None:
    lines = trace(recorded, "--instance", text)
    assert lines[0] == "S1(i=1, j=2, k=3): cycles 27 to 34"
    assert lines[1] == "  cycle 27  stage 0  load A"
    assert lines[-1] == "  cycle 34  stage 7  store C"
    assert trace(recorded, "--instance", text, "--at", 34) == [lines[0], lines[-1]]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--at", "71"), "E0426", "it has cycles 0 to 70"),
        (("--run", "99", "--at", "0"), "E0426", "has no run 99"),
        (("--instance", "S1(1,2)"), "E0426", "its iterators are i, j, k"),
        (("--instance", "S1(i=1,j=2,j=3)"), "E0426", "its iterators are i, j, k"),
        (("--instance", "S1(1,2,x)"), "E0426", "its iterators are i, j, k"),
        (("--instance", "S1(1,2,4)"), "E0426", "is not issued in run 1"),
        (("--instance", "S7(1)"), "E0426", "its statements are S0, S1"),
        (("--instance", "S1"), "E0426", "write S1(3,4,2)"),
    ],
)
def test_what_is_not_there_is_refused(
    recorded: Path, arguments: tuple[str, ...], code: str, words: str
) -> None:
    outcome = run_rtlgen("trace", recorded / "waves.vcd", recorded / "gemm", *arguments)
    assert outcome.status == 2
    assert outcome.err.startswith(f"error[{code}]")
    assert words in outcome.err


def test_a_directory_without_instances_is_refused(recorded: Path, tmp_path: Path) -> None:
    shutil.copytree(recorded / "gemm", tmp_path / "gemm")
    (tmp_path / "gemm" / "instances.json").unlink()
    outcome = run_rtlgen("trace", recorded / "waves.vcd", tmp_path / "gemm")
    assert (outcome.status, outcome.out) == (2, "")
    assert "error[E0425]: cannot read the plan in" in outcome.err


def test_a_save_file_is_written_for_the_trace_of_another_simulator(
    recorded: Path, tmp_path: Path
) -> None:
    shutil.copy(recorded / "waves.vcd", tmp_path / "mine.vcd")
    outcome = run_rtlgen("trace", tmp_path / "mine.vcd", recorded / "gemm", "--save-file")
    assert outcome.status == 0
    assert "-S0: C[i][j] *= beta" in (tmp_path / "mine.gtkw").read_text()


def test_a_run_that_cannot_have_a_save_file_says_why(
    recorded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = shutil.copytree(recorded / "gemm", tmp_path / "gemm")
    (folder / "instances.json").unlink()
    arrays = {name: np.zeros((4, 4), np.int32) for name in "ABC"}
    np.savez(tmp_path / "in.npz", alpha=1, beta=1, **arrays)  # type: ignore[arg-type]
    given = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    outcome = run_rtlgen("run", folder, *given, "--trace", tmp_path / "waves.vcd")
    assert outcome.status == 0
    assert (tmp_path / "out.npz").exists()
    assert "no save file for GTKWave: cannot read the plan in" in caplog.text + outcome.err
    (tmp_path / "waves.gtkw").mkdir()
    shutil.copy(recorded / "gemm" / "instances.json", folder)
    refused = run_rtlgen("run", folder, *given, "--trace", tmp_path / "waves.vcd")
    assert refused.status == 2
    assert f"error[E0402]: cannot write to {tmp_path}: Is a directory" in refused.err
