"""A session runs as `Design.run` does, and outlives whatever goes wrong in a run."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import rtlgen
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.system.tools import ToolFailedError
from rtlgen.verify.errors import HangError, InputTypeError, MissingInputError
from rtlgen.verify.inputs import Inputs
from rtlgen.verify.session import Session, SessionClosedError
from rtlgen.verify.values import is_same
from sim.designs import SCALE_ADD, expected_c, random_inputs, sabotaged, scale_add_manifest
from tests.simulators import SIMULATORS

pytestmark = pytest.mark.simulation

SLOW = sabotaged("if (last) done <= 1;", "if (last & ~k_held[0]) done <= 1;")
"""A circuit that hangs with an odd k."""

ENDLESS = 10**9
"""Cycles that take minutes."""

Open = Callable[..., Session]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Return what opens a session of `scale_add`, which is closed in the end."""
    sessions: list[Session] = []

    def open_one(
        verilog: str = SCALE_ADD, cycles: int = 18, simulator: Simulator = "verilator"
    ) -> Session:
        def write(folder: Path) -> None:
            (folder / "scale_add.v").write_text(verilog, encoding="utf-8")

        sessions.append(Session(scale_add_manifest(verilog, cycles), write, simulator))
        return sessions[-1]

    yield open_one
    for session in sessions:
        session.close()


def data(seed: int, k: int = 4) -> Inputs:
    return {**random_inputs(seed), "k": k}


def assert_usable(session: Session, seed: int = 9) -> None:
    result = session.run(inputs=data(seed))
    expected = expected_c({**random_inputs(seed), "k": 4})
    np.testing.assert_array_equal(result.arrays["C"], expected, strict=True)
    assert (result.returned, result.cycles) == (expected[3, 3], 18)


def simulators() -> list[int]:
    """Return the processes that this one has started and that are not over."""
    found = []
    for children in Path("/proc/self/task").glob("*/children"):
        found += [int(child) for child in children.read_text().split()]
    return [child for child in found if Path(f"/proc/{child}/comm").read_text() == "simulation\n"]


SAXPY = """\
float saxpy(float a, const float x[12], float y[12]) {
  float s = 0;
  for (int i = 0; i < 12; i++) { y[i] = a * x[i] + y[i]; s += y[i]; }
  return s;
}
"""
MIX = """\
short mix(const signed char x[6][5], short y[5][6], int bias) {
  short last = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++) { y[j][i] = y[j][i] + x[i][j] * bias; last = y[j][i]; }
  return last;
}
"""
SUM = """\
void sum(const int x[40], int y[40]) {
  for (int i = 1; i < 40; i++) y[i] = y[i - 1] + x[i];
}
"""


@pytest.mark.sample("axi-verilator", "checksum-icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(
    ("source", "options"),
    [
        pytest.param(SAXPY, {}, id="floats"),
        pytest.param(MIX, {"checksum": True}, id="checksum"),
        pytest.param(MIX, {"memory": "fixed:3"}, id="fixed"),
        pytest.param(SUM, {"memory": "axi"}, id="axi"),
        pytest.param(SUM, {"memory": {"x": "dram"}}, id="dram"),
    ],
)
def test_every_run_gives_what_a_run_of_its_own_gives(
    source: str, options: dict[str, object], simulator: Simulator
) -> None:
    design = rtlgen.compile(source=source, **options)  # type: ignore[arg-type]
    sets = design.data_sets().sets[:3]
    with design.session(simulator=simulator) as session:
        results = [session.run(inputs=each.inputs) for each in (*sets, sets[0])]
    for each, result in zip((*sets, sets[0]), results, strict=True):
        assert result.cycles == design.manifest.predicted_cycles
        assert is_same(result.returned, each.golden.returned)
        for name, array in result.arrays.items():
            np.testing.assert_array_equal(array, each.golden.arrays[name])
    alone, result = design.run(simulator=simulator, inputs=sets[0].inputs), results[0]
    assert result.cycles == alone.cycles
    assert is_same(result.returned, alone.returned)
    assert result.arrays.keys() == alone.arrays.keys()
    for name, array in result.arrays.items():
        np.testing.assert_array_equal(array, alone.arrays[name], strict=True)


@pytest.mark.long
def test_results_stay_what_they_are(opened: Open) -> None:
    session = opened()
    first = session.run(inputs=data(1))
    session.run(inputs=data(2))
    session.close()
    np.testing.assert_array_equal(first.arrays["C"], expected_c({**random_inputs(1), "k": 4}))
    first.arrays["C"][0, 0] = 5


