"""The two odometers on nests that are no boxes: the index unit alone, between registers.

The counters are the only outputs, so that synthesis keeps nothing but their enumeration. The tiled
wavefronts are PLUTO's transformed example, its tiles 8 x 8.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.index_styles import synthesise_unit
from benchmarks.record import DEVICE, circumstances, markdown_table, tools_text, write_results
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.hw.elastic import ElasticOdometer
from rtlgen.hw.index_units import IndexUnit
from rtlgen.hw.levels import active_levels
from rtlgen.hw.ragged import RaggedOdometer, nest_of
from rtlgen.ir.plan import Level
from rtlgen.options import CompileOptions

MHZ_AT_LEAST = 115.0

TRIANGLE = """
int s[64];
void order(const int a[128]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < i; j++)
      s[i] += a[i + j];
}
"""

HEXAGON = """
int s[64][64];
void hexagon(const int a[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      if (i - 20 <= j && j <= i + 30)
        s[i][j] = a[j][i];
}
"""

WAVEFRONTS = """
int b[64][64];
void wavefronts(const int a[64][64]) {
  for (int t1 = 0; t1 <= 23; t1++)
    for (int t2 = 0; t2 <= 7; t2++)
      for (int t3 = 8 * t2; t3 <= 8 * t2 + 7; t3++)
        for (int t4 = 8 * t1 - 8 * t2; t4 <= 8 * t1 - 8 * t2 + 7; t4++)
          if (t3 < 64 && t4 - t3 >= 1 && t4 - t3 < 64)
            b[t3][t4 - t3] = a[t4 - t3][t3] + a[t3][t4 - t3 - 1];
}
"""

NESTS = {"triangle, 64": TRIANGLE, "hexagon, 64": HEXAGON, "tiled wavefronts, 64": WAVEFRONTS}


def levels_of(text: str) -> tuple[Level, ...]:
    """Return the levels of the only statement of a program."""
    program = parse_text(text, "nest.c")
    (stream,) = compile_program(program, CompileOptions()).plan.streams
    return active_levels(stream.levels)


def measure(nest: str, design: str, unit: IndexUnit) -> dict[str, Any]:
    """Return one row: one design on one nest."""
    report = synthesise_unit(unit)
    assert report.fmax_mhz is not None
    return {
        "nest": nest,
        "design": design,
        "lut": report.lut,
        "ff": report.ff,
        "fmax_mhz": round(report.fmax_mhz, 1),
        "critical_path": report.critical_path,
    }


def table(document: Mapping[str, Any]) -> str:
    """Return the results as Markdown."""
    return markdown_table(
        ["nest", "index unit alone", "LUT", "FF", "MHz"],
        [[r["nest"], r["design"], r["lut"], r["ff"], r["fmax_mhz"]] for r in document["units"]],
    )


def main() -> int:
    """Measure, store, and say whether every unit is fast enough."""
    units: list[dict[str, Any]] = []
    for name, text in NESTS.items():
        levels = levels_of(text)
        nest = nest_of(levels)
        if nest is not None:
            units.append(measure(name, "followers", RaggedOdometer(nest, 1)))
        units.append(measure(name, "elastic", ElasticOdometer(levels, 1)))
    document = {"device": DEVICE, "units": units}
    made_by = circumstances()
    footer = f"{made_by['date']}, {DEVICE}, median of three seeds; {tools_text(made_by)}."
    write_results("nests", document, f"{table(document)}\n\n{footer}")
    print(table(document))
    return 0 if all(row["fmax_mhz"] >= MHZ_AT_LEAST for row in units) else 1


if __name__ == "__main__":
    sys.exit(main())
