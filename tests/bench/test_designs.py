"""The gate: a design that has become worse, or another one, does not pass it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields, replace

import pytest
from click.testing import CliRunner, Result

from benchmarks.designs import __main__ as designs
from benchmarks.designs import measure
from benchmarks.designs.compare import Comparison, Mode, Verdict, verdict
from benchmarks.designs.figures import FILE, Figures, file_text, read_rows, rows_of
from benchmarks.designs.measure import asked
from benchmarks.designs.rows import ROWS, SAMPLE
from benchmarks.example_figures import made_pages, with_designs
from benchmarks.record import ROOT
from rtlgen.design import Design, compile_design
from rtlgen.options import CompileOptions

BUILT = Figures(cycles=1000, block_rams=60, dsp=3, steps=5000, plan="0a1b2c", verilog="3d4e5f")
REFUSED = Figures(refused="E0208", steps=80)
ROW = "examples/gemm/gemm.c --unroll k=8"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BUILT, "equal"),
        (replace(BUILT, cycles=1001), "worse"),
        (replace(BUILT, cycles=999), "better"),
        (replace(BUILT, cycles=999, block_rams=62), "worse"),
        (replace(BUILT, block_rams=61), "changed"),
        (replace(BUILT, block_rams=62), "worse"),
        (replace(BUILT, block_rams=59), "better"),
        (replace(BUILT, dsp=4), "changed"),
        (replace(BUILT, dsp=5), "worse"),
        (replace(BUILT, steps=9000), "changed"),
        (replace(BUILT, plan="000000"), "changed"),
        (replace(BUILT, verilog="000000"), "changed"),
        (REFUSED, "worse"),
        (None, "removed"),
    ],
)
def test_a_design_is_judged_by_cycles_and_then_by_blocks(
    after: Figures | None, expected: Verdict
) -> None:
    assert verdict(BUILT, after) == expected


def test_what_was_refused_may_be_built_or_refused_otherwise() -> None:
    assert verdict(REFUSED, BUILT) == "better"
    assert verdict(REFUSED, replace(REFUSED, refused="E0310")) == "changed"
    assert verdict(None, BUILT) == "added"


def test_two_percent_of_many_blocks_are_within_the_tolerance() -> None:
    many = replace(BUILT, block_rams=200)
    assert verdict(many, replace(many, block_rams=204)) == "changed"
    assert verdict(many, replace(many, block_rams=205)) == "worse"


@pytest.mark.parametrize(
    ("after", "identical", "no_worse"),
    [
        (BUILT, True, True),
        (replace(BUILT, cycles=900), False, True),
        (replace(BUILT, verilog="000000"), False, True),
        (replace(BUILT, steps=5001), False, True),
        (replace(BUILT, cycles=1001), False, False),
    ],
)
def test_each_mode_lets_through_what_it_says(
    after: Figures, identical: bool, no_worse: bool
) -> None:
    comparison = Comparison({ROW: BUILT}, {ROW: after})
    assert comparison.passes("identical") == identical
    assert comparison.passes("no-worse") == no_worse


@pytest.mark.parametrize("mode", ["identical", "no-worse"])
def test_a_file_without_a_row_of_the_list_passes_in_no_mode(mode: Mode) -> None:
    assert not Comparison({}, {ROW: BUILT}).passes(mode)
    assert not Comparison({ROW: BUILT}, {}).passes(mode)


def test_what_differs_is_shown_before_and_after() -> None:
    other = "examples/mvt/mvt.c"
    before = {ROW: BUILT, other: BUILT}
    after = {ROW: replace(BUILT, cycles=2000, verilog="aaaaaa"), other: replace(BUILT, steps=6000)}
    assert Comparison(before, after).text("no-worse").splitlines() == [
        f"worse: {ROW}",
        "  cycles 1000 -> 2000",
        "  Verilog 3d4e5f -> aaaaaa",
        "2 designs: 1 changed, 1 worse",
        "geometric mean of cycles: 1,000.00 -> 1,414.21 (1.4142)",
        "geometric mean of elementary steps: 5,000.00 -> 5,477.23 (1.0954)",
    ]
    assert f"changed: {other}" in Comparison(before, after).text("identical")


def test_the_file_holds_what_was_written_sorted_by_command() -> None:
    rows = {ROW: BUILT, "a.c -D N=2": REFUSED}
    text = file_text(rows)
    assert rows_of(text) == rows
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        "    E0208    -    -          80          -          -  a.c -D N=2",
        "     1000   60    3        5000     0a1b2c     3d4e5f  examples/gemm/gemm.c --unroll k=8",
    ]


def test_a_row_that_stands_twice_is_noticed() -> None:
    line = file_text({ROW: BUILT}).splitlines()[-1]
    with pytest.raises(ValueError, match="two lines are about examples/gemm"):
        rows_of(f"{line}\n{line}\n")


@pytest.mark.parametrize(
    "changes", [{"refused": "E0208"}, {"cycles": None}, {"block_rams": None}, {"plan": None}]
)
def test_a_design_is_built_or_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="built, with all its figures, or refused"):
        replace(BUILT, **changes)  # type: ignore[arg-type]


def test_the_file_is_about_the_designs_of_the_list() -> None:
    rows = read_rows()
    assert set(rows) == set(ROWS) and len(ROWS) == len(set(ROWS))
    assert FILE.read_text(encoding="utf-8") == file_text(rows), "as it is written"
    assert set(SAMPLE) <= set(ROWS)


def test_the_list_has_designs_for_every_option() -> None:
    defaults = CompileOptions()
    options = [asked(row)[1] for row in ROWS]
    for field in fields(CompileOptions):
        if field.name != "include_dirs":
            default = getattr(defaults, field.name)
            assert any(getattr(each, field.name) != default for each in options), field.name


def test_every_file_of_the_list_is_there() -> None:
    assert all((ROOT / asked(row)[0]).is_file() for row in ROWS)


@pytest.mark.parametrize("sample", [SAMPLE[1:2], pytest.param(SAMPLE, marks=pytest.mark.long)])
def test_the_sample_is_as_in_the_file(sample: tuple[str, ...]) -> None:
    """In a Python of its own, whose hashes are others than those with which it was written."""
    only = [text for row in sample for text in ("--only", row.replace("[", "[[]"))]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.designs", "--mode", "identical", "-j", "1", *only],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONHASHSEED": "41"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith(f"{len(sample)} designs: {len(sample)} equal\n")


def gate(mode: str, row: str) -> Result:
    return CliRunner().invoke(designs.main, ["--mode", mode, "-j", "1", "--only", row])


SABOTAGED = "examples/gemm/gemm.c --index shift"


def test_a_design_as_in_the_file_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the sabotage below, so that it is this which is caught."""
    monkeypatch.chdir(ROOT)
    result = gate("no-worse", SABOTAGED)
    assert result.exit_code == 0, result.output
    assert "1 designs: 1 equal\n" in result.output