def test_a_refused_input_raises_what_run_raises(opened: Open) -> None:
    session = opened()
    wrong = {**data(1), "A": np.zeros((4, 4))}
    with pytest.raises(InputTypeError, match="array A is float64 of shape"):
        session.run(inputs=wrong)
    with pytest.raises(MissingInputError, match="scalar k is missing"):
        session.run(A=wrong["B"].reshape(4, 4).astype(np.int32), B=wrong["B"])  # type: ignore[union-attr]
    assert_usable(session)


def test_a_run_that_hangs_leaves_the_session_usable(opened: Open) -> None:
    session = opened(SLOW)
    assert_usable(session)
    for _ in range(2):
        with pytest.raises(HangError, match="no done within 1072 cycles"):
            session.run(inputs=data(2, k=3))
    (process,) = simulators()
    assert_usable(session)
    assert simulators() == [process], "the circuit is reset, not loaded again"


def test_a_simulator_that_crashes_is_an_error_and_the_next_run_loads_it_again(opened: Open) -> None:
    session = opened()
    assert_usable(session)
    (process,) = simulators()
    os.kill(process, signal.SIGSEGV)
    with pytest.raises(ToolFailedError, match="simulation was stopped by signal 11"):
        session.run(inputs=data(1))
    assert_usable(session)


def interrupt(session: Session) -> None:
    """Interrupt a run of a circuit that hangs, as Ctrl-C does."""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.run(inputs=data(1, k=3))
    timer.join()


def test_an_interrupted_run_leaves_the_session_usable(opened: Open) -> None:
    session = opened(SLOW, ENDLESS)
    interrupt(session)
    assert not simulators(), "what was interrupted does not go on"
    assert_usable(session)
    (process,) = simulators()
    os.kill(process, signal.SIGINT)  # A terminal sends it to all processes, a notebook to its own.
    assert_usable(session)


@pytest.mark.long
def test_sessions_do_not_know_of_each_other(opened: Open) -> None:
    one, other = opened(), opened(SLOW)
    assert_usable(one, 1)
    with pytest.raises(HangError):
        other.run(inputs=data(2, k=3))
    assert_usable(one, 3)
    one.close()
    assert_usable(other, 4)


@pytest.mark.long
def test_threads_take_turns(opened: Open) -> None:
    session = opened()
    failed: list[BaseException] = []

    def run_some(first: int) -> None:
        try:
            for seed in range(first, first + 20):
                assert_usable(session, seed)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run_some, args=(100 * n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_copy_in_a_forked_process_has_a_circuit_of_its_own(opened: Open) -> None:
    session = opened()
    assert_usable(session)
    before = simulators()

    def use(session: Session) -> None:
        assert_usable(session, 2)
        with session:
            assert_usable(session, 3)

    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=use, args=(session,)) for _ in range(2)]
    for child in children:
        child.start()
    for seed in range(10):
        assert_usable(session, seed)
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert simulators() == before
    assert_usable(session)


def test_closing_ends_the_process_and_removes_the_files(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    session = opened()
    assert_usable(session)
    assert repr(session) == "<Session of scale_add: verilator, open>"
    assert list(tmp_path.iterdir())
    session.close()
    session.close()
    assert repr(session) == "<Session of scale_add: verilator, closed>"
    assert not list(tmp_path.iterdir())
    assert not simulators()
    with pytest.raises(SessionClosedError, match="the session of scale_add is closed"):
        session.run(inputs=data(1))


@pytest.mark.long
def test_an_exception_inside_of_the_block_is_passed_on(opened: Open) -> None:
    with pytest.raises(ZeroDivisionError), opened() as session:
        assert_usable(session)
        print(1 // 0)
    assert not simulators()


def test_a_session_that_is_forgotten_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    session = rtlgen.compile(source=SUM).session()
    session.run(x=np.zeros(40, np.int32), y=np.zeros(40, np.int32))
    assert simulators()
    del session
    gc.collect()
    assert not simulators()
    assert not list(tmp_path.iterdir())


def test_a_circuit_that_cannot_be_compiled_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ToolFailedError, match="verilator failed"):
        opened("module scale_add (input;")
    assert not list(tmp_path.iterdir())


def test_calls_cost_little_beside_the_first(opened: Open) -> None:
    session = opened()
    assert_usable(session)
    begin = time.process_time()
    for _ in range(100):
        session.run(inputs=data(1))
    # Starting a process takes a hundred times as long as what Python does for a call.
    assert time.process_time() - begin < 1
    assert len(simulators()) == 1
