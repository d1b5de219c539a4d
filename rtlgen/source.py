"""Source text and the places in it that a diagnostic, a dependence or a net refers to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A piece of one line of a source file.

    Members
    -------
    file: path as the user wrote it.
    line, column: 1-based start.
    length: number of columns covered, at least 1.
    """

    file: str
    line: int
    column: int
    length: int = 1

    def __post_init__(self) -> None:
        if self.line < 1 or self.column < 1 or self.length < 1:
            raise ValueError(f"a span is 1-based and covers at least one column: {self!r}")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The text of one file as it stood when it was read; diagnostics quote from it."""

    path: str
    text: str

    def line(self, number: int) -> str:
        """Return line `number` (1-based) without its line end, or "" past the end of the file."""
        lines = self.text.splitlines()
        return lines[number - 1] if 1 <= number <= len(lines) else ""
