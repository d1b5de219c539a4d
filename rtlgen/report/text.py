"""Reports on plans and on loop nests, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rtlgen.report.loops import pause_lines, schedule_text, skew_lines
from rtlgen.report.tables import MAX_WIDTH, counted, text_table, tiles_text

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


_TOTALS = {
    "fused_iterations": "fused iterations",
    "floor_iterations": "floor",
    "gap_iterations": "gap to the floor",
    "issue_slots": "issue slots",
    "predicted_cycles": "predicted cycles",
    "block_rams": "block RAMs",
    "dsp": "DSP",
}

_TILED_TOTALS = {
    name: _TOTALS[name] for name in ("floor_iterations", "predicted_cycles", "block_rams", "dsp")
}
"""Of programs in tiles, whose cycles are those of words and tiles: see `report.tables`."""


TRIED_HEADER = ("move", "tried", "cycles", "why not")


def plan_report_text(report: Mapping[str, Any], *, with_tried: bool = False) -> str:
    """Return the report that `plan_report` made as text, without a final newline.

    Parameters
    ----------
    with_tried: also what the search has looked at.
    """
    expanded = expansion_lines(report)
    tried = list(tried_cells(report))
    moved = [*skew_lines(report["skews"]), *pause_lines(report["pauses"])]
    parts = [
        f"{report['kernel']}, {headline(report)}",
        *([schedule_text(report["schedule"])] if report["schedule"] else []),
        *(["\n".join(moved)] if moved else []),
        text_table(STATEMENT_HEADER, list(statement_cells(report))),
        *([] if report["perfect"] or "tiles" in report else [_regions(report["regions"])]),
        *_loops(report["nests"]),
        text_table(MEMORY_HEADER, list(memory_cells(report["memories"]))),
        *([tiles_text(report)] if "tiles" in report else []),
        *(["\n".join(expanded)] if expanded else []),
        *(["\n".join(bounds)] if (bounds := bound_lines(report)) else []),
        _totals(report),
        *(["\n".join(idle)] if (idle := idle_lines(report)) else []),
        *(["\n".join(offers)] if (offers := faster_lines(report)) else []),
        *([text_table(TRIED_HEADER, tried)] if with_tried and tried else []),
        *(["\n".join(report["unproven"])] if report["unproven"] else []),
        *(["\n".join(f"limit: {limit}" for limit in report["limits"])] if report["limits"] else []),
    ]
    return "\n\n".join(parts)


def totals_of(report: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the figures of the whole kernel: key and name."""
    return _TILED_TOTALS if "tiles" in report else _TOTALS


def headline(report: Mapping[str, Any]) -> str:
    """Return what the report is about: source, statements, loops."""
    if "tiles" in report:
        nest = counted(report["tiles"]["count"], "tile")
    else:
        nest = "one flattened loop" if report["perfect"] else f"{len(report['regions'])} regions"
    text = f"{report['source']}: {counted(len(report['statements']), 'statement')} in {nest}"
    floats = report["figures"].get("float")
    return f"{text}, --float {floats}" if floats else text


def _regions(regions: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"{counted(len(regions), 'region')}, since {regions[0]['why']}"]
    lines += [f"  {' '.join(x['statements'])}: {counted(x['cycles'], 'cycle')}" for x in regions]
    return "\n".join(lines)


