"""The program `rtlgen`: what becomes of what its verbs raise."""

from __future__ import annotations

import shlex
import sys
import traceback
from typing import NoReturn

import click

from rtlgen.cli.errors import CheckFailed
from rtlgen.cli.interface import VerbGroup, verbosity_options
from rtlgen.cli.output import Verbosity, print_error, print_json
from rtlgen.errors import VERSION, Diagnostic, InternalError, RtlgenError
from rtlgen.options import BadOption
from rtlgen.system.memory_limit import memory_limit_mb, too_much_memory


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="rtlgen")
@click.pass_context
def cli(context: click.Context) -> None:
    """Affine C loop nests to Verilog, one iteration a clock cycle, proven equal.

    Exit status: 0 done, 1 a check failed, 2 the input was refused, 3 a tool is missing.
    """
    context.obj = context.obj or Verbosity.NORMAL


cli.params += verbosity_options()


def main() -> None:
    """Run the command line, and exit."""
    arguments = sys.argv[1:]
    try:
        memory_limit_mb()
        cli.main(args=arguments, prog_name="rtlgen", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        if "--json" in arguments:
            refused = Diagnostic(BadOption.code, error.format_message())
            print_json({"diagnostics": [refused.to_json()]})
        error.show()
        sys.exit(error.exit_code)
    except MemoryError:
        _refuse(too_much_memory(memory_limit_mb()), arguments)
    except RtlgenError as error:
        _refuse(error, arguments)
    except Exception as error:
        # The one place that catches everything: a user gets no bare traceback.
        if not {"-v", "--verbose"}.isdisjoint(arguments):
            traceback.print_exception(error)
        command = shlex.join(["rtlgen", *arguments])
        _refuse(InternalError.of(error, command), arguments)


def _refuse(error: RtlgenError, arguments: list[str]) -> NoReturn:
    print_error(error, as_json="--json" in arguments and not isinstance(error, CheckFailed))
    sys.exit(error.exit_code)
