"""A compiled kernel as users handle it: build directories, runs on arrays, equivalence proofs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rtlgen.build_directory import build_directory
from rtlgen.driver import Compilation, compile_program, parse
from rtlgen.emit.errors import NoSuchStage
from rtlgen.emit.unit import c_program
from rtlgen.ir.banks import block_rams
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.json_form import plan_to_json
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.sets import ScopSets
from rtlgen.manifest import Manifest, unwritable, write_manifest
from rtlgen.options import CompileOptions
from rtlgen.poly.trips import loop_trips
from rtlgen.report.html import report_html, summary_html
from rtlgen.report.loops import schedule_report, skew_report
from rtlgen.report.nests import nest_report
from rtlgen.report.plan_report import plan_report
from rtlgen.report.text import counted
from rtlgen.sim.lint import WAIVERS
from rtlgen.testbench import Expected, write_testbench
from rtlgen.verify.checksum import checksum, format_checksum
from rtlgen.verify.compare import Comparison, compare_memories
from rtlgen.verify.cosim import Engine, Simulator, simulate
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from rtlgen.verify.golden_state import GoldenResult
from rtlgen.verify.inputs import Inputs
from rtlgen.verify.writes import last_write_cycles
from rtlgen.verilog import GeneratedVerilog, generate, manifest_of
from rtlgen.version import VERSION


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """What one simulated run of a design left.

    Members
    -------
    arrays: every array with a host port, of its C type and shape.
    returned: the function's result, or None. cycles: from start to done.
    """

    arrays: Mapping[str, np.ndarray]
    returned: int | None
    cycles: int


@dataclass(frozen=True, slots=True, eq=False)
class Verification:
    """The outcome of a comparison of the circuit with the golden model.

    Members
    -------
    checksum, expected_checksum: CRC-64 of the result arrays, from the simulation and the golden
        model; `unit_checksum` is that of the hardware unit, where the design has one.
    failures: what is wrong, a sentence each; empty for an exact design.
    """

    kernel: str
    simulator: Simulator
    seed: int
    cycles: int
    predicted_cycles: int
    checksum: int
    expected_checksum: int
    unit_checksum: int | None
    comparison: Comparison
    failures: tuple[str, ...]
    golden: GoldenResult
    seconds: float

    @property
    def exact(self) -> bool:
        return not self.failures

    def to_json(self) -> dict[str, object]:
        """Return what `rtlgen verify --json` prints."""
        return {
            "kernel": self.kernel,
            "exact": self.exact,
            "checksum": format_checksum(self.checksum),
            "cycles": self.cycles,
            "predicted_cycles": self.predicted_cycles,
            "simulator": self.simulator,
            "seed": self.seed,
            "elements": self.comparison.elements,
            "mismatches": self.comparison.mismatches,
            "first_mismatches": [m.to_json() for m in self.comparison.first],
            "failures": list(self.failures),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Design:
    """One compiled kernel.

    Members
    -------
    compilation: the program after every pass, and its plan.
    options: what it was compiled with.
    """

    compilation: Compilation
    options: CompileOptions
    _cache: dict[str, GeneratedVerilog] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        plan = self.plan
        statements = counted(len(plan.streams), "statement")
        cycles = counted(predicted_cycles(plan), "cycle")
        return f"<Design {plan.name}: {statements}, {cycles}, {self.compilation.target.name}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the figures and the statements of the report."""
        return summary_html(self.report())

    @property
    def plan(self) -> KernelPlan:
        return self.compilation.plan

    @property
    def verilog(self) -> GeneratedVerilog:
        """The Verilog of the kernel, generated when it is first asked for."""
        if "verilog" not in self._cache:
            self._cache["verilog"] = generate(self.plan)
        return self._cache["verilog"]

    @property
    def manifest(self) -> Manifest:
        return manifest_of(
            self.plan,
            self.verilog,
            file=f"{self.plan.name}.v",
            source=self.compilation.analysis.program.scop.source,
            version=VERSION,
            options=asdict(self.options),
            untouched=self.compilation.analysis.program.scop.untouched,
        )

    @property
    def stages(self) -> tuple[str, ...]:
        """The passes that the program went through, in order."""
        return tuple(self.compilation.stages)

    def c_text(self, after: str) -> str:
        """Return the program after a pass as C99 that computes the same, with gcc -fwrapv.

        Raises
        ------
        NoSuchStage: the program did not go through that pass.
        TooComplex: isl's operation limit was met.
        """
        if after not in self.stages:
            raise NoSuchStage(
                f"{self.plan.name} did not go through the pass {after}",
                help=f"its passes are {', '.join(self.stages)}",
            )
        return c_program(self.compilation.stages[after], after)

    def report(self) -> dict[str, Any]:
        """Return the figures of the plan, as `rtlgen plan --json` prints them."""
        compilation = self.compilation
        figures = {
            "version": VERSION,
            "target": compilation.target.name,
            "data_flow_replayed": compilation.replayed,
            "fused_iterations_proven": compilation.decision.fused_proven,
            "block_rams": block_rams(self.plan, compilation.target),
        }
        scop = compilation.analysis.program.scop
        scheduled = compilation.analysis.scheduled
        schedule = None
        if scheduled is not None:
            iterators = {statement.name: statement.iterators for statement in scop.statements}
            schedule = schedule_report(scheduled, iterators)
        return plan_report(
            scop,
            self.plan,
            figures,
            self.nests(),
            schedule,
            self._expansions(),
            skew_report(compilation.analysis.skewed),
            compilation.decision.why,
            [bound.text() for bound in compilation.bounds],
            compilation.unproven,
        )

    def _expansions(self) -> list[dict[str, Any]]:
        return [
            {
                "array": expansion.array,
                "copies": [copy.name for copy in expansion.copies],
                "elements": expansion.elements,
                "elements_after": expansion.elements_after,
            }
            for expansion in self.compilation.analysis.expansions
        ]

    def nests(self) -> list[dict[str, Any]]:
        """Return the report on loop nests, as `rtlgen check --json` prints it."""
        analysis = self.compilation.analysis
        scop = analysis.program.scop
        trips = loop_trips(ScopSets(scop))
        return nest_report(scop, trips, self.plan, analysis.written_dependences)

    def write(self, directory: str | Path, *, seed: int = 1) -> Path:
        """Write the build directory: Verilog, manifest, plan, reports and a test bench.

        Every file is made elsewhere first, so that a failure leaves the directory as it was.

        Parameters
        ----------
        seed: of the test bench's random data.

        Raises
        ------
        OutputDirectoryError: the directory cannot be written.
        """
        with build_directory(Path(directory)) as staging:
            self._write_core(staging)
            self._write_testbench(staging, seed)
        return Path(directory)

    def _write_core(self, directory: Path) -> None:
        name, report = self.plan.name, self.report()
        source = self.compilation.analysis.program.scop.source
        (directory / f"{name}.v").write_text(self.verilog.text, encoding="utf-8")
        (directory / f"{name}.vlt").write_bytes(WAIVERS.read_bytes())
        write_manifest(directory, self.manifest)
        _write_json(directory / "plan.json", plan_to_json(self.plan))
        _write_json(directory / "report.json", report)
        (directory / "report.html").write_text(report_html(report, source), encoding="utf-8")

    def _write_testbench(self, directory: Path, seed: int) -> None:
        scop = self.compilation.analysis.program.scop
        inputs = random_inputs(scop, seed)
        golden = run_golden(scop, inputs)
        expected = Expected(golden.arrays, golden.returned, self._result_checksum(golden.arrays))
        write_testbench(directory, self.manifest, inputs, expected)

    def run(
        self,
        *,
        simulator: Simulator = "verilator",
        engine: Engine = "auto",
        trace: Path | None = None,
        inputs: Inputs | None = None,
        **arrays: np.ndarray | int,
    ) -> RunResult:
        """Simulate the generated Verilog on the given arrays and scalars.

        Parameters
        ----------
        inputs, arrays: by C name; `inputs` takes names that clash with an option.

        Raises
        ------
        RtlgenError: an input is missing or of the wrong type, a tool is missing, the run hangs.
        """
        with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
            directory = Path(folder)
            self._write_core(directory)
            result = simulate(
                directory,
                self.manifest,
                {**(inputs or {}), **arrays},
                simulator=simulator,
                engine=engine,
                trace=trace,
            )
        return RunResult(result.arrays, result.returned, result.cycles)

    def verify(
        self,
        *,
        simulator: Simulator = "verilator",
        engine: Engine = "auto",
        seed: int = 1,
        trace: Path | None = None,
        directory: Path | None = None,
    ) -> Verification:
        """Compare a simulated run on random data with the golden model: memory, checksum, cycles.

        Parameters
        ----------
        directory: where to build and keep the simulation; a temporary one by default.

        Raises
        ------
        RtlgenError: a tool is missing, the run hangs, an output is undefined.
        """
        if directory is None:
            with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
                return self._verify(simulator, engine, seed, trace, Path(folder))
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(directory, error.strerror) from error
        return self._verify(simulator, engine, seed, trace, directory)

    def _verify(
        self,
        simulator: Simulator,
        engine: Engine,
        seed: int,
        trace: Path | None,
        directory: Path,
    ) -> Verification:
        self._write_core(directory)
        scop = self.compilation.analysis.program.scop
        inputs = random_inputs(scop, seed)
        golden = run_golden(scop, inputs)
        manifest = self.manifest
        given = {
            name: value
            for name, value in inputs.items()
            if name in {a.name for a in manifest.host_arrays}
            or name in {s.name for s in manifest.scalars}
        }
        got = simulate(directory, manifest, given, simulator=simulator, engine=engine, trace=trace)
        expected = {name: golden.arrays[name] for name in got.arrays}
        comparison = compare_memories(expected, got.arrays)
        elements = [(m.array, m.index) for m in comparison.first]
        comparison = comparison.with_cycles(last_write_cycles(self.plan, elements))
        found = self._result_checksum(got.arrays)
        wanted = self._result_checksum(expected)
        failures = _failures(self.plan, comparison, golden, got.returned, got.cycles)
        if found != wanted or got.checksum not in (None, wanted):
            failures.append(
                f"checksum {format_checksum(found)} (unit: "
                f"{'none' if got.checksum is None else format_checksum(got.checksum)}), "
                f"expected {format_checksum(wanted)}"
            )
        return Verification(
            kernel=self.plan.name,
            simulator=simulator,
            seed=seed,
            cycles=got.cycles,
            predicted_cycles=predicted_cycles(self.plan),
            checksum=found,
            expected_checksum=wanted,
            unit_checksum=got.checksum,
            comparison=comparison,
            failures=tuple(failures),
            golden=golden,
            seconds=got.seconds + got.build_seconds,
        )

    def _result_checksum(self, arrays: Mapping[str, np.ndarray]) -> int:
        return checksum(arrays[name] for name in self._result_names if name in arrays)

    @property
    def _result_names(self) -> tuple[str, ...]:
        scop = self.compilation.analysis.program.scop
        return tuple(a.name for a in scop.arrays if a.role in ("out", "inout"))


def _failures(
    plan: KernelPlan,
    comparison: Comparison,
    golden: GoldenResult,
    returned: int | None,
    cycles: int,
) -> list[str]:
    found = []
    if comparison.mismatches:
        found.append(comparison.text())
    if golden.returned != returned:
        found.append(f"returned {returned}, expected {golden.returned}")
    if cycles != predicted_cycles(plan):
        found.append(f"took {cycles} cycles, predicted {predicted_cycles(plan)}")
    return found


def _write_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def compile_design(path: str | Path, options: CompileOptions) -> Design:
    """Compile a C file to a design.

    Raises
    ------
    RtlgenError: the program or an option is refused.
    """
    return Design(compile_program(parse(Path(path), options), options), options)
