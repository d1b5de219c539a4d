"""Pictures in a report, as SVG: the first tiles of a program, and its streams over the cycles.

Draw a corner of the iteration space: tiles, and the order in which they run, as SVG.

Where workers share them, each has a colour of its own, and a square says whose it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

CELL = 22
MARGIN = 30
STYLE = (
    "<style>text { font: 12px system-ui, sans-serif; fill: #1d2430; } "
    ".tile { fill: #2f6fc4; stroke: #fff; } "
    ".order { fill: none; stroke: #b4491f; stroke-width: 1.2; stroke-opacity: .7; }</style>"
)

COLOURS = ("#2f6fc4", "#c4622f", "#2f9c6a", "#8a4fc4", "#b8962a", "#c43f7d", "#3f9fb4", "#6b7280")
"""Of workers; the ninth has that of the first again."""

MOST_NUMBERED = 100
"""Tiles up to which each one has its number written in it."""


def tile_svg(picture: Mapping[str, Any]) -> str:
    """Return an SVG with a square a tile: numbered, light to dark, joined in the order of time.

    The first loop runs downward, the second one to the right.
    """
    tiles = [tuple(tile) if len(tile) > 1 else (0, *tile) for tile in picture["tiles"]]
    top, left = (min(tile[k] for tile in tiles) for k in (0, 1))
    rows, columns = (1 + max(tile[k] for tile in tiles) - low for k, low in ((0, top), (1, left)))
    places = [(column - left, row - top) for row, column in tiles]
    width, height = MARGIN + columns * CELL + 4, MARGIN + rows * CELL + 4
    body = [STYLE, *_axes(picture), *(_cell(n, places, picture) for n in range(len(places)))]
    owners = picture["owners"]
    body += _ways(places, owners or [0] * len(places), shared=owners is not None)
    if len(places) <= MOST_NUMBERED:
        numbers = picture["waves"] or range(len(places))
        body += [
            f'<text x="{_centre(x)}" y="{_centre(y) + 4}" text-anchor="middle">{n}</text>'
            for n, (x, y) in zip(numbers, places, strict=True)
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        f'aria-label="The order of {len(places)} tiles">{"".join(body)}</svg>'
    )


def _ways(places: list[tuple[int, int]], owners: list[int], *, shared: bool) -> list[str]:
    """Return a line a worker, through its tiles in their order."""
    found = []
    for owner in sorted(set(owners)):
        own = [place for place, whose in zip(places, owners, strict=True) if whose == owner]
        points = " ".join(f"{_centre(x)},{_centre(y)}" for x, y in own)
        colour = f' style="stroke: {_colour(owner)}"' if shared else ""
        found.append(f'<polyline class="order"{colour} points="{points}"/>')
    return found


def _colour(owner: int) -> str:
    return COLOURS[owner % len(COLOURS)]


def _axes(picture: Mapping[str, Any]) -> list[str]:
    """Return the names of the loops beside the squares."""
    *down, right = picture["loops"]
    texts = [f'<text x="{MARGIN + 4}" y="14">{escape(right)} &#8594;</text>']
    if down:
        texts.append(f'<text x="2" y="{MARGIN + 14}">{escape(down[0])} &#8595;</text>')
    return texts


def _cell(number: int, places: list[tuple[int, int]], picture: Mapping[str, Any]) -> str:
    x, y = places[number]
    share = number / max(1, len(places) - 1)
    first = ", ".join(
        f"{name} from {c * size}"
        for name, c, size in zip(
            picture["loops"], picture["tiles"][number], picture["sizes"], strict=True
        )
    )
    title, colour = f"tile {number}: {first}", ""
    if picture["owners"] is not None:
        owner, wave = picture["owners"][number], picture["waves"][number]
        title = f"worker {owner}, wave {wave}: {first}"
        colour = f' style="fill: {_colour(owner)}"'
        share = wave / max(1, *picture["waves"])
    return (
        f'<rect class="tile"{colour} x="{MARGIN + x * CELL}" y="{MARGIN + y * CELL}" '
        f'width="{CELL}" height="{CELL}" fill-opacity="{0.12 + 0.6 * share:.3f}">'
        f"<title>{escape(title)}</title></rect>"
    )


def _centre(place: int) -> int:
    return MARGIN + place * CELL + CELL // 2


WIDTH = 1000
LABEL_WIDTH = 90
ROW_HEIGHT = 26
BAR_HEIGHT = 16
AXIS_HEIGHT = 24
MAX_TICKS = 10
_SPARE = 14


def timelines(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the reports of which timelines are drawn: the whole, or a tile of every unit."""
    if "tiles" not in report:
        return [report]
    parts: list[Mapping[str, Any]] = []
    for number, (unit, region) in enumerate(zip(report["units"], report["regions"], strict=True)):
        begin = region["first_cycle"]
        cycles = ("first_cycle", "last_issue_cycle", "last_cycle")
        streams = [
            {**s, "instances": s["iterations"], **{key: s[key] - begin for key in cycles}}
            for s in report["streams"]
            if s["region"] == number
        ]
        parts.append(
            {
                "predicted_cycles": unit["kernel_length_cycles"],
                "regions": [{"first_cycle": 0}],
                "streams": streams,
            }
        )
    return parts


