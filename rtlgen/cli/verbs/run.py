"""`rtlgen run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rtlgen.cli.errors import NotEquivalent
from rtlgen.cli.output import Verbosity, print_json, progress
from rtlgen.manifest.file import read_manifest
from rtlgen.verify.compare import checksum, format_checksum
from rtlgen.verify.cosim import simulate
from rtlgen.verify.inputs import load_inputs, save_outputs


def run(
    verbosity: Verbosity,
    directory: str,
    inputs: str,
    outputs: str,
    check: bool,
    simulator: Any,
    trace: str | None,
    as_json: bool,
) -> None:
    """Simulate a built circuit on given arrays."""
    manifest = read_manifest(Path(directory))
    if check:
        # Imported late: without it, nothing of the compiler is needed.
        from rtlgen.cli.rechecking import differences, source_of
    if trace:
        # Imported late: what waves mean is in the plan, which takes a while to import.
        from rtlgen.waves.save_file import show_in_gtkwave
    program = source_of(manifest) if check else None
    given = load_inputs(Path(inputs), manifest)
    with progress(f"simulating {manifest.name}", verbosity):
        result = simulate(
            Path(directory),
            manifest,
            given,
            simulator=simulator,
            trace=Path(trace) if trace else None,
        )
    if trace:
        show_in_gtkwave(Path(trace), Path(directory))
    save_outputs(Path(outputs), result.arrays, result.returned, manifest)
    written = [result.arrays[a.name] for a in manifest.data_arrays if a.role in ("out", "inout")]
    value = format_checksum(checksum(written))
    wrong = None if program is None else differences(manifest, program, given, result)
    if as_json:
        print_json(
            {
                "cycles": result.cycles,
                "simulator": simulator,
                "checksum": value,
                **({} if wrong is None else {"exact": not wrong}),
                "seconds": round(result.seconds, 3),
            }
        )
    else:
        verdict = "" if wrong is None else " DIFFERENT," if wrong else " exact,"
        click.echo(
            f"{manifest.name}:{verdict} {result.cycles} cycles, checksum {value} ({simulator})"
        )
    if wrong:
        raise NotEquivalent(f"{manifest.name} differs from the golden model", notes=wrong)
