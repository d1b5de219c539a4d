"""Say when the circuit writes an element for the last time, from its plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from rtlgen.ir.cycles import region_cycles
from rtlgen.ir.iterations import element_numbers, predicate_mask, stream_iterations
from rtlgen.ir.plan import KernelPlan, Memory, Stream

Element = tuple[str, tuple[int, ...]]

_CHUNK_ITERATIONS = 1 << 16


def last_write_cycles(plan: KernelPlan, elements: Iterable[Element]) -> dict[Element, int]:
    """Return the cycle of the last store to each element, counted from the start of the kernel.

    Elements that no store reaches are left out, those of arrays that are stored to where data says,
    and all of a plan in tiles: when a tile starts is not in the plan alone.

    Parameters
    ----------
    elements: (array, index tuple), as a `Mismatch` names them.
    """
    found: dict[Element, int] = {}
    if plan.tiled_regions:
        return found
    for element in elements:
        name, index = element
        if any(stream.store.address is None for _, stream in _stores_to(plan, name)):
            continue
        memory = plan.memory(name)
        number = int(np.ravel_multi_index(index, memory.shape)) if index else 0
        cycles = [
            base + stream.ii * rank
            for base, stream in _stores_to(plan, name)
            if (rank := _last_rank(stream, memory, number)) is not None
        ]
        if cycles:
            found[element] = max(cycles)
    return found


def _stores_to(plan: KernelPlan, memory: str) -> Iterator[tuple[int, Stream]]:
    """Yield each stream that stores to `memory`, with the cycle of its first store."""
    start = 0
    for region in plan.regions:
        for stream in region.streams:
            if stream.store.memory == memory:
                first = start + plan.index_latency_cycles + stream.offset_cycles
                yield first + stream.store.stage, stream
        start += region_cycles(plan, region)


def _last_rank(stream: Stream, memory: Memory, number: int) -> int | None:
    """Return the last iteration that stores to an element, looking from the end."""
    extents = tuple(level.extent for level in stream.levels)
    ragged = None if stream.iterations is None else stream_iterations(stream)
    for end in range(stream.count, 0, -_CHUNK_ITERATIONS):
        ranks = np.arange(max(0, end - _CHUNK_ITERATIONS), end)
        if ragged is not None:
            counters = ragged[ranks]
        elif extents:
            counters = np.stack(np.unravel_index(ranks, extents), axis=1)
        else:
            counters = np.zeros((len(ranks), 0), dtype=np.int64)
        assert stream.store.address is not None, "the plan says where it stores"
        hits = element_numbers(memory, stream.store.address, counters) == number
        hits &= predicate_mask(stream.store.when, counters)
        if hits.any():
            return int(ranks[hits][-1])
    return None
