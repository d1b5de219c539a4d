"""What a design takes at least, by what asks for it.

`instances`: those of the statement with the most, one a cycle in each lane, and its pipeline.
`chain`: the longest chain of instances that wait for each other's values.
`instances_and_chain`: the instances of one statement, one a cycle, each between the chain that
leads to it and the one that follows from it (`scheduling.dataflow_limit`).
`ports`: stores through one write port of a bank.
`stages`: instances that come one after another in any order of the loops (`poly.barriers`).

Without a limit operations share multipliers only where they never begin together, so none is asked
for more often than some statement has instances, or the chain is as long. Reads share a port only
where they never meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, fsum, log
from typing import Any

from rtlgen.datapath.floor import limit_of_plan
from rtlgen.design import Design
from rtlgen.ir.cycles import checksum_cycles
from rtlgen.planning.compilation import IslandCompilation


def floors(design: Design) -> dict[str, int]:
    """Return the fewest cycles by kind, that kind first which rules where several do.

    Parameters
    ----------
    design: with all arrays on chip.

    Raises
    ------
    ValueError: it has arrays off chip.
    """
    compilation = design.compilation
    if not isinstance(compilation, IslandCompilation):
        raise ValueError(f"{design.plan.name} has arrays off chip")
    limit = limit_of_plan(compilation.analysis.written, design.plan)
    found = {
        "instances": limit.instances,
        "chain": limit.chain,
        "instances_and_chain": limit.both,
    }
    if compilation.bounds:
        found["ports"] = max(bound.stores for bound in compilation.bounds)
    if compilation.chain is not None:
        found["stages"] = compilation.chain.iterations
    # Behind the stages and the stores there is a pipeline, too; how long, is not counted.
    more = design.plan.index_latency_cycles + checksum_cycles(design.plan)
    return {kind: cycles + more for kind, cycles in found.items()}


def floor_figures(design: Design, cycles: int) -> dict[str, Any]:
    """Return the floor, what rules it, and how far above it `cycles` are, as rows have them."""
    limits = floors(design)
    kind = max(limits, key=limits.__getitem__)
    floor = limits[kind]
    above = round(100 * (cycles / floor - 1), 1)
    return {"floor": floor, "floor_kind": kind, "above_floor_percent": above}


def mean_times_floor(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the geometric mean of cycles over floor of at least one row."""
    return exp(fsum(log(row["cycles"] / row["floor"]) for row in rows) / len(rows))
