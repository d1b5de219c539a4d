"""`#pragma HLS UNROLL factor=4` in a loop: a wish for lanes, and the loop that it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.tokens import Token
from rtlgen.source import Span

_UNROLL = re.compile(
    r"(?:HLS|AP)\s+UNROLL(?:\s+factor\s*=\s*([1-9][0-9]{0,5}))?(?:\s+skip_exit_check)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class UnrollPragma:
    """A wish for lanes of the loop that begins at `loop`; lanes None: as many as iterations."""

    text: str
    span: Span
    loop: Span
    lanes: int | None


def unroll_pragma(text: str, span: Span, tokens: Sequence[Token]) -> UnrollPragma | None:
    """Return what a pragma wishes of the innermost loop with braces around it.

    Parameters
    ----------
    text: the line behind `#pragma`. tokens: of the program, without the pragma.
    """
    found = _UNROLL.fullmatch(text.strip())
    if found is None:
        return None
    loop = _loop_around(span, tokens)
    if loop is None:
        return None
    return UnrollPragma(text, span, loop, int(found[1]) if found[1] else None)


def not_followed(text: str, span: Span, why: str) -> Diagnostic:
    """Return the warning that a pragma has no effect."""
    return Diagnostic(
        "W0113", f"#pragma {text} is not followed", (Label(span, why),), severity="warning"
    )


def _loop_around(span: Span, tokens: Sequence[Token]) -> Span | None:
    """Return where the `for` stands whose body, in braces, a line is directly in."""
    behind = (
        n for n, t in enumerate(tokens) if t.span.file == span.file and t.span.line > span.line
    )
    open_brace = _opening(tokens, next(behind, len(tokens)), "{", "}")
    if open_brace is None or open_brace == 0 or tokens[open_brace - 1].text != ")":
        return None
    bracket = _opening(tokens, open_brace - 1, "(", ")")
    if bracket is None or bracket == 0 or tokens[bracket - 1].text != "for":
        return None
    return tokens[bracket - 1].span


def _opening(tokens: Sequence[Token], end: int, opening: str, closing: str) -> int | None:
    """Return the last bracket before `end` that is still open there."""
    depth = 0
    for number in range(end - 1, -1, -1):
        if tokens[number].text == closing:
            depth += 1
        elif tokens[number].text == opening:
            if depth == 0:
                return number
            depth -= 1
    return None
