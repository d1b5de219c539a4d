"""What is made of one C file: `rtlgen check`, `plan`, `build` and `emit-c`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rtlgen.cli.output import Verbosity, print_json, print_warnings, progress
from rtlgen.design import Design
from rtlgen.driver import compile_program, parse
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan_text import plan_text, scop_text
from rtlgen.options import BadOption, CompileOptions
from rtlgen.output.flows import flow_named
from rtlgen.report.tables import counted, text_table
from rtlgen.report.text import nests_text, plan_report_text
from rtlgen.system.files import write_file


def compiled(file: str, options: CompileOptions, verbosity: Verbosity) -> Design:
    """Compile a C file, and print the warnings."""
    with progress(f"compiling {file}", verbosity):
        program = parse(Path(file), options)
        compilation = compile_program(program, options)
    print_warnings(compilation.warnings, program.sources, verbosity)
    return Design(compilation, options)


def print_dump(design: Design, name: str | None, as_json: bool) -> None:
    """Print the program after pass `name`; stdout is kept for a JSON document."""
    if name is None:
        return
    stages = design.compilation.stages
    if name == "lower":
        text = design.compilation.analysis.program.lowered
    elif name == "plan":
        text = plan_text(design.plan)
    else:
        # A pass that the program did not go through left it as it was: that is, as it is.
        text = scop_text(stages.get(name, list(stages.values())[-1]))
    click.echo(text, err=as_json)


def check(verbosity: Verbosity, file: str, options: CompileOptions, as_json: bool) -> None:
    """Is the program supported; what becomes of its loop nests, here and in other tools."""
    design = compiled(file, options, verbosity)
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


def plan(
    verbosity: Verbosity, file: str, options: CompileOptions, dump_after: str | None, as_json: bool
) -> None:
    """Show what will be built: orders, pads, shifts, II, ports, predicted cycles."""
    design = compiled(file, options, verbosity)
    print_dump(design, dump_after, as_json)
    if dump_after is not None and not as_json:
        return
    report = design.report(with_faster=True)
    if as_json:
        print_json(report)
    else:
        click.echo(plan_report_text(report, with_tried=verbosity is Verbosity.VERBOSE))


def build(
    verbosity: Verbosity,
    file: str,
    output: str,
    options: CompileOptions,
    dump_after: str | None,
    seed: int,
    flows: str,
    as_json: bool,
) -> None:
    """Write Verilog, manifest, reports and a self-checking test bench."""
    names = tuple(filter(None, flows.split(",")))
    for name in names:
        flow_named(name)  # What is mistyped is told before the work begins.
    design = compiled(file, options, verbosity)
    print_dump(design, dump_after, as_json)
    with progress("building the circuit", verbosity):
        directory = design.write(output, seed=seed, flows=names)
    manifest = design.manifest
    if as_json:
        print_json(
            {
                "directory": str(directory),
                "verilog": manifest.verilog.file,
                "top": manifest.top,
                "predicted_cycles": manifest.predicted_cycles,
                "flows": list(names),
                "left_out": list(design.left_out),
            }
        )
    else:
        click.echo(
            f"{directory / manifest.verilog.file}: module {manifest.top}, "
            f"{manifest.predicted_cycles} cycles from start to done"
        )
        for line in (*design.compilation.remarks, *design.left_out):
            click.echo(line)


def emit_c(
    verbosity: Verbosity,
    file: str,
    after: str | None,
    output: str | None,
    options: CompileOptions,
    as_json: bool,
) -> None:
    """Print the program after a pass as C that computes the same."""
    design = compiled(file, options, verbosity)
    stage = after or design.stages[-1]
    text = design.c_text(stage)
    if output is not None:
        _write(Path(output), text)
    if as_json:
        print_json({"kernel": design.plan.name, "after": stage, "file": output, "c": text})
    elif output is None:
        click.echo(text, nl=False)


def _write(path: Path, text: str) -> None:
    try:
        write_file(path, text.encode())
    except OSError as error:
        raise BadOption(
            f"cannot write {path}: {error.strerror}", help="choose another -o FILE"
        ) from error