def loops_text(loops: Sequence[Mapping[str, Any]]) -> str:
    """Return a nest as `i<8 j<9 pad2<11`, or `-` for a statement outside all loops."""
    return " ".join(f"{loop['name']}<{loop['extent']}" for loop in loops) or "-"


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as C writes it, or `scalar`."""
    return "".join(f"[{extent}]" for extent in shape) or "scalar"


def kind_text(memory: Mapping[str, Any]) -> str:
    """Return what a memory of a report is made of, in a word."""
    is_small = memory["kind"] == "block" and memory["style"] == "distributed"
    return "distributed" if is_small else str(memory["kind"])


def why_no_stream(statement: Mapping[str, Any]) -> str:
    """Return why nothing is built for a statement, in a few words."""
    return "folded: its value is known, or unused" if statement["folded"] else "never runs"


STATEMENT_HEADER = (
    "stmt", "at", "instances", "loops", "shift", "first", "II", "depth", "why this II",
)  # fmt: skip


def statement_cells(report: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the statements, below `STATEMENT_HEADER`."""
    streams = {stream["statement"]: stream for stream in report["streams"]}
    for statement in report["statements"]:
        stream = streams.get(statement["name"], {})
        yield (
            statement["name"],
            _place(statement, report["source"]),
            statement["instances"],
            loops_text(statement["loops"]),
            statement["shift"],
            stream.get("first_cycle"),
            stream.get("ii"),
            stream.get("depth"),
            stream.get("ii_reason", why_no_stream(statement)),
        )


def _place(statement: Mapping[str, Any], source: str) -> int | str:
    """Return the line of a statement, with its file where that is not the one above the table."""
    line: int = statement["line"]
    return line if statement["file"] == source else f"{statement['file']}:{line}"


