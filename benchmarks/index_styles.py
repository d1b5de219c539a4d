"""The index styles on the two nests of mms_d: alone between registers, and in the whole circuit.

Alone, the unit's counters are its only outputs, so that synthesis keeps nothing but the recovery of
the indices. Sizes are compared with the multipliers built from LUTs too, since circuits with and
without DSP blocks have no common measure otherwise; both counts are shown.

Reference: MFF's formula divides; `divide` multiplies by a reciprocal of just enough bits instead,
which makes the baseline better than the published one. The formula as written is measured as well.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from benchmarks.record import (
    DEVICE,
    EXAMPLES,
    circumstances,
    markdown_table,
    tools_text,
    write_results,
)
from rtlgen.bench.measure import synthesise_design
from rtlgen.design import compile_design
from rtlgen.errors import RtlgenError
from rtlgen.flow.synth import DEFAULT_SEEDS, SynthesisReport, count_cells, synthesise
from rtlgen.flow.yosys import run_script
from rtlgen.hw.flat_index import Divide, FlatIndex
from rtlgen.hw.index_units import IndexUnit
from rtlgen.hw.odometer import Odometer
from rtlgen.options import CompileOptions, IndexStyle
from rtlgen.target import get_target

NESTS = ((8, 9, 11), (8, 12, 9))
SMALLER_AT_LEAST = 4.0
FASTER_AT_LEAST = 3.0

ODOMETER, DIVIDE, PIPELINED = "odometer", "divide, not pipelined", "divide, pipelined"
FORMULA = "formula as written"
BASELINES = (DIVIDE, FORMULA)
DIVIDE_LATENCY = get_target("ecp5").index_latency_cycles("divide")

# Name, options of the whole circuit: style and index latency, None for the target's choice.
STYLES: tuple[tuple[str, IndexStyle, int | None], ...] = (
    (ODOMETER, "odometer", None),
    (DIVIDE, "divide", 0),
    (PIPELINED, "divide", None),
    ("shift", "shift", None),
)


class WrittenFormula(FlatIndex):
    """MFF's formula, with the dividers that synthesis makes of it."""

    def recover(self, m: Module, x: Signal) -> list[Value]:
        """Return i = x / (n1*n2), j = x / n2 - i*n1, k = x - i*(n1*n2) - j*n2."""
        counts = self.inner_counts()
        values: list[Value] = []
        for level, (count, counter) in enumerate(zip(counts, self.counters, strict=True)):
            value: Value = x // count
            for outer in range(level):
                value = value - values[outer] * (counts[outer] // count)
            values.append(value[: len(counter)])
        return values


class IndexBetweenRegisters(wiring.Component):
    """An index unit and nothing else, with registers around it, so that its clock can be measured.

    Members
    -------
    begin: In(1). valid: Out(1). index_L: Out, the counter of level L.

    Timing
    ------
    One cycle more than the unit on either side.
    """

    def __init__(self, unit: IndexUnit) -> None:
        self.unit = unit
        indices = {f"index_{n}": Out(c.shape()) for n, c in enumerate(unit.counters)}
        super().__init__({"begin": In(1), "valid": Out(1), **indices})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = self.unit
        begin = Signal()
        m.d.sync += [begin.eq(self.begin), self.valid.eq(self.unit.valid)]
        m.d.comb += self.unit.begin.eq(begin)
        for n, counter in enumerate(self.unit.counters):
            m.d.sync += getattr(self, f"index_{n}").eq(counter)
        return m


def synthesise_unit(unit: IndexUnit, seeds: Sequence[int] = DEFAULT_SEEDS) -> SynthesisReport:
    """Return area and clock of an index unit between registers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_script([*_read_unit(unit, folder), "write_verilog index.v"], folder)
        return synthesise(folder / "index.v", "index", "ecp5", seeds=seeds)


def luts_alone(unit: IndexUnit) -> int:
    """Return the LUTs of an index unit between registers, its multipliers built from LUTs too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = ["synth_ecp5 -nodsp -top index", "write_json index.json"]
        run_script([*_read_unit(unit, folder), *commands], folder)
        cells = count_cells((folder / "index.json").read_text(encoding="utf-8"), "index")
    return cells["LUT4"] + 2 * cells.get("CCU2C", 0)


def _read_unit(unit: IndexUnit, folder: Path) -> list[str]:
    text = rtlil.convert(IndexBetweenRegisters(unit), name="index")
    (folder / "index.il").write_text(text, encoding="utf-8")
    return ["read_rtlil index.il", "proc -noopt"]


def measure_unit(nest: tuple[int, ...], style: str, unit: IndexUnit) -> dict[str, Any]:
    """Return one row: one style on one nest."""
    return {
        "nest": " x ".join(map(str, nest)),
        "style": style,
        "luts_alone": luts_alone(unit),
    } | _area(synthesise_unit(unit))


def measure_circuit(style: str, index_style: IndexStyle, latency: int | None) -> dict[str, Any]:
    """Return one row: the whole mms_d in one style, proven exact, or why it does not apply."""
    options = CompileOptions(index_style=index_style, index_latency_cycles=latency)
    try:
        design = compile_design(EXAMPLES / "mms_d" / "mms_d.c", options)
    except RtlgenError as error:
        return {"style": style, "applies": False, "reason": str(error)}
    outcome = design.verify()
    return {
        "style": style,
        "applies": True,
        "exact": outcome.exact,
        "cycles": outcome.cycles,
    } | _area(synthesise_design(design, DEFAULT_SEEDS))


def _area(report: SynthesisReport) -> dict[str, Any]:
    assert report.fmax_mhz is not None
    return {
        "lut": report.lut,
        "ff": report.ff,
        "dsp": report.dsp,
        "fmax_mhz": round(report.fmax_mhz, 1),
        "critical_path": report.critical_path,
    }


def ratios(units: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each nest how much smaller and faster than the baselines the odometer is."""
    found = []
    for nest in dict.fromkeys(row["nest"] for row in units):
        of = {row["style"]: row for row in units if row["nest"] == nest}
        odometer = of[ODOMETER]
        for baseline in BASELINES:
            found.append(
                {
                    "nest": nest,
                    "baseline": baseline,
                    "smaller": round(of[baseline]["luts_alone"] / odometer["luts_alone"], 1),
                    "faster": round(odometer["fmax_mhz"] / of[baseline]["fmax_mhz"], 1),
                }
            )
    return found


def tables(document: Mapping[str, Any]) -> str:
    """Return the results as Markdown."""
    units = markdown_table(
        ["nest", "index unit alone", "LUT", "DSP", "LUT, without any DSP", "FF", "MHz"],
        [[r["nest"], r["style"], r["lut"], r["dsp"], r["luts_alone"], r["ff"], r["fmax_mhz"]]
         for r in document["units"]],
    )  # fmt: skip
    factors = "\n".join(
        f"- {r['nest']}: the odometer is {r['smaller']} times smaller and {r['faster']} times "
        f"faster than {r['baseline']}."
        for r in document["ratios"]
    )
    circuits = markdown_table(
        ["mms_d, whole", "exact", "cycles", "LUT", "FF", "DSP", "MHz"],
        [
            [r["style"], r["exact"], r["cycles"], r["lut"], r["ff"], r["dsp"], r["fmax_mhz"]]
            if r["applies"]
            else [f"{r['style']}: {r['reason']}", *[None] * 6]
            for r in document["circuits"]
        ],
    )
    return f"{units}\n\n{factors}\n\n{circuits}"


def main() -> int:
    """Measure, store, and say whether the odometer is as far ahead as it must be."""
    units: list[dict[str, Any]] = []
    for nest in NESTS:
        units.append(measure_unit(nest, ODOMETER, Odometer(nest, 1)))
        units.append(measure_unit(nest, DIVIDE, Divide(nest, 1, 0)))
        units.append(measure_unit(nest, FORMULA, WrittenFormula(nest, 1)))
        units.append(measure_unit(nest, PIPELINED, Divide(nest, 1, DIVIDE_LATENCY)))
    factors = ratios(units)
    circuits = [measure_circuit(*style) for style in STYLES]
    document = {"device": DEVICE, "units": units, "ratios": factors, "circuits": circuits}
    made_by = circumstances()
    footer = f"{made_by['date']}, {DEVICE}, median of three seeds; {tools_text(made_by)}."
    write_results("index_styles", document, f"{tables(document)}\n\n{footer}")
    print(tables(document))
    reached = all(
        r["smaller"] >= SMALLER_AT_LEAST and r["faster"] >= FASTER_AT_LEAST for r in factors
    )
    return 0 if reached and all(r.get("exact", True) for r in circuits) else 1


if __name__ == "__main__":
    sys.exit(main())
