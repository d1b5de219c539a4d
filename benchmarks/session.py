"""How fast a loop over inputs is that keeps the simulated circuit loaded."""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

import rtlgen
from benchmarks.record import EXAMPLES, circumstances, markdown_table, tools_text, write_results

KERNEL = "gemm"
CALLS = 10_000
SECONDS_AT_MOST = 20.0
SINGLE_RUNS = 5
TIMES_AS_FAST = 1000
"""As `Design.run`, which compiles the model anew and starts a process."""


def main() -> int:
    """Measure, store, and say whether the loop is as fast as it must be."""
    design = rtlgen.compile(EXAMPLES / KERNEL / f"{KERNEL}.c")
    rng = np.random.default_rng(1)
    drawn = [
        {name: rng.integers(-99, 99, (8, 8), dtype=np.int32) for name in "ABC"} for _ in range(100)
    ]
    expected = [3 * data["A"] @ data["B"] + 2 * data["C"] for data in drawn]
    singles = []
    for data in drawn[:SINGLE_RUNS]:
        begin = time.perf_counter()
        design.run(alpha=3, beta=2, inputs=data)
        singles.append(time.perf_counter() - begin)
    cycles = 0
    is_right = True
    with design.session() as session:
        begin = time.perf_counter()
        for call in range(CALLS):
            out = session.run(alpha=3, beta=2, inputs=drawn[call % 100])
            cycles += out.cycles
            is_right &= np.array_equal(out.arrays["C"], expected[call % 100])
        seconds = time.perf_counter() - begin
    each = seconds / CALLS
    ratio = statistics.median(singles) / each
    made_by = circumstances()
    table = markdown_table(
        [f"{KERNEL} 8", "session", "single run"],
        [
            ["calls", CALLS, SINGLE_RUNS],
            ["cycles", cycles, SINGLE_RUNS * cycles // CALLS],
            ["ms a call", round(1000 * each, 2), round(1000 * statistics.median(singles))],
            ["times as fast", round(ratio), 1],
        ],
    )
    footer = (
        f"{made_by['date']}, {made_by['processor']}, {made_by['cores']} cores, Python "
        f"{made_by['python']}; {tools_text(made_by)}."
    )
    document = {
        "kernel": KERNEL,
        "calls": CALLS,
        "cycles": cycles,
        "exact": is_right,
        "seconds": round(seconds, 2),
        "times_as_fast": round(ratio),
    }
    write_results("session", document, f"{table}\n\n{footer}")
    print(table)
    return int(not is_right or seconds > SECONDS_AT_MOST or ratio < TIMES_AS_FAST)


if __name__ == "__main__":
    sys.exit(main())