def timeline_svg(report: Mapping[str, Any]) -> str:
    """Return an SVG with a row a stream: issuing dark, draining light.

    The dark bar is as high as the share of the cycles in which the stream issues: one that is
    padded to keep step with others, or that has an II above 1, is not drawn as busy.
    """
    total = max(1, int(report["predicted_cycles"]))
    scale = (WIDTH - LABEL_WIDTH - _SPARE) / total
    rows: Sequence[Mapping[str, Any]] = report["streams"]
    height = AXIS_HEIGHT + ROW_HEIGHT * len(rows)
    body = [_tick(cycle, _x(cycle, scale), height) for cycle in tick_cycles(total)]
    body += [
        f'<line class="region" x1="{x:.2f}" x2="{x:.2f}" y1="{AXIS_HEIGHT}" y2="{height}"/>'
        for x in (_x(region["first_cycle"], scale) for region in report["regions"][1:])
    ]
    body += [_row(stream, number, scale) for number, stream in enumerate(rows)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="Streams over {total} cycles">{"".join(body)}</svg>'
    )


def tick_cycles(total: int) -> range:
    """Return the marked cycles: at most `MAX_TICKS`, a round step apart, from 0."""
    step = 1
    while total // step >= MAX_TICKS:
        # 1, 2, 5, 10, 20, 50, ...
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return range(0, total + 1, step)


def _x(cycle: int, scale: float) -> float:
    return LABEL_WIDTH + cycle * scale


def _tick(cycle: int, x: float, height: int) -> str:
    return (
        f'<line class="tick" x1="{x:.2f}" x2="{x:.2f}" y1="{AXIS_HEIGHT - 6}" y2="{height}"/>'
        f'<text x="{x:.2f}" y="12" text-anchor="middle">{cycle:,}</text>'
    )


def _row(stream: Mapping[str, Any], number: int, scale: float) -> str:
    top = AXIS_HEIGHT + number * ROW_HEIGHT + (ROW_HEIGHT - BAR_HEIGHT) / 2
    first, issued = stream["first_cycle"], stream["last_issue_cycle"] + 1
    end = stream["last_cycle"] + 1
    share = stream["instances"] / (issued - first)
    title = (
        f"{stream['statement']}: {stream['instances']:,} iterations, II {stream['ii']}, "
        f"issues in {share:.0%} of cycles {first} to {stream['last_issue_cycle']}, "
        f"last store in {stream['last_cycle']}"
    )
    return (
        f"<g><title>{escape(title)}</title>"
        f'<text x="0" y="{top + BAR_HEIGHT - 4:.1f}">{escape(stream["statement"])}</text>'
        f"{_bar('padded', first, issued, top, scale)}"
        f"{_bar('issue', first, issued, top, scale, share)}"
        f"{_bar('drain', issued, end, top, scale)}</g>"
    )


def _bar(kind: str, start: int, end: int, top: float, scale: float, share: float = 1.0) -> str:
    """Return a bar from cycle to cycle, its lower part only where the share is below 1."""
    height = BAR_HEIGHT * share
    return (
        f'<rect class="{kind}" x="{_x(start, scale):.2f}" y="{top + BAR_HEIGHT - height:.1f}" '
        f'width="{(end - start) * scale:.2f}" height="{height:.1f}"/>'
    )
