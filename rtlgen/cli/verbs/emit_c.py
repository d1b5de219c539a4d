"""`rtlgen emit-c`."""

from __future__ import annotations

from pathlib import Path

import click

from rtlgen.cli.compiling import compiled
from rtlgen.cli.output import Verbosity, print_json
from rtlgen.options import BadOption, CompileOptions
from rtlgen.system.files import write_file


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
