"""What a trace tells of instances is what the circuit does in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.ir.iterations import iterations_of
from rtlgen.sim.axi_behaviour import AxiBehaviour
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.verify.cosim import simulate
from rtlgen.verify.equivalence import known_to
from rtlgen.waves.errors import NotInTraceError, TraceUnreadableError
from rtlgen.waves.instances import BuiltCircuit, read_circuit
from rtlgen.waves.timeline import Run, Timeline
from rtlgen.waves.trace_file import TracedCircuit, traced_circuit
from tests.simulators import SIMULATORS

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.simulation

DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "gemm": ("gemm", {"define": {"N": 4}}),
    "divide": ("gemm", {"define": {"N": 4}, "index": "divide"}),
    "lanes": ("gemm", {"define": {"N": 4}, "unroll": {"j": 2}}),
    "one after another": ("gemm", {"define": {"N": 4}, "fuse": "none"}),
    "ragged": ("trmm", {}),
    "tiles": ("transposed", {"define": {"N": 16}, "memory": "axi", "tile": (8, 8)}),
    "workers": (
        "transposed",
        {"define": {"N": 16}, "memory": "fixed:9", "tile": (8, 8), "threads": 2},
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A design with a trace of its runs."""

    design: rtlgen.Design
    circuit: BuiltCircuit
    trace: TracedCircuit
    timeline: Timeline

    def at(self, run: int, name: str) -> np.ndarray:
        """Return the values of a signal in the cycles of a run, from cycle 0 on."""
        cycles = self.timeline.cycles[run - 1]
        assert cycles is not None
        start = self.timeline.starts[run - 1]
        return self.trace.sampled(name)[start + 1 : start + 1 + cycles]


def record(
    folder: Path, name: str, options: dict[str, Any], simulator: Simulator = "verilator"
) -> Recorded:
    design = rtlgen.compile(ROOT / "examples" / name / f"{name}.c", **options)
    path = folder / "waves.vcd"
    assert design.verify(simulator=simulator, trace=path).exact
    circuit = read_circuit(design.write(folder / "build"))
    assert circuit.plan == design.plan
    assert circuit.issued == design.issued
    trace = traced_circuit(path, circuit.manifest, [i.point.control for i in circuit.issued])
    return Recorded(design, circuit, trace, Timeline(circuit, trace))


def issues(run: Run, cycles: int) -> dict[int, list[tuple[int, tuple[int, ...]]]]:
    """Return of each stream the cycles in which it issues instances, and which."""
    found: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for cycle in range(cycles):
        for each in run.on_their_way(cycle):
            assert each.issued_cycle + each.stage == cycle
            if each.stage == 0:
                found.setdefault(each.stream, []).append((cycle, each.point))
    return found


