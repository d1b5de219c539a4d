"""What every verb has: `-q`, `-v`, and its form."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from rtlgen.cli.output import Verbosity

Command = Callable[..., Any]


def verbosity_options(command: Command) -> Command:
    """Give a command `-q` and `-v`; `click.pass_obj` hands it the `Verbosity`."""
    for flags, level, text in (
        (("-v", "--verbose"), Verbosity.VERBOSE, "Name each step, and the seconds it took."),
        (("-q", "--quiet"), Verbosity.QUIET, "No warnings, no progress."),
    ):
        command = click.option(
            *flags,
            is_flag=True,
            expose_value=False,
            callback=functools.partial(_set_verbosity, level),
            help=text,
        )(command)
    return command


def _set_verbosity(
    level: Verbosity, context: click.Context, _: click.Parameter, given: bool
) -> None:
    if given:
        context.obj = level


def verb(name: str, *, example: str) -> Callable[[Command], click.Command]:
    """Make a function a verb, with `-q` and `-v` and an example in its help."""

    def with_form(function: Command) -> click.Command:
        command = verbosity_options(function)
        return click.command(name, epilog=f"Example: {example}")(command)

    return with_form
