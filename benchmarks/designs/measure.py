"""Compile one design, and say what it takes: cycles, area of the plan, what the search did."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from dataclasses import dataclass
from typing import Any

import click

from benchmarks.designs.figures import Figures
from rtlgen.cli.interface import compile_option
from rtlgen.design import compile_design
from rtlgen.errors import RtlgenError
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import counted_effort
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_text import plan_to_json
from rtlgen.options import CompileOptions, options

DIGITS = 10
"""Of a digest, in hexadecimal: enough to tell one design from another."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a row, and the seconds of processor time that they took: never kept."""

    row: str
    figures: Figures
    seconds: float


def measure(row: str) -> Measured:
    """Compile a row of the list, at the top of the checkout.

    Parameters
    ----------
    row: file and options, as `rtlgen plan` takes them.
    """
    begin = _processor_seconds()
    figures = _figures(row)
    return Measured(row, figures, _processor_seconds() - begin)


def _figures(row: str) -> Figures:
    file, given = asked(row)
    with counted_effort() as effort:
        try:
            design = compile_design(file, given)
        except RtlgenError as error:
            return Figures(refused=error.code, steps=effort.steps)
        text = design.verilog.text
    return Figures(
        cycles=predicted_cycles(design.plan),
        block_rams=design.block_rams,
        dsp=design.dsp,
        steps=effort.steps,
        plan=plan_digest(design.plan),
        verilog=_digest(text),
    )


def asked(row: str) -> tuple[str, CompileOptions]:
    """Return file and options of a row, read as the command line reads them."""
    command = click.Command(
        "plan", params=[click.Argument(["file"]), *(compile_option(each) for each in options())]
    )
    texts = command.make_context("plan", shlex.split(row)).params
    return texts.pop("file"), CompileOptions.from_texts(texts)


def plan_digest(plan: KernelPlan) -> str:
    """Return the digest of a plan, without the version of its form and the path of its source."""
    document: dict[str, Any] = plan_to_json(plan)["plan"]
    del document["source_file"]
    return _digest(json.dumps(document, sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _processor_seconds() -> float:
    """Return the time of this process and of the programs that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
