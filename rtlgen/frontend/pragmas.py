"""What the pragmas of other tools ask for."""

from __future__ import annotations

from collections.abc import Mapping

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
