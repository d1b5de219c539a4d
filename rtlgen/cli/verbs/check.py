"""`rtlgen check`."""

from __future__ import annotations

from typing import Any

import click

from rtlgen.cli.compiling import compiled
from rtlgen.cli.output import Verbosity, print_json
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.report.tables import counted, text_table
from rtlgen.report.text import nests_text


def check(verbosity: Verbosity, file: str, options: CompileOptions, as_json: bool) -> None:
    """Is the program supported; what becomes of its loop nests, here and in other tools."""
    design = compiled(file, options, verbosity)
    program, nests = design.compilation.analysis.program, design.nests()
    statements: list[dict[str, Any]] = [
        {"name": s.name, "line": s.span.line, "text": s.text, "loops": list(s.iterators)}
        for s in program.scop.statements
    ]
    if as_json:
        print_json(
            {
                "kernel": program.scop.name,
                "supported": True,
                "nests": nests,
                "statements": statements,
                "warnings": [warning.to_json() for warning in design.compilation.warnings],
            }
        )
        return
    size = f"{counted(len(statements), 'statement')}, {predicted_cycles(design.plan):,} cycles"
    click.echo(f"{program.scop.name}: supported, {size}")
    rows = [[s["name"], s["line"], ", ".join(s["loops"]), s["text"]] for s in statements]
    click.echo(text_table(["statement", "line", "loops", "text"], rows))
    if nests:
        click.echo(f"\n{nests_text(nests)}")
