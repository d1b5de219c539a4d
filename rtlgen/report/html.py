"""A plan's report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any

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
    choice_cells,
    mover_cells,
    traffic_lines,
    unit_lines,
)
from rtlgen.report.text import (
    TRIED_HEADER,
    bound_lines,
    expansion_lines,
    guides_text,
    headline,
    kind_text,
    loops_text,
    shape_text,
    shown_name,
    totals_of,
    tried_cells,
    trips_text,
    ug1399_text,
    why_no_stream,
)
from rtlgen.source import SourceFile


def report_html(report: Mapping[str, Any], source: SourceFile) -> str:
    """Return the page for a report made by `plan_report`, with the C text it is about."""
    template = Template(
        resources.files("rtlgen.report").joinpath("report.html").read_text(encoding="utf-8")
    )
    subtitle = f"{headline(report)}, index recovery by {report['index_style']}"
    return template.substitute(
        title=escape(str(report["kernel"])),
        subtitle=escape(subtitle),
        totals="".join(
            f"<div><dt>{name}</dt><dd>{report[key]:,}</dd></div>" for key, name in _totals(report)
        ),
        timeline="".join(map(timeline_svg, timelines(report))),
        schedule=_tiles(report)
        + _schedule(report["schedule"])
        + _moved("Skewed loops", skew_lines(report["skews"]))
        + _moved("Pauses", pause_lines(report["pauses"])),
        tried=_tried(report),
        statements=_statements(report, source.path),
        nests=_nests(report["nests"]),
        memories=_memories(report["memories"])
        + _paragraphs([*expansion_lines(report), *bound_lines(report)]),
        figures=_figures(report),
        source=_source(source, _marked(report, source.path)),
    )


def _totals(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the keys and names of the figures that stand above all others."""
    return [(key, name) for key, name in totals_of(report).items() if key != "gap_iterations"]


def summary_html(report: Mapping[str, Any]) -> str:
    """Return the figures and the statements alone, without styles, for a notebook."""
    totals = [[_cell(name), _number(report[key])] for key, name in _totals(report)]
    return "\n".join(
        (
            f"<p><b>{escape(report['kernel'])}</b>, {escape(headline(report))}</p>",
            _table((("figure",), ("",), ()), totals),
            _statements(report, ""),
        )
    )


def _marked(report: Mapping[str, Any], path: str) -> set[int]:
    """Return the lines of the shown file that hold statements; others stand in included files."""
    return {s["line"] for s in report["statements"] if s["file"] == path}


def _schedule(schedule: Mapping[str, Any] | None) -> str:
    """Return the section of the loops that a scheduler chose, or nothing."""
    if schedule is None:
        return ""
    rows = [[_cell(escape(str(cell or "-"))) for cell in row] for row in row_cells(schedule)]
    bands = [[_cell(escape(str(cell))) for cell in row] for row in band_cells(schedule)]
    return "\n".join(
        (
            f"<h2>Schedule by {schedule['scheduler']}</h2>",
            f'<div class="wide">{_table((ROWS_HEADER, (), ()), rows)}</div>',
            "<h2>Loops that run</h2>",
            f'<div class="wide">{_table((BANDS_HEADER, (), ()), bands)}</div>',
        )
    )


def _tried(report: Mapping[str, Any]) -> str:
    """Return the section of what the search has looked at, or nothing."""
    rows = [["-" if c is None else c for c in row] for row in tried_cells(report)]
    if not rows:
        return ""
    return f"<h2>What was tried for fewer cycles</h2>\n{_plain_table(TRIED_HEADER, rows)}"


def _tiles(report: Mapping[str, Any]) -> str:
    """Return the section of the tiles, or nothing."""
    if "tiles" not in report:
        return ""
    parts = ["<h2>Tiles</h2>", '<p class="note">Above: one tile of every unit.</p>']
    for unit in report["units"]:
        parts += [f"<p>{escape(line)}.</p>" for line in unit_lines(unit, report)]
        parts += _tile_picture(unit["picture"])
    parts += [
        "<h2>Words off chip</h2>",
        _plain_table(MOVERS_HEADER, list(mover_cells(report["units"]))),
        *(f"<p>{escape(line)}.</p>" for line in traffic_lines(report)),
        "<h2>Cycles against RAM</h2>",
    ]
    for unit in report["units"]:
        parts += [
            f"<p>{escape(' '.join(unit['statements']))}</p>",
            _plain_table(CHOICE_HEADER, list(choice_cells(unit))),
        ]
    return "\n".join(parts)


def _tile_picture(picture: Mapping[str, Any] | None) -> list[str]:
    if picture is None:
        return []
    more = "; there are more, outside of this corner or later" if picture["cut_off"] else ""
    note = f"Tiles in the order in which they first run, light to dark{more}."
    if picture["owners"] is not None:
        note = f"Tiles by worker, with the number of their wave, light to dark{more}."
    return [f'<div class="wide">{tile_svg(picture)}</div>', f'<p class="note">{note}</p>']


def _plain_table(header: Sequence[str], cells: Sequence[Sequence[object]]) -> str:
    rows = [
        [_number(c) if isinstance(c, int) else _cell(escape(str(c))) for c in row] for row in cells
    ]
    numeric = [all(isinstance(c, int) for c in column) for column in zip(*cells, strict=True)]
    heads = "".join(
        f'<th class="number">{name}</th>' if number else f"<th>{name}</th>"
        for name, number in zip(header, numeric, strict=True)
    )
    lines = [f"<tr>{heads}</tr>", *(f"<tr>{''.join(row)}</tr>" for row in rows)]
    return '<div class="wide"><table>\n' + "\n".join(lines) + "\n</table></div>"


