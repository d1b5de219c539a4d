"""The picture of how cycles fall with threads: `docs/explanation/threads.svg`.

It is drawn from the stored results of `python -m benchmarks threads`, with the extra `plots`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.record import ROOT, read_results
from rtlgen.bench.threads import CYCLES, ONE_THREAD, THREADS_OF

PICTURE = ROOT / "docs" / "explanation" / "threads.svg"

LINES = {
    "no buffer, C, fixed:8": "transposed@none-C-{}",
    "tile buffers, C, fixed:8": "transposed@tile-C-{}",
    "windows, cyclic, fixed:8": "transposed@fixed:8-cyclic-{}",
    "windows, cyclic, dram": "transposed@dram-cyclic-{}",
    "windows, cyclic, axi:50": "transposed@axi:50-cyclic-{}",
}
"""Rows of each line, by threads; one thread is the same by F and by C."""

Points = list[tuple[int, int]]


def points(rows: Mapping[str, Mapping[str, Any]], pattern: str) -> Points:
    """Return threads and cycles of the rows of a line."""
    found = []
    for threads in THREADS_OF:
        name = pattern.format(threads)
        row = rows.get(name) or rows.get(name.replace("-C-", "-F-"))
        if row is not None:
            found.append((threads, int(row["cycles"])))
    return found


def published(buffer: str) -> Points:
    """Return threads and cycles of the published machine, by C."""
    return [(1, ONE_THREAD["cycles"]), *sorted(CYCLES[buffer, "C"].items())]


def draw(rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw the picture."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    # The same results are the same file.
    matplotlib.rcParams["svg.hashsalt"] = "threads"
    by_name = {str(row["kernel"]): row for row in rows}
    figure, axes = pyplot.subplots(figsize=(7.2, 4.4))
    for buffer, name in (("none", "no buffer"), ("tile", "tile buffers")):
        line = published(buffer)
        axes.plot(*zip(*line, strict=True), "--", marker="x", label=f"published, {name}, C")
    for name, pattern in LINES.items():
        axes.plot(*zip(*points(by_name, pattern), strict=True), marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(THREADS_OF, [str(threads) for threads in THREADS_OF])
    axes.set_xlabel("threads")
    axes.set_ylabel("cycles, 1024 x 1024 bytes")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="small")
    figure.savefig(PICTURE, metadata={"Date": None}, bbox_inches="tight")


def main() -> int:
    """Draw the picture from stored results."""
    draw(read_results("threads")["rows"])
    print(PICTURE.relative_to(ROOT))
    return 0
