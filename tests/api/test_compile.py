"""`rtlgen.compile` and what a Design does, as a user of the Python API sees it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import rtlgen

ROOT = Path(__file__).resolve().parents[2]
GEMM = ROOT / "examples" / "gemm" / "gemm.c"
MMS_D = ROOT / "examples" / "mms_d" / "mms_d.c"


def test_the_names_promised_are_exported() -> None:
    assert set(rtlgen.__all__) >= {"Design", "RtlgenError", "RunResult", "Verification", "compile"}


def test_a_size_is_defined_by_a_number() -> None:
    design = rtlgen.compile(GEMM, define={"N": 4})
    assert design.manifest.array("C").shape == (4, 4)
    assert design.manifest.predicted_cycles < rtlgen.compile(GEMM).manifest.predicted_cycles
    assert design.report()["predicted_cycles"] == design.manifest.predicted_cycles


def test_options_reach_the_compiler() -> None:
    shifted = rtlgen.compile(MMS_D, shift={"S1": 40}, index="divide", target="xilinx")
    assert shifted.plan.streams[1].shift == 40
    assert shifted.plan.index_style == "divide"
    assert len(rtlgen.compile(MMS_D, fuse="none").plan.regions) == 2
    assert rtlgen.compile(GEMM, checksum=True).manifest.checksum == "checksum"


def test_write_returns_the_directory_it_wrote(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    assert rtlgen.compile(GEMM).write(str(target)) == target
    module = re.search(r"^module (\w+)\(", (target / "gemm.v").read_text(), re.MULTILINE)
    assert module is not None
    assert module[1] == "gemm"


def test_a_refused_program_is_an_error_with_a_diagnostic(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("void f(int a[8]) { for (int i = 0; i < 9; i++) a[i] = 0; }\n")
    with pytest.raises(rtlgen.RtlgenError) as caught:
        rtlgen.compile(path)
    error = caught.value
    assert (error.code, error.exit_code) == ("E0201", 2)
    assert error.diagnostic.labels[0].span.line == 1
    rendered = error.diagnostic.render(error.sources)
    assert "a[i] = 0" in rendered
    assert "^^^^ written by S0(8)" in rendered


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"target": "asic"}, "E0401"),
        ({"shift": {"S9": 1}}, "E0204"),
        ({"function": "g"}, "E0106"),
        ({"define": {"N": "("}}, "E0101"),
    ],
    ids=["target", "statement", "function", "define"],
)
def test_a_refused_option_is_an_error(options: dict[str, object], code: str) -> None:
    with pytest.raises(rtlgen.RtlgenError) as caught:
        rtlgen.compile(GEMM, **options)  # type: ignore[arg-type]
    assert caught.value.code == code


@pytest.mark.simulation
def test_run_gives_what_numpy_computes() -> None:
    rng = np.random.default_rng(5)
    a, b, c = (rng.integers(-(2**31), 2**31, (8, 8), dtype=np.int32) for _ in range(3))
    before = c.copy()
    design = rtlgen.compile(GEMM)
    out = design.run(A=a, B=b, C=c, alpha=-3, beta=2**31 - 1)
    with np.errstate(over="ignore"):
        expected = c * np.int32(2**31 - 1) + (np.int32(-3) * a) @ b
    assert out.arrays["C"].tolist() == expected.tolist()
    assert out.cycles == design.manifest.predicted_cycles
    assert out.returned is None
    assert c.tolist() == before.tolist()


@pytest.mark.simulation
def test_inputs_with_the_names_of_options_are_passed_as_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("void f(int trace[4]) { for (int i = 0; i < 4; i++) trace[i] += i; }\n")
    out = rtlgen.compile(path).run(inputs={"trace": np.ones(4, dtype=np.int32)})
    assert out.arrays["trace"].tolist() == [1, 2, 3, 4]


@pytest.mark.simulation
def test_verify_says_exact() -> None:
    outcome = rtlgen.compile(GEMM, define={"N": 3}, checksum=True).verify(seed=9)
    assert outcome.exact, outcome.failures
    assert outcome.cycles == outcome.predicted_cycles
    assert outcome.unit_checksum == outcome.checksum == outcome.expected_checksum


def test_run_refuses_what_does_not_fit() -> None:
    with pytest.raises(rtlgen.RtlgenError) as caught:
        rtlgen.compile(GEMM).run(A=np.zeros((8, 8)))
    assert caught.value.code in ("E0421", "E0423")