def _moved(title: str, lines: Sequence[str]) -> str:
    """Return the section of the statements that run in other loops, or nothing."""
    if not lines:
        return ""
    return "\n".join((f"<h2>{title}</h2>", *(f"<p>{escape(line)}.</p>" for line in lines)))


def _paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"\n<p>{escape(line)}.</p>" for line in lines)


def _statements(report: Mapping[str, Any], path: str) -> str:
    streams = {stream["statement"]: stream for stream in report["streams"]}
    rows = []
    for statement in report["statements"]:
        stream = streams.get(statement["name"], {})
        name = escape(statement["name"])
        shown = statement["file"] == path
        link = f'<a href="#L{statement["line"]}">{name}</a>' if shown else name
        rows.append(
            [
                _cell(link),
                _cell(f"<code>{escape(statement['text'])}</code>"),
                _cell(escape(loops_text(statement["loops"]))),
                _number(statement["instances"]),
                _number(statement["shift"]),
                _number(stream.get("first_cycle")),
                _number(stream.get("ii")),
                _number(stream.get("depth")),
                _cell(escape(stream.get("ii_reason", why_no_stream(statement)))),
            ]
        )
    header = (
        ("statement", "C", "loops"),
        ("instances", "shift", "first cycle", "II", "depth"),
        ("why this II",),
    )
    return _table(header, rows)


def _nests(nests: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of all loops, and what other tools do with each nest."""
    if not nests:
        return '<p class="note">There are no loops.</p>'
    rows = []
    for loop in (loop for nest in nests for loop in nest["loops"]):
        indented = f"{'&emsp;' * loop['depth']}{escape(shown_name(loop))}"
        rows.append(
            [
                _cell(indented),
                _cell(f'<span title="{escape(loop["reason"])}">{loop["class"]}</span>'),
                _cell(trips_text(loop["trips"])),
                _cell(escape(", ".join(loop["flattened_into"]) or "-")),
                _number(loop["line"]),
                _number(loop["trips"]["total"]),
                _number(loop["ii"]),
                _number(loop["iteration_latency_cycles"]),
                _number(loop["latency_cycles"]),
                _cell(escape(loop["ii_reason"])),
            ]
        )
    header = (
        ("loop", "class", "trips", "flattened into"),
        ("line", "iterations", "II", "depth", "cycles"),
        ("why this II",),
    )
    note = f'<p class="note">{escape(guides_text(nests))}</p>'
    return "\n".join([_table(header, rows), *map(_elsewhere, nests), note])


def _elsewhere(nest: Mapping[str, Any]) -> str:
    """Return what other tools do with one nest."""
    lines = [f"<p>Line {nest['line']}, UG1399: {escape(ug1399_text(nest))}.</p>"]
    for case in nest["aocl"]:
        place = f"Line {case['lines'][0]}, AOCL, {case['name']}"
        there, here = escape(case["there"]), escape(case["here"])
        lines.append(f"<p>{place}: {there}. Here: {here}.</p>")
    return "\n".join(lines)


def _memories(memories: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            _cell(escape(memory["name"])),
            _cell(shape_text(memory["shape"])),
            _cell(memory["type"]),
            _cell(memory["role"]),
            _cell(kind_text(memory)),
            _number(memory["read_ports"]),
            _number(memory["write_ports"]),
            _number(memory["banks"]),
            _number(memory["bank_words"] * memory["bits"] * memory["banks"]),
        ]
        for memory in memories
    ]
    header = (
        ("memory", "shape", "type", "role", "kind"),
        ("read ports", "write ports", "banks", "bits"),
        (),
    )
    return _table(header, rows)


def _figures(report: Mapping[str, Any]) -> str:
    """Return the section of what came from elsewhere and stands nowhere above, or nothing."""
    above = totals_of(report)
    figures = {name: value for name, value in report["figures"].items() if name not in above}
    if not figures:
        return ""
    rows = [
        [_cell(escape(name.replace("_", " "))), _cell(escape(str(value)))]
        for name, value in figures.items()
    ]
    return f"<h2>Further figures</h2>\n{_table((('figure', 'value'), (), ()), rows)}"


def _source(source: SourceFile, marked: set[int]) -> str:
    lines = []
    for number, line in enumerate(source.text.splitlines(), start=1):
        kind = ' class="statement"' if number in marked else ""
        anchor = f'<a href="#L{number}">{number}</a>'
        lines.append(f'<span id="L{number}"{kind}>{anchor}{escape(line)}</span>')
    # Each line is a block of its own: a line break between two would show as an empty one.
    return "".join(lines)


_Header = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def _table(header: _Header, rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the second group of the header stands over numbers."""
    words, numbers, more = header
    cells = [f"<th>{name}</th>" for name in words]
    cells += [f'<th class="number">{name}</th>' for name in numbers]
    cells += [f"<th>{name}</th>" for name in more]
    lines = [f"<tr>{''.join(cells)}</tr>", *(f"<tr>{''.join(row)}</tr>" for row in rows)]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _cell(content: str) -> str:
    return f"<td>{content}</td>"


def _number(value: int | None) -> str:
    return f'<td class="number">{"-" if value is None else f"{value:,}"}</td>'
