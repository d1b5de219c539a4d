"""`rtlgen verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rtlgen.cli.compiling import compile_options, compiled
from rtlgen.cli.errors import NotEquivalent
from rtlgen.cli.options import json_option, seed_option, simulator_option, trace_option
from rtlgen.cli.output import Verbosity, print_json, print_warnings, progress
from rtlgen.cli.verb import verb
from rtlgen.design import Design, Verification
from rtlgen.options import CompileOptions
from rtlgen.verify.checksum import format_checksum


@verb("verify", example="rtlgen verify examples/*/*.c --simulator icarus")
@click.argument("files", nargs=-1, required=True, metavar="FILE.c...")
@compile_options
@simulator_option
@seed_option
@trace_option
@click.option("--keep", metavar="DIR", help="Keep what was built and simulated in DIR/KERNEL.")
@json_option
@click.pass_obj
def verify(
    verbosity: Verbosity,
    files: tuple[str, ...],
    options: CompileOptions,
    simulator: Any,
    seed: int,
    trace: str | None,
    keep: str | None,
    as_json: bool,
) -> None:
    """Prove equivalence: build, simulate on random data, compare memory, checksum and cycles."""
    outcomes = []
    for file in files:
        design = compiled(file, options, verbosity)
        with progress(f"simulating {design.plan.name} on {simulator}", verbosity):
            outcome = design.verify(
                simulator=simulator,
                seed=seed,
                trace=Path(trace) if trace else None,
                directory=Path(keep) / design.plan.name if keep else None,
            )
        outcomes.append(outcome)
        _print_events(design, outcome, verbosity)
        if not as_json:
            click.echo(_verdict(outcome))
            for line in design.compilation.unproven:
                click.echo(line)
    if as_json:
        documents = [outcome.to_json() for outcome in outcomes]
        print_json(documents[0] if len(documents) == 1 else documents)
    failed = [outcome for outcome in outcomes if not outcome.exact]
    if failed:
        raise NotEquivalent(
            f"{', '.join(outcome.kernel for outcome in failed)} differ from the golden model"
            if len(failed) > 1
            else f"{failed[0].kernel} differs from the golden model",
            notes=[line for outcome in failed for line in outcome.failures],
            help=f"report the C file with --seed {seed}",
        )


def _print_events(design: Design, outcome: Verification, verbosity: Verbosity) -> None:
    program = design.compilation.analysis.program
    diagnostics = [event.diagnostic(program.scop) for event in outcome.golden.events]
    print_warnings(diagnostics, program.sources, verbosity)


def _verdict(outcome: Verification) -> str:
    verdict = "exact" if outcome.exact else "DIFFERENT"
    return (
        f"{outcome.kernel}: {verdict}, {outcome.comparison.elements} elements, checksum "
        f"{format_checksum(outcome.checksum)}, {outcome.cycles} cycles "
        f"(predicted {outcome.predicted_cycles}), {outcome.simulator}, seed {outcome.seed}"
    )
