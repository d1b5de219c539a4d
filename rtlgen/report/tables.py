"""Plain text tables: aligned, no frames, the same on a terminal and in a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

GAP = "  "
MAX_WIDTH = 100


def counted(count: int, noun: str) -> str:
    """Return `1 loop` or `2 loops`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with a line a row; columns of numbers are set to the right.

    A table wider than `MAX_WIDTH` has its widest columns of words folded.

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
    least = [
        max(len(word) for cell in column for word in (cell.split() or [""]))
        for column in zip(*cells, strict=True)
    ]
    widths = _narrowed(
        widths, [w if n else m for w, n, m in zip(widths, numeric, least, strict=True)]
    )
    return "\n".join(
        GAP.join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for row in cells
        for line in _folded(row, widths)
    )


def _narrowed(widths: Sequence[int], least: Sequence[int]) -> list[int]:
    """Return widths whose sum fits, where no column has to be narrower than its longest word."""
    narrowed = list(widths)
    room = MAX_WIDTH - len(GAP) * (len(widths) - 1)
    while sum(narrowed) > room:
        wide = [k for k, width in enumerate(narrowed) if width > least[k]]
        if not wide:
            break
        narrowed[max(wide, key=narrowed.__getitem__)] -= 1
    return narrowed


def _folded(row: Sequence[str], widths: Sequence[int]) -> Iterator[Sequence[str]]:
    """Yield the lines of a row: a cell that is too wide goes on below, a little indented."""
    parts = [
        [cell]
        if len(cell) <= width
        else textwrap.wrap(
            cell, width, subsequent_indent=_indent(cell, width), break_on_hyphens=False
        )
        for cell, width in zip(row, widths, strict=True)
    ]
    yield from zip_longest(*parts, fillvalue="")


def _indent(cell: str, width: int) -> str:
    """Return what stands before the further lines of a cell, where its words leave room for it."""
    indent = len(cell) - len(cell.lstrip()) + 2
    return " " * min(indent, width - max(map(len, cell.split())))


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
