"""Measure one kernel: proven in both forms, fused and not, and the fused one synthesised."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtlgen.design import Design, Verification, compile_design
from rtlgen.driver import CompileOptions
from rtlgen.flow.synth import SynthesisReport, synthesise
from rtlgen.transforms.ols import OlsApplicability, ols_applicability
from rtlgen.verify.cosim import Simulator


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What one kernel gave.

    Members
    -------
    fused, unfused: simulated on random data and compared with the golden model.
    report: of the fused design's plan. area: of the fused design, where it was asked for.
    """

    fused: Verification
    unfused: Verification
    report: dict[str, Any]
    ols: OlsApplicability
    area: SynthesisReport | None

    @property
    def failures(self) -> tuple[str, ...]:
        """What is wrong, a sentence each: memory, checksum, or cycles other than predicted."""
        return (*self.fused.failures, *(f"unfused: {text}" for text in self.unfused.failures))

    @property
    def planned_block_rams(self) -> int:
        return int(self.report["figures"]["block_rams"])

    def figures(self) -> dict[str, object]:
        """Return the figures by the names that `rtlgen bench --json` gives them.

        `statements_total` are the iterations of all statements one after another; `floor` the most
        that any one of them has, which no fused loop can beat.
        """
        figures = {
            "statements_total": sum(s["instances"] for s in self.report["statements"]),
            "floor": self.report["floor_iterations"],
            "fused_iterations": self.report["fused_iterations"],
            "rtl_cycles": self.fused.cycles,
            "predicted_cycles": self.fused.predicted_cycles,
            "unfused_cycles": self.unfused.cycles,
            "ols": str(self.ols),
        }
        return figures | self._area_figures()

    def _area_figures(self) -> dict[str, object]:
        if self.area is None:
            return {}
        fmax = self.area.fmax_mhz
        return {
            "lut": self.area.lut,
            "ff": self.area.ff,
            "dsp": self.area.dsp,
            "bram": self.area.block_ram,
            "fmax_mhz": None if fmax is None else round(fmax, 1),
        }


def measure_kernel(
    path: Path, *, simulator: Simulator = "verilator", seeds: Sequence[int] | None = None
) -> Measurement:
    """Compile, verify and, with `seeds`, synthesise the kernel of a C file.

    Parameters
    ----------
    seeds: of place and route on ECP5, whose median counts; None leaves out synthesis.

    Raises
    ------
    RtlgenError: the program is refused, or a tool is missing or fails.
    """
    design = compile_design(path, CompileOptions())
    analysis = design.compilation.analysis
    return Measurement(
        fused=design.verify(simulator=simulator),
        unfused=compile_design(path, CompileOptions(fuse="none")).verify(simulator=simulator),
        report=design.report(),
        ols=ols_applicability(analysis.scop, analysis.sets, analysis.dependences),
        area=None if seeds is None else synthesise_design(design, seeds),
    )


def synthesise_design(design: Design, seeds: Sequence[int]) -> SynthesisReport:
    """Return area and clock of a design on ECP5."""
    with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
        verilog = Path(folder) / f"{design.plan.name}.v"
        verilog.write_text(design.verilog.text, encoding="utf-8")
        return synthesise(verilog, design.verilog.top, "ecp5", seeds=seeds)
