"""Where things are printed: results on stdout, diagnostics and progress on stderr."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import click
from rich.console import Console

from rtlgen.errors import Diagnostic
from rtlgen.source import SourceFile

_progress = Console(stderr=True)


def print_json(document: object) -> None:
    """Print one JSON document on stdout."""
    click.echo(json.dumps(document, indent=1))


def print_diagnostic(diagnostic: Diagnostic, sources: Mapping[str, SourceFile]) -> None:
    """Print a diagnostic with its source lines on stderr."""
    click.echo(diagnostic.render(sources), err=True)


def print_warnings(
    warnings: Sequence[Diagnostic], sources: Mapping[str, SourceFile], quiet: bool
) -> None:
    """Print warnings on stderr, unless they are not wanted."""
    for warning in () if quiet else warnings:
        print_diagnostic(warning, sources)


@contextmanager
def progress(what: str, quiet: bool) -> Iterator[None]:
    """Show that `what` is being done, on a terminal only."""
    if quiet or not _progress.is_terminal:
        yield
        return
    with _progress.status(what):
        yield
