"""`rtlgen verify`: its verdict on each file, and what it said when it was asked the same before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from rtlgen.cli.errors import NotEquivalent
from rtlgen.cli.output import KNOWN, Verbosity, print_json, progress
from rtlgen.design import Design
from rtlgen.driver import compile_program, parse
from rtlgen.errors import Diagnostic
from rtlgen.frontend import ParsedProgram
from rtlgen.options import BadOption, CompileOptions
from rtlgen.system.cache import Answer, question, recall, remember
from rtlgen.system.tools import find_tool
from rtlgen.verify.inputs import digest_of, load_inputs
from rtlgen.verify.loading import simulation_programs
from rtlgen.verify.values import Limits


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
    asked, programs: what else decides it, see `rtlgen.system.cache.question`.
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


def verify(
    verbosity: Verbosity,
    files: tuple[str, ...],
    options: CompileOptions,
    simulator: Any,
    seed: int,
    seeds: int,
    ranges: tuple[str, ...],
    inputs: str | None,
    oracle: Any,
    trace: str | None,
    keep: str | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Prove equivalence: build, simulate on several data sets, compare memory, checksum, cycles."""
    limits = dict(map(_range, ranges))
    # What is missing is told before the work begins.
    programs = simulation_programs(simulator)
    if oracle == "gcc":
        programs += (find_tool("gcc", "cc"),)
    asked = {
        "simulator": simulator,
        "seed": seed,
        "seeds": seeds,
        "ranges": limits,
        "inputs": digest_of(inputs),
        "oracle": oracle,
    }

    def prove(design: Design) -> Verdict:
        with progress(f"simulating {design.plan.name} on {simulator}", verbosity):
            outcome = design.verify(
                simulator=simulator,
                seed=seed,
                seeds=seeds,
                ranges=limits,
                inputs=load_inputs(Path(inputs), design.manifest) if inputs else None,
                oracle=oracle,
                trace=Path(trace) if trace else None,
                directory=Path(keep) / design.plan.name if keep else None,
            )
        program = design.compilation.analysis.program
        return Verdict(
            outcome.kernel,
            outcome.exact,
            outcome.to_json(),
            (outcome.text(), *design.compilation.remarks),
            rendered(outcome.data.diagnostics(program.scop), program),
            outcome.failures or (f"{outcome.kernel}: nothing was compared",),
        )

    outcomes = []
    for file in files:
        # Who wants files wants them made.
        again = fresh or trace is not None or keep is not None
        verdict = verdict_on(
            file, options, asked, programs, prove, fresh=again, verbosity=verbosity
        )
        outcomes.append(verdict)
        for line in () if as_json else verdict.lines:
            click.echo(line)
    if as_json:
        documents = [outcome.document for outcome in outcomes]
        print_json(documents[0] if len(documents) == 1 else documents)
    failed = [outcome for outcome in outcomes if not outcome.exact]
    if failed:
        what = "the golden model" if oracle == "golden" else "the compiled C program"
        raise NotEquivalent(
            f"{', '.join(outcome.kernel for outcome in failed)} differ from {what}"
            if len(failed) > 1
            else f"{failed[0].kernel} differs from {what}",
            notes=[line for outcome in failed for line in outcome.failures],
            help=f"report the C file with --seed {seed}",
        )


def _range(text: str) -> tuple[str, Limits]:
    name, _, limits = text.partition("=")
    low, dots, high = limits.partition("..")
    try:
        if not name or not dots:
            raise ValueError
        return name, _limits(low, high)
    except ValueError:
        raise BadOption(
            f"--range {text} is no range", help="write --range x=-128..127, or x=-1.0..1.0"
        ) from None


def _limits(low: str, high: str) -> Limits:
    try:
        return int(low, 0), int(high, 0)
    except ValueError:
        return float(low), float(high)
