"""Arrays in RAMs beside the core: exact, with RAMs that do no more than they are asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.flow.synth import synthesise
from rtlgen.manifest.contents import FileEntry
from rtlgen.manifest.file import sha256_of, write_manifest
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.sim.lint import lint
from rtlgen.verify.cosim import simulate_all
from tests.simulators import needs_icarus, on_one_in_turn

PRODUCT = """
void product(int a[6][6], int b[6][6], int c[6][6]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 6; k++) c[i][j] += a[i][k] * b[k][j];
}
"""
HISTOGRAM = """
#include <stdint.h>
void count(const uint8_t of[40], uint16_t bins[11], int64_t scaled[11]) {
  for (int n = 0; n < 40; n++) bins[of[n] % 11] += 1;
  for (int n = 0; n < 11; n++) scaled[n] = (int64_t)bins[n] * 3;
}
"""
STENCIL = """
int read[36], core, A_ram;
void stencil(const int A[36], int read_0[36]) {
  for (int n = 1; n < 35; n++) read[n] = A[n - 1] + 2 * A[n] + A[n + 1];
  for (int n = 1; n < 35; n++) read_0[n] = read[n + 1] - read[n - 1];
  core += read[3]; A_ram = core;
}
"""
FILTER = """
void filter(int x[24], int h[4], int y[24]) {
  for (int i = 0; i < 24; i++) y[i] = x[i] * h[i % 4] + h[0];
}
"""
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "all": (PRODUCT, {"interface": "external"}),
    "one": (PRODUCT, {"memory": {"b": "external"}, "double_buffer": ["a"]}),
    "lanes": (PRODUCT, {"interface": "external", "unroll": {"k": 3}, "checksum": True}),
    "lookups": (HISTOGRAM, {"interface": "external"}),
    "names": (STENCIL, {"interface": "external"}),
    "streams": (FILTER, {"interface": "external", "memory": {"x": "stream", "y": "stream"}}),
    "written": (FILTER, {"memory": {"y": "external", "x": "stream"}}),
}


@pytest.mark.simulation
@pytest.mark.parametrize(("source", "options", "simulator"), on_one_in_turn(CASES))
def test_arrays_beside_the_core_are_exact(
    source: str, options: dict[str, Any], simulator: Simulator
) -> None:
    design = rtlgen.compile(source=source, **options)
    assert design.manifest.core is not None
    found = design.verify(simulator=simulator)
    assert found.failures == ()
    assert found.cycles == design.manifest.predicted_cycles


def test_rams_of_others_are_not_counted() -> None:
    inside, outside = (
        rtlgen.compile(source=PRODUCT, interface=where) for where in ("internal", "external")
    )
    assert (inside.block_rams, outside.block_rams) == (3, 0)
    assert inside.manifest.predicted_cycles == outside.manifest.predicted_cycles
    assert [m["kind"] for m in outside.report()["memories"]] == ["external"] * 3


def test_what_drives_the_core_sees_the_ports_of_one_that_holds_the_arrays() -> None:
    inside, outside = (
        rtlgen.compile(source=STENCIL, interface=where).manifest
        for where in ("internal", "external")
    )
    assert outside.ports == inside.ports
    assert [replace(array, ram=None) for array in outside.arrays] == list(inside.arrays)


SHOWS = "if (read_en) read_data <= words[read_addr];"
CHANGED = """if (read_en) begin
      read_data <= words[read_addr];
      if (|write_en && write_addr == read_addr) read_data <= ~words[read_addr];
    end"""
"""A RAM that shows anything where it is read and written in one cycle."""

WRITES = """
  always @(posedge clk)
    if (idle & ~rst & (NAME_write_en)) begin
      $display("written in idle");
      $finish;
    end
endmodule
"""


@pytest.mark.simulation
@needs_icarus
@pytest.mark.parametrize("name", ["all", "lookups", "names", "streams"])
def test_no_more_is_asked_of_a_ram_than_is_said(name: str, tmp_path: Path) -> None:
    source, options = CASES[name]
    design = rtlgen.compile(source=source, **options)
    manifest, text = design.manifest, design.verilog.text
    assert text.count(SHOWS) == 1 and text.count("\nendmodule\n\n// A RAM") == 1
    writes = [a.ram.write.en for a in manifest.arrays if a.ram is not None and a.ram.write]
    watch = WRITES.replace("NAME_write_en", " | ".join(writes or ["1'b0"]))
    text = text.replace(SHOWS, CHANGED).replace("\nendmodule\n\n// A RAM", f"{watch}\n// A RAM")
    manifest = replace(manifest, verilog=FileEntry(manifest.verilog.file, sha256_of(text)))
    (tmp_path / manifest.verilog.file).write_text(text)
    write_manifest(tmp_path, manifest)
    sets = design.data_sets(seed=1).sets
    found = simulate_all(tmp_path, manifest, [s.inputs for s in sets], simulator="icarus")
    for result, data in zip(found, sets, strict=True):
        assert result.cycles == manifest.predicted_cycles
        for array, expected in data.golden.arrays.items():
            assert np.array_equal(result.arrays.get(array, expected), expected), array


@pytest.mark.simulation
@pytest.mark.parametrize("name", ["lanes", "names"])
def test_the_text_is_clean(name: str, tmp_path: Path) -> None:
    source, options = CASES[name]
    design = rtlgen.compile(source=source, **options)
    path = tmp_path / "design.v"
    path.write_text(design.verilog.text)
    lint(path, design.verilog.top)


@pytest.mark.synthesis
@pytest.mark.parametrize("target", ["ecp5", pytest.param("xilinx", marks=pytest.mark.long)])
def test_the_rams_beside_the_core_are_block_ram(target: Any, tmp_path: Path) -> None:
    counts = []
    for where in ("internal", "external"):
        design = rtlgen.compile(source=PRODUCT, interface=where)
        path = tmp_path / f"{where}.v"
        path.write_text(design.verilog.text)
        found = synthesise(path, design.verilog.top, target, seeds=())
        counts.append((found.block_ram, found.ff))
    assert counts[0] == counts[1]
    assert counts[0][0] == 3
