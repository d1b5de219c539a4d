"""`rtlgen trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rtlgen.cli.output import Verbosity, print_json
from rtlgen.report.tables import counted
from rtlgen.waves.errors import NotInTraceError
from rtlgen.waves.instances import BuiltCircuit, parsed_instance, read_circuit
from rtlgen.waves.save_file import write_save_file
from rtlgen.waves.timeline import OnItsWay, Run, Tile, Timeline, work_of
from rtlgen.waves.trace_file import traced_circuit


def trace(
    verbosity: Verbosity,
    file: str,
    directory: str,
    cycle: int | None,
    instance: str | None,
    run_number: int,
    save_file: bool,
    as_json: bool,
) -> None:
    """Say which instances of the C program are where in a trace."""
    circuit = read_circuit(Path(directory))
    controls = [issued.point.control for issued in circuit.issued]
    traced = traced_circuit(Path(file), circuit.manifest, controls)
    timeline = Timeline(circuit, traced)
    if save_file:
        write_save_file(traced, circuit)
    teller = _Teller(circuit, verbosity)
    if cycle is None and instance is None:
        document, lines = teller.runs(timeline)
    elif instance is None:
        assert cycle is not None
        document, lines = teller.at(timeline.run(run_number), cycle)
    else:
        document, lines = teller.of_instance(timeline.run(run_number), instance, cycle)
    if as_json:
        print_json(document)
    else:
        for line in lines:
            click.echo(line)


class _Teller:
    """What is told of a trace: a document, and lines of text."""

    def __init__(self, circuit: BuiltCircuit, verbosity: Verbosity) -> None:
        self._circuit, self._verbosity = circuit, verbosity

    def runs(self, timeline: Timeline) -> tuple[dict[str, Any], list[str]]:
        name, predicted = self._circuit.manifest.name, self._circuit.manifest.predicted_cycles
        document = {"kernel": name, "predicted_cycles": predicted, "runs": list(timeline.cycles)}
        lines = [f"{name}: {counted(len(timeline.cycles), 'run')}"]
        for number, cycles in enumerate(timeline.cycles, 1):
            taken = "no end in the trace" if cycles is None else counted(cycles, "cycle")
            lines.append(f"  run {number}: {taken} (predicted {predicted})")
        return document, lines

    def at(self, run: Run, cycle: int) -> tuple[dict[str, Any], list[str]]:
        found, tiles = run.on_their_way(cycle), run.tiles(cycle)
        document = self._head(run, cycle) | {
            "instances": [self._json(each) for each in found],
            "tiles": [_tile_json(tile) for tile in tiles],
        }
        rows = [
            (
                self._text(each),
                f"stage {each.stage} of {self._stages(each)}",
                ", ".join(self._work(each)),
            )
            for each in found
        ]
        widths = [max((len(row[n]) for row in rows), default=0) for n in range(2)]
        lines = [self._title(run, cycle), *map(_tile_text, tiles)]
        lines += [
            f"  {text:{widths[0]}}  {stage:{widths[1]}}  {work}".rstrip()
            for text, stage, work in rows
        ]
        if not rows:
            lines.append("  nothing is on its way")
        return document, lines

    def of_instance(
        self, run: Run, text: str, cycle: int | None
    ) -> tuple[dict[str, Any], list[str]]:
        """Tell the cycles of an instance; with a cycle, only its stage there."""
        statement, point = parsed_instance(text, self._circuit)
        found = run.find(statement, point)
        if not found:
            raise NotInTraceError(
                f"{text} is not issued in run {run.number} of {self._circuit.manifest.name}",
                notes=[
                    "the program has no such instance, or it leaves it out, or the run ends before",
                    "sums over lanes are one instance, that of the first lane",
                ],
                help="give the values of C's iterators, from the outermost loop inwards",
            )
        lines, documents = [], []
        for each in found:
            stages: list[dict[str, Any]] = [
                {"cycle": each.issued_cycle + n, "stage": n, "does": self._work(each, n)}
                for n in range(self._stages(each))
                if cycle in (None, each.issued_cycle + n)
            ]
            documents.append(
                self._json(each) | {"issued_cycle": each.issued_cycle, "stages": stages}
            )
            last = each.issued_cycle + self._stages(each) - 1
            lines.append(
                f"{self._text(each)}: cycles {each.issued_cycle} to {last}"
                + ("" if each.tile is None else f", tile {each.tile}")
            )
            for stage in stages:
                does = ", ".join(stage["does"])
                lines.append(f"  cycle {stage['cycle']}  stage {stage['stage']}  {does}".rstrip())
        return {
            "kernel": self._circuit.manifest.name,
            "run": run.number,
            "instances": documents,
        }, lines

    def _head(self, run: Run, cycle: int) -> dict[str, Any]:
        return {
            "kernel": self._circuit.manifest.name,
            "run": run.number,
            "cycle": cycle,
            "cycles": run.cycles,
            "nanoseconds": round(run.seconds_at(cycle) * 1e9, 6),
        }

    def _title(self, run: Run, cycle: int) -> str:
        end = "" if run.cycles is None else f" of {run.cycles}"
        return (
            f"{self._circuit.manifest.name}: run {run.number}, cycle {cycle}{end}, "
            f"{run.seconds_at(cycle) * 1e9:,.10g} ns"
        )

    def _text(self, each: OnItsWay) -> str:
        return self._circuit.issued[each.stream].instances.text(each.point)

    def _stages(self, each: OnItsWay) -> int:
        return self._circuit.plan.streams[each.stream].depth_cycles

    def _work(self, each: OnItsWay, stage: int | None = None) -> list[str]:
        stream = self._circuit.plan.streams[each.stream]
        return work_of(stream, each.stage if stage is None else stage)

    def _json(self, each: OnItsWay) -> dict[str, Any]:
        issued = self._circuit.issued[each.stream]
        return {
            "instance": self._text(each),
            "statement": issued.instances.statement,
            "iterators": dict(zip(issued.instances.iterators, each.point, strict=True)),
            "module": issued.point.datapath,
            "tile": each.tile,
            "stage": each.stage,
            "stages": self._stages(each),
            "does": self._work(each),
        }


def _tile_json(tile: Tile) -> dict[str, Any]:
    begun = None if tile.number < 0 else tile.begun_cycle
    return {
        "worker": tile.worker,
        "tile": None if tile.number < 0 else tile.number,
        "tiles": tile.tiles,
        "begun_cycle": begun,
        "waits_since": tile.waits_since,
    }


def _tile_text(tile: Tile) -> str:
    if tile.number < 0:
        return f"  worker {tile.worker}: the first of {tile.tiles} tiles begins later"
    waits = "" if tile.waits_since is None else f", waits since cycle {tile.waits_since}"
    return (
        f"  worker {tile.worker}: tile {tile.number} of {tile.tiles}, begun in cycle "
        f"{tile.begun_cycle}{waits}"
    )
