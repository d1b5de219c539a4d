"""Lint accepts clean Verilog and reports what no waiver covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.sim.lint import lint
from rtlgen.tools import LintError
from tests.sim.designs import SCALE_ADD, sabotaged


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
    assert last == "   = help: the waivers and their reasons are in sim/lint.vlt"
