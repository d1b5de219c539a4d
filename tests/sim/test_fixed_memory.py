"""A circuit gets at its arrays off chip; a rule of the memory port that it breaks is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rtlgen.sim.native_engine
from rtlgen.manifest.contents import ArrayRole, Manifest
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.sim.off_chip import WRITABLE, image_of, owners, pattern, words_of
from rtlgen.verify.cosim import Engine, simulate, simulate_all
from rtlgen.verify.errors import MemoryRuleError, UnrepeatableError
from rtlgen.verify.values import to_words
from sim.designs.increment import Increment
from tests.simulators import ENGINES, needs_icarus

pytestmark = pytest.mark.simulation

SMALL = Increment(word_bits=64, element_bits=16, shape=(3, 6), latency_cycles=8)
TWO_ENGINES = [
    pytest.param("verilator", "native", id="verilator-native"),
    pytest.param("icarus", "cocotb", id="icarus-cocotb", marks=needs_icarus),
]


@pytest.mark.sample(without=("verilator-cocotb",))
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_arrays_off_chip_are_loaded_and_read_back(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    manifest = SMALL.build(tmp_path)
    data = [SMALL.inputs(seed) for seed in (1, 2, 3)]
    results = simulate_all(tmp_path, manifest, data, simulator=simulator, engine=engine, runs=2)
    for inputs, result in zip(data, results, strict=True):
        assert result.cycles == SMALL.cycles
        for name, expected in SMALL.expected(inputs).items():
            np.testing.assert_array_equal(result.arrays[name], expected, strict=True)
        assert not result.write_cycles["A"].any()
        # Four elements, then two: the second access of the first word ends in cycle 16.
        assert result.write_cycles["B"][0].tolist() == [16] * 4 + [32] * 2


@pytest.mark.sample("32-16-3")
@pytest.mark.parametrize("latency_cycles", [1, 3])
@pytest.mark.parametrize(("word_bits", "element_bits"), [(8, 8), (32, 16), (128, 8), (512, 64)])
def test_words_of_any_width_take_as_long_as_the_memory_says(
    tmp_path: Path, word_bits: int, element_bits: int, latency_cycles: int
) -> None:
    design = Increment(word_bits, element_bits, (2, 2, 11), latency_cycles)
    manifest, inputs = design.build(tmp_path), design.inputs(5)
    engines: list[Engine] = ["native"] if latency_cycles > 1 else ["native", "cocotb"]
    for engine in engines:
        result = simulate(tmp_path, manifest, inputs, engine=engine)
        assert result.cycles == 4 * 2 * -(-11 * element_bits // word_bits) * latency_cycles + 1
        np.testing.assert_array_equal(result.arrays["B"], design.expected(inputs)["B"])


FAULTS = [
    pytest.param(("we <= full ? all : some;", "we <= all;"),
                 "increment: cycle 32 stores to byte 60 of the memory, behind the row B\\[0\\]",
                 id="a strobe too wide"),
    pytest.param(("addr <= WORDS + n;", "addr <= n;"),
                 "cycle 16 stores to byte 0 of the memory, in A\\[0\\]\\[0\\], which is only read",
                 id="a store to what is only read"),
    pytest.param(("addr <= WORDS + n;", "addr <= 2 * WORDS + n;"),
                 "cycle 9 asks for word 12 of a memory of 12", id="beyond the end"),
    pytest.param(("done <= 0;\n", "done <= 0; if (en & !mem_ack) addr <= addr + 1;\n"),
                 "cycle 2 changes the address of an access before it is over", id="address"),
    pytest.param(("done <= 0;\n", "done <= 0; if (en & !mem_ack & |we) we <= 1;\n"),
                 "cycle 10 changes the strobes of an access", id="strobes"),
    pytest.param(("done <= 0;\n", "done <= 0; if (en & !mem_ack & |we) wdata <= ~wdata;\n"),
                 "cycle 10 changes the data of an access", id="data"),
    pytest.param(("done <= 0;\n", "done <= 0; if (en & !mem_ack) en <= 0;\n"),
                 "cycle 2 changes the enable of an access", id="enable"),
    pytest.param(("assign mem_en = en;", "assign mem_en = en & ~mem_ack;"),
                 "cycle 8 changes the enable of an access", id="a path from ack to a request"),
    pytest.param(("en <= 0; addr <= 0; done <= 1;", "addr <= 0; done <= 1;"),
                 "increment: the circuit asks for a word while it is idle", id="after done"),
]  # fmt: skip


@pytest.mark.sample(
    "icarus-cocotb-a store to what is only read",
    "icarus-cocotb-beyond the end",
    "icarus-cocotb-after done",
)
@pytest.mark.parametrize(("change", "message"), FAULTS)
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_a_broken_rule_is_reported(
    tmp_path: Path, simulator: Simulator, engine: Engine, change: tuple[str, str], message: str
) -> None:
    manifest = SMALL.build(tmp_path, change)
    with pytest.raises(MemoryRuleError, match=message):
        simulate(tmp_path, manifest, SMALL.inputs(3), simulator=simulator, engine=engine)


@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_bytes_that_are_not_written_may_change(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    change = "done <= 0; if (en & !mem_ack & we == 8'h0f) wdata[63:32] <= ~wdata[63:32];\n"
    manifest, inputs = SMALL.build(tmp_path, ("done <= 0;\n", change)), SMALL.inputs(3)
    result = simulate(tmp_path, manifest, inputs, simulator=simulator, engine=engine)
    np.testing.assert_array_equal(result.arrays["B"], SMALL.expected(inputs)["B"])


@pytest.mark.sample("icarus-cocotb")
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_what_is_read_without_ack_is_wrong(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    changes = (
        ("            wdata <= more;\n", ""),
        ("done <= 0;\n", "done <= 0; if (en & !mem_ack & we == 0) wdata <= more;\n"),
    )
    manifest, inputs = SMALL.build(tmp_path, *changes), SMALL.inputs(3)
    result = simulate(tmp_path, manifest, inputs, simulator=simulator, engine=engine)
    assert not (result.arrays["B"] == SMALL.expected(inputs)["B"]).any()


UNREPEATABLE = [
    pytest.param(
        [("wdata <= more;", "wdata <= more + runs;"),
         ("done <= 0;\n", "done <= 0; if (done) runs <= runs + 1;\n"),
         ("reg                en;", "reg en; reg [7:0] runs = 0;")],
        ("in", "out"), id="a register"),
    # A[0] counts up from run to run, and the last word of B is made of it.
    pytest.param(
        [("addr <= WORDS + n;", "addr <= n == WORDS - 1 ? WORDS + n : n;"),
         ("addr <= n + 1;", "addr <= n == WORDS - 2 ? 0 : n + 1;")],
        ("local", "out"), id="a local array"),
]  # fmt: skip


@pytest.mark.sample("icarus-cocotb-a register", "icarus-cocotb-a local array")
@pytest.mark.parametrize(("changes", "roles"), UNREPEATABLE)
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_what_is_left_from_the_last_run_shows(
    tmp_path: Path,
    simulator: Simulator,
    engine: Engine,
    changes: list[tuple[str, str]],
    roles: tuple[ArrayRole, ArrayRole],
) -> None:
    manifest = SMALL.build(tmp_path, *changes, roles=roles)
    inputs = {array.name: SMALL.inputs(3)[array.name] for array in manifest.data_arrays}
    with pytest.raises(UnrepeatableError, match="2 runs on the same inputs"):
        simulate(tmp_path, manifest, inputs, simulator=simulator, engine=engine, runs=2)


def test_a_change_between_arrays_is_noticed_by_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everybodys(manifest: Manifest) -> np.ndarray:
        return np.full_like(owners(manifest), WRITABLE)

    monkeypatch.setattr(rtlgen.sim.native_engine, "owners", everybodys)
    manifest = SMALL.build(tmp_path, ("we <= full ? all : some;", "we <= all;"))
    with pytest.raises(MemoryRuleError, match="cycle 32 stores to byte 60 of the memory, behind"):
        simulate(tmp_path, manifest, SMALL.inputs(3), engine="native")


def test_a_slower_memory_takes_longer_than_predicted(tmp_path: Path) -> None:
    manifest = SMALL.build(tmp_path)
    assert manifest.memory is not None
    slower = replace(manifest, memory=replace(manifest.memory, latency_cycles=9))
    result = simulate(tmp_path, slower, SMALL.inputs(1), engine="native")
    assert result.cycles == SMALL.cycles + 2 * SMALL.words


@pytest.mark.sample("native")
@pytest.mark.parametrize("engine", ["native", "cocotb"])
def test_a_trace_shows_the_memory_port(tmp_path: Path, engine: Engine) -> None:
    manifest, waves = SMALL.build(tmp_path), tmp_path / "waves.vcd"
    simulate(tmp_path, manifest, SMALL.inputs(1), engine=engine, trace=waves)
    assert "mem_ack" in waves.read_text()


def test_runs_with_a_memory_are_native(tmp_path: Path) -> None:
    assert simulate(tmp_path, SMALL.build(tmp_path), SMALL.inputs(1)).engine == "native"


def test_arrays_survive_the_way_into_the_memory_and_back() -> None:
    manifest, inputs = SMALL.manifest(), SMALL.inputs(9)
    memory = manifest.memory
    assert memory is not None
    image = image_of(manifest, {name: to_words(array) for name, array in inputs.items()})
    for array in memory.arrays:
        words = words_of(image, array)
        assert words.dtype == np.uint16
        np.testing.assert_array_equal(words.reshape(3, 6), inputs[array.name])
    assert image[0:2].tolist() == [inputs["A"][0, 0] & 255, inputs["A"][0, 0] >> 8]
    rest = owners(manifest) == 0
    assert rest.sum() == 2 * 3 * 4
    np.testing.assert_array_equal(image[rest], pattern(memory)[rest])
