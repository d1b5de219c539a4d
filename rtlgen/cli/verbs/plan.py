"""`rtlgen plan`."""

from __future__ import annotations

import click

from rtlgen.cli.compiling import compile_options, compiled, dump_option, print_dump
from rtlgen.cli.options import json_option, source_argument
from rtlgen.cli.output import Verbosity, print_json
from rtlgen.cli.verb import verb
from rtlgen.options import CompileOptions
from rtlgen.report.text import plan_report_text


@verb("plan", example="rtlgen plan examples/mms_d/mms_d.c --shift S1=25")
@source_argument
@compile_options
@dump_option
@json_option
@click.pass_obj
def plan(
    verbosity: Verbosity, file: str, options: CompileOptions, dump_after: str | None, as_json: bool
) -> None:
    """Show what will be built: orders, pads, shifts, II, ports, predicted cycles."""
    design = compiled(file, options, verbosity)
    print_dump(design, dump_after, as_json)
    report = design.report()
    if as_json:
        print_json(report)
    elif dump_after is None:
        click.echo(plan_report_text(report))
