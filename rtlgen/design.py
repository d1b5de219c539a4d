"""A compiled kernel as users handle it: build directories, runs on arrays, equivalence proofs."""

from __future__ import annotations

import contextlib
import inspect
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Unpack, get_type_hints

from rtlgen.driver import compile_program, parse, parse_source
from rtlgen.errors import VERSION, RtlgenError, reporting_bugs, without_frames
from rtlgen.exploring.faster import Offers, faster
from rtlgen.hw.region_parts import issue_points
from rtlgen.ir.block_rams import block_rams
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.issued_instances import IssuedStream
from rtlgen.ir.operation_costs import blocks_on
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_text import plan_to_json
from rtlgen.ir.sets import ScopSets
from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import unwritable, write_manifest
from rtlgen.options import Choices, CompileOptions, options
from rtlgen.output.build_directory import build_directory
from rtlgen.output.flows import flow_named
from rtlgen.output.flows.render import write_flows
from rtlgen.output.testbench import testbench_cases, testbench_obstacle, write_testbench
from rtlgen.output.verilog import GeneratedVerilog, generate, manifest_of
from rtlgen.planning.compilation import Compilation
from rtlgen.poly.trips import loop_trips
from rtlgen.report.html import report_html, summary_html
from rtlgen.report.loops import iis_as_written
from rtlgen.report.nests import nest_report
from rtlgen.report.plan_report import plan_report
from rtlgen.report.tables import counted
from rtlgen.sim.lint import WAIVERS
from rtlgen.verify.c_oracle import COptions, Oracle, c_outcomes
from rtlgen.verify.cosim import Engine, Simulator, simulate
from rtlgen.verify.data import DataSets, given_data_set, random_data_sets
from rtlgen.verify.equivalence import Verification, verify_circuit, within_limit
from rtlgen.verify.inputs import Inputs, check_inputs, check_ranges
from rtlgen.verify.session import RunResult, Session
from rtlgen.verify.values import Elements, Limits, Value
from rtlgen.waves.instances import write_instances
from rtlgen.waves.save_file import show_in_gtkwave


