"""Measure one kernel: proven in both forms, fused and not, and the fused one synthesised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rtlgen.bench.table import BenchRow, BenchSettings
from rtlgen.design import Design, compile_design
from rtlgen.flow.synth import SynthesisReport, SynthesisTarget, synthesise
from rtlgen.options import EVERY_ARRAY, CompileOptions
from rtlgen.output.verilog import verilog_file
from rtlgen.transforms.outer_shift import OlsApplicability, ols_applicability
from rtlgen.verify.cosim import Simulator
from rtlgen.verify.equivalence import Verification


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What one kernel gave.

    Members
    -------
    fused, unfused, shifted: simulated on random data and compared with the golden model; `shifted`
        is by OLS, None where that fails. ols_iterations: of the shifted design.
    report: of the fused design's plan.
    area, unfused_area: of the fused and the unfused design, where they were asked for.
    """

    fused: Verification
    unfused: Verification
    shifted: Verification | None
    report: dict[str, Any]
    ols: OlsApplicability
    ols_iterations: int | None
    area: SynthesisReport | None
    unfused_area: SynthesisReport | None

    @property
    def failures(self) -> tuple[str, ...]:
        """What is wrong, a sentence each: memory, checksum, or cycles other than predicted."""
        found = [*self.fused.failures, *(f"unfused: {text}" for text in self.unfused.failures)]
        if self.shifted is not None:
            found += [f"OLS: {text}" for text in self.shifted.failures]
        return tuple(found)

    @property
    def planned_block_rams(self) -> int:
        return int(self.report["figures"]["block_rams"])

    def figures(self) -> dict[str, object]:
        """Return the figures by the names that `rtlgen bench --json` gives them.

        `statements_total` are the iterations of all statements one after another; `floor` the most
        that any one of them has, which no fused loop can beat; `gap` the difference to it.
        """
        floor, fused = self.report["floor_iterations"], self.report["fused_iterations"]
        figures = {
            "statements_total": sum(s["instances"] for s in self.report["statements"]),
            "floor": floor,
            "fused_iterations": fused,
            "gap": fused - floor,
            "rtl_cycles": self.fused.cycles,
            "predicted_cycles": self.fused.predicted_cycles,
            "unfused_cycles": self.unfused.cycles,
            "perfect": self.report["perfect"],
            "mf3": "works" if self.report["perfect"] else "fails",
            "ols": str(self.ols),
            "ols_verdict": self.ols.verdict,
            "ols_restriction": ", ".join(self.ols.broken) or None,
            "ols_iterations": self.ols_iterations,
            "ols_cycles": None if self.shifted is None else self.shifted.cycles,
        }
        area = {} if self.area is None else area_figures(self.area)
        return figures | area | self._area_increase()

    def _area_increase(self) -> dict[str, object]:
        if self.area is None or self.unfused_area is None:
            return {}
        fused, unfused = (a.lut + a.ff for a in (self.area, self.unfused_area))
        return {"area_increase_percent": round(100 * (fused / unfused - 1), 1)}


def measure_kernel(
    path: Path,
    *,
    defines: Mapping[str, str] | None = None,
    simulator: Simulator = "verilator",
    seeds: Sequence[int] | None = None,
    unfused_area: bool = False,
) -> Measurement:
    """Compile, verify and, with `seeds`, synthesise the kernel of a C file.

    Parameters
    ----------
    defines: macro -> text.
    seeds: of place and route on ECP5, whose median counts; None leaves out synthesis.
    unfused_area: synthesise the design without fusion too, not placed.

    Raises
    ------
    RtlgenError: the program is refused, or a tool is missing or fails.
    """
    options = CompileOptions(defines=dict(defines or {}), memory={EVERY_ARRAY: "onchip"})
    design = compile_design(path, options)
    unfused = compile_design(path, replace(options, fuse="none"))
    # OLS is judged on the program as written; the fused design may have expanded temporaries.
    analysis = unfused.compilation.analysis
    ols = ols_applicability(analysis.scop, analysis.sets, analysis.dependences)
    shifted = None if ols.obstacles else compile_design(path, replace(options, fuse="ols"))
    compare_areas = unfused_area and seeds is not None
    with _meanwhile(design, seeds) as area:
        return Measurement(
            fused=design.verify(simulator=simulator),
            unfused=unfused.verify(simulator=simulator),
            shifted=None if shifted is None else shifted.verify(simulator=simulator),
            report=design.report(),
            ols=ols,
            ols_iterations=None if shifted is None else shifted.plan.fused_iterations,
            unfused_area=synthesise_design(unfused, ()) if compare_areas else None,
            area=area(),
        )


@contextmanager
def _meanwhile(
    design: Design, seeds: Sequence[int] | None
) -> Iterator[Callable[[], SynthesisReport | None]]:
    """Synthesise a design, with `seeds`, while other tools run; the result is asked for later."""
    if seeds is None:
        yield lambda: None
        return
    # Generated here: only the tools run beside what the caller does.
    assert design.verilog.text
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(synthesise_design, design, seeds).result


def synthesise_design(
    design: Design, seeds: Sequence[int], target: SynthesisTarget = "ecp5"
) -> SynthesisReport:
    """Return area and, on ECP5 with `seeds`, the clock of a design."""
    with verilog_file(design.verilog) as verilog:
        return synthesise(verilog, design.verilog.top, target, seeds=seeds)


def area_figures(area: SynthesisReport) -> dict[str, Any]:
    """Return area and clock by the names that rows give them."""
    return {
        "lut": area.lut,
        "ff": area.ff,
        "dsp": area.dsp,
        "bram": area.block_ram,
        "fmax_mhz": None if area.fmax_mhz is None else round(area.fmax_mhz, 1),
        "fmax_seeds": len(area.fmax_by_seed),
    }


def proven_on_chip(
    row: BenchRow, path: Path, settings: BenchSettings
) -> tuple[Design, Verification, dict[str, Any]]:
    """Compile a row with all arrays on chip, verify it on random data, and return its cycles."""
    design = compile_design(path, CompileOptions(memory={EVERY_ARRAY: "onchip"}, **row.options))
    proven = design.verify(simulator=settings.simulator)
    cycles = {"cycles": proven.cycles, "predicted_cycles": proven.predicted_cycles}
    return design, proven, cycles
