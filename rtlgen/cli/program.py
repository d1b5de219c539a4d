"""The program `rtlgen`: its verbs, and what becomes of what they raise."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from rtlgen.cli.errors import BadOption, CheckFailed
from rtlgen.cli.output import Verbosity, print_error, print_json
from rtlgen.cli.verb import verbosity_options
from rtlgen.cli.verbs import VERBS, command_of
from rtlgen.errors import Diagnostic, RtlgenError
from rtlgen.system.memory_limit import memory_limit_mb, too_much_memory
from rtlgen.version import VERSION


class VerbGroup(click.Group):
    """The verbs, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_of(cmd_name) if cmd_name in VERBS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="rtlgen")
@verbosity_options
@click.pass_context
def cli(context: click.Context) -> None:
    """Affine C loop nests to Verilog, one iteration a clock cycle, proven equal.

    Exit status: 0 done, 1 a check failed, 2 the input was refused, 3 a tool is missing.
    """
    context.obj = context.obj or Verbosity.NORMAL


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


def _refuse(error: RtlgenError, arguments: list[str]) -> NoReturn:
    print_error(error, as_json="--json" in arguments and not isinstance(error, CheckFailed))
    sys.exit(error.exit_code)
