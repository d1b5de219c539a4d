"""The verbs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rtlgen.analysis import analyse
from rtlgen.cli.bench import bench
from rtlgen.cli.emit import emit_c
from rtlgen.cli.errors import BadOption, CheckFailed, NotEquivalent, UnknownCode
from rtlgen.cli.options import (
    compile_options,
    dump_option,
    json_option,
    seed_option,
    simulator_option,
    source_argument,
    trace_option,
)
from rtlgen.cli.output import print_diagnostic, print_json, print_warnings, progress
from rtlgen.design import VERSION, Design, Verification
from rtlgen.driver import compile_program, parse, quoting
from rtlgen.errors import Diagnostic, RtlgenError, long_forms
from rtlgen.flow.synth import SYNTHESIS_TARGETS, synthesise
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan_text import plan_text, scop_text
from rtlgen.manifest import read_manifest, read_verilog
from rtlgen.options import CompileOptions
from rtlgen.poly.describe import dependence_rows
from rtlgen.report.nest_text import nests_text
from rtlgen.report.tables import text_table
from rtlgen.report.text import counted, plan_report_text
from rtlgen.verify.checksum import checksum, format_checksum
from rtlgen.verify.cosim import simulate
from rtlgen.verify.inputs import load_inputs, save_outputs


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="rtlgen")
@click.option("-q", "--quiet", is_flag=True, help="No warnings, no progress.")
@click.pass_context
def cli(context: click.Context, quiet: bool) -> None:
    """Affine C loop nests to Verilog, one iteration a clock cycle, proven equal.

    Exit status: 0 done, 1 a check failed, 2 the input was refused, 3 a tool is missing.
    """
    context.obj = quiet


@cli.command(epilog="Example: rtlgen check examples/gemm/gemm.c")
@source_argument
@compile_options
@json_option
@click.pass_obj
def check(quiet: bool, file: str, options: CompileOptions, as_json: bool) -> None:
    """Is the program supported; what becomes of its loop nests, here and in other tools."""
    design = _compiled(file, options, quiet)
    program, nests = design.compilation.analysis.program, design.nests()
    statements: list[dict[str, Any]] = [
        {"name": s.name, "line": s.span.line, "text": s.text, "loops": list(s.iterators)}
        for s in program.scop.statements
    ]
    if as_json:
        print_json(
            {
                "kernel": program.scop.name,
                "supported": True,
                "nests": nests,
                "statements": statements,
                "warnings": [warning.to_json() for warning in design.compilation.warnings],
            }
        )
        return
    size = f"{counted(len(statements), 'statement')}, {predicted_cycles(design.plan):,} cycles"
    click.echo(f"{program.scop.name}: supported, {size}")
    rows = [[s["name"], s["line"], ", ".join(s["loops"]), s["text"]] for s in statements]
    click.echo(text_table(["statement", "line", "loops", "text"], rows))
    if nests:
        click.echo(f"\n{nests_text(nests)}")


@cli.command(epilog="Example: rtlgen deps examples/mms_d/mms_d.c")
@source_argument
@compile_options
@json_option
@click.pass_obj
def deps(quiet: bool, file: str, options: CompileOptions, as_json: bool) -> None:
    """Show the dependences: kind, distance or relation, source lines."""
    program = parse(Path(file), options)
    with quoting(program):
        analysis = analyse(program)
        found = dependence_rows(analysis.sets, analysis.dependences)
    print_warnings(analysis.warnings, program.sources, quiet)
    if as_json:
        print_json({"kernel": program.scop.name, "dependences": found})
        return
    rows = [
        [
            d["kind"],
            f"{d['source']} {d['source_access']}",
            d["source_line"],
            f"{d['sink']} {d['sink_access']}",
            d["sink_line"],
            d["relation"] if d["distance"] is None else f"({', '.join(map(str, d['distance']))})",
        ]
        for d in found
    ]
    click.echo(text_table(["kind", "source", "line", "sink", "line", "distance/relation"], rows))


@cli.command(epilog="Example: rtlgen plan examples/mms_d/mms_d.c --shift S1=25")
@source_argument
@compile_options
@dump_option
@json_option
@click.pass_obj
def plan(
    quiet: bool, file: str, options: CompileOptions, dump_after: str | None, as_json: bool
) -> None:
    """Show what will be built: orders, pads, shifts, II, ports, predicted cycles."""
    design = _compiled(file, options, quiet)
    _print_dump(design, dump_after, as_json)
    report = design.report()
    if as_json:
        print_json(report)
    elif dump_after is None:
        click.echo(plan_report_text(report))


@cli.command(epilog="Example: rtlgen build examples/gemm/gemm.c -o build/gemm")
@source_argument
@click.option("-o", "output", required=True, metavar="DIR", help="Build directory.")
@compile_options
@dump_option
@seed_option
@json_option
@click.pass_obj
def build(
    quiet: bool,
    file: str,
    output: str,
    options: CompileOptions,
    dump_after: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Write Verilog, manifest, reports and a self-checking test bench."""
    design = _compiled(file, options, quiet)
    _print_dump(design, dump_after, as_json)
    with progress("building the circuit", quiet):
        directory = design.write(output, seed=seed)
    manifest = design.manifest
    if as_json:
        print_json(
            {
                "directory": str(directory),
                "verilog": manifest.verilog.file,
                "top": manifest.top,
                "predicted_cycles": manifest.predicted_cycles,
            }
        )
    else:
        click.echo(
            f"{directory / manifest.verilog.file}: module {manifest.top}, "
            f"{manifest.predicted_cycles} cycles from start to done"
        )


