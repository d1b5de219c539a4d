"""What the verbs print: the promised keys, one JSON document, the same text every time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rtlgen.design import Design
from rtlgen.errors import long_forms
from tests.cli.conftest import rtlgen

GEMM = "examples/gemm/gemm.c"
MMS_D = "examples/mms_d/mms_d.c"

pytestmark = pytest.mark.usefixtures("in_checkout")


def shape(value: Any) -> Any:
    """Return a JSON value with every leaf replaced by its type, a list by its first element."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return type(value).__name__


def test_check_names_nests_and_statements() -> None:
    outcome = rtlgen("check", GEMM, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.document["supported"] is True
    assert [n["class"] for n in outcome.document["nests"]] == ["imperfect"]
    assert outcome.document["statements"][1] == {
        "name": "S1",
        "line": 14,
        "text": "C[i][j] += alpha * A[i][k] * B[k][j]",
        "loops": ["i", "j", "k"],
    }


def test_deps_has_kind_ends_lines_and_distance_or_relation() -> None:
    found = rtlgen("deps", MMS_D, "--json").document["dependences"]
    assert {d["kind"] for d in found} == {"flow", "anti", "output"}
    carried = [d for d in found if d["source"] != d["sink"]]
    assert [(d["kind"], d["source"], d["sink"]) for d in carried] == [("flow", "S0", "S1")]
    assert (carried[0]["source_line"], carried[0]["sink_line"]) == (22, 26)
    assert carried[0]["relation"].startswith("{ S0[i, j, k] -> S1[")


def test_plan_has_the_promised_keys_and_figures() -> None:
    report = rtlgen("plan", MMS_D, "--json").document
    promised = {
        "statements": [{"name": "str", "instances": "int", "shift": "int", "loops": [...]}],
        "streams": [{"statement": "str", "ii": "int", "ii_reason": "str", "depth": "int"}],
        "fused_iterations": "int",
        "issue_slots": "int",
        "predicted_cycles": "int",
        "perfect": "bool",
    }
    found = shape(report)
    for key, kind in promised.items():
        if isinstance(kind, list):
            for name, leaf in kind[0].items():
                assert leaf is ... or leaf == [...] or found[key][0][name] == leaf, (key, name)
        else:
            assert found[key] == kind, key
    assert [s["shift"] for s in report["statements"]] == [0, 26]
    assert (report["fused_iterations"], report["perfect"]) == (890, True)
    assert report["issue_slots"] <= report["predicted_cycles"] <= 915


def test_a_recurrence_is_named_as_the_text_has_it(tmp_path: Path) -> None:
    path = tmp_path / "iir.c"
    path.write_text(
        "void iir(int y[64], int c)\n{\n  for (int i = 1; i < 64; i++)\n"
        "    y[i] = y[i] - c * y[i - 1];\n}\n"
    )
    (stream,) = rtlgen("plan", path, "--json").document["streams"]
    assert stream["ii"] == 3
    assert stream["ii_reason"] == (
        "y[i - 1] (line 4) needs the result of the iteration before, which takes 3 cycles"
    )
    found = rtlgen("deps", path, "--json").document["dependences"]
    flows = [(d["source_access"], d["sink_access"]) for d in found if d["kind"] == "flow"]
    assert flows == [("y[i]", "y[i - 1]")]


def test_plan_without_fusion_is_not_perfect_and_slower() -> None:
    fused = rtlgen("plan", MMS_D, "--json").document
    unfused = rtlgen("plan", MMS_D, "--fuse", "none", "--json").document
    assert unfused["perfect"] is False
    assert unfused["predicted_cycles"] > fused["predicted_cycles"] + 700


def test_a_larger_shift_than_needed_is_taken() -> None:
    report = rtlgen("plan", MMS_D, "--shift", "S1=30", "--json").document
    default = rtlgen("plan", MMS_D, "--shift", "S1=26", "--json").document
    assert [s["shift"] for s in report["statements"]] == [0, 30]
    assert report["predicted_cycles"] == default["predicted_cycles"] + 4


def test_the_same_plan_is_printed_twice() -> None:
    for extra in ((), ("--json",), ("--dump-after", "plan")):
        assert rtlgen("plan", GEMM, *extra) == rtlgen("plan", GEMM, *extra)


@pytest.mark.parametrize(
    "name",
    [
        "parse",
        "prune",
        "fold",
        "normalise",
        "distribute",
        "permute",
        "pad",
        "flatten",
        "fuse",
        "plan",
    ],
)
def test_the_program_is_printed_after_each_pass(name: str) -> None:
    outcome = rtlgen("plan", GEMM, "--dump-after", name)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("kernel gemm" if name == "plan" else "scop gemm")


def test_c_is_printed_after_the_last_transform_or_any_other() -> None:
    last = rtlgen("emit-c", GEMM)
    assert (last.status, last.err) == (0, "")
    assert last.out == rtlgen("emit-c", GEMM, "--after", "fuse").out
    assert "gemm after fuse" in last.out
    assert "gemm after flatten" in rtlgen("emit-c", GEMM, "--fuse", "none").out
    assert "gemm after parse" in rtlgen("emit-c", GEMM, "--after", "parse").out


def test_c_goes_to_a_file_or_into_the_json(tmp_path: Path) -> None:
    file = tmp_path / "gemm.c"
    printed = rtlgen("emit-c", GEMM).out
    outcome = rtlgen("emit-c", GEMM, "-o", file, "--json")
    assert file.read_text() == printed
    assert outcome.document == {
        "kernel": "gemm",
        "after": "fuse",
        "file": str(file),
        "c": printed,
    }
    assert rtlgen("emit-c", GEMM, "-o", file).out == ""


@pytest.mark.parametrize("verb", ["plan", "build"])
def test_a_dump_does_not_spoil_the_json(verb: str, tmp_path: Path) -> None:
    target = () if verb == "plan" else ("-o", tmp_path / "b")
    outcome = rtlgen(verb, GEMM, *target, "--dump-after", "fuse", "--json")
    assert isinstance(outcome.document, dict)
    assert outcome.err.startswith("scop gemm")


def test_warnings_go_to_stderr_and_can_be_switched_off(tmp_path: Path) -> None:
    path = tmp_path / "warns.c"
    path.write_text("void f(int a[4], int unused) { for (int i = 0; i < 4; i++) a[i] = 1; }\n")
    for verb in ("check", "deps", "plan"):
        outcome = rtlgen(verb, path, "--json")
        assert outcome.status == 0
        assert outcome.err.startswith("warning[W0102]: ")
        assert isinstance(outcome.document, dict)
        assert rtlgen("-q", verb, path).err == ""
    (warning,) = rtlgen("check", path, "--json").document["warnings"]
    assert (warning["code"], warning["severity"]) == ("W0102", "warning")


def test_macros_and_parameters_are_defined_from_outside(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("void f(int n, int a[M]) {\n  for (int i = 0; i < n; i++)\n    a[i] = i;\n}\n")
    report = rtlgen("plan", path, "-D", "M=9", "-D", "n=5", "--json").document
    assert report["statements"][0]["instances"] == 5
    assert report["memories"][0]["shape"] == [9]


def test_build_says_what_it_made(tmp_path: Path) -> None:
    outcome = rtlgen("build", GEMM, "-o", tmp_path / "b", "--json")
    assert outcome.document == {
        "directory": str(tmp_path / "b"),
        "verilog": "gemm.v",
        "top": "gemm",
        "predicted_cycles": 519,
        "flows": [],
        "left_out": [],
    }


def test_build_writes_the_files_of_flows(tmp_path: Path) -> None:
    given = ("build", GEMM, "-o", tmp_path / "b")
    outcome = rtlgen(*given, "--flow", "fusesoc,vivado", "--json")
    assert outcome.document["flows"] == ["fusesoc", "vivado"]
    assert (tmp_path / "b" / "gemm.core").exists()
    assert (tmp_path / "b" / "gemm_vivado.tcl").exists()
    refused = rtlgen(*given, "--flow", "fusesoc,make")
    assert refused.status == 2
    assert "there is no flow make" in refused.err
    assert "give some of fusesoc,edalize,litex,vivado,quartus" in refused.err
    assert (tmp_path / "b" / "gemm.core").exists()


def test_the_manifest_has_the_promised_entries(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    promised = (
        "name top clock reset start done ports arrays scalars return predicted_cycles verilog "
        "source options version"
    )
    assert set(promised.split()) <= set(manifest)
    assert shape(manifest["ports"]) == [{"name": "str", "direction": "str", "width": "int"}]
    assert [(a["name"], a["role"]) for a in manifest["arrays"]] == [
        ("total", "inout"),
        ("x", "in"),
        ("y", "inout"),
    ]
    gain = {"name": "gain", "port": "gain", "width": 32, "signed": True, "type": "int32"}
    assert manifest["scalars"] == [gain]
    assert manifest["return"]["width"] == 32
    widths = {port["name"]: port["width"] for port in manifest["ports"]}
    (x,) = (array for array in manifest["arrays"] if array["name"] == "x")
    assert widths[x["ports"]["wdata"]] == 16
    assert widths[x["ports"]["addr"]] == 3


def test_explain_knows_every_code() -> None:
    for code, text in long_forms().items():
        outcome = rtlgen("explain", code)
        assert (outcome.status, outcome.out) == (0, f"{code}: {text}\n")
    assert rtlgen("explain", "e0203").out == rtlgen("explain", "[E0203]").out
    listed = rtlgen("explain").out.splitlines()
    assert [line.split()[0] for line in listed] == list(long_forms())
    assert list(rtlgen("explain", "--json").document) == list(long_forms())
    assert rtlgen("explain", "E0203", "--json").document["code"] == "E0203"


def files(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_two_builds_are_the_same_bytes(tmp_path: Path, scaled_c: Path) -> None:
    for name in ("one", "two"):
        assert rtlgen("build", scaled_c, "-o", tmp_path / name).status == 0
    one = files(tmp_path / "one")
    assert one == files(tmp_path / "two")
    assert {"scaled.v", "manifest.json", "plan.json", "report.json", "report.html"} <= set(one)
    assert not any(str(tmp_path / "one").encode() in content for content in one.values())


def test_a_second_build_into_a_directory_replaces_the_first(tmp_path: Path, scaled_c: Path) -> None:
    target, fresh = tmp_path / "b", tmp_path / "fresh"
    for directory, seed in ((target, 2), (target, 1), (fresh, 1)):
        assert rtlgen("build", scaled_c, "-o", directory, "--seed", seed).status == 0
    assert files(target) == files(fresh)


def test_a_build_that_fails_leaves_the_directory_as_it_was(
    tmp_path: Path, scaled_c: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "b"
    assert rtlgen("build", scaled_c, "-o", target).status == 0
    before = files(target)

    def broken(*_: object) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr(Design, "_write_testbench", broken)
    outcome = rtlgen("build", scaled_c, "-o", target, "--seed", "5")
    assert outcome.status == 2
    assert outcome.err.startswith("error[E0701]: ")
    assert "RuntimeError: in the middle" in outcome.err
    assert files(target) == before


def test_a_refused_build_makes_no_directory(tmp_path: Path) -> None:
    assert rtlgen("build", MMS_D, "--shift", "S1=25", "-o", tmp_path / "b").status == 2
    assert not (tmp_path / "b").exists()
