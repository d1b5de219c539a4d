"""A plan's report as one HTML file that needs nothing else: `report.html.j2`, filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from markupsafe import Markup

from rtlgen.output.templates import templates_in
from rtlgen.report.loops import (
    BANDS_HEADER,
    ROWS_HEADER,
    band_cells,
    pause_lines,
    row_cells,
    skew_lines,
)
from rtlgen.report.pictures import tile_svg, timeline_svg, timelines
from rtlgen.report.tables import (
    CHOICE_HEADER,
    MOVERS_HEADER,
    cell_text,
    choice_cells,
    mover_cells,
    number_columns,
    traffic_lines,
    unit_lines,
)
from rtlgen.report.text import (
    LOOP_HEADER,
    MEMORY_HEADER,
    STATEMENT_HEADER,
    TRIED_HEADER,
    bound_lines,
    expansion_lines,
    guides_text,
    headline,
    loop_row,
    memory_cells,
    shown_name,
    statement_cells,
    totals_of,
    tried_cells,
    ug1399_text,
)
from rtlgen.source import SourceFile

_Table: TypeAlias = tuple[Sequence[str], Sequence[Sequence[object]]]
"""Header and rows; cells are text, numbers, or markup."""

_TEMPLATES = templates_in(Path(__file__).parent, is_markup=True)
_TEMPLATES.globals |= {
    "BANDS_HEADER": BANDS_HEADER,
    "CHOICE_HEADER": CHOICE_HEADER,
    "MOVERS_HEADER": MOVERS_HEADER,
    "ROWS_HEADER": ROWS_HEADER,
    "TRIED_HEADER": TRIED_HEADER,
    "band_cells": band_cells,
    "cell_text": cell_text,
    "choice_cells": choice_cells,
    "guides_text": guides_text,
    "mover_cells": mover_cells,
    "number_columns": number_columns,
    "row_cells": row_cells,
    "tile_picture": lambda picture: Markup(tile_svg(picture)),
    "traffic_lines": traffic_lines,
    "ug1399_text": ug1399_text,
    "unit_lines": unit_lines,
}


def report_html(report: Mapping[str, Any], source: SourceFile) -> str:
    """Return the page for a report made by `plan_report`, with the C text it is about."""
    above = totals_of(report)
    further = {name: value for name, value in report["figures"].items() if name not in above}
    return _TEMPLATES.get_template("report.html.j2").render(
        report=report,
        headline=headline(report),
        totals=_totals(report),
        timelines=[Markup(timeline_svg(each)) for each in timelines(report)],
        moved=(
            ("Skewed loops", skew_lines(report["skews"])),
            ("Pauses", pause_lines(report["pauses"])),
        ),
        statements=_statements(report, source.path),
        loops=_loops(report["nests"]),
        memories=_memories(report["memories"]),
        remarks=[*expansion_lines(report), *bound_lines(report)],
        tried=list(tried_cells(report)),
        figures=[(name.replace("_", " "), str(value)) for name, value in further.items()],
        source=source.text.splitlines(),
        # Others stand in included files.
        marked={s["line"] for s in report["statements"] if s["file"] == source.path},
    )


def summary_html(report: Mapping[str, Any]) -> str:
    """Return the figures and the statements alone, without styles, for a notebook."""
    return _TEMPLATES.get_template("summary.html.j2").render(
        report=report,
        headline=headline(report),
        totals=_totals(report),
        statements=_statements(report, ""),
    )


def _totals(report: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the figures that stand above all others, by name."""
    names = totals_of(report).items()
    return [(name, report[key]) for key, name in names if key != "gap_iterations"]


def _statements(report: Mapping[str, Any], path: str) -> _Table:
    """Return the table of the statements; those of the file that is shown are links to it."""
    rows = []
    for statement, (name, _, *cells) in zip(
        report["statements"], statement_cells(report), strict=True
    ):
        link = Markup('<a href="#L{}">{}</a>').format(statement["line"], name)
        code = Markup("<code>{}</code>").format(statement["text"])
        rows.append((link if statement["file"] == path else name, code, *cells))
    _, _, *others = STATEMENT_HEADER
    return ("statement", "C", *others), rows


def _loops(nests: Sequence[Mapping[str, Any]]) -> _Table:
    """Return the table of all loops."""
    rows = []
    for loop in (loop for nest in nests for loop in nest["loops"]):
        _, line, class_, *cells = loop_row(loop)
        name = Markup("{}{}").format(Markup("&emsp;") * loop["depth"], shown_name(loop))
        titled = Markup('<span title="{}">{}</span>').format(loop["reason"], class_)
        rows.append((name, line, titled, *cells, loop["ii_reason"]))
    return (*LOOP_HEADER, "why this II"), rows


def _memories(memories: Sequence[Mapping[str, Any]]) -> _Table:
    """Return the table of the memories."""
    bits = (memory["bank_words"] * memory["bits"] * memory["banks"] for memory in memories)
    rows = [(*cells, size) for cells, size in zip(memory_cells(memories), bits, strict=True)]
    return (*MEMORY_HEADER, "bits"), rows
