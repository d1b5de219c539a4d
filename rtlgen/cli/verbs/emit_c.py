"""`rtlgen emit-c`."""

from __future__ import annotations

from pathlib import Path

import click

from rtlgen.cli.compiling import compile_options, compiled
from rtlgen.cli.errors import BadOption
from rtlgen.cli.options import json_option, source_argument
from rtlgen.cli.output import Verbosity, print_json
from rtlgen.cli.verb import verb
from rtlgen.driver import TILED_PASSES, TRANSFORMS
from rtlgen.options import CompileOptions
from rtlgen.system.files import write_file


@verb("emit-c", example="rtlgen emit-c examples/mms_d/mms_d.c --after fuse")
@source_argument
@click.option(
    "--after",
    type=click.Choice(list(dict.fromkeys((*TRANSFORMS, *TILED_PASSES)))),
    metavar="PASS",
    help=f"The last pass that the program has been through: {', '.join(TRANSFORMS)}; with arrays "
    f"off chip {', '.join(TILED_PASSES)}.  [default: the last transform]",
)
@click.option("-o", "output", metavar="FILE", help="Write the C to FILE, not to stdout.")
@compile_options
@json_option
@click.pass_obj
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
