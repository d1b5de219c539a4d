"""What the test bench of a build directory checks, and how much of it there may be."""

from __future__ import annotations

from rtlgen.ir.plan import KernelPlan
from rtlgen.manifest.contents import Manifest
from rtlgen.output.testbench import Case, Expected
from rtlgen.verify.compare import checksum
from rtlgen.verify.data import DataSets
from rtlgen.verify.equivalence import known_to

SEVERAL_WORDS = 200_000
"""Of the data files, in and out, up to which a test bench has several data sets."""

MOST_WORDS = 8_000_000
"""Of the same, up to which there is a test bench: some hundred megabytes."""

MOST_INSTANCES = 2_000_000_000
"""Of all statements, up to which it is computed what a run has to leave: some ten seconds."""


def testbench_obstacle(plan: KernelPlan, manifest: Manifest) -> str | None:
    """Return why a build has no test bench, or None where it has one."""
    instances = sum(stream.instances for stream in plan.streams)
    if instances > MOST_INSTANCES:
        return (
            f"no test bench: what it expects would take {instances:,} instances to compute, and "
            f"{MOST_INSTANCES:,} are the most"
        )
    if _words(manifest) > MOST_WORDS:
        return (
            f"no test bench: its data would be {_words(manifest):,} words, and {MOST_WORDS:,} are "
            "the most"
        )
    return None


def testbench_cases(manifest: Manifest, data: DataSets) -> list[Case]:
    """Return the runs of a test bench: those that show most, as many as its files may hold."""
    return [
        Case(
            each.name,
            known_to(manifest, each.inputs),
            Expected(
                each.golden.arrays,
                each.golden.returned,
                checksum(
                    each.golden.arrays[a.name]
                    for a in manifest.data_arrays
                    if a.role in ("out", "inout")
                ),
            ),
        )
        for each in data.first(max(1, SEVERAL_WORDS // max(1, _words(manifest)))).sets
    ]


def _words(manifest: Manifest) -> int:
    return sum(array.depth for array in manifest.data_arrays)
