"""How many cycles a kernel may take: its statement steps or its chain of latencies, and 40 more."""

from __future__ import annotations

from collections.abc import Mapping

from rtlgen.ir.cycles import predicted_cycles
from tests.end_to_end.judge import Compiled
from tests.oracles.latency_chain import latency_chain, statement_steps

SLACK = 40
"""Cycles for the pipelines to fill and to drain."""

EXCEPTIONS: Mapping[str, tuple[int, str]] = {
    "tiled_by_tool": (187, "wavefronts are an iteration longer where the next one begins later"),
}
"""Kernels that take more: how many cycles at most, and why."""


def cycles_allowed(name: str, accepted: Compiled) -> int:
    """Return the cycles that a kernel may take."""
    if name in EXCEPTIONS:
        return EXCEPTIONS[name][0]
    scop = accepted.program
    return max(statement_steps(scop), latency_chain(scop, accepted.plan)) + SLACK


def assert_within_bound(name: str, accepted: Compiled) -> None:
    """Assert that the plan is as fast as it must be, and not faster than any circuit can be."""
    least = latency_chain(accepted.program, accepted.plan)
    assert least <= predicted_cycles(accepted.plan) <= cycles_allowed(name, accepted)
