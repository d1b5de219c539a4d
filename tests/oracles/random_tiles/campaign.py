"""Judge many random programs in tiles: the circuit of each is simulated and compared.

    python -m tests.oracles.random_tiles.campaign 0 300 [axi|dram] [threads] [lanes] [dead] [floats]

prints what is wrong with the programs of the seeds from 0 to 299, and counts the rest. With `axi`
they have an AXI4 port, with `dram` one to a memory with one data bus, with `threads` their tiles
are shared by several, with `lanes` one of their loops runs in lanes inside of the tiles, with
`dead` there is dead code in them, with `floats` they are in floating point.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from rtlgen.ir.plan import AnyBank, KernelPlan, Workers
from rtlgen.ir.scop import Scop
from rtlgen.options import BusKind
from tests.end_to_end.judge import REFUSALS, plan_failures
from tests.oracles.dead_code import with_dead_code
from tests.oracles.in_floats import in_floats
from tests.oracles.random_c.judging import Outcome, Verdict, replayed_attempt
from tests.oracles.random_tiles.program import (
    in_lanes,
    random_tiled_program,
    shared_by_threads,
)

TILE_REFUSALS = REFUSALS | {
    *("E0202", "E0212", "E0307", "E0308", "E0313", "E0316", "E0321", "E0323", "E0324"),
}
"""Codes with which a well-formed program may be refused whose arrays are off chip."""

BATCH = 15
"""Circuits in one model."""


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """The plan of a program that was accepted."""

    seed: int
    plan: KernelPlan
    scop: Scop
    seconds: float


def compiled(
    seed: int,
    kind: BusKind = "fixed",
    threads: bool = False,
    lanes: bool = False,
    dead: bool = False,
    floats: bool = False,
) -> Accepted | Verdict:
    """Compile the program of a seed, with a memory of a kind, for threads, in lanes, or for one."""
    program = random_tiled_program(seed, kind)
    if threads:
        program = shared_by_threads(program)
    if lanes:
        program = in_lanes(program)
    if floats:
        program = replace(program, text=in_floats(seed, program.text))
    if dead:
        program = replace(program, text=with_dead_code(seed, program.text))
    found = replayed_attempt(seed, program.text, "random_tiles.c", program.options, TILE_REFUSALS)
    if isinstance(found, Verdict):
        return found
    plan = replace(found.compilation.plan, name=f"f{seed}")
    return Accepted(seed, plan, found.scop, found.seconds)


def judge_tiles(
    seeds: Sequence[int],
    folder: Path,
    kind: BusKind = "fixed",
    threads: bool = False,
    lanes: bool = False,
    dead: bool = False,
    floats: bool = False,
) -> tuple[list[Verdict], Counter[str]]:
    """Simulate the circuits of the programs of `seeds` and compare everything.

    Also counts what there is in their tiles. Each is run twice: the memory takes longer now and
    then the second time.
    """
    verdicts: list[Verdict] = []
    accepted: list[Accepted] = []
    for seed in seeds:
        found = compiled(seed, kind, threads, lanes, dead, floats)
        if isinstance(found, Verdict):
            verdicts.append(found)
        else:
            accepted.append(found)
    for start in range(0, len(accepted), BATCH):
        part = accepted[start : start + BATCH]
        failures = plan_failures(
            [(each.plan, each.scop) for each in part], folder / str(start), pauses=(False, True)
        )
        for each, wrong in zip(part, failures, strict=True):
            outcome: Outcome = "wrong" if wrong else "exact"
            verdicts.append(Verdict(each.seed, outcome, "", "\n".join(wrong), each.seconds))
    return verdicts, _kinds([each.plan for each in accepted])


def none_wrong(
    seeds: Sequence[int],
    folder: Path,
    kind: BusKind = "fixed",
    threads: bool = False,
    lanes: bool = False,
    dead: bool = False,
    floats: bool = False,
) -> Counter[str]:
    """Require that no program is wrong; count what became of them and what is in their tiles."""
    verdicts, kinds = judge_tiles(seeds, folder, kind, threads, lanes, dead, floats)
    wrong = [f"{v.seed}: {v.code} {v.details}" for v in verdicts if v.outcome == "wrong"]
    assert not wrong, "\n".join(wrong)
    return kinds + Counter(verdict.outcome for verdict in verdicts)


def _kinds(plans: Sequence[KernelPlan]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for plan in plans:
        regions = plan.tiled_regions
        moved = [transfer for region in regions for transfer in region.transfers]
        seen["several tiles"] += any(region.tiles > 1 for region in regions)
        seen["stores"] += any(transfer.direction == "store" for transfer in moved)
        seen["waits"] += any(transfer.after for transfer in moved)
        teams = [part for part in plan.body if isinstance(part, Workers)]
        seen["lanes"] += any(stream.lane for stream in plan.streams)
        seen["crossed banks"] += any(
            isinstance(address, AnyBank) and len(address.banks) > 1
            for stream in plan.streams
            for address in stream.addresses()
        )
        seen["workers"] += any(len(team.regions) > 1 for team in teams)
        seen["waves"] += any(
            wait.loops < len(region.levels)
            for region in regions
            for transfer in region.transfers
            for wait in transfer.after
        )
    return seen


def main(first: int, behind: int, kind: BusKind, *ways: bool) -> None:
    """Print what became of the programs of some seeds."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts, kinds = judge_tiles(range(first, behind), Path(folder), kind, *ways)
    for verdict in verdicts:
        if verdict.outcome == "wrong" or verdict.seconds > 20:
            print(f"--- {verdict.seed}: {verdict.outcome} {verdict.code} {verdict.seconds:.1f} s")
            print(verdict.details[-1500:], flush=True)
    seen = Counter(f"{verdict.outcome} {verdict.code}".strip() for verdict in verdicts)
    slowest = max((verdict.seconds for verdict in verdicts), default=0.0)
    print(dict(sorted(seen.items())), dict(kinds), f"slowest {slowest:.1f} s", flush=True)


if __name__ == "__main__":
    asked = sys.argv[3:]
    kinds = [kind for kind in get_args(BusKind) if kind in asked]
    bus: BusKind = kinds[0] if kinds else "fixed"
    ways = [word in asked for word in ("threads", "lanes", "dead", "floats")]
    main(int(sys.argv[1]), int(sys.argv[2]), bus, *ways)
