"""How lines are set: one statement a line, long ones broken where a reader would."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rtlgen.output.verilog_text.expressions import Text

LINE_WIDTH = 100
SOURCE = re.compile(r'\(\* src = "[^"]*" \*\) ')
"""The attribute that names a line of the C program."""
_INDENT = "  "


def indented(lines: Iterable[str], depth: int = 1) -> Iterator[str]:
    for line in lines:
        yield f"{_INDENT * depth}{line}" if line else line


def range_of(width: int) -> str:
    """Return the range of a declaration, with a space behind it; nothing for one bit."""
    return f"[{width - 1}:0] " if width > 1 else ""


def assignment(head: str, text: Text) -> Iterator[str]:
    """Yield `head` and an expression behind it, a choice in a line for each arm if it is long."""
    line = f"{head} {text.text};"
    if _length(line) <= LINE_WIDTH or not text.arms:
        yield from broken(line)
        return
    *chosen, (_, last) = text.arms
    widest = max(len(condition) for condition, _ in chosen)
    yield head
    for condition, value in chosen:
        yield f"{_INDENT}{condition.ljust(widest)} ? {value} :"
    yield f"{_INDENT}{last};"


def _length(line: str) -> int:
    """Return how long a line is, but for the name of a file: no break depends on where that is."""
    return len(SOURCE.sub("", line))


def broken(line: str) -> Iterator[str]:
    """Yield a line that is too long in several, broken behind operators and commas."""
    match = SOURCE.match(line)
    source = match[0] if match else ""
    line, indent = line[len(source) :], ""
    while len(indent + line) > LINE_WIDTH:
        room = LINE_WIDTH - len(indent)
        places = [line.rfind(mark, 0, room) + len(mark) for mark in (", ", " & ", " | ", " + ")]
        place = max((p for p in places if p > LINE_WIDTH // 3), default=0)
        if not place:
            break
        yield source + indent + line[:place].rstrip()
        line, indent, source = line[place:], _INDENT * 2, ""
    yield source + indent + line


def packed(items: Sequence[str], indent: int = 1) -> Iterator[str]:
    """Yield short statements, as many in a line as have room."""
    line = ""
    for item in items:
        if line and len(line) + 1 + len(item) > LINE_WIDTH - len(_INDENT) * indent:
            yield line
            line = ""
        line = f"{line} {item}" if line else item
    if line:
        yield line


def table(rows: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Return declarations as aligned columns: kind, range, name and comment."""
    kinds = max(len(kind) for kind, *_ in rows)
    ranges = max(len(range_) for _, range_, *_ in rows)
    heads = [f"{kind.ljust(kinds)} {range_.rjust(ranges)}{name}" for kind, range_, name, _ in rows]
    names = max(map(len, heads))
    return [
        f"{head.ljust(names)}  // {comment}" if comment else head
        for head, (*_, comment) in zip(heads, rows, strict=True)
    ]


def declarations(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield declarations, names of the same kind one beside the other, as many as have room."""
    kind, line = "", ""
    for wanted, name in items:
        if wanted == kind and _length(line) + 2 + len(name) < LINE_WIDTH - len(_INDENT):
            line += f", {name}"
            continue
        if line:
            yield f"{line};"
        kind, line = wanted, f"{wanted}{name}"
    if line:
        yield f"{line};"
