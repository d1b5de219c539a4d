"""Run the tests on every mutant: imported and collected once, then one fork a mutant.

A pytest plugin. The first fork runs all tests as they are, and says how long each takes and which
lines of the judges it reaches. A mutant is then judged by those that reach its statement, the ones
first that have killed most. The process that forks never runs a test, so that no cache of its own
answers for a mutant.
"""

from __future__ import annotations

import importlib
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutation import live
from tests.mutation.judges import ROOT, Judge
from tests.mutation.mutants import Mutant, mutated

MEMORY_BYTES = 6 << 30
SLOWER_TIMES = 4
GRACE_SECONDS = 4
Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant.

    Members
    -------
    killer: the test that noticed it, "time" where one did not end, None where all passed.
    """

    mutant: Mutant
    killer: str | None


@dataclass(slots=True)
class _Baseline:
    """Of every test: its seconds of CPU, and the lines of the judges that it reaches."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, frozenset[Line]] = field(default_factory=dict)


class Campaign:
    """The plugin; `verdicts` has the answer after the run.

    Parameters
    ----------
    chosen: the mutants of each judge that are judged. workers: how many at a time.
    told: called with every verdict as it comes.
    """

    def __init__(
        self,
        chosen: Sequence[tuple[Judge, list[Mutant]]],
        workers: int,
        told: Callable[[Verdict], None],
    ) -> None:
        self.chosen = chosen
        self.workers = workers
        self.told = told
        self.verdicts: list[Verdict] = []
        self._kills: Counter[str] = Counter()
        self._failed: str | None = None

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        live.forget_results()
        baseline = self._baseline(session.items)
        jobs = [(judge, mutant) for judge, found in self.chosen for mutant in found]
        running: dict[int, tuple[Mutant, Path]] = {}
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            while jobs or running:
                while jobs and len(running) < self.workers:
                    judge, mutant = jobs.pop(0)
                    items = self._nearest(session.items, judge, mutant, baseline)
                    answer = Path(folder) / f"{judge.name}-{mutant.number}"
                    child = os.fork()
                    if child == 0:
                        self._judge(judge, mutant, items, baseline, answer)
                    running[child] = mutant, answer
                self._collect(running)
        return True

    def _collect(self, running: dict[int, tuple[Mutant, Path]]) -> None:
        child, status = os.wait()
        mutant, answer = running.pop(child)
        killer: str | None
        if os.WIFSIGNALED(status):
            killer = "time" if os.WTERMSIG(status) == signal.SIGPROF else "crash"
        else:
            killer = answer.read_text(encoding="utf-8") or None
        if killer:
            self._kills[killer] += 1
        self.verdicts.append(Verdict(mutant, killer))
        self.told(self.verdicts[-1])

    def _judge(
        self,
        judge: Judge,
        mutant: Mutant,
        items: list[pytest.Item],
        baseline: _Baseline,
        answer: Path,
    ) -> None:
        """Run the tests on a mutant in this fork, and end it."""
        _be_quiet()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        killer = "crash"
        try:
            source = judge.path.read_text(encoding="utf-8")
            tree = mutated(source, mutant.number, writes_c=judge.writes_c)
            live.apply(importlib.import_module(judge.name), tree)
            killer = self._run(items, baseline) or ""
        finally:
            # A fork must never return into the loop that made it.
            answer.write_text(killer, encoding="utf-8")
            os._exit(0)

    def _run(self, items: Sequence[pytest.Item], baseline: _Baseline) -> str | None:
        """Run tests up to the first that fails, and return its name."""
        for item, following in zip_longest(items, items[1:]):
            allowed = SLOWER_TIMES * baseline.seconds[item.nodeid] + GRACE_SECONDS
            signal.setitimer(signal.ITIMER_PROF, allowed)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return self._failed
        return None

    def _nearest(
        self,
        items: Sequence[pytest.Item],
        judge: Judge,
        mutant: Mutant,
        baseline: _Baseline,
    ) -> list[pytest.Item]:
        """Return the tests of a judge that reach the mutant, most promising first."""
        found = [item for item in items if item.nodeid.startswith(judge.tests)]
        places = {(str(judge.path), line) for line in range(mutant.first, mutant.last + 1)}
        # Constants, also those of a class, and defaults are run by nobody after the import.
        found = [item for item in found if places & baseline.lines[item.nodeid]] or found

        def promise(item: pytest.Item) -> float:
            return -(self._kills[item.nodeid] + 0.1) / (baseline.seconds[item.nodeid] + 0.02)

        return sorted(found, key=promise)

    def _baseline(self, items: Sequence[pytest.Item]) -> _Baseline:
        """Run all tests as they are, in a fork."""
        paths = frozenset(str(judge.path) for judge, _ in self.chosen)
        handle, name = tempfile.mkstemp(prefix="mutants-baseline-")
        os.close(handle)
        answer = Path(name)
        child = os.fork()
        if child == 0:
            _be_quiet()
            answer.write_bytes(pickle.dumps(self._measured(items, paths)))
            os._exit(0)
        os.waitpid(child, 0)
        found = pickle.loads(answer.read_bytes())
        answer.unlink()
        if isinstance(found, str):
            raise pytest.UsageError(f"fails without any mutant: {found}")
        assert isinstance(found, _Baseline)
        return found

    def _measured(self, items: Sequence[pytest.Item], paths: frozenset[str]) -> _Baseline | str:
        baseline = _Baseline()
        for item, following in zip_longest(items, items[1:]):
            tracer = _Tracer(paths)
            begin = time.process_time()
            sys.settrace(tracer.call)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            sys.settrace(None)
            baseline.seconds[item.nodeid] = time.process_time() - begin
            baseline.lines[item.nodeid] = frozenset(tracer.lines)
            # What a fixture or a cache keeps was reached by whoever asked first.
            live.forget_results()
            if self._failed:
                return self._failed
        return baseline


class _Tracer:
    """Collect the lines of some files that are run."""

    def __init__(self, paths: frozenset[str]) -> None:
        self.paths = paths
        self.lines: set[Line] = set()

    def call(self, frame: FrameType, event: str, argument: object) -> Any:
        return self.line if frame.f_code.co_filename in self.paths else None

    def line(self, frame: FrameType, event: str, argument: object) -> object:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self.line


def _be_quiet() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def run(
    chosen: Sequence[tuple[Judge, list[Mutant]]], workers: int, told: Callable[[Verdict], None]
) -> list[Verdict]:
    """Judge mutants by the nearest tests.

    Raises
    ------
    RuntimeError: the tests do not pass as they are.
    """
    campaign = Campaign(chosen, workers, told)
    tests = sorted({t for judge, _ in chosen for t in judge.tests if (ROOT / t).exists()})
    options = ["-s", "-q", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    # A mutant that ends the process is told in one line, not with a trace.
    options += ["-p", "no:faulthandler"]
    # Rows that `make test` leaves out may be the only ones that notice a mutant.
    quick = "not simulation and not synthesis and (not long or left_out)"
    options += ["-m", quick, f"--rootdir={ROOT}"]
    status = pytest.main([*options, *tests], plugins=[campaign])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError("the tests do not pass as they are")
    return campaign.verdicts
