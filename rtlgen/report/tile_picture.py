"""Draw a corner of the iteration space: tiles, and the order in which they run, as SVG.

Where workers share them, each has a colour of its own, and a square says whose it is.
"""

from __future__ import annotations

from collections.abc import Mapping
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