@pytest.mark.parametrize("mode", ["identical", "no-worse"])
def test_a_design_that_takes_a_cycle_more_is_caught(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its index recovery has a stage that it does not need: the program starts a cycle later."""

    def slower(file: str, options: CompileOptions) -> Design:
        plain = compile_design(file, options)
        latency = plain.plan.index_latency_cycles + 1
        return compile_design(file, replace(options, index_latency_cycles=latency))

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(measure, "compile_design", slower)
    before = read_rows()[SABOTAGED].costs()[0]
    result = gate(mode, SABOTAGED)
    assert result.exit_code == 1
    assert f"worse: {SABOTAGED}\n  cycles {before} -> {before + 1}\n" in result.output
    assert "1 designs: 1 worse\n" in result.output


def test_a_pattern_without_a_row_is_refused() -> None:
    result = gate("identical", "no such design")
    assert result.exit_code == 2
    assert "matches no such design" in result.output


def test_the_pages_show_the_figures_of_the_file() -> None:
    """`make designs MODE=write` writes the file and the pages; see CONTRIBUTING.md."""
    stale = [page for page, text in made_pages().items() if page.read_text("utf-8") != text]
    assert stale == [], "python -m benchmarks example_figures"


def test_a_page_takes_its_figures_from_the_designs() -> None:
    rows = {
        "examples/k/k.c": BUILT,
        "examples/k/k.c --fuse none": replace(BUILT, cycles=1500),
    }
    entry = {"kernel": "k", "rtl_cycles": 1, "unfused_cycles": 2, "dsp": 3, "bram": 4, "lut": 5}
    assert with_designs([entry], rows) == [
        {"kernel": "k", "rtl_cycles": 1000, "unfused_cycles": 1500, "dsp": 3, "bram": 60, "lut": 5}
    ]
    with pytest.raises(ValueError, match=r"no design of examples/k/k\.c is kept"):
        with_designs([entry], {})