@pytest.mark.sample("divide", "ragged")
@pytest.mark.parametrize(("name", "options"), DESIGNS.values(), ids=list(DESIGNS))
def test_instances_issue_when_the_counters_of_the_circuit_say_so(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    recorded = record(tmp_path, name, options)
    plan, circuit = recorded.design.plan, recorded.circuit
    assert set(recorded.timeline.cycles) == {recorded.design.manifest.predicted_cycles}
    run = recorded.timeline.run(2)
    found = issues(run, recorded.design.manifest.predicted_cycles)
    instances: Counter[str] = Counter()
    for number, (stream, issued) in enumerate(zip(plan.streams, circuit.issued, strict=True)):
        point = issued.point
        valid = recorded.at(2, f"{point.control}.index.valid") == 1
        names = [f"{point.control}.index.counter_{n}" for n in range(len(point.counted))]
        known = [n for n, signal in enumerate(names) if signal in recorded.trace.signals]
        counters = {n: recorded.at(2, names[n]) for n in known}
        every = iterations_of(stream.levels)
        points = issued.instances.points(every)
        rows = {
            tuple(p): row
            for p, row, real in zip(
                points.tolist(), every.tolist(), issued.instances.real(every), strict=True
            )
            if real
        }
        for cycle, instance in found[number]:
            at = cycle - point.valid_to_issue
            assert valid[at], (stream.name, instance, cycle)
            for n in known:
                assert counters[n][at] == rows[instance][point.counted[n]]
        assert len({instance for _, instance in found[number]}) == len(found[number])
        instances[issued.instances.statement] += len(found[number])
    written = recorded.design.compilation.analysis.program.scop.statements
    assert set(instances) <= {statement.name for statement in written}
    for statement in written:
        own = {
            stream.name: stream.instances
            for stream, issued in zip(plan.streams, circuit.issued, strict=True)
            if issued.instances.statement == statement.name
        }
        assert instances[statement.name] == sum(own.values())


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_an_instance_stores_in_its_last_stage(tmp_path: Path, simulator: Simulator) -> None:
    recorded = record(tmp_path, "gemm", {"define": {"N": 4}}, simulator)
    run = recorded.timeline.run(1)
    addresses = recorded.at(1, "S1_S0_control.S1_store_addr")
    for i, j, k in np.ndindex(4, 4, 4):
        (found,) = run.find("S1", (i, j, k))
        assert addresses[found.issued_cycle + 7] == 4 * i + j
    assert run.find("S1", (0, 0, 4)) == []
    assert run.find("S2", (0, 0, 0)) == []


def test_a_stall_is_in_the_trace_and_not_in_the_plan(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "define": {"N": 16},
        "memory": "axi",
        "tile": (8, 8),
        "threads": 2,
    }
    design = rtlgen.compile(ROOT / "examples" / "transposed" / "transposed.c", **options)
    path, folder = tmp_path / "waves.vcd", design.write(tmp_path / "build")
    inputs = known_to(design.manifest, design.data_sets().sets[0].inputs)
    behaviour = AxiBehaviour(pauses=5)
    result = simulate(folder, design.manifest, inputs, trace=path, axi=behaviour)
    assert result.cycles > design.manifest.predicted_cycles
    circuit = read_circuit(folder)
    trace = traced_circuit(path, circuit.manifest, [i.point.control for i in circuit.issued])
    run = Timeline(circuit, trace).run(1)
    assert run.cycles == result.cycles
    begun: dict[tuple[int, int], int] = {}
    waited = 0
    for cycle in range(result.cycles):
        for tile in run.tiles(cycle):
            first = begun.setdefault((tile.worker, tile.number), cycle)
            assert tile.number < 0 or tile.begun_cycle == first
            if tile.waits_since is not None:
                assert cycle >= tile.waits_since == first + 64
                waited += 1
    assert waited > 50
    # What an instance stores is off chip some time after it was computed.
    (name,) = result.write_cycles
    for i, j in zip(*np.nonzero(result.write_cycles[name]), strict=True):
        (found,) = run.find("S0", (int(i), int(j)))
        assert result.write_cycles[name][i][j] > found.issued_cycle + 4


def test_what_is_not_in_a_trace_is_refused(tmp_path: Path) -> None:
    recorded = record(tmp_path, "gemm", {"define": {"N": 4}})
    with pytest.raises(NotInTraceError, match="has no run 9 of gemm"):
        recorded.timeline.run(9)
    for cycle in (-1, 71):
        with pytest.raises(NotInTraceError, match=f"has no cycle {cycle}"):
            recorded.timeline.run(1).on_their_way(cycle)
    other = rtlgen.compile(ROOT / "examples" / "mms_d" / "mms_d.c")
    controls = [issued.point.control for issued in other.issued]
    with pytest.raises(TraceUnreadableError, match="does not show the circuit mms_d"):
        traced_circuit(recorded.trace.path, other.manifest, controls)


def test_a_trace_that_ends_before_the_run_is_read(tmp_path: Path) -> None:
    recorded = record(tmp_path, "gemm", {"define": {"N": 4}})
    start = recorded.timeline.starts[0]
    text = recorded.trace.path.read_text()
    cut = tmp_path / "cut.vcd"
    cut.write_text(text[: text.index(f"#{recorded.trace.edges[start + 40]}\n")])
    trace = traced_circuit(cut, recorded.circuit.manifest, ["S1_S0_control"])
    timeline = Timeline(recorded.circuit, trace)
    assert timeline.cycles == (None,)
    run = timeline.run(1)
    assert run.on_their_way(30) == recorded.timeline.run(1).on_their_way(30)
    with pytest.raises(NotInTraceError, match="it has cycles 0 to 38"):
        run.on_their_way(39)


def test_a_broken_trace_is_refused(tmp_path: Path) -> None:
    recorded = record(tmp_path, "gemm", {"define": {"N": 4}})
    text = recorded.trace.path.read_text()
    manifest, broken = recorded.circuit.manifest, tmp_path / "broken.vcd"
    begin = text.index("$enddefinitions $end") + 21
    for content in ("", "nothing\n", text[:begin].replace("$var", "$war"), text[:begin] + "q1 ?\n"):
        broken.write_text(content)
        with pytest.raises(TraceUnreadableError, match=r"broken\.vcd is no wave file that can be"):
            traced_circuit(broken, manifest, ["S1_S0_control"])
    broken.write_text(text[: text.index("#20000\n")])
    trace = traced_circuit(broken, manifest, ["S1_S0_control"])
    with pytest.raises(NotInTraceError, match="it has 0, counted from 1"):
        Timeline(recorded.circuit, trace).run(1)
