"""python -m tests.oracles.random_control.reduce SEED: the smallest program that still goes wrong.

Parts of the text are left out as long as what is left is C, has a meaning, and is read wrongly.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from rtlgen.errors import RtlgenError
from tests.oracles.random_control.judging import judge
from tests.oracles.random_control.programs import Program, random_control

_OPERATORS = re.compile(r" (?:&&|\|\||[-+*/%&|^]|<<|>>|[<>!=]=?) ")
_ATOMS = re.compile(
    r"\b(?:[a-z]\w*(?:\[[^][]*\])?(?:\.\w+)*|\d{2,}[uUlL]*)(?= *[-;)+*/%&|^<>=!?:,])"
)


def reduced(program: Program, is_wrong: Callable[[Program], bool]) -> Program:
    """Return a program of fewer parts of which the same may be said."""
    size = len(program.text) + 1
    while len(program.text) < size:
        size = len(program.text)
        for shorter in (_without_lines, _unwrapped, _without_operands, _with_numbers):
            program = _while_possible(program, shorter, is_wrong)
    return program


def _while_possible(
    program: Program,
    shorter: Callable[[str], Iterator[str]],
    is_wrong: Callable[[Program], bool],
) -> Program:
    found = True
    while found:
        found = False
        for text in shorter(program.text):
            if text != program.text and is_wrong(replace(program, text=text)):
                program, found = replace(program, text=text), True
                break
    return program


def _is_balanced(text: str) -> bool:
    depth = 0
    for mark in re.findall(r"[{}()]", text):
        depth += 1 if mark in "{(" else -1
        if depth < 0:
            return False
    return depth == 0


def _without_lines(text: str) -> Iterator[str]:
    """Yield a text without some lines that go together, many of them first."""
    lines = text.splitlines()
    size = len(lines) // 2
    while size:
        for start in range(len(lines) - size, -1, -1):
            if _is_balanced("\n".join(lines[start : start + size])):
                yield "\n".join([*lines[:start], *lines[start + size :], ""])
        size = size // 2 if size > 4 else size - 1


def _unwrapped(text: str) -> Iterator[str]:
    """Yield a text with what stands in braces in the place of the statement around it."""
    lines = text.splitlines()
    for first, line in enumerate(lines):
        if not line.endswith("{"):
            continue
        for last in range(first + 1, len(lines)):
            inner = lines[first + 1 : last]
            if lines[last].startswith("}") and _is_balanced("\n".join(inner)):
                yield "\n".join([*lines[:first], *inner, *lines[last + 1 :], ""])
                break


def _without_operands(text: str) -> Iterator[str]:
    """Yield a text in which an operator and one of its operands is gone."""
    for match in _OPERATORS.finditer(text):
        left, right = _left_of(text, match.start()), _right_of(text, match.end())
        yield text[: match.start()] + text[right:]
        yield text[:left] + text[match.end() :]
    for match in re.finditer(r"\((\w+)\)|(?<==)( \w+) [-+*&|^]|\{ ([^{};]*;)", text):
        yield text[: match.start()] + (match[1] or match[2] or "{ ") + text[match.end() :]
    for match in re.finditer(r"(?<=[;{}\n])[^;{}\n]+;(?= )", text):
        yield text[: match.start()] + text[match.end() :]


def _left_of(text: str, end: int) -> int:
    depth, place = 0, end
    while place > 0:
        mark = text[place - 1]
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(mark, 0)
        if depth < 0 or (depth == 0 and mark in " ;{}\n,"):
            break
        place -= 1
    return place


def _right_of(text: str, start: int) -> int:
    depth, place = 0, start
    while place < len(text):
        mark = text[place]
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(mark, 0)
        if depth < 0 or (depth == 0 and mark in " ;{}\n,"):
            break
        place += 1
    return place


def _with_numbers(text: str) -> Iterator[str]:
    """Yield a text with a small number in the place of something."""
    for match in _ATOMS.finditer(text):
        for number in ("0", "1"):
            yield text[: match.start()] + number + text[match.end() :]


def _is_c(text: str) -> bool:
    """Return whether gcc takes a text, and sees nothing in it that is read before it is set."""
    words = ("uninitialized", "maybe-uninitialized", "return-type")
    flags = [f"-Werror={word}" for word in words]
    command = [
        "gcc",
        "-O1",
        "-fkeep-static-functions",
        *flags,
        "-x",
        "c",
        "-",
        "-c",
        "-o",
        "/dev/null",
    ]
    return not subprocess.run(command, input=text, text=True, capture_output=True).returncode


def main() -> int:
    """Print the program of a seed, as small as it gets."""
    seed = int(sys.argv[1])

    def is_wrong(program: Program) -> bool:
        if not _is_c(program.text):
            return False
        try:
            verdict = judge(program, seed)
        except RtlgenError:
            return False
        return verdict.outcome == "wrong" and verdict.code == first.code

    program = random_control(seed)
    first = judge(program, seed)
    if first.outcome != "wrong":
        print(f"{seed} is {first.outcome} {first.code}")
        return 1
    program = reduced(program, is_wrong)
    print(program.text, judge(program, seed).details, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
