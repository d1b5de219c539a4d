"""Plain text tables: aligned, no frames, the same on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

GAP = "  "


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with a line a row; columns of numbers are set to the right.

    Raises
    ------
    ValueError: a row has another length than the header.
    """
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells in a table of {len(header)} columns")
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    numeric = [
        bool(rows) and all(isinstance(row[k], int | float | None) for row in rows)
        for k in range(len(header))
    ]
    return "\n".join(
        GAP.join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in cells
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return str(value)
