"""Check generated Verilog with `verilator --lint-only -Wall`."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from rtlgen.sim.verilator import find_verilator
from rtlgen.system.tools import LintError, ToolFailedError, run_tool

WAIVERS = Path(__file__).with_name("lint.vlt")


def lint(verilog: Path, top: str) -> None:
    """Raise LintError when Verilator warns about `verilog`, read as Verilog-2005.

    Raises
    ------
    LintError, MissingToolError
    """
    command = [
        str(find_verilator().command),
        "--lint-only",
        "-Wall",
        # Truncation, too: see the waivers.
        "+define+STRICT_WIDTHS",
        "--default-language",
        "1364-2005",
        "--top-module",
        top,
        str(WAIVERS),
        str(verilog),
    ]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "lint.log"
        try:
            run_tool(command, log=log)
        except ToolFailedError:
            warnings = re.findall(
                r"^%(?:Warning|Error)(?:-\w+)?: \S+:\d+:\d+: .*$",
                log.read_text(encoding="utf-8"),
                flags=re.MULTILINE,
            )
            raise LintError(
                f"{verilog.name} has lint warnings: {len(warnings)}",
                notes=[warning.lstrip("%") for warning in warnings[:10]],
                help="the waivers and their reasons are in rtlgen/sim/lint.vlt",
            ) from None
