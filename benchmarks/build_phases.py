"""One `rtlgen build`, timed phase by phase: `python -m benchmarks.build_phases BEGIN ARGUMENT...`.

BEGIN is the time (seconds since the epoch) at which the process was started, so that the start of
Python and the imports are counted. The phases are functions of the compiler, wrapped where their
callers look them up. One JSON object on stdout: phase -> seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

BEGIN = time.time()

import rtlgen.cli.program  # noqa: E402
import rtlgen.cli.verbs.compiling  # noqa: E402 - the import is what is timed  # noqa: E402
import rtlgen.design  # noqa: E402
import rtlgen.driver  # noqa: E402
import rtlgen.planning.choice  # noqa: E402
import rtlgen.planning.one_form  # noqa: E402
import rtlgen.planning.planned  # noqa: E402
import rtlgen.poly.legality  # noqa: E402

IMPORTED = time.time()

PHASES: tuple[tuple[str, Any, str], ...] = (
    ("parse", rtlgen.cli.verbs.compiling, "parse"),
    ("dependences", rtlgen.planning.choice, "analyse"),
    ("search", rtlgen.planning.one_form, "decide_fused"),
    ("legality", rtlgen.poly.legality.Judge, "require_legal"),
    ("lower", rtlgen.planning.planned, "lower"),
    ("replay", rtlgen.driver, "replay"),
    ("Verilog", rtlgen.design, "generate"),
    ("golden model", rtlgen.design, "random_data_sets"),
    ("test bench", rtlgen.design, "write_testbench"),
)


def timed(
    function: Callable[..., Any], phase: str, seconds: dict[str, float]
) -> Callable[..., Any]:
    """Return `function`, adding the time that it takes to its phase."""

    def call(*args: Any, **kwargs: Any) -> Any:
        begin = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[phase] += time.perf_counter() - begin

    return call


def main() -> int:
    """Build, and print the seconds of every phase; `other` is what none of them covers."""
    started = float(sys.argv[1])
    seconds = dict.fromkeys((phase for phase, _, _ in PHASES), 0.0)
    for phase, module, name in PHASES:
        setattr(module, name, timed(getattr(module, name), phase, seconds))
    rtlgen.cli.program.cli.main(args=["build", "--quiet", *sys.argv[2:]], standalone_mode=False)
    total = time.time() - started
    start = {"start of Python": BEGIN - started, "imports": IMPORTED - BEGIN}
    counted = sum(start.values()) + sum(seconds.values())
    print(json.dumps({**start, **seconds, "other": total - counted}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
