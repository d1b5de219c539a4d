"""Values in a few rows of their array: exact, wherever there are any, and smaller than copies."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.block_rams import block_ram_bits, ram_copies
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import ChooseOp, ForwardOp, KernelPlan, LoadOp, Store, Stream
from rtlgen.memories import read_buffers, row_buffers
from rtlgen.memories.forwarding import Routing
from rtlgen.memories.row_buffers import Rows, without_rows
from rtlgen.options import CompileOptions
from rtlgen.sim.cocotb_runner import Simulator
from tests.end_to_end.judge import Compiled, assert_plan_exact, compiled, simulation_failures
from tests.simulators import on_one_in_turn

FOLDER = Path(__file__).parent
KERNELS = sorted((FOLDER / "kernels").glob("*.c"))

CASCADE = """
void cascade(int a[26][24], int b[26][24]) {
  for (int t = 0; t < 4; t++) {
    for (int i = 1; i < 25; i++)
      for (int j = 1; j < 23; j++)
        b[i][j] = (a[i - 1][j] + a[i][j - 1] + 3 * a[i][j] + a[i][j + 1] + a[i + 1][j]) / 7;
    for (int i = 1; i < 25; i++)
      for (int j = 1; j < 23; j++)
        a[i][j] = (b[i - 1][j] + b[i][j - 1] + 3 * b[i][j] + b[i][j + 1] + b[i + 1][j]) / 7;
  }
}
"""

# In place, in wavefronts: what is alive is no whole rows.
IN_PLACE = """
void in_place(int a[24][24]) {
  for (int t = 0; t < 4; t++)
    for (int i = 1; i < 23; i++)
      for (int j = 1; j < 23; j++)
        a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5;
}
"""

PIPELINE = """
void pipeline(const short a[40][40], short c[40][40]) {
  int b[40][40];
  for (int i = 1; i < 39; i++)
    for (int j = 0; j < 40; j++)
      b[i][j] = a[i - 1][j] + 2 * a[i][j] + a[i + 1][j];
  for (int i = 1; i < 39; i++)
    for (int j = 1; j < 39; j++)
      c[i][j] = (b[i][j - 1] + 2 * b[i][j] + b[i][j + 1]) / 16;
}
"""


def rows_of(plan: KernelPlan) -> dict[str, int]:
    """Return the words of the memories of rows that statements store to."""
    names = {s.memory for stream in plan.streams for s in stream.stores if is_own(stream, s)}
    return {name: plan.memory(name).depth for name in sorted(names) if "_rows" in name}


def is_own(stream: Stream, store: Store) -> bool:
    """Tell whether a store is of the value of its statement."""
    return not stream.keeps_loaded(store)


def loaded_rows_of(plan: KernelPlan) -> dict[str, int]:
    """Return the words of the memories of rows of what was loaded."""
    names = {
        s.memory for stream in plan.streams for s in filter(stream.keeps_loaded, stream.stores)
    }
    return {name: plan.memory(name).depth for name in sorted(names)}


def read_ports_of(plan: KernelPlan) -> dict[str, int]:
    """Return how many copies there are of each array."""
    arrays = [m for m in plan.memories if m.has_host_port]
    return {memory.name: len(ram_copies(plan, memory)) for memory in arrays}


@cache
def built(text: str, lanes: int = 1) -> Compiled:
    found = compiled(text, CompileOptions(unroll={"t": lanes} if lanes > 1 else {}))
    assert found is not None
    return found


def in_whole_arrays(text: str, lanes: int, monkeypatch: pytest.MonkeyPatch) -> KernelPlan:
    """Return the plan without rows."""

    def nothing(*arguments: object) -> Rows:
        routing = arguments[-1]
        assert isinstance(routing, Routing)
        return without_rows(routing)

    monkeypatch.setattr("rtlgen.planning.one_form.fold_rows", nothing)
    monkeypatch.setattr("rtlgen.planning.planned.fold_rows", nothing)
    options = CompileOptions(unroll={"t": lanes} if lanes > 1 else {})
    found = compiled(text, options)
    assert found is not None
    return found.plan


@pytest.mark.long
def test_sweeps_in_a_cascade_hand_over_two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = built(CASCADE, 2).plan
    # Two rows of 24, whose numbers take 5 bits.
    assert set(rows_of(plan).values()) == {64}
    assert read_ports_of(plan) == {"a": 1, "b": 1}
    before = in_whole_arrays(CASCADE, 2, monkeypatch)
    assert predicted_cycles(plan) == predicted_cycles(before)
    assert block_ram_bits(plan) * 2 < block_ram_bits(before)
    # All but the last sweep leave nothing in their array.
    assert [plan.memory(name).write_ports for name in ("a", "b")] == [1, 1]
    assert before.memory("a").write_ports == 2


def test_an_array_all_of_whose_values_are_in_rows_is_gone() -> None:
    plan = built(PIPELINE).plan
    assert "b" not in {memory.name for memory in plan.memories}
    # Its rows are two elements longer than those of the loop that reads them, 38 times.
    assert rows_of(plan) == {"b_rows": 128}


def test_values_at_the_border_come_from_the_array() -> None:
    (stream,) = (s for s in built(CASCADE, 2).plan.streams if s.statement == "S1")
    choices = [op for op in stream.operations if isinstance(op, ChooseOp)]
    assert choices
    for choice in choices:
        loads = [stream.operations[number] for number in choice.operands]
        read = sorted(load.memory for load in loads if isinstance(load, LoadOp))
        assert read[0].startswith("b") and read[1].startswith("b_rows")


DEEP = CASCADE.replace("t < 4", "t < 10")


def test_more_sweeps_than_an_array_has_write_ports_hand_over_rows() -> None:
    plan = built(DEEP, 10).plan
    assert [plan.memory(name).write_ports for name in ("a", "b")] == [1, 1]
    # One sweep of 24 x 22 elements, the nineteen others a row and a pipeline behind each other.
    assert predicted_cycles(plan) < 24 * 22 + 19 * (22 + 12) + 20


def test_without_a_replay_they_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtlgen.ir.plan.MAX_REPLAYED", 0)
    found = compiled(DEEP, CompileOptions(unroll={"t": 10}))
    assert found is not None and not rows_of(found.plan)
    assert predicted_cycles(found.plan) > 10 * 24 * 22


def test_programs_that_are_not_replayed_have_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtlgen.ir.plan.MAX_REPLAYED", 0)
    found = compiled(PIPELINE)
    assert found is not None and not rows_of(found.plan)


CONVOLUTION = """
void convolution(const short in[20][30], const short w[3][3], short out[18][28]) {
  for (int i = 0; i < 18; i++)
    for (int j = 0; j < 28; j++)
      out[i][j] = in[i][j] * w[0][0] + in[i][j + 1] * w[0][1] + in[i][j + 2] * w[0][2]
        + in[i + 1][j] * w[1][0] + in[i + 1][j + 1] * w[1][1] + in[i + 1][j + 2] * w[1][2]
        + in[i + 2][j] * w[2][0] + in[i + 2][j + 1] * w[2][1] + in[i + 2][j + 2] * w[2][2];
}
"""

BLUR = """
void blur(const unsigned char in[40][45], unsigned char out[40][45]) {
  for (int i = 0; i < 40; i++)
    for (int j = 1; j < 44; j++)
      out[i][j] = (in[i][j - 1] + 2 * in[i][j] + in[i][j + 1]) / 4;
}
"""


def test_a_stencil_loads_each_value_once() -> None:
    plan = built(CONVOLUTION).plan
    assert read_ports_of(plan)["in"] == 1
    # Two rows of 30, whose numbers take 5 bits; of the rows that are there, each has one reader.
    assert loaded_rows_of(plan) == {"in_rows": 64} and plan.memory("in_rows").read_ports == 2
    # Where a row begins two of three columns have to be loaded, and in the first row two rows.
    boxes = {m.part.extents for m in plan.memories if m.part is not None}
    assert boxes and all(2 in extents or 1 in extents for extents in boxes)
    assert predicted_cycles(plan) <= 18 * 28 + 8


def test_neighbours_in_a_row_pass_what_they_have_loaded() -> None:
    plan = built(BLUR).plan
    assert read_ports_of(plan) == {"in": 1, "out": 1} and not loaded_rows_of(plan)
    (stream,) = plan.streams
    taps = [tap for op in stream.operations if isinstance(op, ForwardOp) for tap in op.taps]
    assert len(taps) == 2 and all(1 <= tap.delay_cycles <= 2 for tap in taps)
    assert len({tap.read for tap in taps}) == 1


def test_sweeps_of_a_stencil_need_a_port_an_array() -> None:
    plan = built(CASCADE).plan
    assert read_ports_of(plan) == {"a": 1, "b": 1}
    parts = [memory for memory in plan.memories if memory.part is not None]
    stored = {store.memory for stream in plan.streams for store in stream.copies}
    # The first row that is computed is needed by the next sweep; the border never changes.
    assert 0 < len({part.name for part in parts} & stored) < len(parts)


@pytest.mark.long
@pytest.mark.sample("blur-verilator")
@pytest.mark.simulation
@pytest.mark.parametrize(
    ("text", "simulator"),
    on_one_in_turn({"sweeps": [CASCADE], "conv": [CONVOLUTION], "blur": [BLUR]}),
)
def test_what_is_loaded_once_is_exact(text: str, tmp_path: Path, simulator: Simulator) -> None:
    found = built(text)
    assert any(memory.part is not None for memory in found.plan.memories)
    assert_plan_exact(found, seed=1)
    program = parse_text(text, "program.c").scop
    assert not simulation_failures(found.plan, program, tmp_path, simulator)


@pytest.mark.sample("pipeline-icarus")
@pytest.mark.simulation
@pytest.mark.parametrize(
    ("text", "lanes", "simulator"),
    on_one_in_turn(
        {
            "cascade": (CASCADE, 2),
            "deep": (DEEP, 10),
            "in_place": (IN_PLACE, 2),
            "pipeline": (PIPELINE, 1),
        }
    ),
)
def test_rows_are_exact(text: str, lanes: int, tmp_path: Path, simulator: Simulator) -> None:
    found = built(text, lanes)
    assert rows_of(found.plan)
    assert_plan_exact(found, seed=1)
    program = parse_text(text, "program.c").scop
    assert not simulation_failures(found.plan, program, tmp_path, simulator)


ONE_ROW = """
void one_row(int a[N], int b[N]) {
  for (int t = 0; t < 6; t++) {
    for (int i = 1; i < N - 1; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int i = 1; i < N - 1; i++)
      a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
  }
}
"""


@pytest.mark.sample("of_200-icarus")
@pytest.mark.simulation
@pytest.mark.parametrize(("size", "simulator"), on_one_in_turn({"of_30": (30,), "of_200": (200,)}))
def test_the_border_of_one_row_is_a_part(size: int, tmp_path: Path, simulator: Simulator) -> None:
    """One element an iteration, and those at the start of a sweep come from somewhere else."""
    text = ONE_ROW.replace("N", str(size))
    found = built(text)
    assert predicted_cycles(found.plan) == 6 * (size - 2) + 12
    assert read_ports_of(found.plan) == {"a": 1, "b": 1}
    passed = [
        tap.delay_cycles
        for stream in found.plan.streams
        for op in stream.operations
        if isinstance(op, ForwardOp)
        for tap in op.taps
        if tap.read is not None
    ]
    # Some of it is taken in the cycle in which it is there: no register keeps it.
    assert 0 in passed
    assert_plan_exact(found, seed=1)
    program = parse_text(text, "program.c").scop
    assert not simulation_failures(found.plan, program, tmp_path, simulator)


CROSSING = """
void crossing(int a[N][M], int b[N][M], int c[N][M]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < M; j++)
      b[i][j] = a[i][j] - a[i][j - 1];
  for (int i = 1; i < N; i++)
    for (int j = 0; j < M; j++)
      c[i][j] = a[i][j] - a[i - 1][j];
}
"""


def test_what_sweeps_have_in_common_by_chance_is_not_passed_on() -> None:
    """Rows of 11 and of 12 iterations: the sweeps are at the same element for one row."""
    found = built(CROSSING.replace("N", "20").replace("M", "12"))
    for stream in found.plan.streams:
        for op in stream.operations:
            for tap in op.taps if isinstance(op, ForwardOp) else ():
                assert tap.read is None or tap.stream == found.plan.streams.index(stream)
    assert_plan_exact(found, seed=1)


@pytest.mark.sample(
    without=(
        "covariance",
        "floyd_warshall",
        "ludcmp",
        "rows_of_two_lengths",
    )
)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if number % 4 else (), id=path.stem)
        for number, path in enumerate(KERNELS)
    ],
)
def test_rows_are_exact_where_they_are_of_no_use(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rtlgen.planning.one_form._has_copies", lambda *_: True)
    monkeypatch.setattr("rtlgen.planning.one_form._is_smaller", lambda *_: True)
    monkeypatch.setattr(row_buffers, "LEAST_ROOM", 2)
    for module in (read_buffers, read_buffers, row_buffers):
        monkeypatch.setattr(module, "SHARE_ALIVE", 1)
    found = compiled(path.read_text())
    assert found is not None
    assert_plan_exact(found, seed=2)
