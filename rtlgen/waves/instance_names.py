"""Instances as a user names them: `S1(3,4,2)`, or `S1(i=3, j=4, k=2)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rtlgen.waves.errors import NotInTraceError
from rtlgen.waves.issue_file import BuiltCircuit

_INSTANCE = re.compile(r"\s*(?P<statement>\w+)\s*\((?P<values>[^()]*)\)\s*")


def parsed_instance(text: str, circuit: BuiltCircuit) -> tuple[str, tuple[int, ...]]:
    """Return the statement and the values of its iterators.

    Raises
    ------
    NotInTraceError: the program has no such statement, or that has other iterators.
    """
    known = {i.instances.statement: i.instances.iterators for i in circuit.issued}
    found = _INSTANCE.fullmatch(text)
    if found is None or found["statement"] not in known:
        raise NotInTraceError(
            f"{text} names no instance of {circuit.manifest.name}",
            help=f"write S1(3,4,2); its statements are {', '.join(known)}",
        )
    statement = found["statement"]
    point = _point(found["values"], known[statement])
    if point is None:
        values = ",".join(f"{name}=0" for name in known[statement])
        raise NotInTraceError(
            f"{text} names no instance of {statement}",
            help=f"its iterators are {', '.join(known[statement]) or 'none'}: write "
            f"{statement}({values})",
        )
    return statement, point


def _point(text: str, iterators: Sequence[str]) -> tuple[int, ...] | None:
    """Return the values that are given for iterators, in their order or by their names."""
    values = [part.strip() for part in text.split(",") if part.strip()]
    pairs = [value.partition("=") for value in values]
    if values and all(equals for _, equals, _ in pairs):
        given = {name.strip(): value for name, _, value in pairs}
        if sorted(given) != sorted(iterators) or len(given) != len(pairs):
            return None
        values = [given[name] for name in iterators]
    try:
        point = tuple(map(int, values))
    except ValueError:
        return None
    return point if len(point) == len(iterators) else None
