"""Judge many random programs, each in a process of its own with limits on its time and memory.

    python -m tests.oracles.random_c.campaign 1000 1100

prints what is wrong with the programs of the seeds from 1000 to 1099, and counts the rest.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.end_to_end.judge import Compiled, batch_failures
from tests.oracles.random_c.judging import Verdict, judge

MAX_SECONDS = 60
"""Computing time that a program may take."""

MAX_BYTES = 6_000_000_000
"""Memory that a program may take."""


def verdicts(seeds: Iterable[int]) -> Iterator[Verdict]:
    """Yield the verdict on the program of each seed."""
    for seed in seeds:
        yield _judged_apart(seed)


def _judged_apart(seed: int) -> Verdict:
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiver)
        _limited()
        verdict, _ = judge(seed)
        with os.fdopen(sender, "wb") as pipe:
            pickle.dump(verdict, pipe)
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if answer:
        verdict = pickle.loads(answer)
        assert isinstance(verdict, Verdict)
        return verdict
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return Verdict(seed, "slow", details=f"took more than {MAX_SECONDS} s of computing time")
    return Verdict(seed, "wrong", details=f"its process ended with status {status}")


def _limited() -> None:
    """Limit this process, counted from now on."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + MAX_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))


def circuit_failures(seeds: Iterable[int], folder: Path) -> dict[int, list[str]]:
    """Simulate the circuits of the accepted programs of some seeds, in one model."""
    numbers, programs = [], []
    for seed in seeds:
        _, accepted = judge(seed)
        if accepted is not None:
            numbers.append(seed)
            programs.append(Compiled(accepted.program, accepted.compilation))
    if not programs:
        return {}
    return dict(zip(numbers, batch_failures(programs, folder), strict=True))


def main(first: int, behind: int) -> None:
    """Print what became of the programs of some seeds."""
    seen: Counter[str] = Counter()
    slowest = 0.0
    for verdict in verdicts(range(first, behind)):
        seen[f"{verdict.outcome} {verdict.code}".strip()] += 1
        slowest = max(slowest, verdict.seconds)
        if verdict.outcome in ("wrong", "slow") or verdict.seconds > MAX_SECONDS / 3:
            print(f"--- {verdict.seed}: {verdict.outcome} {verdict.code} {verdict.seconds:.1f} s")
            print(verdict.details, flush=True)
    print(dict(sorted(seen.items())), f"slowest {slowest:.1f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
