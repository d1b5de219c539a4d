"""The tables of MF3 beside this project's own figures: `rtlgen bench mf3`, its results stored."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.record import EXAMPLES, circumstances, markdown_table, tools_text, write_results
from rtlgen.bench.kernels import kernel_files
from rtlgen.bench.mf3 import MF3
from rtlgen.bench.table import BenchSettings, RowResult

SETTINGS = BenchSettings()


def tables_text(results: Sequence[RowResult]) -> str:
    """Return the sections of the table."""
    parts = [(section.title, *section.cells(results)) for section in MF3.sections]
    return "\n\n".join(
        f"{title}\n\n{markdown_table(header, rows)}" for title, header, rows in parts if rows
    )


def stored_results(document: dict[str, Any]) -> list[RowResult]:
    """Return the rows of stored results."""
    rows = {row.kernel: row for row in MF3.rows}
    return [
        RowResult(rows[entry["kernel"]], entry, () if entry["exact"] else ("not exact",))
        for entry in document["rows"]
    ]


def main() -> int:
    """Measure, store, and say what was missed."""
    files = kernel_files(EXAMPLES, [row.file for row in MF3.rows])
    results = []
    for row in MF3.rows:
        results.append(MF3.measure(row, files[row.file], SETTINGS))
        print(json.dumps(results[-1].to_json()), file=sys.stderr, flush=True)
    text = tables_text(results)
    made_by = circumstances()
    footer = f"{made_by['date']}; {tools_text(made_by)}."
    rows = {"rows": [result.to_json() for result in results]}
    write_results("mf3", rows, f"{text}\n\n{footer}")
    print(text)
    return int(any(result.missed for result in results))


if __name__ == "__main__":
    sys.exit(main())
