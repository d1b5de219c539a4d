"""`rtlgen chain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rtlgen.chaining import Chain, ChainedKernel, ChainVerification, NoChain
from rtlgen.cli.errors import NotEquivalent
from rtlgen.cli.output import Verbosity, print_json, progress
from rtlgen.cli.rechecking import source_of
from rtlgen.manifest.file import read_manifest, read_verilog
from rtlgen.report.tables import counted
from rtlgen.verify.loading import simulation_programs
from rtlgen.waves.instances import read_circuit


def chain(
    verbosity: Verbosity,
    directories: tuple[str, ...],
    joints: tuple[str, ...],
    output: str,
    name: str,
    proves: bool,
    simulator: Any,
    seed: int,
    as_json: bool,
) -> None:
    """Join streams of kernels that were built, which then run side by side."""
    if proves:
        # What is missing is told before the work begins.
        simulation_programs(simulator)
    if any(Path(output).resolve() == Path(directory).resolve() for directory in directories):
        raise NoChain(
            f"{output} holds one of the kernels, which the chain would be written over",
            help="say -o with a directory of its own",
        )
    made = Chain([_kernel(Path(directory)) for directory in directories], joints, name)
    path = made.write(output)
    found: ChainVerification | None = None
    if proves:
        with progress(f"simulating {name} on {simulator}", verbosity):
            found = made.verify(simulator=simulator, seed=seed)
    document = {
        "directory": output,
        "verilog": made.manifest.verilog.file,
        "top": made.manifest.top,
        "predicted_cycles": made.predicted_cycles,
        "cycles_together": made.cycles_together,
    }
    lines = [
        f"{path}: module {made.manifest.top}, {made.predicted_cycles} cycles from start to done, "
        f"{made.cycles_together} one after another"
    ]
    if found is not None:
        document |= {
            "exact": found.exact,
            "compared": found.compared,
            "cycles": found.cycles,
            "simulator": simulator,
            "seed": seed,
        }
        verdict = "exact" if found.exact else "DIFFERENT"
        lines.append(
            f"{name}: {verdict}, {counted(found.compared, 'element')}, {found.cycles} cycles "
            f"(predicted {found.predicted_cycles}), {simulator}, seed {seed}"
        )
    if as_json:
        print_json(document)
    else:
        for line in lines:
            click.echo(line)
    if found is not None and not found.exact:
        raise NotEquivalent(
            f"{name} differs from its programs, run one after another",
            notes=found.failures or ("nothing was compared",),
            help=f"report the C files with --seed {seed}",
        )


def _kernel(directory: Path) -> ChainedKernel:
    """Return what a build directory holds."""
    manifest = read_manifest(directory)
    if not manifest.options:
        raise NoChain(
            f"{directory} holds no kernel: it was joined itself",
            help="join all kernels at once",
        )
    circuit = read_circuit(directory)
    program = source_of(manifest).scop
    text = read_verilog(directory, manifest).read_text(encoding="utf-8")
    return ChainedKernel(manifest, text, circuit.plan, program)
