"""`rtlgen bench`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from rtlgen.bench.table import BenchSettings, BenchTable, RowResult, kernel_files
from rtlgen.bench.tables import find_table
from rtlgen.cli.errors import TargetMissed
from rtlgen.cli.output import Verbosity, print_json, progress
from rtlgen.flow.synth import synthesis_programs


def bench(
    verbosity: Verbosity,
    name: str,
    only: str | None,
    no_synth: bool,
    kernels: Path | None,
    simulator: Any,
    as_json: bool,
) -> None:
    """Reproduce one published table beside this project's own figures."""
    table = find_table(name)
    settings = BenchSettings(simulator, not no_synth)
    if settings.synthesis:
        # What is missing is told before the work begins.
        synthesis_programs("ecp5")
    results = _measured(table, only, kernels or table.kernels, settings, verbosity)
    overall = table.overall(results)
    if as_json:
        rows = [result.to_json() for result in results]
        print_json({"name": table.name, "rows": rows, **overall.figures})
    else:
        click.echo(f"{table.title}\n\n{table.text(results)}")
    missed = [result for result in results if result.missed]
    if missed or overall.missed:
        what = [result.row.kernel for result in missed] or [table.name]
        raise TargetMissed(
            f"{', '.join(what)}: not as it must be",
            notes=[
                *(f"{r.row.kernel}: {text}" for r in missed for text in r.missed),
                *overall.missed,
            ],
        )


def _measured(
    table: BenchTable,
    only: str | None,
    kernels: Path,
    settings: BenchSettings,
    verbosity: Verbosity,
) -> list[RowResult]:
    rows = table.selected(only)
    files = kernel_files(kernels, list(dict.fromkeys(row.file for row in rows)))
    results = []
    for number, row in enumerate(rows, start=1):
        what = "proving and synthesising" if settings.synthesis else "proving"
        begin = time.monotonic()
        with progress(f"{what} {row.kernel} ({number} of {len(rows)})", verbosity):
            results.append(table.measure(row, files[row.file], settings))
        if verbosity is not Verbosity.QUIET:
            outcome = "; ".join(results[-1].missed) or "exact"
            seconds = time.monotonic() - begin
            click.echo(
                f"{number} of {len(rows)}: {row.kernel}, {seconds:.0f} s: {outcome}", err=True
            )
    return results
