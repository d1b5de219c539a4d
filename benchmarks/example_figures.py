"""Write the measured figures of `results/examples.json` into the pages of the examples."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.record import EXAMPLES, device_text, markdown_table, read_results, tools_text

_FIGURES = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)


def figures_text(entry: Mapping[str, Any], made_by: Mapping[str, Any]) -> str:
    """Return the table of one example, and how it was measured."""
    rows = [
        ["iterations of all statements, one after another", entry["statements_total"]],
        ["fused iterations", entry["fused_iterations"]],
        ["floor: iterations of the longest statement", entry["floor"]],
        ["cycles, start to done", entry["rtl_cycles"]],
        ["cycles with the nests one after another (`--fuse none`)", entry["unfused_cycles"]],
        ["LUT", entry["lut"]],
        ["flip-flops", entry["ff"]],
        ["multipliers (MULT18X18D)", entry["dsp"]],
        ["block RAMs (DP16KD)", entry["bram"]],
        ["clock, MHz", entry["fmax_mhz"]],
    ]
    return (
        f"{markdown_table(['figure', 'value'], rows)}\n\n"
        f"Measured {made_by['date']}; every array, the checksum and the cycle count were as\n"
        f"predicted. Area and clock: {device_text(entry['device'])}, median of three seeds.\n"
        f"{tools_text(made_by)}.\n"
    )


def with_figures(page: str, figures: str) -> str:
    """Return `page` with the text between its markers replaced."""
    filled, count = _FIGURES.subn(lambda _: figures, page)
    if count != 1:
        raise ValueError(f"the page has {count} places for figures")
    return filled


def main() -> int:
    """Fill the page of every measured example."""
    results = read_results("examples")
    for entry in results["examples"]:
        page = EXAMPLES / entry["kernel"] / "README.md"
        figures = figures_text(entry, results["made_by"])
        text = with_figures(page.read_text(encoding="utf-8"), figures)
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
