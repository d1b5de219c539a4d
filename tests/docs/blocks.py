"""Fenced blocks of a Markdown page, and what each of them claims.

    ```console     commands after `$ ` and what they print; `...` stands for anything
    ```python      a program; `# -> TEXT` behind a line says what it prints, in order
    ```c accepted  a program that rtlgen accepts
    ```c E0118     a program that rtlgen refuses with this code

A `console` or `python` block with the further word `simulation` runs a simulator. The blocks of
other languages (`text`, `sh`, `c` alone, ...) claim nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^```(?P<info>\S.*)\n(?P<text>(?:.*\n)*?)```$", re.MULTILINE)
_PRINTS = re.compile(r"# -> (?P<text>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `line` is that of its first text line, `start` its offset in the page."""

    words: tuple[str, ...]
    text: str
    line: int
    start: int

    @property
    def language(self) -> str:
        return self.words[0]

    @property
    def simulates(self) -> bool:
        return "simulation" in self.words

    @property
    def is_executable(self) -> bool:
        return self.language in ("console", "python") or self.verdict is not None

    @property
    def verdict(self) -> str | None:
        """`accepted` or a code, for a C program that makes a claim."""
        return self.words[1] if self.language == "c" and len(self.words) > 1 else None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block and the text that is expected from it."""

    text: str
    expected: str


def pages() -> list[Path]:
    """Return every page whose blocks are checked."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    examples = sorted((ROOT / "examples").glob("*/README.md"))
    return [*top, *sorted((ROOT / "docs").rglob("*.md")), *examples]


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [
        Block(
            tuple(found["info"].split()),
            found["text"],
            page.count("\n", 0, found.start("text")) + 1,
            found.start("text"),
        )
        for found in _FENCE.finditer(page)
    ]


def commands_of(block: Block) -> list[Command]:
    """Return the commands of a console block with what each should print."""
    commands: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line.removeprefix("$ "), ""))
        elif not commands:
            raise ValueError(f"line {block.line}: a console block starts with `$ `")
        elif commands[-1].text.endswith("\\") and not commands[-1].expected:
            joined = commands[-1].text.removesuffix("\\") + line.strip()
            commands[-1] = Command(joined, "")
        else:
            commands[-1] = Command(commands[-1].text, commands[-1].expected + line + "\n")
    return commands


def printed_by(block: Block) -> list[str]:
    """Return what a Python block says it prints, a line each."""
    return [found["text"].strip() for found in _PRINTS.finditer(block.text)]


def agrees(expected: str, actual: str) -> bool:
    """Tell whether `actual` is what was expected; `...` alone on a line stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in expected.rstrip("\n").splitlines()
    )
    return re.fullmatch(pattern, _tidy(actual)) is not None


def _tidy(text: str) -> str:
    stripped = "".join(line.rstrip() + "\n" for line in text.splitlines())
    return stripped.rstrip("\n") + "\n" if stripped.strip() else ""


def renewed(block: Block, outputs: dict[str, str]) -> str:
    """Return a console block's text with the outputs replaced; elided ones stay as they are."""
    text = ""
    original = block.text.splitlines(keepends=True)
    for number, line in enumerate(original):
        continued = number > 0 and original[number - 1].rstrip().endswith("\\")
        if line.startswith("$ ") or continued:
            text += line
            ends = not line.rstrip().endswith("\\")
            if ends:
                command = _command_at(original, number)
                text += outputs[command]
    return text


def _command_at(lines: list[str], last: int) -> str:
    first = last
    while not lines[first].startswith("$ "):
        first -= 1
    parts = [line.strip().removesuffix("\\") for line in lines[first : last + 1]]
    return "".join(parts).removeprefix("$ ")
