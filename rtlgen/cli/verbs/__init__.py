"""The verbs: one a module, with a function of the same name.

A verb is imported when it is asked for, so that none waits for what only another one needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

VERBS: Mapping[str, str] = {
    "bench": "Reproduce one published table beside this project's own figures.",
    "build": "Write Verilog, manifest, reports and a self-checking test bench.",
    "check": "Is the program supported; what becomes of its loop nests, here and in other tools.",
    "deps": "Show the dependences: kind, distance or relation, source lines.",
    "emit-c": "Print the program after a pass as C that computes the same.",
    "explain": "Print the long form of a diagnostic.",
    "explore": "Search lanes, threads, tiles and index styles: the front of time and area.",
    "plan": "Show what will be built: orders, pads, shifts, II, ports, predicted cycles.",
    "run": "Simulate a built circuit on given arrays.",
    "synth": "Measure LUT, FF, DSP, block RAM and Fmax with yosys and nextpnr.",
    "verify": "Prove equivalence: build, simulate on several data sets, compare memory, checksum, "
    "cycles.",
}
"""Every verb with the first line of its help, so that a list of them needs none of them."""


def command_of(verb: str) -> click.Command:
    """Import a verb, and return its command."""
    member = verb.replace("-", "_")
    command = getattr(import_module(f"{__name__}.{member}"), member)
    assert isinstance(command, click.Command)
    return command


def commands() -> dict[str, click.Command]:
    """Import all verbs, and with them whatever can raise a diagnostic."""
    return {verb: command_of(verb) for verb in VERBS}
