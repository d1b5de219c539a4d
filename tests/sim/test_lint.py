"""Lint accepts clean Verilog and reports what no waiver covers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import rtlgen
from rtlgen.sim.lint import WAIVERS, lint
from rtlgen.sim.verilator import find_verilator
from rtlgen.system.tools import LintError, ToolFailedError, run_tool
from sim.designs import SCALE_ADD, sabotaged
from tests.tiling.programs import TRANSPOSED


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
    for strict in ([], ["+define+STRICT_WIDTHS"]):
        run_tool([*command, *strict, "f.vlt", "f.v"], log=log, cwd=tmp_path)
        assert "%Warning" not in log.read_text()
    with pytest.raises(ToolFailedError):
        run_tool([*command, "f.v"], log=log, cwd=tmp_path)


RULES_OF_5_006 = {"DECLFILENAME", "WIDTH", "UNUSEDSIGNAL"}
"""Of Verilator 5.006, those that the waivers are about. It refuses rules that it does not know."""


def test_an_older_verilator_knows_all_rules_of_the_waivers(tmp_path: Path) -> None:
    text = re.sub(r"`ifdef STRICT_WIDTHS\n.*?`else\n", "", WAIVERS.read_text(), flags=re.DOTALL)
    assert set(re.findall(r"-rule (\w+)", text)) == RULES_OF_5_006
    # A register with a value where it is declared is a warning of newer versions alone.
    design = rtlgen.compile(source=LOOKUPS)
    assert re.findall(r"^ *reg [^\n]*=", design.verilog.text, re.MULTILINE) == []
    assert "  initial " in design.verilog.text


# Elements of each width, on buses of few and of many of them.
OFF_CHIP = """#include <stdint.h>
void f(ELEMENT a[N][N], ELEMENT b[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      b[i][j] = a[j][i] + b[i][j - 1];
}
"""


@pytest.mark.sample("int8_t-{'memory': 'fixed:3', 'tile': (4, 8)}")
@pytest.mark.parametrize(
    ("element", "options"),
    [
        ("uint8_t", {"memory": "axi", "bus_bits": 32}),
        ("uint8_t", {"memory": "axi"}),
        ("int16_t", {"memory": "axi", "bus_bits": 128, "tile": (4, 8)}),
        ("int64_t", {"memory": "axi", "tile": (4, 4)}),
        ("int64_t", {"memory": "axi", "bus_bits": 512}),
        ("int", {"memory": "dram", "bus_bits": 64}),
        ("int", {"memory": "dram", "tile": (3, 5)}),
        ("uint8_t", {"memory": "axi", "tile": (8, 8), "unroll": {"j": 4}}),
        ("int8_t", {"memory": "fixed:3", "tile": (4, 8)}),
    ],
    ids=str,
)
def test_a_design_with_arrays_off_chip_is_clean(
    tmp_path: Path, element: str, options: dict[str, Any]
) -> None:
    design = rtlgen.compile(source=OFF_CHIP, define={"N": 13, "ELEMENT": element}, **options)
    path = tmp_path / "f.v"
    path.write_text(design.verilog.text)
    lint(path, "f")


@pytest.mark.long
def test_workers_behind_one_port_are_clean(tmp_path: Path) -> None:
    design = rtlgen.compile(source=TRANSPOSED, define={"N": 9}, memory="axi", threads=2)
    path = tmp_path / "transposed.v"
    path.write_text(design.verilog.text)
    lint(path, "transposed")


@pytest.mark.long
def test_an_array_that_may_begin_on_any_page_is_compared_with_none(tmp_path: Path) -> None:
    # The first page from which an array would not end below 2**64 is behind the last one.
    for size, compares in ((8, False), (100, True)):
        design = rtlgen.compile(
            source=OFF_CHIP, define={"N": size, "ELEMENT": "uint8_t"}, memory="axi", tile=(4, 4)
        )
        assert (" b_base[63:12] > " in design.verilog.text) == compares
