"""python -m tests.oracles.random_control.circuits FIRST LAST: simulate what is accepted.

Memory, returned values and the predicted cycles are compared, on Verilator and on Icarus.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from tests.end_to_end.judge import Compiled, batch_failures, simulation_failures
from tests.oracles.random_c.judging import Verdict, attempt, refusal
from tests.oracles.random_control.programs import random_control

MOST_CYCLES = 2_000
"""A circuit that runs for longer is left out: Icarus takes its time."""


def circuit_failures(seeds: Iterable[int], folder: Path) -> dict[int, list[str]]:
    """Simulate the circuits of the accepted programs of some seeds; say how each differs from C."""
    found: dict[int, list[str]] = {}
    kept: dict[int, Compiled] = {}
    for seed, made in _compiled(seeds):
        if isinstance(made, Verdict):
            found[seed] = [made.details]
        elif predicted_cycles(made.plan) <= MOST_CYCLES:
            kept[seed] = made
    verilated = batch_failures(list(kept.values()), folder / "verilator") if kept else []
    for (seed, made), failures in zip(kept.items(), verilated, strict=True):
        at = folder / str(seed)
        try:
            interpreted = simulation_failures(made.plan, made.program, at, "icarus")
        except RtlgenError as error:
            interpreted = [str(error)]
        found[seed] = [
            *(f"verilator: {x}" for x in failures),
            *(f"icarus: {x}" for x in interpreted),
        ]
    return found


def _compiled(seeds: Iterable[int]) -> Iterator[tuple[int, Compiled | Verdict]]:
    """Yield what is accepted, and what should not have been refused."""
    for seed in seeds:
        # Circuits of one model have names of their own.
        text = re.sub(r"\bf\(", f"f{seed}(", random_control(seed).text)
        made = attempt(seed, lambda text=text: parse_text(text), CompileOptions(), refusal)  # type: ignore[misc]
        if not isinstance(made, Verdict):
            yield seed, Compiled(made.scop, made.compilation)
        elif made.outcome == "wrong":
            yield seed, made


def main() -> int:
    """Print what fails among the circuits of some seeds, and how many there are."""
    first, last = map(int, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        failures = circuit_failures(range(first, last), Path(folder))
    for seed, parts in failures.items():
        for part in parts:
            print(f"{seed}: {part}")
    print(f"{len(failures)} circuits, {sum(map(bool, failures.values()))} fail")
    return int(any(failures.values()))


if __name__ == "__main__":
    raise SystemExit(main())
