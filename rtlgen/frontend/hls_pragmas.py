"""`#pragma HLS ..`: wishes for lanes, pipelined loops and banks, and what they are about.

Reference
---------
UG1399, Vitis HLS pragmas: UNROLL, PIPELINE, ARRAY_PARTITION. A pragma is about the loop or function
whose body, in braces, it stands in; an array is one of the function around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.tokens import Token
from rtlgen.source import Span

_DIRECTIVE = re.compile(
    r"(?:HLS|AP)\s+(?P<name>\w+)(?P<clauses>(?:[\s,]+\w+(?:\s*=\s*\w+)?)*)\s*", re.IGNORECASE
)
_CLAUSE = re.compile(r"(\w+)(?:\s*=\s*(\w+))?")
_COUNT = re.compile(r"[1-9][0-9]{0,5}")
_PIPELINE_CLAUSES = frozenset(("ii", "rewind", "style", "enable_flush"))

PartitionKind: TypeAlias = Literal["cyclic", "block", "complete"]
_KINDS: tuple[PartitionKind, ...] = ("cyclic", "block", "complete")


@dataclass(frozen=True, slots=True)
class UnrollPragma:
    """A wish for lanes of the loop that begins at `loop`; lanes None: as many as iterations."""

    text: str
    span: Span
    loop: Span
    lanes: int | None


@dataclass(frozen=True, slots=True)
class PipelinePragma:
    """A wish that all loops below one, or in a function, are unrolled.

    Members
    -------
    loop: where it begins; None: the whole function. function: the one around the pragma.
    interval_cycles: in which its iterations are to begin; None where the pragma does not say.
    """

    text: str
    span: Span
    loop: Span | None
    function: str
    interval_cycles: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionPragma:
    """A wish for an array in banks.

    Members
    -------
    function: the one around the pragma. dim: from 1; 0: all of them.
    count: parts; None: as many as the dimension has values.
    """

    text: str
    span: Span
    function: str
    array: str
    kind: PartitionKind
    dim: int
    count: int | None


HlsPragma: TypeAlias = UnrollPragma | PipelinePragma | PartitionPragma


def hls_pragma(text: str, span: Span, tokens: Sequence[Token]) -> HlsPragma | str | None:
    """Return what a pragma wishes, or why it cannot be followed, or None if it is another one's.

    Parameters
    ----------
    text: the line behind `#pragma`. tokens: of the program, without the pragma.
    """
    found = _DIRECTIVE.fullmatch(text.strip())
    if found is None:
        return None
    clauses = {key.lower(): value for key, value in _CLAUSE.findall(found["clauses"])}
    match found["name"].upper():
        case "UNROLL":
            return _unroll(text, span, clauses, tokens)
        case "PIPELINE":
            return _pipeline(text, span, clauses, tokens)
        case "ARRAY_PARTITION":
            return _partition(text, span, clauses, tokens)
    return None


def not_followed(text: str, span: Span, why: str) -> Diagnostic:
    """Return the warning that a pragma, or a part of what it asks for, has no effect."""
    return Diagnostic(
        "W0113", f"#pragma {text} is not followed", (Label(span, why),), severity="warning"
    )


def _unroll(
    text: str, span: Span, clauses: dict[str, str], tokens: Sequence[Token]
) -> HlsPragma | None:
    factor = clauses.get("factor")
    is_known = clauses.keys() <= {"factor", "skip_exit_check"}
    if not is_known or (factor is not None and not _COUNT.fullmatch(factor)):
        return None
    heads = _heads_around(span, tokens)
    if not heads or heads[0].text != "for":
        return None
    return UnrollPragma(text, span, heads[0].span, int(factor) if factor else None)


def _pipeline(
    text: str, span: Span, clauses: dict[str, str], tokens: Sequence[Token]
) -> HlsPragma | str | None:
    if "off" in clauses:
        return "loops are pipelined where dependences and ports allow it"
    interval = clauses.get("ii")
    is_known = clauses.keys() <= _PIPELINE_CLAUSES
    if not is_known or (interval is not None and not _COUNT.fullmatch(interval)):
        return None
    heads = _heads_around(span, tokens)
    if not heads or (heads[0].text != "for" and len(heads) > 1):
        return "it stands directly in the body of no loop and no function"
    loop = heads[0].span if heads[0].text == "for" else None
    cycles = int(interval) if interval else None
    return PipelinePragma(text, span, loop, heads[-1].text, cycles)


def _partition(
    text: str, span: Span, clauses: dict[str, str], tokens: Sequence[Token]
) -> HlsPragma | str:
    array, heads = clauses.get("variable"), _heads_around(span, tokens)
    if not array or not heads:
        return "it names no array" if heads else "it stands in no function"
    # The kind is a word of its own in older programs.
    named = clauses.get("type", "").lower() or next((k for k in _KINDS if k in clauses), "complete")
    kind = next((kind for kind in _KINDS if kind == named), None)
    if kind is None:
        return f"{named} is none of {', '.join(_KINDS)}"
    dim, factor = clauses.get("dim", "1"), clauses.get("factor", "")
    if not re.fullmatch("[0-9]{1,2}", dim):
        return f"dim={dim} is no number"
    if kind != "complete" and not _COUNT.fullmatch(factor):
        return f"it says no factor={'N' if not factor else f'N, but {factor}'}"
    count = None if kind == "complete" else int(factor)
    return PartitionPragma(text, span, heads[-1].text, array, kind, int(dim), count)


def _heads_around(span: Span, tokens: Sequence[Token]) -> list[Token]:
    """Return what stands before the open braces around a line, the innermost first.

    That is `for`, the name of a function, or another word that brackets follow; other braces are
    passed over.
    """
    behind = (
        n for n, t in enumerate(tokens) if t.span.file == span.file and t.span.line > span.line
    )
    at: int | None = next(behind, len(tokens))
    heads = []
    while at is not None:
        at = _opening(tokens, at, "{", "}")
        if at is not None and at > 0 and tokens[at - 1].text == ")":
            bracket = _opening(tokens, at - 1, "(", ")")
            if bracket:
                heads.append(tokens[bracket - 1])
        elif at is not None and at > 0 and tokens[at - 1].text in ("else", "do"):
            heads.append(tokens[at - 1])
    return heads


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