@cli.command(
    epilog="Example: rtlgen run build/gemm --inputs in.npz --outputs out.npz --simulator icarus"
)
@click.argument("directory", metavar="DIR")
@click.option("--inputs", required=True, metavar="IN.npz", help="Arrays and scalars by C name.")
@click.option("--outputs", required=True, metavar="OUT.npz", help="Every array after the run.")
@simulator_option
@trace_option
@json_option
@click.pass_obj
def run(
    quiet: bool,
    directory: str,
    inputs: str,
    outputs: str,
    simulator: Any,
    trace: str | None,
    as_json: bool,
) -> None:
    """Simulate a built circuit on given arrays."""
    manifest = read_manifest(Path(directory))
    given = load_inputs(Path(inputs), manifest)
    with progress(f"simulating {manifest.name}", quiet):
        result = simulate(
            Path(directory),
            manifest,
            given,
            simulator=simulator,
            trace=Path(trace) if trace else None,
        )
    save_outputs(Path(outputs), result.arrays, result.returned)
    written = [result.arrays[a.name] for a in manifest.host_arrays if a.role in ("out", "inout")]
    value = format_checksum(checksum(written))
    if as_json:
        print_json(
            {
                "cycles": result.cycles,
                "simulator": simulator,
                "checksum": value,
                "seconds": round(result.seconds, 3),
            }
        )
    else:
        click.echo(f"{manifest.name}: {result.cycles} cycles, checksum {value} ({simulator})")


@cli.command(epilog="Example: rtlgen verify examples/*/*.c --simulator icarus")
@click.argument("files", nargs=-1, required=True, metavar="FILE.c...")
@compile_options
@simulator_option
@seed_option
@trace_option
@click.option("--keep", metavar="DIR", help="Keep what was built and simulated in DIR/KERNEL.")
@json_option
@click.pass_obj
def verify(
    quiet: bool,
    files: tuple[str, ...],
    options: CompileOptions,
    simulator: Any,
    seed: int,
    trace: str | None,
    keep: str | None,
    as_json: bool,
) -> None:
    """Prove equivalence: build, simulate on random data, compare memory, checksum and cycles."""
    outcomes = []
    for file in files:
        design = _compiled(file, options, quiet)
        with progress(f"simulating {design.plan.name} on {simulator}", quiet):
            outcome = design.verify(
                simulator=simulator,
                seed=seed,
                trace=Path(trace) if trace else None,
                directory=Path(keep) / design.plan.name if keep else None,
            )
        outcomes.append(outcome)
        _print_events(design, outcome, quiet)
        if not as_json:
            click.echo(_verdict(outcome))
    if as_json:
        documents = [outcome.to_json() for outcome in outcomes]
        print_json(documents[0] if len(documents) == 1 else documents)
    failed = [outcome for outcome in outcomes if not outcome.exact]
    if failed:
        raise NotEquivalent(
            f"{', '.join(outcome.kernel for outcome in failed)} differ from the golden model"
            if len(failed) > 1
            else f"{failed[0].kernel} differs from the golden model",
            notes=[line for outcome in failed for line in outcome.failures],
            help=f"report the C file with --seed {seed}",
        )


