"""`rtlgen bench`: the shape of what it prints, what it refuses, and what makes it fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rtlgen.bench.measure
from rtlgen.bench.mf3 import MF3
from rtlgen.bench.table import (
    BenchRow,
    BenchSettings,
    BenchTable,
    Column,
    RowResult,
    Section,
    kernel_files,
)
from rtlgen.bench.tables import TABLES
from rtlgen.cli.program import main
from rtlgen.design import Design, compile_design
from rtlgen.ir.levels import IndexForm
from rtlgen.ir.plan import Region, Stream
from rtlgen.options import CompileOptions

Outcome = tuple[int, str, str]
Bench = Callable[..., Outcome]

DOT_PRODUCTS = """
void {name}(int a[4][4], int x[4], int y[4], int z[4])
{{
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      y[i] += a[i][j] * x[j];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      z[i] += a[j][i] * y[j];
}}
"""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    """Run `rtlgen bench` with the given arguments; return exit code, stdout, stderr."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["rtlgen", "bench", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as exit_:
            assert isinstance(exit_.code, int)
            code = exit_.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A folder with two small kernels that carry names of the MF3 table."""
    for name in ("mvt", "mms"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.c").write_text(DOT_PRODUCTS.format(name=name))
    return tmp_path


def measured_as(figures: dict[str, Any], *failures: str) -> BenchTable:
    """Return a table whose every row is measured as given."""

    def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
        assert path.is_file()
        return RowResult(row, figures | {"simulator": settings.simulator}, failures)

    rows = (
        BenchRow("mvt", published={"cycles": 90}, at_most={"cycles": 70}),
        BenchRow("mms", at_most={"cycles": 545}),
    )
    columns = (Column("cycles", "cycles", published=True), Column("lut", "LUT"))
    sections = (
        Section("All", columns),
        Section("One", (Column("gap", "gap", published=True, published_as="cycles"),), ("mvt",)),
        Section("None", columns, ("gemm",)),
    )
    return BenchTable("fake", "A table", rows, measure, sections)


def test_an_unknown_name_lists_the_known_ones(bench: Bench) -> None:
    code, out, err = bench("mf4")
    assert (code, out) == (2, "")
    assert "error[E0405]: there is no benchmark mf4" in err
    assert f"the benchmarks are {', '.join(TABLES)}" in err


def test_missing_kernels_are_named(bench: Bench, tmp_path: Path) -> None:
    code, out, err = bench("mf3", "--only", "ge*", "--kernels", tmp_path)
    assert (code, out) == (2, "")
    assert f"error[E0407]: there is no {tmp_path}/gemm/gemm.c" in err
    assert "of 4 kernels, 4 are missing: gemm, gemver, gemver_opt, gesummv" in err


def test_kernels_may_stand_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    assert kernel_files(tmp_path, ["a"]) == {"a": tmp_path / "a.c"}
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.c").touch()
    assert kernel_files(tmp_path, ["a"]) == {"a": tmp_path / "a" / "a.c"}


def test_what_was_not_measured_misses_no_target() -> None:
    row = BenchRow("k", at_most={"cycles": 10, "dsp": 3})
    assert RowResult(row, {"cycles": 10}).missed == ()
    assert RowResult(row, {"cycles": 10, "dsp": 4}).missed == ("dsp 4, target 3",)


def test_a_column_may_be_the_documents_alone() -> None:
    row = BenchRow("k", published={"theirs": 7})
    columns = (Column("cycles", "cycles"), Column("theirs", "theirs", of_document=True))
    header, cells = Section("All", columns).cells([RowResult(row, {"cycles": 5})])
    assert header == ["kernel", "exact", "cycles", "theirs"]
    assert cells == [["k", True, 5, 7]]


def test_a_pattern_that_matches_nothing_is_refused(bench: Bench) -> None:
    code, out, err = bench("mf3", "--only", "mm")
    assert (code, out) == (2, "")
    assert "error[E0406]: no row of mf3 matches mm" in err
    assert "the rows are mms, tce, dct" in err


@pytest.mark.parametrize(
    ("pattern", "kernels"),
    [
        ("mms*", ["mms", "mms_d", "mms@32", "mms_d@32"]),
        ("gem*[!2]", ["gemm", "gemver", "gemver_opt"]),
        ("s*@32", ["symm@32", "syrk@32", "syr2k@32"]),
        ("[23]mm", ["2mm", "3mm"]),
        ("gemm", ["gemm"]),
    ],
)
def test_only_selects_whole_names(pattern: str | None, kernels: list[str]) -> None:
    assert [row.kernel for row in MF3.selected(pattern)] == kernels


@pytest.mark.parametrize(
    ("kernel", "figures"),
    [
        ("mms", (1024, 519, 2658, 3135)),
        ("tce", (131072, 36856, 266213, 380927)),
        ("mms_d", (1656, 890, 5024, 5663)),
        ("gemver", (256, 71, 2173, 2143)),
    ],
)
def test_the_published_figures_are_those_of_the_document(
    kernel: str, figures: tuple[int, ...]
) -> None:
    (row,) = MF3.selected(kernel)
    names = ("statements_total", "fused_iterations", "rtl_cycles", "unfused_cycles")
    assert tuple(row.published[name] for name in names) == figures


WORKS = {"mms", "tce", "aes", "gemver", "gemver_opt"}
NOT_NEEDED = {"mvt", "gemm", "gesummv", "syrk", "syr2k", "trmm"}
FAILS = {
    "dct", "2mm", "2mm_d", "3mm", "3mm_d", "atax", "bicg", "doitgen", "doitgen_d", "symm", "vgg",
}  # fmt: skip


def test_table_2_has_the_published_verdicts() -> None:
    published = {row.kernel: row.published["ols"] for row in MF3.rows if "ols" in row.published}
    assert {k for k, v in published.items() if v == "works"} == WORKS
    assert {k for k, v in published.items() if v == "not needed"} == NOT_NEEDED
    assert {k for k, v in published.items() if v == "fails"} == FAILS


def test_every_row_of_mf3_has_its_targets() -> None:
    for row in MF3.rows:
        assert row.at_most["fused_iterations"] < row.at_most["rtl_cycles"]


def test_the_table_shows_published_figures_beside_ours(
    bench: Bench, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLES, "fake", measured_as({"cycles": 69, "gap": 5}))
    code, out, err = bench("fake", "--kernels", kernels)
    assert code == 0
    assert err.splitlines() == ["1 of 2: mvt, 0 s: exact", "2 of 2: mms, 0 s: exact"]
    assert out.splitlines() == [
        "A table",
        "",
        "All",
        "",
        "kernel  exact  cycles  published",
        "mvt       yes      69         90",
        "mms       yes      69          -",
        "",
        "One",
        "",
        "kernel  exact  gap  published",
        "mvt       yes    5         90",
    ]


def test_a_missed_target_fails_after_the_whole_table(
    bench: Bench, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLES, "fake", measured_as({"cycles": 71}))
    code, out, err = bench("fake", "--kernels", kernels, "--json")
    assert code == 1
    document = json.loads(out)
    assert [row["missed"] for row in document["rows"]] == [["cycles 71, target 70"], []]
    assert [row["exact"] for row in document["rows"]] == [True, True]
    assert err.startswith("1 of 2: mvt, 0 s: cycles 71, target 70\n2 of 2: mms, 0 s: exact\n")
    assert "error[E0631]: mvt: not as it must be" in err
    assert "note: mvt: cycles 71, target 70" in err


def test_a_row_that_is_not_exact_fails(
    bench: Bench, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLES, "fake", measured_as({"cycles": 1}, "took 1 cycles, predicted 2"))
    code, out, err = bench("fake", "--kernels", kernels, "--only", "mms", "--json")
    assert code == 1
    (row,) = json.loads(out)["rows"]
    assert row["exact"] is False
    assert "mms: took 1 cycles, predicted 2" in err


@pytest.mark.long
@pytest.mark.simulation
def test_a_row_has_the_promised_figures(bench: Bench, kernels: Path) -> None:
    code, out, err = bench("mf3", "--only", "mvt", "--kernels", kernels, "--no-synth", "--json")
    assert code == 0
    assert err.startswith("1 of 1: mvt, ") and err.endswith(" s: exact\n")
    document = json.loads(out)
    assert document["name"] == "mf3"
    (row,) = document["rows"]
    # Two products of 16; the second one waits for a column of the first, computed row by row.
    assert row == {
        "kernel": "mvt",
        "exact": True,
        "published": {"ols": "not needed", "mf3": "works"},
        "target": {"fused_iterations": 64, "rtl_cycles": 114},
        "statements_total": 32,
        "floor": 16,
        "fused_iterations": 19,
        "gap": 3,
        "rtl_cycles": row["predicted_cycles"],
        "predicted_cycles": row["predicted_cycles"],
        "unfused_cycles": row["unfused_cycles"],
        "perfect": True,
        "mf3": "works",
        "ols": "works",
        "ols_verdict": "works",
        "ols_restriction": None,
        # The second nest needs all four rows of the first before its first row ends.
        "ols_iterations": 16 + 3 * 4,
        "ols_cycles": row["ols_cycles"],
        "missed": [],
    }
    assert 19 < row["rtl_cycles"] < 32 < row["ols_cycles"] < row["unfused_cycles"]


@pytest.mark.long
@pytest.mark.simulation
def test_a_wrong_circuit_is_noticed(
    bench: Bench, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: Path, options: CompileOptions) -> Design:
        design = compile_design(path, options)
        plan = design.plan
        regions = (Region.whole((*map(_misplaced, plan.regions[0].streams),)), *plan.regions[1:])
        compilation = replace(design.compilation, plan=replace(plan, body=regions))
        return Design(compilation, options)

    monkeypatch.setattr(rtlgen.bench.measure, "compile_design", broken)
    code, out, err = bench("mf3", "--only", "mvt", "--kernels", kernels, "--no-synth", "--json")
    assert code == 1
    (row,) = json.loads(out)["rows"]
    assert row["exact"] is False
    assert "note: mvt: data set full, seed 1: 8 of 28 elements differ" in err
    assert "note: mvt: unfused: " in err
    assert "note: mvt: OLS: " in err


def _misplaced(stream: Stream) -> Stream:
    """Return a stream that stores to the element beside the right one."""
    address = stream.store.address
    assert isinstance(address, IndexForm)
    moved = replace(address, constant=address.constant + 1)
    return replace(stream, store=replace(stream.store, address=moved))


@pytest.mark.synthesis
@pytest.mark.long
def test_area_and_clock_are_measured(bench: Bench, kernels: Path) -> None:
    code, out, _ = bench("mf3", "--only", "mvt", "--kernels", kernels, "--json")
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert row["dsp"] == 6, "two products of 32 bits"
    assert row["bram"] == 0, "its arrays have no more words than the memories of logic cells"
    assert row["lut"] > 0 and row["ff"] > 0
    assert row["fmax_mhz"] > 50
    assert row["fmax_seeds"] == 1, "what is compared with nothing is placed once"


@pytest.mark.long
@pytest.mark.simulation
def test_a_row_at_another_size_is_the_same_file_with_other_macros(
    bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "bicg").mkdir()
    sized = DOT_PRODUCTS.format(name="bicg").replace("4", "N")
    (tmp_path / "bicg" / "bicg.c").write_text(f"#ifndef N\n#define N 4\n#endif\n{sized}")
    arguments = ("--kernels", tmp_path, "--no-synth", "--json")
    code, out, _ = bench("mf3", "--only", "bicg@32", *arguments)
    (row,) = json.loads(out)["rows"]
    assert (row["kernel"], row["exact"], row["floor"]) == ("bicg@32", True, 32 * 32)
    assert code == 1, "this is not the kernel that the target stands for"
    assert row["missed"] == ["fused_iterations 1055, target 1024"]


def test_quiet_says_nothing_of_the_rows(
    kernels: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TABLES, "fake", measured_as({"cycles": 69, "gap": 5}))
    monkeypatch.setattr(sys, "argv", ["rtlgen", "-q", "bench", "fake", "--kernels", str(kernels)])
    main()
    assert capsys.readouterr().err == ""
