"""Whether data decides which elements a program writes."""

from __future__ import annotations

from rtlgen.frontend import parse_text


def is_scattered(text: str, function: str | None = None) -> bool:
    """Tell whether some statement of a program computes where it writes."""
    program = parse_text(text, function=function)
    return any(statement.is_scatter for statement in program.scop.statements)
