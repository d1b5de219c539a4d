"""Judge many random programs in tiles: the circuit of each is simulated and compared.

    python -m tests.oracles.random_tiles.campaign 0 300

prints what is wrong with the programs of the seeds from 0 to 299, and counts the rest.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator

from rtlgen.design import Design
from rtlgen.driver import compile_program, parse_source
from rtlgen.errors import RtlgenError
from tests.oracles.random_c.judging import Verdict, refusal
from tests.oracles.random_tiles.program import random_tiled_program


def judge_tiles(seed: int) -> Verdict:
    """Compile the program of a seed, simulate its circuit on Icarus and compare everything."""
    program = random_tiled_program(seed)
    begun = time.process_time()
    try:
        parsed = parse_source(program.text, "random_tiles.c", program.options)
        design = Design(compile_program(parsed, program.options), program.options)
        seconds = time.process_time() - begun
        found = design.verify(simulator="icarus", seed=seed)
    except RtlgenError as error:
        return refusal(seed, error, time.process_time() - begun)
    except Exception:
        # Whatever it is, it would have been a traceback.
        return Verdict(seed, "wrong", "", traceback.format_exc(), time.process_time() - begun)
    if not found.exact:
        return Verdict(seed, "wrong", "", "\n".join(found.failures), seconds)
    return Verdict(seed, "exact", "", "", seconds)


def verdicts(seeds: Iterable[int]) -> Iterator[Verdict]:
    """Yield the verdict on the program of each seed."""
    for seed in seeds:
        yield judge_tiles(seed)


def main(first: int, behind: int) -> None:
    """Print what became of the programs of some seeds."""
    seen: Counter[str] = Counter()
    slowest = 0.0
    for verdict in verdicts(range(first, behind)):
        seen[f"{verdict.outcome} {verdict.code}".strip()] += 1
        slowest = max(slowest, verdict.seconds)
        if verdict.outcome == "wrong" or verdict.seconds > 20:
            print(f"--- {verdict.seed}: {verdict.outcome} {verdict.code} {verdict.seconds:.1f} s")
            print(verdict.details[-1500:], flush=True)
    print(dict(sorted(seen.items())), f"slowest {slowest:.1f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
