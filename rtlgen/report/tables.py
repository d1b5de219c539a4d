"""Tables as plain text, and those that `plan` has of tiles.

Plain text tables: aligned, no frames, the same on a terminal and in a pipe.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

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
    cells = [list(header), *([cell_text(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    numeric = number_columns(header, rows)
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


def number_columns(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[bool]:
    """Return for each column whether it holds nothing but numbers."""
    return [
        bool(rows) and all(isinstance(row[k], int | float | None) for row in rows)
        for k in range(len(header))
    ]


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


def cell_text(value: object) -> str:
    """Return a value as a cell of a table."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return str(value)


MOVERS_HEADER = ("mover", "window", "array", "words", "a tile", "copies", "bytes", "waits for")
CHOICE_HEADER = ("tiles", "order", "words", "bytes on chip", "cycles", "")


def tiles_text(report: Mapping[str, Any]) -> str:
    """Return what a report says of tiles as text, without a final newline."""
    parts = [
        "\n".join(line for unit in report["units"] for line in unit_lines(unit, report)),
        text_table(MOVERS_HEADER, list(mover_cells(report["units"]))),
        "\n".join(traffic_lines(report)),
        *(choice_text(unit) for unit in report["units"] if len(unit["choice"]) > 1),
    ]
    return "\n\n".join(parts)


def unit_lines(unit: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    """Return how one unit is cut into tiles, and who runs them."""
    line, workers = workers_line(unit, report), [unit_line(unit)]
    return workers if line is None else [*workers, f"  {line}"]


def workers_line(unit: Mapping[str, Any], report: Mapping[str, Any]) -> str | None:
    """Return how workers share the tiles of a unit; None where one is all that is asked for."""
    workers = unit["workers"]
    if workers["alone"] is not None:
        return f"on one worker: {workers['alone']}"
    if workers["loop"] is None:
        return None
    met = ", with a barrier" if report["barrier"] else ""
    how = f"in {counted(workers['waves'], 'wave')}{met}"
    if workers["lag"] is not None:
        how = f"each iteration {counted(workers['lag'], 'tile')} behind the one before"
        if workers["at_a_time"] < workers["count"]:
            how += f", no more than {workers['at_a_time']} at a time"
        if workers["hands_over"]:
            room = " as there is room" if workers["waits_for_room"] else ""
            how += f", from which it takes values on chip{room}"
    return (
        f"{counted(workers['count'], 'worker')} share loop {workers['loop']} by "
        f"{report['strategy']}, {how}: "
        f"{workers['busiest']:.2f} of an equal share for the busiest"
    )


def unit_line(unit: Mapping[str, Any]) -> str:
    """Return how one unit is cut into tiles, and in which order these run."""
    tiles = unit["tiles"]
    begins = [
        f"{loop} = {begin}"
        for loop, begin in zip(tiles["loops"], tiles["begins"], strict=True)
        if begin
    ]
    begun = f" from {' and '.join(begins)} on" if begins else ""
    what = f"{tiling_text(tiles)} iterations ({', '.join(tiles['loops'])}){begun}, in the order"
    if not tiles["loops"]:
        return f"{' '.join(unit['statements'])}: one tile"
    return (
        f"{' '.join(unit['statements'])}: {counted(tiles['count'], 'tile')} of {what} "
        f"{order_text(tiles)}, {unit['issue_cycles']:,} cycles apart or more"
        + (f", in {unit['lanes']} lanes of {unit['lanes_of']}" if unit["lanes"] > 1 else "")
        + (
            f", {counted(unit['skew_cycles'], 'cycle')} behind each other"
            if unit["skew_cycles"]
            else ""
        )
    )


def tiling_text(tiles: Mapping[str, Any]) -> str:
    """Return the sizes of tiles as `8 x 8`."""
    return " x ".join(map(str, tiles["sizes"])) or "-"


def order_text(tiles: Mapping[str, Any]) -> str:
    """Return the order of tiles in terms of their coordinates, as `(i + j, i)`."""
    return f"({', '.join(tiles['order'])})"


def mover_cells(units: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yield the movers, below `MOVERS_HEADER`."""
    for mover in (mover for unit in units for mover in unit["movers"]):
        waits = ", ".join(map(_wait_text, mover["after"]))
        yield (
            mover["direction"],
            mover["window"],
            mover["array"],
            mover["words"],
            mover["window_words"],
            mover["copies"],
            mover["ram_bytes"],
            waits or "-",
        )


def _wait_text(wait: Mapping[str, Any]) -> str:
    """Return what a mover waits for."""
    if wait["of"] == "row before":
        return f"{wait['window']}, {counted(wait['distance'], 'tile')} on in the row before"
    return f"{wait['window']}, {counted(wait['distance'], wait['of'].removesuffix('s'))} before"


def traffic_lines(report: Mapping[str, Any]) -> list[str]:
    """Return what is moved, what is held on chip, and what rules the cycles, a line each."""
    side, needed = report["off_chip"], report["words_needed"]
    rule, other = ("bus", "kernel") if report["bound"] == "bus" else ("kernel", "bus")
    return [
        f"off chip: {side['words']:,} words of {side['bus_bits']} bits, {_answers(side)}",
        f"moved: {counted(report['words_moved'], 'word')}, {report['words_loaded']:,} in and "
        f"{report['words_stored']:,} out; needed: "
        + ("not counted, it would take too long" if needed is None else f"{needed:,}"),
        f"on chip: {report['onchip_bytes']:,} of {report['onchip_limit_bytes']:,} bytes, in "
        f"{counted(report['block_rams'], 'block RAM')}{_in_logic(report['distributed_bytes'])}",
        f"bound: the {rule}, {report[f'{rule}_cycles']:,} cycles "
        f"(the {other}: {report[f'{other}_cycles']:,})",
        *report["advice"],
    ]


def _in_logic(distributed: int) -> str:
    """Return how much is in small memories, which take no block RAM."""
    return f", {distributed:,} of them in memories of logic cells" if distributed else ""


def _answers(side: Mapping[str, Any]) -> str:
    """Return how fast the memory off chip is."""
    cycles = counted(side["latency_cycles"], "cycle")
    if side["kind"] == "fixed":
        return f"{cycles} each"
    return f"behind AXI4, {cycles} an answer" + (", one bus" if side["kind"] == "dram" else "")


def choice_text(unit: Mapping[str, Any]) -> str:
    """Return the cycles of a unit against its RAM as text."""
    head = f"cycles against RAM, {' '.join(unit['statements'])}:"
    return f"{head}\n{text_table(CHOICE_HEADER, list(choice_cells(unit)))}"


def choice_cells(unit: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the tiles that were looked at and are best for their RAM, below `CHOICE_HEADER`."""
    for choice in unit["choice"]:
        verdict = "chosen" if choice["chosen"] else "" if choice["fits"] else "does not fit"
        yield (
            tiling_text(choice),
            order_text(choice),
            choice["words"],
            choice["ram_bytes"],
            choice["cycles"],
            verdict,
        )
