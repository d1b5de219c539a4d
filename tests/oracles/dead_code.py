"""Write dead stores, unused values and empty loops into the lines of a random program.

Whatever is written in is dead, or may be: temporaries with an initial value that is overwritten,
scalars and local arrays that nobody reads, or only once at the end, elements that are set twice,
loops that are never entered.
"""

from __future__ import annotations

import random
import re

_ASSIGNMENT = re.compile(r"^(\s+)(\w+)((?:\[[^][]*\])+) (\+?=) ([^=;]*);$")

ROOM = 32
"""Elements of local arrays: more than any loop of these programs runs over."""


def with_dead_code(seed: int, text: str) -> str:
    """Return a C function with dead code in it, drawn from a seed."""
    rng = random.Random(f"dead {seed}")
    before, after, lines = [], [], []
    for number, line in enumerate(text.split("\n")):
        found = _ASSIGNMENT.match(line)
        if found is None or rng.random() < 0.4:
            lines.append(line)
            continue
        pad, name, subscripts, op, value = found.groups()
        target = f"{name}{subscripts}"
        match rng.choice(("initial", "unread", "kept", "twice", "array", "sum", "empty")):
            case "initial":
                own = f"t{number}"
                line = f"{pad}{{ int {own} = {rng.randint(0, 9)}; {own} = {value}; "
                line += f"{target} {op} {own}; }}"
            case "unread" | "kept" as kind:
                own = f"u{number}"
                before.append(f"  int {own} = 0;")
                line = f"{pad}{{ {own} = {value}; {target} {op} {value}; }}"
                if kind == "kept":
                    after.append(f"  {name}{'[2]' * subscripts.count('[')} = {own};")
            case "twice":
                line = f"{pad}{{ {target} = {rng.randint(0, 9)}; {target} {op} {value}; }}"
            case "array":
                own, place = f"w{number}", subscripts[: subscripts.index("]") + 1]
                before.append(f"  int {own}[{ROOM}];")
                used = rng.choice((value, f"{own}{place}"))
                line = f"{pad}{{ {own}{place} = {value}; {target} {op} {used}; }}"
            case "sum":
                own = f"s{number}"
                before.append(f"  int {own} = 1;")
                line = f"{pad}{{ {own} += {value}; {target} {op} {value}; }}"
            case _:
                at = f"e{number}"
                line = f"{pad}{{ {target} {op} {value}; "
                line += f"for (int {at} = 4; {at} < 4; {at}++) {target} = {at}; }}"
        lines.append(line)
    head = next(k for k, line in enumerate(lines) if line.endswith("{") and "(" in line)
    end = max(k for k, line in enumerate(lines) if line == "}")
    if lines[end - 1].startswith("  return"):
        end -= 1
    body = [*lines[: head + 1], *before, *lines[head + 1 : end], *after, *lines[end:]]
    return "\n".join(body)
