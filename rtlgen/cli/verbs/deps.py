"""`rtlgen deps`."""

from __future__ import annotations

from pathlib import Path

import click

from rtlgen.cli.output import Verbosity, print_json, print_warnings
from rtlgen.driver import parse, quoting
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import examine
from rtlgen.poly.dependences import dependence_rows
from rtlgen.report.tables import text_table


def deps(verbosity: Verbosity, file: str, options: CompileOptions, as_json: bool) -> None:
    """Show the dependences: kind, distance or relation, source lines."""
    program = parse(Path(file), options)
    with quoting(program):
        analysis = examine(program)
        found = dependence_rows(analysis.sets, analysis.dependences)
    print_warnings(analysis.warnings, program.sources, verbosity)
    if as_json:
        print_json({"kernel": program.scop.name, "dependences": found})
        return
    rows = [
        [
            d["kind"],
            f"{d['source']} {d['source_access']}",
            d["source_line"],
            f"{d['sink']} {d['sink_access']}",
            d["sink_line"],
            d["relation"] if d["distance"] is None else f"({', '.join(map(str, d['distance']))})",
        ]
        for d in found
    ]
    click.echo(text_table(["kind", "source", "line", "sink", "line", "distance/relation"], rows))
