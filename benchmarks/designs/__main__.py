"""Compare the designs of the list with the file: `python -m benchmarks.designs`, `make designs`."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

import click

from benchmarks import example_figures
from benchmarks.designs.compare import MODES, Comparison, Mode
from benchmarks.designs.figures import FILE, Figures, file_text, read_rows
from benchmarks.designs.measure import Measured, measure
from benchmarks.designs.rows import ROWS
from benchmarks.record import ROOT

WRITE = "write"


def measured_rows(
    rows: Iterable[str],
    known: Mapping[str, Figures],
    processes: int,
    said: Callable[[Measured], None],
) -> dict[str, Figures]:
    """Compile rows, each in a process of its own, so that nothing is left of the one before.

    Parameters
    ----------
    known: figures of the last time: what took the most steps begins first.
    said: is called with each row as it ends.
    """
    first = sorted(rows, key=lambda row: -known[row].steps if row in known else -sys.maxsize)
    found = {}
    with multiprocessing.get_context("fork").Pool(processes, maxtasksperchild=1) as pool:
        for measured in pool.imap_unordered(measure, first):
            said(measured)
            found[measured.row] = measured.figures
    return found


@click.command()
@click.option(
    "--mode",
    type=click.Choice([*MODES, WRITE]),
    default="no-worse",
    show_default=True,
    help="identical: all that the file holds is the same; no-worse: no design takes more cycles, "
    "or more blocks than the tolerance; write: write the file anew, and the pages that show it.",
)
@click.option(
    "--only", "patterns", multiple=True, metavar="GLOB", help="Rows whose command matches."
)
@click.option("-j", "processes", type=click.IntRange(1), default=2, show_default=True)
def main(mode: str, patterns: tuple[str, ...], processes: int) -> None:
    """Compile the designs of the list, and compare them with the file."""
    os.chdir(ROOT)
    stored = read_rows()
    selected = [row for row in ROWS if _matches(row, patterns)]
    if not selected:
        raise click.UsageError(f"no row of the {len(ROWS)} matches {' or '.join(patterns)}")
    seconds: list[float] = []

    def say(measured: Measured) -> None:
        seconds.append(measured.seconds)
        cells = " ".join(measured.figures.cells())
        click.echo(f"{measured.seconds:7.1f} s  {measured.row}: {cells}", err=True)

    found = measured_rows(selected, stored, processes, say)
    click.echo(f"{sum(seconds):7.1f} s of processor time", err=True)
    before = {row: figures for row, figures in stored.items() if _matches(row, patterns)}
    if mode == WRITE:
        kept = {row: stored[row] for row in ROWS if row in stored}
        FILE.write_text(file_text(kept | found), encoding="utf-8")
        example_figures.main()
    comparison = Comparison(before, found)
    shown: Mode = "identical" if mode == "identical" else "no-worse"
    click.echo(comparison.text(shown))
    if mode != WRITE and not comparison.passes(shown):
        sys.exit(1)


def _matches(row: str, patterns: Iterable[str]) -> bool:
    """Tell whether a row is one of those that are asked for: of all, where no pattern is given."""
    given = tuple(patterns)
    return not given or any(fnmatchcase(row, pattern) for pattern in given)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.designs")
