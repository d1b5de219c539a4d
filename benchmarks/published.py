"""Published tables beside this project's own figures: `rtlgen bench NAME`, its results stored."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.record import ROOT, circumstances, markdown_table, tools_text, write_results
from rtlgen.bench.hls19 import HLS19
from rtlgen.bench.limit import LIMIT
from rtlgen.bench.mf3 import MF3
from rtlgen.bench.stencils import STENCILS
from rtlgen.bench.table import BenchSettings, BenchTable, RowResult, kernel_files
from rtlgen.bench.threads import THREADS

SETTINGS = BenchSettings()


def tables_text(table: BenchTable, results: Sequence[RowResult]) -> str:
    """Return the sections of a table."""
    parts = [(section.title, *section.cells(results)) for section in table.sections]
    texts = [f"{title}\n\n{markdown_table(header, rows)}" for title, header, rows in parts if rows]
    return "\n\n".join(text for text in (*texts, table.overall(results).text) if text)


def stored_results(table: BenchTable, document: dict[str, Any]) -> list[RowResult]:
    """Return the rows of stored results."""
    rows = {row.kernel: row for row in table.rows}
    return [
        RowResult(rows[entry["kernel"]], entry, () if entry["exact"] else ("not exact",))
        for entry in document["rows"]
    ]


def store(table: BenchTable, results: Sequence[RowResult]) -> str:
    """Store the measured rows of a table; return its text."""
    text = tables_text(table, results)
    made_by = circumstances()
    footer = f"{made_by['date']}; {tools_text(made_by)}."
    rows = [result.to_json() for result in results]
    document = {"rows": rows, **table.overall(results).figures}
    write_results(table.name, document, f"{text}\n\n{footer}")
    return text


def measure(table: BenchTable, settings: BenchSettings = SETTINGS) -> int:
    """Measure, store, and say what was missed: 1 where a row is not as it must be."""
    files = kernel_files(ROOT / table.kernels, [row.file for row in table.rows])
    results = []
    for row in table.rows:
        results.append(table.measure(row, files[row.file], settings))
        print(json.dumps(results[-1].to_json()), file=sys.stderr, flush=True)
    print(store(table, results))
    return int(any(result.missed for result in results) or bool(table.overall(results).missed))


def mf3() -> int:
    """Measure the tables of MF3."""
    return measure(MF3)


def limit() -> int:
    """Measure the examples beside their floors."""
    return measure(LIMIT)


def hls19() -> int:
    """Measure the kernels of linear algebra."""
    return measure(HLS19)


def stencils() -> int:
    """Measure the stencils in all forms."""
    return measure(STENCILS)


def threads() -> int:
    """Measure PLUTO's example and polynomials in several threads; no clock, since that is hours."""
    return measure(THREADS, BenchSettings(seeds=()))
