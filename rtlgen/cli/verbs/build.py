"""`rtlgen build`."""

from __future__ import annotations

import click

from rtlgen.cli.compiling import compiled, print_dump
from rtlgen.cli.output import Verbosity, print_json, progress
from rtlgen.options import CompileOptions
from rtlgen.output.flows import flow_named


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
