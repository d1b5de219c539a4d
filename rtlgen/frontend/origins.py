"""Where the tokens that pcpp hands out stood in the user's files."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Origin:
    """A stretch of a file: absolute path, offset, length."""

    path: str
    offset: int
    length: int


def adjacent(left: Any, right: Any) -> bool:
    """Return whether two pieces stood side by side in one text, so that they may be one token."""
    return bool(
        left.lexpos + len(left.value) == right.lexpos
        and getattr(left, "expanded_from", []) == getattr(right, "expanded_from", [])
        and left.source == right.source
    )


def mark_results(before: list[Any], after: list[Any]) -> None:
    """Give every token of `after` that a macro made the place of the macro's call.

    Tokens that no macro touched are the same objects in both lists, in the same order; what lies
    between two of them in `before` is the call of the macro that made what lies between them in
    `after`. An argument of a macro keeps the place where it was written.
    """
    position = {id(token): index for index, token in enumerate(before)}
    untouched = [
        (index, position[id(token)])
        for index, token in enumerate(after)
        if id(token) in position and not token.expanded_from
    ]
    previous_after, previous_before = -1, -1
    for index, place in [*untouched, (len(after), len(before))]:
        call = [t for t in before[previous_before + 1 : place] if t.value.strip()]
        for token in after[previous_after + 1 : index]:
            if not hasattr(token, "origin"):
                token.origin = _call_origin(call) if call else before[-1].origin
        previous_after, previous_before = index, place


def _call_origin(call: list[Any]) -> Origin:
    first: Origin = call[0].origin
    last: Origin = call[-1].origin
    return Origin(first.path, first.offset, last.offset + last.length - first.offset)


class LineTable:
    """Offsets of the lines of a file as pcpp sees it: right-stripped, joined by newlines."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = [line.rstrip() for line in text.splitlines()]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def span(self, offset: int, length: int) -> Span:
        """Return the place of a stretch of text, cut off at the end of its first line."""
        index = min(bisect_right(self._starts, offset), len(self._lines)) - 1
        if index < 0:
            return Span(self._path, 1, 1)
        column = offset - self._starts[index]
        room = len(self._lines[index]) - column
        return Span(self._path, index + 1, column + 1, max(1, min(length, room)))

    def line_span(self, number: int) -> Span:
        """Return the place of a whole line without its indentation."""
        text = self._lines[number - 1] if number <= len(self._lines) else ""
        lead = len(text) - len(text.lstrip())
        return Span(self._path, number, lead + 1, max(1, len(text) - lead))
