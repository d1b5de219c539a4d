"""Where things are printed: results on stdout, diagnostics and progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum

import click

from rtlgen.errors import Diagnostic, RtlgenError
from rtlgen.source import SourceFile

KNOWN = " (known from an earlier run; --fresh does it again)"


class Verbosity(Enum):
    """How much is told on stderr beside errors: nothing, warnings, or every step too."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


def print_json(document: object) -> None:
    """Print one JSON document on stdout."""
    click.echo(json.dumps(document, indent=1))


def print_diagnostic(diagnostic: Diagnostic, sources: Mapping[str, SourceFile]) -> None:
    """Print a diagnostic with its source lines on stderr."""
    click.echo(diagnostic.render(sources), err=True)


def print_error(error: RtlgenError, *, as_json: bool) -> None:
    """Print what was refused on stderr, and as the one JSON document on stdout."""
    if as_json:
        print_json({"diagnostics": [diagnostic.to_json() for diagnostic in error.diagnostics]})
    for diagnostic in error.diagnostics:
        print_diagnostic(diagnostic, error.sources)


def print_warnings(
    warnings: Sequence[Diagnostic], sources: Mapping[str, SourceFile], verbosity: Verbosity
) -> None:
    """Print warnings on stderr, unless they are not wanted."""
    for warning in () if verbosity is Verbosity.QUIET else warnings:
        print_diagnostic(warning, sources)


@contextmanager
def progress(what: str, verbosity: Verbosity) -> Iterator[None]:
    """Show that `what` is being done: on a terminal while it lasts, with -v a line for good."""
    if verbosity is Verbosity.VERBOSE:
        begin = time.monotonic()
        yield
        click.echo(f"{what}: {time.monotonic() - begin:.2f} s", err=True)
    elif verbosity is Verbosity.QUIET or not sys.stderr.isatty():
        yield
    else:
        # Imported late: scripts, which have no terminal, do without it.
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield
