"""Lint accepts clean Verilog and reports what no waiver covers."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen
from rtlgen.sim.lint import lint
from rtlgen.sim.verilator import find_verilator
from rtlgen.system.tools import LintError, ToolFailedError, run_tool
from sim.designs import SCALE_ADD, sabotaged


def test_clean_verilog_passes(tmp_path: Path) -> None:
    path = tmp_path / "scale_add.v"
    path.write_text(SCALE_ADD)
    lint(path, "scale_add")


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("wire [31:0] result = product +", "wire [15:0] result = product +", "WIDTHTRUNC"),
        ("wire       last = valid &", "wire last = ~last & valid &", "UNOPTFLAT"),
        ("output reg        idle,", "output reg        idle, output spare,", "UNDRIVEN"),
        ("wire [31:0] product =", "wire [31:0] product = missing *", "missing"),
    ],
)
def test_what_no_waiver_covers_is_reported(tmp_path: Path, old: str, new: str, rule: str) -> None:
    path = tmp_path / "scale_add.v"
    path.write_text(sabotaged(old, new))
    with pytest.raises(LintError) as caught:
        lint(path, "scale_add")
    assert any(rule in note for note in caught.value.diagnostic.notes)


def test_a_finding_names_the_file_and_says_where_the_waivers_are(tmp_path: Path) -> None:
    path = tmp_path / "scale_add.v"
    path.write_text(sabotaged("output reg        idle,", "output reg        idle, output spare,"))
    with pytest.raises(LintError) as caught:
        lint(path, "scale_add")
    first, *_, last = caught.value.diagnostic.render().splitlines()
    assert first == "error[E0614]: scale_add.v has lint warnings: 1"
    assert last == "   = help: the waivers and their reasons are in rtlgen/sim/lint.vlt"


LOOKUPS = """static const int t[8] = {3, -7, 12, 5, 0, 9, -1, 6};
int f(char a[6], unsigned b[6], int k) { int m[4], s = 0;
  for (int i = 0; i < 4; i++) m[i] = a[i] * k;
  for (int i = 0; i < 6; i++) { b[i] = m[a[i] & 3] / (t[b[i] & 7] + k); s += b[i]; }
  return s; }
"""


def test_a_build_brings_the_waivers_that_its_verilog_needs(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(LOOKUPS)
    rtlgen.compile(source).write(tmp_path)
    command = [str(find_verilator().command), "--lint-only", "-Wall"]
    log = tmp_path / "lint.log"
    run_tool([*command, "f.vlt", "f.v"], log=log, cwd=tmp_path)
    assert "%Warning" not in log.read_text()
    with pytest.raises(ToolFailedError):
        run_tool([*command, "f.v"], log=log, cwd=tmp_path)
