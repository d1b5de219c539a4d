"""OLS is judged by its three published conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.bench.mf3 import AT_8
from rtlgen.bench.table import BenchRow
from rtlgen.driver import parse
from rtlgen.frontend import ParsedProgram, parse_text
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import examine
from rtlgen.transforms.outer_shift import OlsApplicability, ols_applicability

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def judge(program: ParsedProgram) -> OlsApplicability:
    analysis = examine(program)
    return ols_applicability(analysis.scop, analysis.sets, analysis.dependences)


def judge_body(body: str) -> OlsApplicability:
    arguments = "int a[8][8], int b[8][8], int x[8], int y[8]"
    return judge(parse_text(f"void k({arguments})\n{{\n{body}\n}}\n"))


SQUARE = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++)"
ROW = "for (int i = 0; i < 8; i++)"


def test_adjacent_perfect_nests_of_equal_trip_counts_work() -> None:
    verdict = judge_body(f"{SQUARE} x[i] += a[i][j];\n{SQUARE} y[i] += b[i][j] + x[j];")
    assert str(verdict) == "works"


def test_the_example_of_the_document_works() -> None:
    verdict = judge_body(f"{SQUARE} x[i] += a[i][j];\n{SQUARE} y[i] += b[i][j] + x[i];")
    assert verdict.verdict == "works", "x[i] is complete only at the end of row i"


def test_shallow_nests_are_compared_as_deep_as_they_are() -> None:
    assert judge_body(f"{SQUARE} x[i] += a[j][i];\n{ROW} x[i] += y[i];").verdict == "works"


def test_loops_are_compared_by_their_trips_not_by_their_text() -> None:
    verdict = judge_body(
        f"{SQUARE} x[i] += a[j][i];\n"
        "for (int p = 7; p >= 0; p--) for (int q = 1; q <= 8; q++) y[p] += x[q - 1];"
    )
    assert verdict.verdict == "works"


def test_triangles_of_one_shape_work() -> None:
    lower = "for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++)"
    renamed = "for (int p = 0; p < 8; p++) for (int q = 0; q < p + 1; q++)"
    verdict = judge_body(f"{lower} x[i] += a[i][j];\n{renamed} y[p] += b[p][q] * x[7 - q];")
    assert verdict.verdict == "works"
    unlike = judge_body(f"{lower} x[i] += a[i][j];\n{SQUARE} y[i] += b[i][j] * x[j];")
    assert unlike.broken == ("equal trip counts",)
    assert unlike.reason.endswith("trip counts 8 x (i + 1) and 8 x 8")


def test_a_single_nest_does_not_need_it() -> None:
    verdict = judge_body("for (int i = 0; i < 8; i++) { x[i] = 0; "
                         "for (int j = 0; j < 8; j++) x[i] += a[i][j]; }")  # fmt: skip
    assert str(verdict) == "not needed: there is a single nest"


def test_an_inner_loop_that_is_empty_beside_its_cycle_fails() -> None:
    body = "{{ x[0] = 0; for (int j = {0}; j < i; j++) x[0] += a[i][j]; y[i] = x[0]; }}"
    verdict = judge_body(f"{ROW} {body.format(0)}")
    assert verdict.broken == ("equal trip counts",)
    assert verdict.reason == "loop j at line 3 is empty in some iterations of S0 (line 3)"
    assert judge_body(f"{ROW} {body.format(-1)}".replace("a[i][j]", "a[i][j + 1]")).verdict == (
        "not needed"
    ), "now it always runs"
    apart = judge_body(f"{ROW} {{ for (int j = 0; j < i; j++) a[i][j] += 1; y[i] = x[0]; }}")
    assert apart.verdict == "not needed", "S1 can stand in a nest of its own"


def test_nests_that_fuse_as_they_stand_do_not_need_it() -> None:
    body = f"{SQUARE} x[i] += a[i][j];\n{SQUARE} y[i] += a[i][j] * b[j][i];"
    assert str(judge_body(body)) == "not needed: the nests fuse without a shift"
    consumed = f"{SQUARE} a[i][j] += 1;\n{SQUARE} y[i] += a[i][j];"
    assert judge_body(consumed).verdict == "not needed", "the value is there in the same iteration"


def test_unequal_trip_counts_fail() -> None:
    verdict = judge_body(
        f"{SQUARE} x[i] += a[i][j];\n"
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 7; j++) y[i] += x[j];"
    )
    assert verdict.broken == ("equal trip counts",)
    assert verdict.reason == "the nests at lines 3 and 4 have trip counts 8 x 8 and 8 x 7"


def test_an_imperfect_nest_fails() -> None:
    verdict = judge_body(
        f"{ROW} x[i] = 0;\n{ROW} {{ y[i] = 0; for (int j = 0; j < 8; j++) y[i] += x[j]; }}"
    )
    assert verdict.broken == ("perfect",)
    assert verdict.reason == "the nest at line 4 is not perfect"


def test_a_statement_between_the_nests_fails() -> None:
    verdict = judge_body(f"{ROW} x[i] += 1;\ny[0] = x[7];\n{ROW} x[i] += y[i];")
    assert verdict.broken == ("adjacent",)
    assert verdict.reason == "S1 (line 4) stands between the nests"


def test_statements_around_the_nests_fail() -> None:
    verdict = judge_body(f"y[0] = 1;\n{ROW} x[i] += y[0];\n{ROW} x[i] += y[i];\ny[1] = x[7];")
    assert verdict.broken == ("perfect",)
    assert verdict.reason == "S0 (line 3), S3 (line 6) stand beside the nests"


def test_every_broken_restriction_is_reported() -> None:
    verdict = judge_body(
        f"{ROW} x[i] += 1;\ny[0] = x[7];\n{SQUARE} x[i] += y[j];\n"
        "for (int i = 0; i < 7; i++) { y[i] = 0; for (int j = 0; j < 8; j++) y[i] += x[j]; }\n"
        "for (int i = 0; i < 5; i++) x[i] = y[i];"
    )
    assert verdict.broken == ("adjacent", "perfect", "equal trip counts")


def test_nests_inside_a_loop_are_judged_there() -> None:
    verdict = judge_body(
        "for (int r = 0; r < 8; r++) {\n"
        "for (int p = 0; p < 8; p++) { x[p] = 0;"
        " for (int s = 0; s < 8; s++) x[p] += a[r][s] * b[s][p]; }\n"
        "for (int p = 0; p < 8; p++) a[r][p] = x[p];\n}"
    )
    assert verdict.reason == "the nest at line 4 is not perfect"
    flat = judge_body(
        "for (int r = 0; r < 8; r++) {\n"
        "for (int p = 0; p < 8; p++) x[p] = a[r][p];\n"
        "for (int p = 0; p < 8; p++) a[r][p] = x[7 - p];\n}"
    )
    assert flat.verdict == "works"


@pytest.mark.sample(
    without=(
        "aes",
        "vgg",
    )
)
@pytest.mark.parametrize("row", AT_8, ids=lambda row: row.kernel)
def test_the_examples_agree_with_the_published_verdicts(row: BenchRow) -> None:
    path = EXAMPLES / row.kernel / f"{row.kernel}.c"
    verdict = judge(parse(path, CompileOptions())).verdict
    assert verdict == row.published.get("ols", "fails")