class NoSuchStage(RtlgenError):
    """A program was asked for after a pass that it has not been through.

    `rtlgen emit-c FILE.c --after PASS` prints the program after one of the passes that it went
    through. With `--fuse none` the nests are not fused, so there is nothing after `fuse`. The
    message lists the passes.
    """

    code = "E0408"


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
    _data: dict[str, DataSets] = field(default_factory=dict, repr=False)

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
            with reporting_bugs():
                self._cache["verilog"] = generate(self.plan, self.options.top)
        return self._cache["verilog"]

    @property
    def block_rams(self) -> int:
        """Block RAMs of the target that the plan takes, all copies counted."""
        return block_rams(self.plan, self.compilation.target)

    @property
    def dsp(self) -> int:
        """Multiplier blocks that the plan takes; 0 on a target whose products are made of logic."""
        return blocks_on(self.plan, self.compilation.target)

    @property
    def manifest(self) -> Manifest:
        scop = self.compilation.analysis.program.scop
        return manifest_of(
            self.plan,
            self.verilog,
            file=f"{self.plan.name}.v",
            source=scop.source,
            version=VERSION,
            options=asdict(self.options),
            arrays=scop.arrays,
            scalars=scop.scalars,
            untouched=self.compilation.stages["prune"].untouched,
            top_kind=self.options.top,
        )

    @property
    def issued(self) -> tuple[IssuedStream, ...]:
        """Of every stream of the plan, which instances it issues, and where waves show that."""
        instances, points = self.compilation.instance_maps(), issue_points(self.plan)
        return tuple(map(IssuedStream, instances, points))

    @property
    def stages(self) -> tuple[str, ...]:
        """The passes that the program went through, in order."""
        return self.compilation.passes

    @without_frames
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
        return self.compilation.c_text(after)

    def faster(self) -> Offers:
        """Return what options would make the design faster, as far as it is soon known."""
        return faster(self.compilation, self.options)

    def report(self, *, with_faster: bool = False) -> dict[str, Any]:
        """Return the figures of the plan, as `rtlgen plan --json` prints them.

        Parameters
        ----------
        with_faster: as `rtlgen plan` does, plan other options too, to say what they would save.
        """
        compilation = self.compilation
        figures = {
            "version": VERSION,
            "target": compilation.target.name,
            "data_flow_replayed": compilation.replayed,
            "block_rams": self.block_rams,
            "dsp": self.dsp,
        }
        if self.options.floats.is_any:
            figures["float"] = self.options.floats.words
        scop = compilation.analysis.unrolled
        found, target = compilation.findings(), compilation.target
        report = plan_report(scop, self.plan, figures, self.nests(), found, target)
        return report | self.faster().to_json() if with_faster else report

    def nests(self) -> list[dict[str, Any]]:
        """Return the report on loop nests, as `rtlgen check --json` prints it."""
        analysis = self.compilation.analysis
        scop = analysis.unrolled
        trips = loop_trips(ScopSets(scop))
        own_iis = iis_as_written(analysis.skewed, analysis.pauses, self.plan)
        return nest_report(scop, trips, self.plan, analysis.written_dependences, own_iis)

    @without_frames
    def write(self, directory: str | Path, *, seed: int = 1, flows: Sequence[str] = ()) -> Path:
        """Write the build directory: Verilog, manifest, plan, reports and a test bench.

        Every file is made elsewhere first, so that a failure leaves the directory as it was.

        Parameters
        ----------
        seed: of the test bench's random data. flows: names of those that files are written for.

        Raises
        ------
        OutputDirectoryError: the directory cannot be written.
        BadOption: there is no such flow.
        """
        chosen = [flow_named(name) for name in flows]
        with reporting_bugs(), build_directory(Path(directory)) as staging:
            self._write_core(staging)
            self._write_testbench(staging, seed)
            write_flows(staging, self.manifest, chosen)
        return Path(directory)

    def _write_core(self, directory: Path) -> None:
        name, report, manifest = self.plan.name, self.report(), self.manifest
        source = self.compilation.analysis.program.scop.source
        (directory / f"{name}.v").write_text(self.verilog.text, encoding="utf-8")
        (directory / f"{name}.vlt").write_bytes(WAIVERS.read_bytes())
        write_manifest(directory, manifest)
        if manifest.registers is not None:
            # What reads SystemRDL takes 0.2 s to load: a kernel alone does not wait for it.
            from rtlgen.output.block.registers import write_block

            write_block(directory, manifest)
        _write_json(directory / "plan.json", plan_to_json(self.plan))
        write_instances(directory, self.issued)
        _write_json(directory / "report.json", report)
        (directory / "report.html").write_text(report_html(report, source), encoding="utf-8")

    @without_frames
    def data_sets(
        self, *, seed: int = 1, seeds: int = 1, ranges: Mapping[str, Limits] | None = None
    ) -> DataSets:
        """Return random data for the kernel, and what it shows of the program.

        Parameters
        ----------
        seeds: how many from `seed` on, each for one data set of every kind.
        ranges: smallest and largest value of arrays and scalars, by C name.

        Raises
        ------
        UnknownInputError, InputTypeError: about `ranges`.
        """
        scop = self.compilation.analysis.program.scop
        limits = check_ranges(ranges or {}, self.manifest)
        key = f"data {seed} {seeds} {sorted(limits.items())}"
        if key not in self._data:
            self._data[key] = random_data_sets(
                scop,
                seed=seed,
                seeds=seeds,
                limits=limits,
                left_out=self.compilation.dead_statements,
            )
        return self._data[key]

    @property
    def left_out(self) -> tuple[str, ...]:
        """What a limit leaves out of the build directory, a line each."""
        obstacle = testbench_obstacle(self.plan, self.manifest)
        return () if obstacle is None else (obstacle,)

    def _write_testbench(self, directory: Path, seed: int) -> None:
        if not self.left_out:
            cases = testbench_cases(self.manifest, self.data_sets(seed=seed))
            write_testbench(directory, self.manifest, cases)

    @without_frames
    def run(
        self,
        *,
        simulator: Simulator = "verilator",
        engine: Engine = "auto",
        trace: Path | None = None,
        inputs: Inputs | None = None,
        **arrays: Elements | Value | float,
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
            if trace is not None:
                show_in_gtkwave(trace, directory)
        return RunResult(result.arrays, result.returned, result.cycles)

    @without_frames
    def session(self, *, simulator: Simulator = "verilator") -> Session:
        """Load the circuit into a simulator, where it stays: for many runs, one after the other.

            with design.session() as session:
                out = session.run(A=a, B=b)

        On Icarus every run loads it anew, with the same results.

        Raises
        ------
        RtlgenError: a tool is missing.
        """
        return Session(self.manifest, self._write_core, simulator)

    @without_frames
    def verify(
        self,
        *,
        simulator: Simulator = "verilator",
        engine: Engine = "auto",
        seed: int = 1,
        seeds: int = 1,
        inputs: Inputs | None = None,
        ranges: Mapping[str, Limits] | None = None,
        oracle: Oracle = "golden",
        trace: Path | None = None,
        directory: Path | None = None,
    ) -> Verification:
        """Compare simulated runs with what the program computes: memory, checksum, cycles.

        Parameters
        ----------
        seed, seeds, ranges: of the random data, see `data_sets`.
        inputs: data to run on in place of random data, by C name.
        oracle: what says what is right: the golden model, or the C text through the machine's C
            compiler.
        directory: where to build and keep the simulation; a temporary one by default.

        Raises
        ------
        RtlgenError: about the data; a tool is missing, the run hangs, an output is undefined.
        """
        data = self._data_for(simulator, seed, seeds, inputs, ranges)
        expected = None
        if oracle == "gcc":
            program = self.compilation.analysis.program
            data, expected = c_outcomes(program.scop, data, self._c_compiler_options())
        with contextlib.ExitStack() as stack:
            if directory is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rtlgen-"))
                directory = Path(folder)
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise unwritable(directory, error.strerror) from error
            self._write_core(directory)
            verification = verify_circuit(
                directory,
                self.manifest,
                self.plan,
                data,
                expected=expected,
                oracle=oracle,
                seed=seed,
                simulator=simulator,
                engine=engine,
                trace=trace,
            )
            if trace is not None:
                show_in_gtkwave(trace, directory)
            return verification

    def _data_for(
        self,
        simulator: Simulator,
        seed: int,
        seeds: int,
        inputs: Inputs | None,
        ranges: Mapping[str, Limits] | None,
    ) -> DataSets:
        if inputs is None:
            data = self.data_sets(seed=seed, seeds=seeds, ranges=ranges)
            return within_limit(data, self.manifest, simulator)
        scop = self.compilation.analysis.program.scop
        given, dead = check_inputs(inputs, self.manifest), self.compilation.dead_statements
        return given_data_set(scop, "as given", given, dead)

    def _c_compiler_options(self) -> COptions:
        analysis = self.compilation.analysis
        return COptions(
            self.options.defines,
            self.options.include_dirs,
            is_reordered=self.options.floats.is_any,
            is_cut=any(warning.code == "W0103" for warning in analysis.program.warnings),
        )


def _write_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def compile_design(path: str | Path, options: CompileOptions) -> Design:
    """Compile a C file to a design.

    Raises
    ------
    RtlgenError: the program or an option is refused.
    """
    return Design(compile_program(parse(Path(path), options), options), options)


@without_frames
def compile(
    path: str | Path | None = None, *, source: str | None = None, **choices: Unpack[Choices]
) -> Design:
    """Compile the kernel of a C file, or of C text.

    Parameters
    ----------
    source: C text in place of a file; with it, `path` is only the name that messages show.

    Raises
    ------
    RtlgenError: the program or an option is refused; its `diagnostic` says where and why.
    TypeError: there is neither a path nor a source, or no such option.
    ValueError: an option has no such value.
    """
    chosen = CompileOptions.from_python(choices)
    if source is None and path is None:
        raise TypeError("compile() needs a path or a source")
    with reporting_bugs():
        if source is not None:
            program = parse_source(source, str(path or "kernel.c"), chosen)
        else:
            program = parse(Path(path or ""), chosen)
        return Design(compile_program(program, chosen), chosen)


def _describe() -> None:
    """Give `compile` the signature and the list of options that `help` shows."""
    types = get_type_hints(Choices)
    own = [
        parameter
        for parameter in inspect.signature(compile).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    keyword = inspect.Parameter.KEYWORD_ONLY
    described = [
        inspect.Parameter(each.python, keyword, default=each.default, annotation=types[each.python])
        for each in options()
    ]
    signature = inspect.Signature([*own, *described], return_annotation=Design)
    compile.__signature__ = signature  # type: ignore[attr-defined]
    lines = [f"    {each.python}: {each.help}" for each in options()]
    head, raises, tail = (compile.__doc__ or "").partition("\n    Raises\n")
    compile.__doc__ = head + "\n".join(lines) + "\n" + raises + tail


_describe()
