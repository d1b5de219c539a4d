"""The program that a build directory is compared with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import rtlgen
from rtlgen.cli.rechecking import source_of
from rtlgen.manifest.contents import Manifest
from rtlgen.verify.golden import run_golden

DOT = """
float dot(const float a[16], const float b[16]) {
  float s = 0.0f;
  for (int i = 0; i < 16; i++) s += a[i] * b[i];
  return s;
}
"""


def test_it_computes_floats_as_the_circuit_was_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "dot.c"
    path.write_text(DOT)
    rng = np.random.default_rng(4)
    data = {name: rng.standard_normal(16).astype(np.float32) * 1000 for name in ("a", "b")}
    returned = []
    for wishes in ((), "contract"):
        design = rtlgen.compile(path, float=wishes, partition={"a": "cyclic:1:2"})
        manifest = Manifest.from_json(json.loads(json.dumps(design.manifest.to_json())))
        wanted = run_golden(design.compilation.analysis.program.scop, data).returned
        assert run_golden(source_of(manifest).scop, data).returned == wanted
        returned.append(wanted)
    assert returned[0] != returned[1], "the data does not tell"
