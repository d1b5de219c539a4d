"""Run the blocks of one page, in order, in a folder of their own with links to the sources."""

from __future__ import annotations

import contextlib
import glob
import io
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rtlgen.cli.program import main
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.planning.analysis import examine
from tests.docs.blocks import ROOT, Block, Command, agrees, commands_of, printed_by

SHELL_TOOLS = ("cat", "gcc", "grep", "head", "iverilog", "ls", "mkdir", "vvp")


class Stale(AssertionError):
    """A page says something else than the program does."""


class Session:
    """What the blocks of a page share: the folder, the Python names, the last exit status."""

    def __init__(self, page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.page = page
        self.status = 0
        self.names: dict[str, Any] = {"__name__": page.stem}
        self._patch = monkeypatch
        for name in ("examples", "rtlgen", "tests"):
            (folder / name).symlink_to(ROOT / name)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "100")

    def run(self, block: Block) -> dict[str, str]:
        """Run a block and return what each of its commands printed.

        Raises
        ------
        Stale: that is not what the page says.
        """
        if block.language == "console":
            return self._console(block)
        if block.language == "python":
            self._python(block)
        elif block.verdict is not None:
            self._judge(block, block.verdict)
        return {}

    def outputs(self, block: Block) -> dict[str, str]:
        """Return what the commands of a console block print, without looking at the page."""
        return {command.text: self._output(command) for command in commands_of(block)}

    def _console(self, block: Block) -> dict[str, str]:
        printed = {}
        for command in commands_of(block):
            printed[command.text] = self._output(command)
            if not agrees(command.expected, printed[command.text]):
                raise self._stale(block, f"$ {command.text}", printed[command.text])
        return printed

    def _output(self, command: Command) -> str:
        program, *arguments = shlex.split(command.text)
        if (program, arguments) == ("echo", ["$?"]):
            return f"{self.status}\n"
        arguments = [found for word in arguments for found in _expanded(word)]
        if program == "rtlgen":
            return self._rtlgen(arguments)
        if program not in SHELL_TOOLS:
            raise ValueError(f"{self.page.name}: {program} is not run from a page; use `sh`")
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, timeout=60
        )
        self.status = done.returncode
        return done.stdout + done.stderr

    def _rtlgen(self, arguments: list[str]) -> str:
        self._patch.setattr(sys, "argv", ["rtlgen", *arguments])
        printed = io.StringIO()
        self.status = 0
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                main()
            except SystemExit as end:
                self.status = end.code if isinstance(end.code, int) else 1
        return printed.getvalue()

    def _python(self, block: Block) -> None:
        # Blank lines in front, so that a traceback shows the line of the page.
        text = "\n" * (block.line - 1) + block.text
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, str(self.page), "exec"), self.names)
        if not agrees("\n".join(printed_by(block)), printed.getvalue()):
            raise self._stale(block, "the program", printed.getvalue())

    def _judge(self, block: Block, verdict: str) -> None:
        try:
            examine(parse_text(block.text))
            said = "accepted"
        except RtlgenError as error:
            said = error.code
        if said != verdict:
            raise self._stale(block, f"rtlgen check says {said}, the page says", verdict)

    def _stale(self, block: Block, what: str, printed: str) -> Stale:
        return Stale(f"{self.page.name}:{block.line}: {what} prints\n{printed}")


def _expanded(word: str) -> list[str]:
    return sorted(glob.glob(word)) or [word]
