"""Draw the streams of a report over the cycles of the kernel, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

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
