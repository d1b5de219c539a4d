"""What verbs that compile share: the design, and its dumps."""

from __future__ import annotations

from pathlib import Path

import click

from rtlgen.cli.output import Verbosity, print_warnings, progress
from rtlgen.design import Design
from rtlgen.driver import compile_program, parse
from rtlgen.ir.plan_text import plan_text, scop_text
from rtlgen.options import CompileOptions


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
