"""python -m tests.oracles.random_control.campaign FIRST LAST: compare with gcc, and count."""

from __future__ import annotations

import sys
import time
from collections import Counter

from tests.oracles.random_control.judging import judge
from tests.oracles.random_control.programs import random_control

SLOW_SECONDS = 20


def main() -> int:
    first, last = map(int, sys.argv[1:3])
    found: Counter[str] = Counter()
    total, read = 0.0, 0.0
    for seed in range(first, last):
        program, start = random_control(seed), time.process_time()
        verdict = judge(program, seed)
        seconds = time.process_time() - start
        found[f"{verdict.outcome} {verdict.code}".strip()] += 1
        total, read = total + seconds, read + verdict.seconds
        if verdict.outcome != "as gcc":
            print(f"{seed}: {verdict.outcome} {verdict.code}\n{verdict.details}", flush=True)
        if verdict.outcome == "wrong":
            print(program.text, flush=True)
        if seconds > SLOW_SECONDS:
            print(f"{seed}: {seconds:.0f} s, {verdict.seconds:.0f} s of it to read", flush=True)
    print(dict(found.most_common()), f"{total:.0f} s, {read:.0f} s of it to read")
    return int(any(key.startswith("wrong") for key in found))


if __name__ == "__main__":
    raise SystemExit(main())
