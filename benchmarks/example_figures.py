"""Write the figures of the examples into their pages, the front page and the tables beside it.

Cycles, multipliers and block RAMs are those of the designs that `make designs` compares; tables,
registers and clock are those that `examples` has measured.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.designs.figures import Figures, read_rows
from benchmarks.record import (
    DEVICE,
    EXAMPLES,
    RESULTS,
    ROOT,
    device_text,
    markdown_table,
    read_results,
    tools_text,
    with_quotations,
)
from rtlgen.bench.mf3 import MF3

BAMBU = Path(__file__).with_name("reference") / "bambu_gemm.json"

QUOTING = ROOT / "README.md"
"""The page that shows the tables as they are stored."""

_FIGURES = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)

_KEPT = ("rtl_cycles", "dsp", "bram")


def with_designs(
    entries: Sequence[Mapping[str, Any]], rows: Mapping[str, Figures]
) -> list[dict[str, Any]]:
    """Return the measured examples with what the present designs take.

    Parameters
    ----------
    rows: of the file of designs, by command.

    Raises
    ------
    ValueError: an example has no row there.
    """
    return [dict(entry) | _design_figures(entry["kernel"], rows) for entry in entries]


def _design_figures(kernel: str, rows: Mapping[str, Figures]) -> dict[str, int]:
    command = f"examples/{kernel}/{kernel}.c"
    fused, unfused = (rows.get(row) for row in (command, f"{command} --fuse none"))
    if fused is None or unfused is None:
        raise ValueError(f"no design of {command} is kept: make designs MODE=write")
    cycles, block_rams, dsp = fused.costs()
    unfused_cycles, _, _ = unfused.costs()
    return {
        "rtl_cycles": cycles,
        "unfused_cycles": unfused_cycles,
        "dsp": dsp,
        "bram": block_rams,
    }


def figures_text(
    measured: Mapping[str, Any], entry: Mapping[str, Any], made_by: Mapping[str, Any]
) -> str:
    """Return the table of one example, and where its figures are from.

    Parameters
    ----------
    measured: as `examples` has stored it. entry: with what the present design takes.
    """
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
    of_what = _of_another(measured, entry)
    return (
        f"{markdown_table(['figure', 'value'], rows)}\n\n"
        "Cycles, multipliers and block RAMs are those of the present design (`make designs`).\n"
        f"LUT, flip-flops and clock were measured {made_by['date']}{of_what},\n"
        "every array, the checksum and the cycle count as predicted: "
        f"{device_text(entry['device'])},\n"
        f"median of three seeds. {tools_text(made_by)}.\n"
    )


def _of_another(measured: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """Return what the measured design took where the present one takes something else."""
    if all(measured[name] == entry[name] for name in _KEPT):
        return ""
    cycles, dsp, rams = (measured[name] for name in _KEPT)
    return f" of a design of {cycles:,} cycles, {dsp} multipliers and {rams} block RAMs"


def with_figures(page: str, figures: str) -> str:
    """Return `page` with the text between its markers replaced."""
    filled, count = _FIGURES.subn(lambda _: figures, page)
    if count != 1:
        raise ValueError(f"the page has {count} places for figures")
    return filled


def readme_table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows for the front page, published cycles beside ours."""
    published = {row.kernel: row.published.get("rtl_cycles") for row in MF3.rows}
    return markdown_table(
        ["kernel", "iterations one by one", "fused", "floor", "cycles", "cycles of MF3",
         "unfused", "LUT", "FF", "DSP", "block RAM", "MHz"],
        [
            [f"[{e['kernel']}](examples/{e['kernel']})", e["statements_total"],
             e["fused_iterations"], e["floor"], e["rtl_cycles"], published.get(e["kernel"]),
             e["unfused_cycles"], e["lut"], e["ff"], e["dsp"], e["bram"], e["fmax_mhz"]]
            for e in entries
        ],
    )  # fmt: skip


def gemm_comparison(gemm: Mapping[str, Any], bambu: Mapping[str, Any]) -> str:
    """Return gemm beside the same kernel by PandA-Bambu."""
    figures = (
        ("cycles", "rtl_cycles", "cycles"),
        ("LUT4 cells", "lut4", "lut4"),
        ("LUT4 cells and two a carry cell", "lut", "lut"),
        ("flip-flops", "ff", "ff"),
        ("MULT18X18D", "dsp", "dsp"),
        ("clock, MHz", "fmax_mhz", "fmax_mhz"),
    )
    rows: list[list[object]] = [[text, gemm[a], bambu.get(b)] for text, a, b in figures]
    times = [gemm["rtl_cycles"] / gemm["fmax_mhz"], bambu["cycles"] / bambu["fmax_mhz"]]
    return markdown_table(
        [f"gemm {bambu['size']}", "rtlgen", bambu["tool"]],
        [*rows, ["time of one run, µs", *(round(t, 1) for t in times)]],
    )


def made_pages() -> dict[Path, str]:
    """Return every page that shows figures of the examples, as it is to be."""
    results = read_results("examples")
    measured, made_by = results["examples"], results["made_by"]
    entries = with_designs(measured, read_rows())
    bambu = json.loads(BAMBU.read_text(encoding="utf-8"))
    gemm = next(entry for entry in entries if entry["kernel"] == "gemm")
    footer = (
        f"{made_by['date']}, {DEVICE}, median of three seeds; {tools_text(made_by)}. "
        f"{bambu['settings']}"
    )
    pages = {
        RESULTS / "readme_table.md": readme_table(entries) + "\n",
        RESULTS / "gemm_comparison.md": f"{gemm_comparison(gemm, bambu)}\n\n{footer}\n",
    }
    for stored, entry in zip(measured, entries, strict=True):
        page = EXAMPLES / entry["kernel"] / "README.md"
        text = figures_text(stored, entry, made_by)
        pages[page] = with_figures(page.read_text(encoding="utf-8"), text)
    quoting = QUOTING.read_text(encoding="utf-8")
    return pages | {QUOTING: with_quotations(quoting, pages)}


def main() -> int:
    """Write all of them."""
    for page, text in made_pages().items():
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
