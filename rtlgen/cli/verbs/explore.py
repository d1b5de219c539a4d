"""`rtlgen explore`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import click

from rtlgen.cli.output import Verbosity, print_json, progress
from rtlgen.driver import parse
from rtlgen.exploring.search import Exploration, Explorer, Point
from rtlgen.flow.synth import SynthesisTarget, synthesis_programs
from rtlgen.options import CompileOptions
from rtlgen.report.tables import counted, text_table

AS_ASKED = "(as asked)"


def explore(
    verbosity: Verbosity,
    file: str,
    options: CompileOptions,
    most_plans: int,
    most_circuits: int,
    fresh: bool,
    as_json: bool,
) -> None:
    """Search lanes, threads, tiles and index styles: the front of time and area."""
    target = cast(SynthesisTarget, options.target)
    if most_circuits:
        # What is missing is told before the work begins.
        synthesis_programs(target)
    with progress(f"exploring {file}", verbosity):
        program = parse(Path(file), options)

        def notice(text: str) -> None:
            if verbosity is Verbosity.VERBOSE:
                click.echo(f"trying {text or AS_ASKED}", err=True)

        explorer = Explorer(program, options, most_plans, notice)
        found = explorer.explored()
        if most_circuits:
            explorer.measure(found, target, most_circuits, fresh)
    if as_json:
        print_json(_document(found))
    else:
        click.echo(_text(found))


def _text(found: Exploration) -> str:
    best = found.front
    kinds = f"{counted(len(found.points), 'design')} planned"
    if found.measured:
        kinds += f", {counted(len(found.measured), 'circuit')} measured"
    rows = [_row(point) for point in best]
    large = sum(not point.fits for point in found.points)
    header = ["cycles", "DSP", "block RAM"]
    if found.measured:
        header = ["cycles", "MHz", "us", "LUT", "FF", "DSP", "block RAM"]
    lines = [
        f"{found.name}: {kinds}, {len(best)} on the front: no other is better in all figures",
        "",
        text_table([*header, "options"], rows),
    ]
    if large:
        lines += ["", f"{counted(large, 'design')} would not fit into the target's device"]
    if found.refused:
        codes = ", ".join(f"{code} {count}x" for code, count in sorted(found.refused.items()))
        lines += ["", f"refused: {codes} (rtlgen explain CODE)"]
    lines += ["", *found.limits] if found.limits else []
    return "\n".join(lines)


def _row(point: Point) -> list[Any]:
    area, text = point.area, point.text or AS_ASKED
    if area is None:
        return [point.cycles, point.dsp, point.block_rams, text]
    mhz = None if area.fmax_mhz is None else round(area.fmax_mhz)
    time = None if point.microseconds is None else round(point.microseconds, 1)
    return [point.cycles, mhz, time, area.lut, area.ff, area.dsp, area.block_rams, text]


def _document(found: Exploration) -> dict[str, Any]:
    best = found.front
    points = found.measured or found.points
    return {
        "name": found.name,
        "planned": len(found.points),
        "too_large": sum(not point.fits for point in found.points),
        "points": [{**_figures(point), "on_front": point in best} for point in points],
        "refused": dict(sorted(found.refused.items())),
        "limits": found.limits,
    }


def _figures(point: Point) -> dict[str, Any]:
    return {
        "options": point.text,
        "cycles": point.cycles,
        "microseconds": point.microseconds,
        "planned": {"dsp": point.dsp, "block_rams": point.block_rams, "fits": point.fits},
        "measured": None if point.area is None else asdict(point.area),
    }
