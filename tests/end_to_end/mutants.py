"""Faults in generated Verilog, one at a time: an operator, a constant, an address bit, a guard."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from rtlgen.design import Design
from rtlgen.output.testbench import Case, Expected, write_testbench
from rtlgen.system.tools import ToolFailedError, run_tool
from rtlgen.verify.data import Recipe
from rtlgen.verify.equivalence import known_to
from rtlgen.verify.golden import run_golden

Kind: TypeAlias = Literal["operator", "constant", "address", "guard"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_OPERATORS = {
    "+": "-", "-": "+", "*": "+", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
    ">>>": ">>", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
}  # fmt: skip
_OPERATOR = re.compile(r"(?<= )(\+|-|\*|&|\||\^|<<|>>>|>>|<=|<|>=|>|==|!=)(?= )")
_ASSIGNED = re.compile(r"(?:^|; |\) |else |: |begin )\s*[\w\[\]:\\]+ $")
"""What is before the sign of an assignment, and not of a comparison."""
_CONSTANT = re.compile(r"\b(\d+)'([bdh])([0-9a-f]+)\b")
_BASES = {"b": 2, "d": 10, "h": 16}
_ADDRESS = re.compile(r"\b((?:ram|rom)_\w+)\[([^\]:]+)\]")
_GUARD = re.compile(r"(?<=if )\(([^()]+)\)|(?<== )(\\?\w+) (?=\?)")


@dataclass(frozen=True, slots=True)
class Mutant:
    """Verilog with one fault, in line `line` (from 1)."""

    kind: Kind
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}, line {self.line}: {self.before.strip()} -> {self.after.strip()}"


def mutants(verilog: str, count: int, seed: int) -> list[Mutant]:
    """Return `count` different faults, of every kind in turn as far as there are any."""
    chooser = random.Random(f"mutants {seed}")
    pools = {kind: list(_all_of(kind, verilog)) for kind in KINDS}
    for pool in pools.values():
        chooser.shuffle(pool)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(pools.values()):
        for kind in KINDS:
            if pools[kind] and len(chosen) < count:
                chosen.append(pools[kind].pop())
    return chosen


def _all_of(kind: Kind, verilog: str) -> Iterator[Mutant]:
    lines = verilog.splitlines(keepends=True)
    for number, line in enumerate(lines):
        start = _statement(line)
        if start is None:
            continue
        for before, after in _changes(kind, line[start:]):
            changed = line[:start] + after
            text = "".join([*lines[:number], changed, *lines[number + 1 :]])
            yield Mutant(kind, number + 1, before, after, text)


def _statement(line: str) -> int | None:
    """Return where the expressions of a line begin, if it is a statement."""
    head = r"(?:\(\* [^*]* \*\) )?"
    for pattern in (
        rf"\s*{head}(?:assign|wire) [^=]+= ",
        r"\s*(end )?(if|else|case)\b",
        r"\s+[\\\w\[\]:]+ +<= ",
    ):
        if match := re.match(pattern, line):
            return match.end() - 2 if "=" in match[0] else 0
    return None


def _changes(kind: Kind, text: str) -> Iterator[tuple[str, str]]:
    match kind:
        case "operator":
            for m in _OPERATOR.finditer(text, 2):
                if m[1] == "<=" and _ASSIGNED.search(text[: m.start()]):
                    continue
                yield text, text[: m.start()] + _OPERATORS[m[1]] + text[m.end() :]
        case "constant":
            for m in _CONSTANT.finditer(text):
                width, value = int(m[1]), int(m[3], _BASES[m[2]])
                for bit in {0, width // 2}:
                    yield text, f"{text[: m.start()]}{width}'h{value ^ 1 << bit:x}{text[m.end() :]}"
        case "address":
            for m in _ADDRESS.finditer(text):
                yield text, f"{text[: m.start()]}{m[1]}[({m[2]}) ^ 1'h1]{text[m.end() :]}"
        case "guard":
            for m in _GUARD.finditer(text):
                turned = f"(!({m[1]}))" if m[1] else f"!{m[2]} "
                yield text, text[: m.start()] + turned + text[m.end() :]


class Judges:
    """The test bench that `build` writes, and one with many more data sets, on Icarus."""

    def __init__(self, design: Design, folder: Path, more: int = 40) -> None:
        self.name = design.plan.name
        self._shipped, self._thorough = folder / "shipped", folder / "thorough"
        design.write(self._shipped)
        self._thorough.mkdir()
        scop, manifest = design.compilation.analysis.program.scop, design.manifest
        cases = []
        for number in range(more):
            kind: Literal["by array", "mixed", "small"] = ("by array", "mixed", "small")[number % 3]
            recipe = Recipe(kind, 7000 + number)
            inputs = recipe.inputs(scop)
            golden = run_golden(scop, inputs)
            expected = Expected(golden.arrays, golden.returned)
            cases.append(Case(str(recipe), known_to(manifest, inputs), expected))
        write_testbench(self._thorough, manifest, cases)

    def shipped_passes(self, verilog: str) -> bool:
        return self._passes(self._shipped, verilog)

    def thorough_passes(self, verilog: str) -> bool:
        return self._passes(self._thorough, verilog)

    def _passes(self, folder: Path, verilog: str) -> bool:
        (folder / "mutant.v").write_text(verilog)
        files = ["mutant.v", f"{self.name}_tb.v"]
        try:
            build = ["iverilog", "-g2012", "-o", "tb.vvp", *files]
            run_tool(build, log=folder / "build.log", cwd=folder)
            run_tool(
                ["vvp", "-n", "tb.vvp"], log=folder / "tb.log", cwd=folder, timeout_seconds=120
            )
        except ToolFailedError:
            # What does not compile is no circuit, and no mutant either.
            assert "syntax error" not in (folder / "build.log").read_text(), verilog
            return False
        return f"PASS: {self.name}" in (folder / "tb.log").read_text()
