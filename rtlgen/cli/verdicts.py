"""What `verify` says of one file, and what it said when it was asked the same before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from rtlgen.cli.output import KNOWN, Verbosity, progress
from rtlgen.design import Design
from rtlgen.driver import compile_program, parse
from rtlgen.errors import Diagnostic
from rtlgen.frontend import ParsedProgram
from rtlgen.options import CompileOptions
from rtlgen.system.result_cache import Answer, question, recall, remember


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is printed about one file.

    Members
    -------
    document: for --json. lines: for a reader. warnings: as they are shown.
    failures: what is wrong, a sentence each.
    """

    kernel: str
    exact: bool
    document: Mapping[str, Any]
    lines: Sequence[str]
    warnings: Sequence[str]
    failures: Sequence[str]

    @staticmethod
    def of_answer(answer: Answer) -> Verdict:
        """Return a verdict that was kept."""
        known = Verdict(**answer)
        return replace(
            known,
            document={**known.document, "cached": True},
            lines=[known.lines[0] + KNOWN, *known.lines[1:]],
        )


def verdict_on(
    file: str,
    options: CompileOptions,
    asked: Mapping[str, Any],
    programs: Sequence[str],
    prove: Callable[[Design], Verdict],
    *,
    fresh: bool,
    verbosity: Verbosity,
) -> Verdict:
    """Return the verdict on a file: one that was kept, or else what `prove` finds.

    Only a verdict of exactness is kept, and only for the same text of all files that were read.

    Parameters
    ----------
    asked, programs: what else decides it, see `rtlgen.system.result_cache.question`.
    """
    with progress(f"reading {file}", verbosity):
        program = parse(Path(file), options)
    texts = {path: source.text for path, source in program.sources.items()}
    key = question("verify", {"texts": texts, "options": asdict(options), **asked}, programs)
    known = None if fresh else recall(key)
    if known is not None:
        verdict = Verdict.of_answer(known)
    else:
        with progress(f"compiling {file}", verbosity):
            compilation = compile_program(program, options)
        verdict = prove(Design(compilation, options))
        shown = [*rendered(compilation.warnings, program), *verdict.warnings]
        verdict = replace(verdict, warnings=shown, document={**verdict.document, "cached": False})
        if verdict.exact:
            remember(key, asdict(verdict))
    for text in () if verbosity is Verbosity.QUIET else verdict.warnings:
        click.echo(text, err=True)
    return verdict


def rendered(diagnostics: Sequence[Diagnostic], program: ParsedProgram) -> list[str]:
    """Return diagnostics as they are shown."""
    return [diagnostic.render(program.sources) for diagnostic in diagnostics]