def _print_events(design: Design, outcome: Verification, quiet: bool) -> None:
    program = design.compilation.analysis.program
    diagnostics = [event.diagnostic(program.scop) for event in outcome.golden.events]
    print_warnings(diagnostics, program.sources, quiet)


def _verdict(outcome: Verification) -> str:
    verdict = "exact" if outcome.exact else "DIFFERENT"
    return (
        f"{outcome.kernel}: {verdict}, {outcome.comparison.elements} elements, checksum "
        f"{format_checksum(outcome.checksum)}, {outcome.cycles} cycles "
        f"(predicted {outcome.predicted_cycles}), {outcome.simulator}, seed {outcome.seed}"
    )


@cli.command(epilog="Example: rtlgen synth build/gemm --target ecp5")
@click.argument("directory", metavar="DIR")
@click.option(
    "--target",
    type=click.Choice(SYNTHESIS_TARGETS),
    default="ecp5",
    show_default=True,
    help="FPGA family.",
)
@click.option("--clock-mhz", type=float, default=130.0, show_default=True, help="Clock to aim at.")
@json_option
@click.pass_obj
def synth(quiet: bool, directory: str, target: Any, clock_mhz: float, as_json: bool) -> None:
    """Measure LUT, FF, DSP, block RAM and Fmax with yosys and nextpnr."""
    manifest = read_manifest(Path(directory))
    verilog = read_verilog(Path(directory), manifest)
    with progress(f"synthesising {manifest.top} for {target}", quiet):
        report = synthesise(verilog, manifest.top, target, clock_mhz=clock_mhz)
    if as_json:
        print_json(report.to_json())
        return
    placed = report.fmax_mhz is not None
    fmax = f"{report.fmax_mhz:.1f} MHz on {report.device}" if placed else "not placed"
    click.echo(
        f"{report.top} on {target}: {report.lut} LUT, {report.ff} FF, {report.dsp} DSP, "
        f"{report.block_ram} block RAM, {fmax}"
    )


@cli.command(epilog="Example: rtlgen explain E0203")
@click.argument("code", required=False)
@json_option
def explain(code: str | None, as_json: bool) -> None:
    """Print the long form of a diagnostic."""
    texts = long_forms()
    if code is None:
        summaries = {known: text.splitlines()[0] for known, text in texts.items()}
        if as_json:
            print_json(summaries)
        else:
            for known, summary in summaries.items():
                click.echo(f"{known}  {summary}")
        return
    wanted = code.upper().strip("[]")
    if wanted not in texts:
        raise UnknownCode(f"there is no diagnostic {code}", help="rtlgen explain lists them all")
    if as_json:
        print_json({"code": wanted, "text": texts[wanted]})
    else:
        click.echo(f"{wanted}: {texts[wanted]}")


cli.add_command(bench)
cli.add_command(emit_c)


def _compiled(file: str, options: CompileOptions, quiet: bool) -> Design:
    with progress(f"compiling {file}", quiet):
        program = parse(Path(file), options)
        compilation = compile_program(program, options)
    print_warnings(compilation.warnings, program.sources, quiet)
    return Design(compilation, options)


def _print_dump(design: Design, name: str | None, as_json: bool) -> None:
    """Print the program after pass `name`; stdout is kept for a JSON document."""
    if name is None:
        return
    stages = design.compilation.stages
    if name == "plan":
        text = plan_text(design.plan)
    else:
        text = scop_text(stages.get(name, stages["flatten"]))
    click.echo(text, err=as_json)


def main() -> None:
    """Run the command line, and exit."""
    arguments = sys.argv[1:]
    try:
        cli.main(args=arguments, prog_name="rtlgen", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        if "--json" in arguments:
            refused = Diagnostic(BadOption.code, error.format_message())
            print_json({"diagnostics": [refused.to_json()]})
        error.show()
        sys.exit(error.exit_code)
    except RtlgenError as error:
        if "--json" in arguments and not isinstance(error, CheckFailed):
            print_json({"diagnostics": [d.to_json() for d in error.diagnostics]})
        for diagnostic in error.diagnostics:
            print_diagnostic(diagnostic, error.sources)
        sys.exit(error.exit_code)
