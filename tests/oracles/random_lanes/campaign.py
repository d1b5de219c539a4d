"""Judge many random programs with lanes and banks: every circuit is simulated and compared.

    python -m tests.oracles.random_lanes.campaign 0 300 [dead] [floats]

prints what is wrong with the programs of the seeds from 0 to 299, and counts the rest. With `dead`
there is dead code in them, with `floats` they are in floating point.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rtlgen.ir.plan import AnyBank, InBank, KernelPlan
from tests.end_to_end.judge import REFUSALS, Compiled, batch_failures
from tests.oracles.dead_code import with_dead_code
from tests.oracles.in_floats import in_floats
from tests.oracles.random_c.judging import Outcome, Verdict, replayed_attempt
from tests.oracles.random_lanes.program import random_lane_program

LANE_REFUSALS = REFUSALS | {"E0303", "E0309", "E0314", "E0310", "E0311", "E0312", "E0322"}
"""Codes with which a well-formed program may be refused."""

BATCH = 15
"""Circuits in one model."""


def compiled(seed: int, dead: bool = False, floats: bool = False) -> Compiled | Verdict:
    """Compile the program of a seed, perhaps with dead code, or in floating point."""
    program = random_lane_program(seed)
    if floats:
        program = replace(program, text=in_floats(seed, program.text))
    if dead:
        program = replace(program, text=with_dead_code(seed, program.text))
    found = replayed_attempt(seed, program.text, "random_lanes.c", program.options, LANE_REFUSALS)
    return found if isinstance(found, Verdict) else Compiled(found.scop, found.compilation)


def judge_lanes(
    seeds: Sequence[int], folder: Path, dead: bool = False, floats: bool = False
) -> tuple[list[Verdict], Counter[str]]:
    """Simulate the circuits of the programs of `seeds`; also count what there is in them."""
    verdicts: list[Verdict] = []
    accepted: list[tuple[int, Compiled]] = []
    for seed in seeds:
        found = compiled(seed, dead, floats)
        if isinstance(found, Verdict):
            verdicts.append(found)
        else:
            accepted.append((seed, found))
    kinds: Counter[str] = Counter()
    for first in range(0, len(accepted), BATCH):
        batch = accepted[first : first + BATCH]
        failures = batch_failures([program for _, program in batch], folder / str(first))
        for (seed, program), wrong in zip(batch, failures, strict=True):
            kinds += _kinds(program.plan)
            outcome: Outcome = "wrong" if wrong else "exact"
            verdicts.append(Verdict(seed, outcome, details="\n".join(wrong)))
    return verdicts, kinds


def _kinds(plan: KernelPlan) -> Counter[str]:
    addresses = [address for stream in plan.streams for address in stream.addresses()]
    found = {
        "one bank": any(isinstance(address, InBank) for address in addresses),
        "any bank": any(isinstance(address, AnyBank) for address in addresses),
        "versions": any(memory.cuts and memory.write_ports > 1 for memory in plan.memories),
        "several cuts": any(len(memory.cuts) > 1 for memory in plan.memories),
        "no power of two": any(not memory.bank_map.is_sliced for memory in plan.memories),
        "registers": any(memory.cuts and memory.kind == "register" for memory in plan.memories),
    }  # fmt: skip
    return Counter(kind for kind, holds in found.items() if holds)


def main(first: int, behind: int, dead: bool, floats: bool) -> None:
    """Print what became of the programs of some seeds."""
    seen: Counter[str] = Counter()
    for start in range(first, behind, 4 * BATCH):
        with tempfile.TemporaryDirectory() as folder:
            seeds = range(start, min(behind, start + 4 * BATCH))
            verdicts, kinds = judge_lanes(seeds, Path(folder), dead, floats)
        seen += kinds
        for verdict in verdicts:
            seen[f"{verdict.outcome} {verdict.code}".strip()] += 1
            if verdict.outcome == "wrong":
                print(f"--- {verdict.seed}: {verdict.code}\n{verdict.details}", flush=True)
                program = random_lane_program(verdict.seed)
                options = program.options
                asked = options.partitions, options.unroll, options.pipeline, options.max_dsp
                print(program.text, *asked, flush=True)
    print(dict(sorted(seen.items())), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), "dead" in sys.argv[3:], "floats" in sys.argv[3:])
