"""The block RAMs and multiplier blocks of a report are those that synthesis finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rtlgen
from rtlgen.flow.synth import synthesise

FIR = """void fir(const int h[8], const int x[519], int y[512]) {
  for (int t = 0; t < 512; t++) {
    int s = 0;
    for (int k = 0; k < 8; k++) s += h[k] * x[t + 7 - k];
    y[t] = s;
  }
}"""

DESIGNS: list[dict[str, Any]] = [
    {},
    {"unroll": {"k": 8}},
    {"memory": "fixed:8"},
    {"memory": "axi", "unroll": {"k": 4}},
    {"memory": "axi", "threads": 2},
]


@pytest.mark.sample("{}")
@pytest.mark.synthesis
@pytest.mark.parametrize("options", DESIGNS, ids=str)
def test_totals_are_those_of_the_netlist(tmp_path: Path, options: dict[str, Any]) -> None:
    design = rtlgen.compile(source=FIR, path="fir.c", **options)
    path = tmp_path / "fir.v"
    path.write_text(design.verilog.text, encoding="utf-8")
    area = synthesise(path, design.verilog.top, seeds=())
    report = design.report()
    assert (report["block_rams"], report["dsp"]) == (area.block_ram, area.dsp)
