"""`python -m tests.mutation`: mutate the judges, and name every mutant that no test notices.

    python -m tests.mutation                        # all of them; `make mutants`
    python -m tests.mutation replay write_history   # some, by a part of their path
    python -m tests.mutation --list legality        # what would be tried

Exit status 0: every mutant is killed or a listed equivalent. 1: some survive, or the list of
equivalents names one that is killed or no longer there.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

from tests.mutation.campaign import Verdict, run
from tests.mutation.judges import Judge, equivalents, judges
from tests.mutation.mutants import Mutant

Key = tuple[str, str, str, str, int]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("judges", nargs="*", help="parts of the paths of judges; default: all")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes; default 2")
    options = parser.parse_args(arguments)
    chosen = [
        (judge, judge.mutants())
        for judge in judges()
        if not options.judges or any(part in judge.module for part in options.judges)
    ]
    if options.list:
        for _, mutants in chosen:
            print(*mutants, sep="\n")
        return 0
    known = {key: why for key, why in equivalents().items() if _is_of(key, chosen)}
    begin = time.monotonic()
    verdicts = run(chosen, options.workers, _tell(known))
    return _report(chosen, verdicts, known, time.monotonic() - begin)


def _is_of(key: Key, chosen: Sequence[tuple[Judge, list[Mutant]]]) -> bool:
    return key[0] in {judge.module for judge, _ in chosen}


def _tell(known: dict[Key, str]) -> Callable[[Verdict], None]:
    def told(verdict: Verdict) -> None:
        if verdict.killer is None and verdict.mutant.key not in known:
            print(f"SURVIVES {verdict.mutant}", flush=True)
        elif verdict.killer == "crash":
            # The process ended, which is noticed, but no test has said so.
            print(f"CRASHES {verdict.mutant}", flush=True)

    return told


def _report(
    chosen: Sequence[tuple[Judge, list[Mutant]]],
    verdicts: Sequence[Verdict],
    known: dict[Key, str],
    seconds: float,
) -> int:
    survivors = {v.mutant.key for v in verdicts if v.killer is None}
    counts: dict[str, Counter[str]] = {judge.module: Counter() for judge, _ in chosen}
    for verdict in verdicts:
        kind = "killed"
        if verdict.killer is None:
            kind = "equivalent" if verdict.mutant.key in known else "survives"
        counts[verdict.mutant.module][kind] += 1
    print(f"{'judge':42}{'mutants':>8}{'killed':>8}{'equivalent':>12}{'survive':>9}")
    for module, count in counts.items():
        row = f"{module:42}{count.total():8}{count['killed']:8}"
        print(f"{row}{count['equivalent']:12}{count['survives']:9}")
    wrong = [key for key in known if key not in survivors]
    for key in wrong:
        print("listed as equivalent, but killed or no longer there:", *key)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(f"{len(verdicts)} mutants in {seconds:.0f} s, {cpu:.0f} s of CPU")
    return 1 if wrong or survivors - set(known) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
