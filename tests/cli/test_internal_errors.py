"""Whatever nobody expected is told as a bug with a code, and leaves nothing half done."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from rtlgen import compile as rtlgen_compile
from rtlgen import design
from rtlgen.errors import InternalError
from rtlgen.planning import analysis
from tests.cli.conftest import ROOT, rtlgen

GEMM = ROOT / "examples" / "gemm" / "gemm.c"

BUGS = {
    "a lookup": KeyError("S0"),
    "a number": ZeroDivisionError("division by zero"),
    "an assertion": AssertionError(),
    "a value": ValueError("a KernelPlan that contradicts itself"),
    "a recursion": RecursionError("maximum recursion depth exceeded"),
}


@pytest.fixture(params=BUGS)
def bug(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Exception:
    """An exception that a pass raises."""
    error = BUGS[request.param]

    def broken(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(analysis, "flatten", broken)
    return error


@pytest.mark.parametrize("verb", ["check", "plan", "emit-c", "verify"])
def test_a_bug_is_a_diagnostic_with_what_to_report(bug: Exception, verb: str) -> None:
    found = rtlgen(verb, GEMM, "--fuse", "none")
    said = f"{type(bug).__name__}: {bug}".removesuffix(": ")
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(f"error[E0701]: rtlgen has met an error of its own: {said}\n")
    assert "raised at rtlgen/planning/analysis.py:" in found.err
    assert f"the command was rtlgen {verb} {GEMM} --fuse none" in found.err
    assert "please report it: the C file, the options" in found.err
    assert "Traceback" not in found.err


def test_frames_are_shown_where_they_are_asked_for(bug: Exception) -> None:
    found = rtlgen("plan", GEMM, "-v")
    assert found.status == 2
    assert "Traceback (most recent call last)" in found.err and "in broken" in found.err
    assert "error[E0701]" in found.err


def test_json_has_the_diagnostic(bug: Exception) -> None:
    found = rtlgen("plan", GEMM, "--json")
    assert found.status == 2
    (diagnostic,) = found.document["diagnostics"]
    assert diagnostic["code"] == "E0701"


def test_a_build_that_meets_a_bug_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = tmp_path / "before"
    assert rtlgen("build", GEMM, "-o", before).status == 0
    files = _files(before)

    def broken(*_: object) -> NoReturn:
        raise KeyError("report")

    # Verilog and manifest have been made by then.
    monkeypatch.setattr(design, "report_html", broken)
    for folder in (before, tmp_path / "new"):
        found = rtlgen("build", GEMM, "-D", "N=4", "-o", folder)
        assert found.status == 2 and "error[E0701]" in found.err
    assert _files(before) == files
    assert not (tmp_path / "new").exists()


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_python_gets_the_same_error_with_its_cause(bug: Exception, tmp_path: Path) -> None:
    with pytest.raises(InternalError) as caught:
        rtlgen_compile(GEMM)
    assert caught.value.code == "E0701"
    assert caught.value.__cause__ is bug


def test_a_wrong_call_is_no_bug() -> None:
    with pytest.raises(TypeError, match="needs a path or a source"):
        rtlgen_compile()
