"""Compare the runs of a circuit with what the program computes: memory, results, cycles.

Say when the circuit writes an element for the last time, from its plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from rtlgen.ir.cycles import cycles_behind, predicted_cycles, region_cycles
from rtlgen.ir.iterations import element_numbers, predicate_mask, stream_iterations
from rtlgen.ir.plan import KernelPlan, Memory, Stream
from rtlgen.manifest.contents import Manifest
from rtlgen.sim.axi_behaviour import (
    DRAM_MOST_CYCLES,
    DRAM_OPEN_CYCLES,
    AxiBehaviour,
)
from rtlgen.verify.compare import (
    SHOWN_MISMATCHES,
    Comparison,
    checksum,
    compare_memories,
    format_checksum,
)
from rtlgen.verify.cosim import Engine, SimulationResult, Simulator, simulate, simulate_all
from rtlgen.verify.data import DataSets
from rtlgen.verify.values import Elements, Value, is_same, value_text

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


DRAM_RUNS = 3
"""Runs on a DRAM, each with latencies of its own."""

DRAM_MOST_OFF_PERCENT = 2
"""How far their cycles may be from those predicted, if that is more than the longest latency."""

STREAM_RUNS = 2
"""Runs whose sources and sinks pause, each with a seed of its own."""

CYCLES_OF_ALL_RUNS: Mapping[Simulator, int] = {"verilator": 5_000_000, "icarus": 6_000}
"""Cycles, loading and reading included, within which all runs together should stay."""


def off_prediction(
    cycles: int, predicted: int, latency_cycles: int, behind: Callable[[int], int]
) -> list[str]:
    """Return what is wrong with the cycles of a run on a DRAM.

    A run of few cycles is longer or shorter by what it waits for its first and last words, and one
    that waits for words all the time by their latencies: it takes as long as behind a memory of the
    shortest or of the longest one, or something between. How far the latencies of a DRAM are from
    one that it does not have tells nothing of the circuit.

    Parameters
    ----------
    latency_cycles: for which the cycles are predicted. behind: returns those for another latency.
    """
    if not DRAM_OPEN_CYCLES <= latency_cycles <= DRAM_MOST_CYCLES:
        return []
    most = max(predicted * DRAM_MOST_OFF_PERCENT // 100, DRAM_MOST_CYCLES)
    if abs(cycles - predicted) <= most:
        return []
    low, high = behind(DRAM_OPEN_CYCLES), behind(DRAM_MOST_CYCLES)
    if low - most <= cycles <= high + most:
        return []
    return [f"{cycles} cycles, not {low} to {high} and {most} more or less"]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a data set should leave behind: of the golden model, or of a C compiler's program."""

    arrays: Mapping[str, Elements]
    returned: Value | None


