"""`rtlgen synth`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rtlgen.cli.output import KNOWN, Verbosity, print_json, progress
from rtlgen.flow.synth import DEFAULT_SEEDS, known_synthesis
from rtlgen.manifest.file import read_manifest, read_verilog


def synth(
    verbosity: Verbosity,
    directory: str,
    target: Any,
    clock_mhz: float,
    fresh: bool,
    as_json: bool,
) -> None:
    """Measure LUT, FF, DSP, block RAM and Fmax with yosys and nextpnr."""
    manifest = read_manifest(Path(directory))
    verilog = read_verilog(Path(directory), manifest)
    with progress(f"synthesising {manifest.top} for {target}", verbosity):
        known = known_synthesis(
            verilog,
            manifest.verilog.sha256,
            manifest.top,
            target,
            clock_mhz=clock_mhz,
            seeds=DEFAULT_SEEDS,
            fresh=fresh,
        )
    report = known.report
    if as_json:
        print_json({**report, "cached": known.before})
        return
    placed = report["fmax_mhz"] is not None
    fmax = f"{report['fmax_mhz']:.1f} MHz on {report['device']}" if placed else "not placed"
    in_blocks = f" (and {report['ff_in_blocks']} in blocks)" if report["ff_in_blocks"] else ""
    click.echo(
        f"{report['top']} on {target}: {report['lut']} LUT, {report['ff']} FF{in_blocks}, "
        f"{report['dsp']} DSP, {report['block_ram']} block RAM, {fmax}"
        f"{KNOWN if known.before else ''}"
    )
