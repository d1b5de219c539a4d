"""`rtlgen plan`."""

from __future__ import annotations

import click

from rtlgen.cli.compiling import compiled, print_dump
from rtlgen.cli.output import Verbosity, print_json
from rtlgen.options import CompileOptions
from rtlgen.report.text import plan_report_text


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
