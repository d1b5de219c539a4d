"""How long `rtlgen build examples/gemm/gemm.c` takes, and where the time goes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from benchmarks.record import (
    EXAMPLES,
    ROOT,
    circumstances,
    markdown_table,
    tools_text,
    write_results,
)

KERNEL = "gemm"
RUNS = 5
SECONDS_AT_MOST = 3.0


def time_build(folder: str) -> tuple[float, float]:
    """Return (wall, CPU) seconds of one build in a process of its own, its children included."""
    source = str((EXAMPLES / KERNEL / f"{KERNEL}.c").relative_to(ROOT))
    begin, before = time.perf_counter(), os.times()
    subprocess.run(
        [
            sys.executable,
            "-c",
            "from rtlgen.cli import main; main()",
            "build",
            source,
            "-o",
            folder,
        ],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    cpu = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return time.perf_counter() - begin, cpu


def time_phases(folder: str) -> dict[str, float]:
    """Return the seconds of every phase of one build, in order."""
    source = str((EXAMPLES / KERNEL / f"{KERNEL}.c").relative_to(ROOT))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.build_phases", str(time.time()), source, "-o", folder],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    phases: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return phases


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of every phase over all runs."""
    return {phase: round(statistics.median(run[phase] for run in runs), 3) for phase in runs[0]}


def main() -> int:
    """Measure, store, and say whether the build is as fast as it must be."""
    with tempfile.TemporaryDirectory() as folder:
        time_build(folder)  # compiled Python files and the file cache
        builds = [time_build(folder) for _ in range(RUNS)]
        phases = medians([time_phases(folder) for _ in range(RUNS)])
    wall, cpu = (round(statistics.median(times), 2) for times in zip(*builds, strict=True))
    made_by = circumstances()
    table = markdown_table(
        [f"rtlgen build {KERNEL}.c", "ms"],
        [["wall time", round(1000 * wall)], ["CPU time", round(1000 * cpu)]]
        + [[f"- {phase}", round(1000 * seconds)] for phase, seconds in phases.items()],
    )
    footer = (
        f"{made_by['date']}, median of {RUNS} runs, {made_by['processor']}, {made_by['cores']} "
        f"cores, Python {made_by['python']}; {tools_text(made_by)}."
    )
    document = {"kernel": KERNEL, "wall_seconds": wall, "cpu_seconds": cpu, "phases": phases}
    write_results("build_time", document, f"{table}\n\n{footer}")
    print(table)
    return int(wall > SECONDS_AT_MOST)


if __name__ == "__main__":
    sys.exit(main())
