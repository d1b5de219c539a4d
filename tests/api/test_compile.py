"""`rtlgen.compile` and what a Design does, as a user of the Python API sees it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.cli.interface import VERBS
from rtlgen.options import Choices, CompileOptions, options

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


def test_c_text_is_compiled_as_a_file_is() -> None:
    from_text = rtlgen.compile(source=GEMM.read_text(), path="examples/gemm/gemm.c")
    assert (
        from_text.verilog.text.splitlines()[2:]
        == (
            rtlgen.compile(GEMM)
            .verilog.text.replace(str(GEMM), "examples/gemm/gemm.c")
            .splitlines()[2:]
        )
    )
    with pytest.raises(rtlgen.RtlgenError) as caught:
        rtlgen.compile(source="void f(long double a[4]) { a[0] = 1; }")
    assert caught.value.diagnostic.render(caught.value.sources).splitlines()[1:2] == [
        " --> kernel.c:1:20"
    ]
    with pytest.raises(TypeError, match="needs a path or a source"):
        rtlgen.compile()
    with pytest.raises(rtlgen.RtlgenError, match="cannot be printed"):
        rtlgen.compile(source="", path="a\nb.c")


def test_every_option_of_the_command_line_is_there_with_its_default() -> None:
    parameters = inspect.signature(rtlgen.compile).parameters
    assert list(parameters) == ["path", "source", *(option.python for option in options())]
    for option in options():
        assert parameters[option.python].default == option.default, option.python
        assert option.help in (rtlgen.compile.__doc__ or "")
    with pytest.raises(TypeError, match="no option 'memroy'"):
        rtlgen.compile(GEMM, memroy="axi")  # type: ignore[call-arg]


def test_every_option_has_a_type_for_python() -> None:
    assert list(Choices.__annotations__) == [option.python for option in options()]


def test_the_default_in_python_is_what_the_command_line_gives() -> None:
    assert CompileOptions.from_python({}) == CompileOptions()
    command = VERBS["plan"].command()
    given = command.make_context("plan", ["f.c"], resilient_parsing=True).params
    texts = {option.member: given[option.member] for option in options()}
    assert CompileOptions.from_texts(texts) == CompileOptions()


@pytest.mark.parametrize(
    "options",
    [
        {"fuse": "all"},
        {"scheduler": "none"},
        {"tile": (0,)},
        {"index_latency_cycles": -1},
        {"memory": "fixed:0"},
        {"memory": {"A": "there"}},
        {"bus_bits": 8},
        {"max_bram_kib": 0},
    ],
    ids=str,
)
def test_a_value_that_an_option_has_not_is_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        rtlgen.compile(GEMM, **options)


def test_a_design_is_one_line_and_in_a_notebook_a_summary() -> None:
    design = rtlgen.compile(GEMM)
    assert repr(design) == "<Design gemm: 2 statements, 519 cycles, ecp5>"
    page = design._repr_html_()
    assert '<td>predicted cycles</td><td class="number">519</td>' in page
    assert "C[i][j] += alpha * A[i][k] * B[k][j]" in page
    assert "<html" not in page and "href" not in page


def test_the_package_says_its_version_and_has_types() -> None:
    assert rtlgen.__version__ == version("rtlgen")
    assert Path(rtlgen.__file__).with_name("py.typed").is_file()


def test_options_reach_the_compiler() -> None:
    shifted = rtlgen.compile(MMS_D, shift={"S1": 40}, index="divide", target="xilinx")
    assert shifted.plan.streams[1].shift == 40
    assert shifted.plan.index_style == "divide"
    assert len(rtlgen.compile(MMS_D, fuse="none").plan.regions) == 2
    assert rtlgen.compile(GEMM, checksum=True).manifest.checksum == "checksum"


def test_write_returns_the_directory_it_wrote(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    assert rtlgen.compile(GEMM).write(str(target)) == target
    module = re.search(r"^module (\w+) \(", (target / "gemm.v").read_text(), re.MULTILINE)
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


def test_a_script_that_an_error_ends_shows_its_line_and_the_diagnostic(tmp_path: Path) -> None:
    text = "void f(int a[8]) { for (int i = 0; i < 9; i++) a[i] = 0; }"
    script = tmp_path / "script.py"
    script.write_text(f"import rtlgen\nrtlgen.compile(source={text!r})\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    with pytest.raises(rtlgen.RtlgenError) as caught:
        rtlgen.compile(source=text)
    frames, _, told = done.stderr.partition("OutOfBounds: ")
    assert (done.returncode, told) == (1, f"{caught.value}\n")
    assert told.startswith("error[E0201]: a[8] is outside of a[8]\n --> kernel.c:1:48\n")
    assert frames.count("  File ") == 2  # That of the script, and `compile`.


def test_a_notebook_shows_the_diagnostic_alone() -> None:
    with pytest.raises(rtlgen.RtlgenError) as caught:
        rtlgen.compile(MMS_D, shift={"S1": 25})
    lines = caught.value._render_traceback_()
    assert lines[0] == "error[E0203]: shift of S1 by 25 breaks a flow dependence"
    assert lines[-1].endswith("= help: the smallest legal shift is 26")


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


@pytest.mark.long
@pytest.mark.simulation
def test_verify_says_exact() -> None:
    outcome = rtlgen.compile(GEMM, define={"N": 3}, checksum=True).verify(seed=9)
    assert outcome.exact, outcome.failures
    assert outcome.cycles == outcome.predicted_cycles
    assert outcome.checksum == outcome.expected_checksum
    assert len(outcome.unit_checksums) == len(outcome.data.sets) == 4


def test_run_refuses_what_does_not_fit() -> None:
    with pytest.raises(rtlgen.RtlgenError) as caught:
        rtlgen.compile(GEMM).run(A=np.zeros((8, 8)))
    assert caught.value.code in ("E0421", "E0423")
