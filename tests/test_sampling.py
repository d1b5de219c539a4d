"""The mark `sample` leaves rows to `make test-long`, and none unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent

TEXT = """
import pytest

@pytest.mark.sample({marked})
@pytest.mark.parametrize("name", ["fir", "gemm-4", "gemm-8", "a[0] * 2"])
def test_it(name): pass

def test_other(): pass
"""


def run(pytester: pytest.Pytester, marked: str, *options: str) -> pytest.RunResult:
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    markers = '["sample: some rows", "long: not now"]'
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\nmarkers = {markers}\n")
    pytester.makepyfile(test_some=TEXT.format(marked=marked))
    return pytester.runpytest("--strict-markers", "-p", "no:xdist", *options)


@pytest.mark.parametrize(
    ("marked", "kept"),
    [
        ('"fir"', 1),
        ('"gemm-*"', 2),
        ('"a[0] * 2", "fir"', 2),
        ('without=("fir",)', 3),
        ('without=("gemm-*", "a[0]*")', 1),
    ],
)
def test_the_other_rows_are_long(pytester: pytest.Pytester, marked: str, kept: int) -> None:
    run(pytester, marked, "-m", "not long").assert_outcomes(passed=kept + 1, deselected=4 - kept)
    run(pytester, marked, "-m", "long").assert_outcomes(passed=4 - kept, deselected=kept + 1)


@pytest.mark.parametrize("marked", ['"firs"', '"fir", "mm"', 'without=("gemm",)'])
def test_a_name_that_no_row_has_is_an_error(pytester: pytest.Pytester, marked: str) -> None:
    result = run(pytester, marked)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_some.py::test_it: no row is called *"])


def test_a_single_row_may_be_asked_for(pytester: pytest.Pytester) -> None:
    run(pytester, '"fir"', "test_some.py::test_it[gemm-4]").assert_outcomes(passed=1)
