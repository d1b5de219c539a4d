"""What the pragmas and headers of other tools ask for.

`#pragma HLS ..` is a wish for lanes, pipelined loops or banks. Headers of C++ tools are refused
with what to write in C for what they declare.

Reference
---------
UG1399, Vitis HLS pragmas: UNROLL, PIPELINE, ARRAY_PARTITION. A pragma is about the loop or function
whose body, in braces, it stands in; an array is one of the function around it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.text.tokens import Token
from rtlgen.source import Span

GUIDE = "docs/how-to/come-from-vitis-hls.md"

_INSTEAD = {
    "ap_int.h": "write int8_t, int16_t, int32_t or int64_t of <stdint.h>, and a mask where a value "
    "wraps at fewer bits: x & 0xfff",
    "ap_fixed.h": "write integers with a scale: (a * b) >> 8 for two numbers with 8 bits behind "
    "the point",
    "hls_stream.h": "write an array: a loop that writes it and one that reads it run side by side, "
    "each value as soon as it is there",
    "hls_math.h": "write integers, or look values up in a constant table",
}
_TWINS = {"ap_cint.h": "ap_int.h", "ac_int.h": "ap_int.h", "ac_fixed.h": "ap_fixed.h"}
_TWINS |= {"ac_channel.h": "hls_stream.h"}
_VENDOR = re.compile(r"(?:ap|hls|ac)_\w+\.h(?:pp)?")


def instead_of(header: str) -> str | None:
    """Return what to write in place of a header of such a tool; None for any other header."""
    if _VENDOR.fullmatch(header) is None:
        return None
    return _INSTEAD.get(_TWINS.get(header, header), "write what the function does in plain C")


_HLS: Mapping[str, str] = {
    "ALLOCATION": "a limit of the operators that are built",
    "ARRAY_MAP": "several arrays in one memory",
    "ARRAY_PARTITION": "an array in several memories",
    "ARRAY_RESHAPE": "an array in wider words",
    "BIND_OP": "a certain implementation of an operator",
    "BIND_STORAGE": "a certain kind of memory",
    "DATAFLOW": "loops that run side by side",
    "DEPENDENCE": "a dependence to be taken as absent, or as present",
    "INLINE": "the function's text in place of its calls",
    "INTERFACE": "a certain kind of port",
    "LATENCY": "limits of a latency",
    "LOOP_FLATTEN": "nested loops as one",
    "LOOP_MERGE": "neighbouring loops as one",
    "LOOP_TRIPCOUNT": "nothing: it tells reports how often the loop runs",
    "PIPELINE": "a loop that begins an iteration every few cycles",
    "RESOURCE": "a certain memory or operator",
    "STREAM": "an array that is passed on as a stream",
    "TOP": "this function as the one to build",
    "UNROLL": "copies of the loop's body that run at the same time",
}
_OMP: Mapping[str, str] = {
    "ATOMIC": "an update that threads cannot interrupt",
    "BARRIER": "threads that wait for each other",
    "CRITICAL": "one thread at a time",
    "FOR": "iterations shared out among threads",
    "PARALLEL": "several threads",
    "SIMD": "several iterations in one vector instruction",
    "TARGET": "a run on an accelerator",
    "TASK": "a task for another thread",
}
_LOOPS: Mapping[str, str] = {
    "IVDEP": "no dependences to be taken for granted between iterations",
    "NOUNROLL": "no copies of the loop's body",
    "UNROLL": "copies of the loop's body that run at the same time",
    "VECTOR": "several iterations in one vector instruction",
    "VECTORIZE": "several iterations in one vector instruction",
    "II": "a loop that begins an iteration every few cycles",
    "LOOP_COALESCE": "nested loops as one",
    "DISTRIBUTE": "a loop for each part of the body",
    "INTERLEAVE": "several iterations at the same time",
    "INTERLEAVE_COUNT": "several iterations at the same time",
    "UNROLL_COUNT": "copies of the loop's body that run at the same time",
}
_TOOLS: Mapping[str, Mapping[str, str]] = {
    "HLS": _HLS, "AP": _HLS, "OMP": _OMP, "ACC": {**_OMP, "LOOP": _OMP["FOR"]},
    "GCC": _LOOPS, "CLANG": _LOOPS, "INTEL": _LOOPS,
}  # fmt: skip
_OTHERS: Mapping[str, str] = {
    **_LOOPS,
    "SIMD": _OMP["SIMD"],
    "PACK": "structures without gaps",
    "WEAK": "a symbol that others may replace",
    "OPTIMIZE": "other optimisations by the compiler",
    "STDC": "certain floating-point calculations",
    "MAX_CONCURRENCY": "a limit of the iterations that run at the same time",
}
_SILENT = frozenset(("ONCE", "MARK", "REGION", "ENDREGION", "MESSAGE", "WARNING", "DIAGNOSTIC"))
_GENERAL = frozenset(("LOOP", "DO"))


def wish(text: str) -> str | None:
    """Return what a pragma asks for; None if it asks the compiler for nothing.

    Parameters
    ----------
    text: the line behind `#pragma`.
    """
    words = text.replace("(", " ( ").upper().split()
    if not words or words[0] in _SILENT:
        return None
    tool = _TOOLS.get(words[0])
    if tool is None:
        return _OTHERS.get(words[0], "something that only another tool knows")
    directives = [word for word in words[1:] if word not in _GENERAL or words[0] == "ACC"]
    if directives and directives[0] in _SILENT | {"PUSH_OPTIONS", "POP_OPTIONS", "POISON"}:
        return None
    found = [tool[word] for word in _leading(directives) if word in tool]
    return " and ".join(dict.fromkeys(found)) or _OTHERS.get(
        directives[0] if directives else "", "something that only another tool knows"
    )


def _leading(words: list[str]) -> list[str]:
    """Return the directives, without the clauses behind them, which have brackets or values."""
    found: list[str] = []
    for k, word in enumerate(words):
        if not word.replace("_", "").isalpha():
            break
        found.append(word)
        if words[k + 1 : k + 2] == ["("]:
            break
    return found


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