def _loops(nests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table of all loops, if there are any."""
    rows = [loop_row(loop) for nest in nests for loop in nest["loops"]]
    return [text_table(LOOP_HEADER, rows)] if rows else []


MEMORY_HEADER = ("memory", "shape", "type", "role", "kind", "reads", "writes", "banks")


def memory_cells(memories: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yield the memories, below `MEMORY_HEADER`."""
    for memory in memories:
        yield (
            memory["name"],
            shape_text(memory["shape"]),
            memory["type"],
            memory["role"],
            kind_text(memory),
            memory["read_ports"],
            memory["write_ports"],
            memory["banks"],
        )


def bound_lines(report: Mapping[str, Any]) -> list[str]:
    """Return what bounds the cycles, the banks, and what memory more write ports cost."""
    banks = [
        f"{memory['name']}: {' '.join(memory['partition'])}, {memory['bank_words']:,} "
        f"{'words' if memory['bank_words'] > 1 else 'word'} a bank"
        for memory in report["memories"]
        if memory["partition"]
    ]
    copies = [
        f"{memory['name']}: {memory['write_ports']} write ports, so {memory['banks']} copies of "
        f"{'its banks' if memory['partition'] else 'the whole array'}, "
        f"{memory['bank_words'] * memory['bits']:,} bits each"
        for memory in report["memories"]
        if memory["write_ports"] > 1
    ]
    divisions = [
        f"{stream['statement']}: {_kind(division)} every {division['interval_cycles']} cycles at "
        f"most, so {_circuits(division)} its {division['digits']} digits"
        for stream in report["streams"]
        for division in stream["divisions"]
        if division["interval_cycles"] > 1
    ]
    return [
        *_stream_lines(report["memories"]),
        *report["bounds"],
        *banks,
        *copies,
        *dict.fromkeys(divisions),
        *_shared_lines(report),
    ]


def _stream_lines(memories: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the cycles of a program with streams hold for."""
    ways = {"source": "in", "sink": "out"}
    found = [f"{m['name']} {ways[m['kind']]}" for m in memories if m["kind"] in ways]
    if found:
        yield (
            f"streams: {', '.join(found)}; the cycles are those behind sources and sinks that never"
            "\n  wait, and each cycle in which one makes the kernel wait is one more"
        )


def _kind(division: Mapping[str, Any]) -> str:
    return "a square root" if division["operation"] == "sqrt" else "a division"


def _circuits(division: Mapping[str, Any]) -> str:
    count = division["circuits"]
    return f"{count} circuits compute" if count > 1 else "one circuit computes"


_UNIT_NAMES = {
    "mul": "multiplier",
    "div": "divider",
    "rem": "divider",
    "add": "adder",
    "sub": "adder",
    "fma": "multiply-add unit",
    "sqrt": "square-root unit",
}


def _shared_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield which statements share multipliers and the like, a line for those that share alike."""
    alike = Counter(
        (
            tuple(unit["statements"]),
            unit["operation"],
            unit["operations"],
            unit["values"],
            unit["is_registered"],
        )
        for unit in report["shared_units"]
    )
    for (names, operation, operations, values, is_registered), units in alike.items():
        kind = _UNIT_NAMES[operation]
        several = f"{units} {kind}s" if units > 1 else f"{'an' if kind[0] == 'a' else 'a'} {kind}"
        lead = (
            f"{', '.join(names)} share {several}"
            if len(names) > 1
            else (f"{operations} operations of {names[0]} share {several}")
        )
        if values == 1:
            yield f"{lead}: all of them compute the same there"
            continue
        choice = "in front of it" if units == 1 else "in front of each"
        cost = "" if is_registered else f", and the choice {choice} costs the clock something"
        apart = "two of them" if values == operations else "two that differ"
        yield f"{lead}: no {apart} begin in the same cycle{cost}"


def expansion_lines(report: Mapping[str, Any]) -> list[str]:
    """Return what temporaries were expanded to, a line each, and what that costs and saves."""
    lines = [
        f"{e['array']} expanded to {', '.join(e['copies'])}: "
        f"{e['elements_after']:,} elements instead of {e['elements']:,}"
        for e in report["expansions"]
    ]
    cost = report["expansion_cost"]
    if cost is None:
        return lines
    names = ("cycles", "block_rams", "register_bits", "address_bits")
    if len(cost["cycles"]) == 1:
        cycles, at_least = cost["cycles"][0], cost["cycles_without_at_least"]
        return [*lines, f"that takes {cycles:,} cycles, and {at_least:,} at least without it"]
    cycles, rams, registers, addresses = (
        "{1:,} instead of {0:,}".format(*cost[name]) for name in names
    )
    return [
        *lines,
        f"that takes {cycles} cycles, {rams} block RAMs,\n"
        f"  {registers} bits of registers, {addresses} bits of addresses",
    ]


SHOWN_IDLE = 0.01
"""Share of the issue slots from which on a cause of idle ones is shown; a report has all."""


def idle_lines(report: Mapping[str, Any]) -> list[str]:
    """Return why slots idle, a line for each cause of many."""
    shown = [i for i in report["idle_slots"] if i["slots"] >= SHOWN_IDLE * report["issue_slots"]]
    return [
        line
        for idle in shown
        for line in textwrap.wrap(
            f"idle: {counted(idle['slots'], 'slot')}: {idle['cause']}",
            MAX_WIDTH,
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    ]


def faster_lines(report: Mapping[str, Any]) -> list[str]:
    """Return what would take fewer cycles, and what it would cost, a line each.

    That is there where it was asked for.
    """
    offers, lines = report.get("faster", ()), []
    for offer in offers:
        if "predicted_cycles" in offer:
            figures = (
                f"{offer['predicted_cycles']:,} cycles, {offer['dsp']} DSP, "
                f"{counted(offer['block_rams'], 'block RAM')}"
            )
        else:
            figures = f"{offer['cycles_at_least']:,} cycles at least, not planned"
        lines.append(f"faster: {offer['options']}: {figures}")
    if lines:
        now = (report["predicted_cycles"], report["dsp"], report["block_rams"])
        lines[0] += f" (now {', '.join(f'{figure:,}' for figure in now)})"
    left_out = report.get("faster_left_out", 0)
    if left_out:
        others = "other choice" if lines else "choice"
        lines.append(f"faster: {counted(left_out, others)} of lanes left out, not planned")
    return lines


def tried_cells(report: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield what the search has looked at, in its order, below `TRIED_HEADER`."""
    for each in report["tried"]:
        why = "taken" if each["taken"] else each["why_not"]
        yield each["move"], each["form"] or "-", each["predicted_cycles"], why


def _totals(report: Mapping[str, Any]) -> str:
    figures = totals_of(report)
    return "\n".join(f"{name:<16}  {report[key]:>12,}" for key, name in figures.items())
