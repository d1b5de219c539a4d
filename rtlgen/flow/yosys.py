"""Run a yosys script in a process of its own: `python -m rtlgen.flow.yosys SCRIPT`.

yosys prints to standard output and may end the process when something is wrong with the design;
neither must happen to the caller.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pyosys import libyosys

from rtlgen.system.tools import run_tool


def run_script(commands: Sequence[str], folder: Path) -> None:
    """Run yosys `commands` in `folder`; everything printed goes to `folder/yosys.log`.

    Raises
    ------
    ToolFailedError
    """
    script = folder / "script.ys"
    script.write_text("\n".join(commands) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "rtlgen.flow.yosys", str(script)]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    run_tool(command, log=folder / "yosys.log", cwd=folder, environment=environment)


def main() -> None:
    """Run each line of the script that the command line names."""
    design = libyosys.Design()
    for command in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        design.run_pass(command)


if __name__ == "__main__":
    main()