@dataclass(frozen=True, slots=True, eq=False)
class Verification:
    """The outcome of a comparison of the circuit with the program, over all data sets.

    Members
    -------
    cycles: of every run, or those of the first run that took others than predicted.
    checksum, expected_checksum: CRC-64 of the result arrays of all runs, from the simulation and
        the program; `unit_checksums` are those of the hardware unit after each run, where the
        design has one.
    comparison: over all elements of all runs.
    compared: elements and return values that were compared.
    failures: what is wrong, a sentence each; empty for an exact design.
    dram_cycles: of runs on a DRAM whose bursts take other latencies each time, by a seed each; of
        other memories there are none. paused_cycles: of runs whose streams pause.
    """

    kernel: str
    simulator: Simulator
    oracle: str
    seed: int
    cycles: int
    predicted_cycles: int
    checksum: int
    expected_checksum: int
    unit_checksums: tuple[int, ...]
    comparison: Comparison
    compared: int
    failures: tuple[str, ...]
    data: DataSets
    seconds: float
    dram_cycles: tuple[int, ...] = ()
    paused_cycles: tuple[int, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether nothing differed, and there was something to compare."""
        return not self.failures and self.compared > 0

    @property
    def off_by_percent(self) -> float | None:
        """How far runs on a DRAM are from the cycles predicted, at most; None without any."""
        if not self.dram_cycles:
            return None
        off = max(abs(cycles - self.predicted_cycles) for cycles in self.dram_cycles)
        return round(100 * off / self.predicted_cycles, 2)

    def to_json(self) -> dict[str, object]:
        """Return what `rtlgen verify --json` prints."""
        shown = self.data.shown
        return {
            "kernel": self.kernel,
            "exact": self.exact,
            "checksum": format_checksum(self.checksum),
            "cycles": self.cycles,
            "predicted_cycles": self.predicted_cycles,
            **self._others(),
            "simulator": self.simulator,
            "oracle": self.oracle,
            "seed": self.seed,
            "data_sets": [data.name for data in self.data.sets],
            "data_sets_left_out": self.data.left_out,
            "compared": self.compared,
            "elements": self.comparison.elements,
            "unseen": list(shown.unseen_statements),
            "unseen_operands": [
                {"statement": site.statement.name, "operand": site.text}
                for site in shown.unseen
                if not site.is_result
            ],
            "operands_not_asked_for": len(shown.left_out),
            "mismatches": self.comparison.mismatches,
            "first_mismatches": [m.to_json() for m in self.comparison.first],
            "failures": list(self.failures),
            "seconds": round(self.seconds, 3),
        }

    def _others(self) -> dict[str, object]:
        paused: dict[str, object] = {}
        if self.paused_cycles:
            paused["paused_cycles"] = list(self.paused_cycles)
        if not self.dram_cycles:
            return paused
        cycles = list(self.dram_cycles)
        return {"dram_cycles": cycles, "off_by_percent": self.off_by_percent, **paused}

    def text(self) -> str:
        """Return the verdict in one line."""
        sets = len(self.data.sets)
        return (
            f"{self.kernel}: {'exact' if self.exact else 'DIFFERENT'}, {self.compared} elements of "
            f"{sets} data set{'' if sets == 1 else 's'}, {self.data.shown.text()}, checksum "
            f"{format_checksum(self.checksum)}, {self.cycles} cycles "
            f"(predicted {self.predicted_cycles}), {self._others_text()}{self.simulator}, "
            f"seed {self.seed}"
        )

    def _others_text(self) -> str:
        if self.paused_cycles:
            low, high = min(self.paused_cycles), max(self.paused_cycles)
            return f"{low} to {high} with pauses of the streams, "
        if not self.dram_cycles:
            return ""
        low, high = min(self.dram_cycles), max(self.dram_cycles)
        return f"{low} to {high} with the latencies of a DRAM ({self.off_by_percent} % off), "


def within_limit(data: DataSets, manifest: Manifest, simulator: Simulator) -> DataSets:
    """Return as many data sets as the simulator runs in a few seconds; at least one."""
    host = 2 * max((array.depth for array in manifest.host_arrays), default=0)
    most = CYCLES_OF_ALL_RUNS[simulator] // (manifest.predicted_cycles + host)
    return data.first(max(1, most))


def verify_circuit(
    directory: Path,
    manifest: Manifest,
    plan: KernelPlan,
    data: DataSets,
    *,
    expected: Sequence[Outcome] | None = None,
    oracle: str = "golden",
    seed: int = 1,
    simulator: Simulator = "verilator",
    engine: Engine = "auto",
    trace: Path | None = None,
) -> Verification:
    """Simulate the circuit in `directory` on all data sets, and compare everything.

    Parameters
    ----------
    expected: of every data set; by default what the golden model says.

    Raises
    ------
    RtlgenError: a tool is missing, the run hangs, an output is undefined.
    """
    if expected is None:
        expected = [Outcome(d.golden.arrays, d.golden.returned) for d in data.sets]
    runs = simulate_all(
        directory,
        manifest,
        [known_to(manifest, each.inputs) for each in data.sets],
        simulator=simulator,
        engine=engine,
        trace=trace,
    )
    # An array that only statements without any instance write has no memory.
    results = tuple(a.name for a in manifest.data_arrays if a.role in ("out", "inout"))
    comparisons = []
    failures: list[str] = []
    predicted = predicted_cycles(plan)
    for each, wanted, got in zip(data.sets, expected, runs, strict=True):
        comparison, found = _compared(plan, wanted, got, results, predicted)
        comparisons.append(comparison)
        failures += [f"data set {each.name}: {text}" for text in found]
    first = data.sets[0]

    def again(behaviour: AxiBehaviour) -> tuple[SimulationResult, list[str]]:
        """Run the first data set beside others; return the run, and what is wrong with it."""
        inputs = known_to(manifest, first.inputs)
        got = simulate(
            directory, manifest, inputs, simulator=simulator, engine=engine, axi=behaviour
        )
        comparison, found = _compared(plan, expected[0], got, results, predicted=None)
        comparisons.append(comparison)
        return got, found

    paused_cycles = []
    for number in range(STREAM_RUNS if manifest.streams else 0):
        got, found = again(AxiBehaviour(pauses=seed + number))
        if got.cycles < predicted:
            found.append(f"took {got.cycles} cycles, fewer than without pauses")
        failures += [f"data set {first.name}, pauses {seed + number}: {text}" for text in found]
        paused_cycles.append(got.cycles)
    dram_cycles = []
    if manifest.memory is not None and manifest.memory.kind == "dram":
        for number in range(DRAM_RUNS):
            got, found = again(AxiBehaviour(dram=seed + number))
            found += off_prediction(
                got.cycles,
                predicted,
                manifest.memory.latency_cycles,
                partial(cycles_behind, plan),
            )
            failures += [f"data set {first.name}, DRAM {seed + number}: {text}" for text in found]
            dram_cycles.append(got.cycles)
    returns = sum(wanted.returned is not None for wanted in expected)
    joined = _joined(comparisons)
    return Verification(
        kernel=plan.name,
        simulator=simulator,
        oracle=oracle,
        seed=seed,
        cycles=next((got.cycles for got in runs if got.cycles != predicted), predicted),
        predicted_cycles=predicted,
        checksum=checksum(got.arrays[name] for got in runs for name in results),
        expected_checksum=checksum(e.arrays[name] for e in expected for name in results),
        unit_checksums=tuple(got.checksum for got in runs if got.checksum is not None),
        comparison=joined,
        compared=joined.elements + returns,
        failures=tuple(failures),
        data=data,
        seconds=runs[0].seconds + runs[0].build_seconds,
        dram_cycles=tuple(dram_cycles),
        paused_cycles=tuple(paused_cycles),
    )


def known_to(
    manifest: Manifest, inputs: Mapping[str, Elements | Value]
) -> dict[str, Elements | Value]:
    """Return those inputs that the circuit takes."""
    names = {a.name for a in manifest.data_arrays} | {s.name for s in manifest.scalars}
    return {name: value for name, value in inputs.items() if name in names}


def _compared(
    plan: KernelPlan,
    wanted: Outcome,
    got: SimulationResult,
    results: Sequence[str],
    predicted: int | None,
) -> tuple[Comparison, list[str]]:
    """Compare one run; return the comparison, and what is wrong.

    Parameters
    ----------
    predicted: the cycles that it has to take; None: nobody knows.
    """
    expected = {name: np.asarray(wanted.arrays[name]) for name in got.arrays}
    comparison = compare_memories(expected, got.arrays)
    elements = [(m.array, m.index) for m in comparison.first]
    comparison = comparison.with_cycles(_write_cycles(plan, got, elements))
    failures = [comparison.text()] if comparison.mismatches else []
    if not is_same(wanted.returned, got.returned):
        failures.append(
            f"returned {value_text(got.returned)}, expected {value_text(wanted.returned)}"
        )
    if predicted is not None and got.cycles != predicted:
        failures.append(f"took {got.cycles} cycles, predicted {predicted}")
    found = checksum(got.arrays[name] for name in results)
    right = checksum(expected[name] for name in results)
    if found != right or got.checksum not in (None, right):
        unit = "none" if got.checksum is None else format_checksum(got.checksum)
        failures.append(
            f"checksum {format_checksum(found)} (unit: {unit}), expected {format_checksum(right)}"
        )
    return comparison, failures


def _write_cycles(
    plan: KernelPlan, got: SimulationResult, elements: Sequence[Element]
) -> dict[Element, int]:
    """Return the cycle of the last store to each element, where there was one.

    Off chip the simulation has seen it; on chip the plan says.
    """
    seen = {
        (name, index): int(got.write_cycles[name][index])
        for name, index in elements
        if name in got.write_cycles
    }
    planned = last_write_cycles(plan, (element for element in elements if element not in seen))
    return planned | {element: cycle for element, cycle in seen.items() if cycle}


def _joined(comparisons: Sequence[Comparison]) -> Comparison:
    first = [mismatch for comparison in comparisons for mismatch in comparison.first]
    return Comparison(
        tuple(first[:SHOWN_MISMATCHES]),
        sum(comparison.mismatches for comparison in comparisons),
        sum(comparison.elements for comparison in comparisons),
    )
