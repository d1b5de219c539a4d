"""The report on loop nests as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rtlgen.report.tables import text_table

LOOP_HEADER = (
    "loop", "line", "class", "trips", "iterations", "flattened into", "II", "depth", "cycles",
)  # fmt: skip


def nests_text(nests: Sequence[Mapping[str, Any]]) -> str:
    """Return the report that `nest_report` made as text, without a final newline."""
    return "\n\n".join([*map(_nest, nests), guides_text(nests)])


def guides_text(nests: Sequence[Mapping[str, Any]]) -> str:
    """Return what the short names of other tools stand for, each once."""
    lines = ["(UG1399 is the Vitis High-Level Synthesis User Guide"]
    if any(nest["aocl"] for nest in nests):
        lines.append("AOCL the Best Practices Guide of the Intel FPGA SDK for OpenCL")
    return ",\n ".join(lines) + ")"


def _nest(nest: Mapping[str, Any]) -> str:
    loops = ", ".join(f"{loop['name']} = {loop['start']}..{loop['stop']}" for loop in nest["loops"])
    lines = [
        f"line {nest['line']}: {nest['class']} nest ({nest['reason']}): {loops}",
        text_table(LOOP_HEADER, [loop_row(loop) for loop in nest["loops"]]),
        *(f"II {loop['ii']} of {shown_name(loop)}: {loop['ii_reason']}" for loop in _slow(nest)),
        f"UG1399: {ug1399_text(nest)}",
    ]
    for case in nest["aocl"]:
        lines.append(f"AOCL, {case['name']}, line {case['lines'][0]}: {case['there']}")
        lines.append(f"  here: {case['here']}")
    return "\n".join(lines)


def loop_row(loop: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the cells of a loop under `LOOP_HEADER`."""
    return (
        f"{'  ' * loop['depth']}{shown_name(loop)}",
        loop["line"],
        loop["class"],
        trips_text(loop["trips"]),
        loop["trips"]["total"],
        ", ".join(loop["flattened_into"]) or "-",
        loop["ii"],
        loop["iteration_latency_cycles"],
        loop["latency_cycles"],
    )


def shown_name(loop: Mapping[str, Any]) -> str:
    """Return the label of a loop, or else its iterator."""
    return str(loop["label"] or loop["name"])


def trips_text(trips: Mapping[str, Any]) -> str:
    """Return trip counts as `8`, `at most 8`, or `0..63, average 31.5`."""
    if trips["min"] == trips["max"]:
        text = f"{trips['min']:,}"
    else:
        text = f"{trips['min']:,}..{trips['max']:,}, average {trips['average']:,.1f}"
    return f"at most {text}" if trips["at_most"] else text


def ug1399_text(nest: Mapping[str, Any]) -> str:
    """Return what a tool that follows UG1399 makes of a nest, beside this design."""
    there = nest["ug1399"]
    if len(nest["loops"]) == 1:
        done = "a single loop"
    elif there["flattened"]:
        done = f"flattens {', '.join(there['flattened'])}"
    else:
        done = "flattens nothing"
    lost = there["lost_cycles"]
    more = f", {lost:,} of them entering and leaving loops" if lost else ""
    here = f"here {nest['latency_cycles']:,}"
    if nest["beside"]:
        # The span of a nest that shares its cycles is not what it costs.
        lines = ", ".join(map(str, nest["beside"]))
        here += f" that it shares with line {lines}"
    return f"{done}; about {there['cycles']:,} cycles{more}; {here}"


def _slow(nest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the innermost loops that do not issue every cycle."""
    depths = [loop["depth"] for loop in nest["loops"]] + [0]
    return [
        loop
        for loop, behind in zip(nest["loops"], depths[1:], strict=True)
        if behind <= loop["depth"] and (loop["ii"] or 1) > 1
    ]
