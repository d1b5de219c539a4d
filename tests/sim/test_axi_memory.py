"""A circuit gets at its arrays over AXI4; a rule of the port that it breaks is reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from rtlgen.sim.axi_behaviour import AxiBehaviour, BadWord, BurstError
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.sim.off_chip import address_of, array_places
from rtlgen.verify.cosim import Engine, simulate, simulate_all
from rtlgen.verify.errors import MemoryAnswerError, MemoryRuleError, UnknownOutputError
from sim.designs.increment import Increment
from tests.simulators import ENGINES, needs_icarus

pytestmark = pytest.mark.simulation

SMALL = Increment(64, 16, (3, 6), latency_cycles=8, kind="axi")
B = 4096
"""The byte of the map at which array B begins; A begins at byte 0."""
TWO_ENGINES = [
    pytest.param("verilator", "native", id="verilator-native"),
    pytest.param("icarus", "cocotb", id="icarus-cocotb", marks=needs_icarus),
]


@pytest.mark.sample("icarus-cocotb")
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
def test_arrays_behind_an_axi_port_are_loaded_and_read_back(
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
        # Six words are read from cycle 9 on and written until cycle 20, at once.
        assert (result.write_cycles["B"] == 28).all()


@pytest.mark.sample("512-64-3")
@pytest.mark.parametrize(
    ("word_bits", "element_bits", "latency_cycles"),
    [(8, 8, 1), (512, 64, 3)],
)
def test_words_of_any_width_take_as_long_as_predicted(
    tmp_path: Path, word_bits: int, element_bits: int, latency_cycles: int
) -> None:
    # More than a page each.
    rows = 4096 * 8 // word_bits
    design = Increment(word_bits, element_bits, (rows, 1), latency_cycles, kind="axi")
    manifest, inputs = design.build(tmp_path), design.inputs(5)
    result = simulate(tmp_path, manifest, inputs, engine="native")
    assert result.cycles == design.cycles
    np.testing.assert_array_equal(result.arrays["B"], design.expected(inputs)["B"])


BEHAVIOURS = [
    *(AxiBehaviour(pauses=seed) for seed in (1, 2, 3)),
    AxiBehaviour(dram=2, pauses=7, outstanding=1),
]


@pytest.mark.sample("verilator-native")
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_any_memory_will_do(tmp_path: Path, simulator: Simulator, engine: Engine) -> None:
    design = Increment(32, 8, (9, 11), latency_cycles=2, kind="axi")
    manifest, inputs = design.build(tmp_path), design.inputs(5)
    cycles = []
    for behaviour in BEHAVIOURS:
        result = simulate(
            tmp_path,
            manifest,
            inputs,
            simulator=simulator,
            engine=engine,
            timeout_cycles=100_000,
            axi=behaviour,
        )
        np.testing.assert_array_equal(result.arrays["B"], design.expected(inputs)["B"])
        cycles.append(result.cycles)
    assert min(cycles) > design.cycles and len(set(cycles)) == len(cycles)
    # The same on every engine.
    assert cycles == [157, 190, 99, 474]


AR = "if (m_axi_arvalid & m_axi_arready) m_axi_arvalid <= 0;\n"
PATH = (
    ("output reg                 m_axi_wvalid,", "output m_axi_wvalid,"),
    (
        "reg [63:0]         a_base;",
        "reg [63:0] a_base; reg valid; assign m_axi_wvalid = valid & m_axi_wready;",
    ),
    ("m_axi_awvalid <= 1; m_axi_wvalid <= 1;", "m_axi_awvalid <= 1; valid <= 1;"),
    ("if (m_axi_wlast) m_axi_wvalid <= 0;", "if (m_axi_wlast) valid <= 0;"),
    ("m_axi_awvalid = 0; m_axi_wvalid = 0;", "m_axi_awvalid = 0; valid = 0;"),
    ("m_axi_awvalid <= 0; m_axi_wvalid <= 0;", "m_axi_awvalid <= 0; valid <= 0;"),
)
FAULTS = [
    pytest.param([("some = all >>", "some = all | all >>")],
                 "increment: cycle 16 stores to byte 4108 of the memory, behind the row B\\[0\\]",
                 id="over-store"),
    pytest.param([(AR, AR + "b_base <= B_base;\n")],
                 "cycle 15 asks on aw for address 0xfffff00000000fff, not on a word",
                 id="the base after the start"),
    pytest.param([("b_base <= B_base;", "b_base <= A_base;")],
                 "cycle 15 stores to byte 0 of the memory, in A\\[0\\]\\[0\\], which is only read",
                 id="the base of another array"),
    pytest.param([("b_base <= B_base;", "b_base <= A_base + 4096;")],
                 "cycle 15 asks on aw for addresses 0x200000000000 to 0x20000000002f, "
                 "which are in no array", id="one base for all"),
    pytest.param([("if (done) idle <= 1;",
                  "if (done) begin idle <= 1; m_axi_arvalid <= 1; end")],
                 "the circuit asks for a burst while it is idle", id="after done"),
    pytest.param([("if (over) begin", "if (m_axi_awvalid) done <= 1; if (over) begin")],
                 "bursts that are not over when the circuit is idle: 0 to read, 1 to write",
                 id="done before the answer"),
    pytest.param([("idle <= 0; mem_error <= 0;", "idle <= 0; mem_error <= 1;")],
                 "the circuit says that an answer was an error: none was", id="no error"),
]  # fmt: skip


@pytest.mark.sample("icarus-cocotb-after done", "icarus-cocotb-done before the answer")
@pytest.mark.parametrize(("changes", "message"), FAULTS)
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_a_broken_rule_is_reported(
    tmp_path: Path,
    simulator: Simulator,
    engine: Engine,
    changes: Sequence[tuple[str, str]],
    message: str,
) -> None:
    manifest = SMALL.build(tmp_path, *changes)
    with pytest.raises(MemoryRuleError, match=message):
        simulate(tmp_path, manifest, SMALL.inputs(3), simulator=simulator, engine=engine)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_a_valid_that_waits_for_its_ready_is_reported(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    manifest = SMALL.build(tmp_path, *PATH)
    # The word waits for its address.
    pauses = AxiBehaviour(pauses=2)
    with pytest.raises(MemoryRuleError, match="has wvalid follow from what the memory drives"):
        simulate(
            tmp_path, manifest, SMALL.inputs(3), simulator=simulator, engine=engine, axi=pauses
        )


@needs_icarus
def test_a_valid_that_is_unknown_is_reported(tmp_path: Path) -> None:
    manifest = SMALL.build(tmp_path, (AR, AR + "if (m_axi_rlast) m_axi_wvalid <= 1'bx;\n"))
    with pytest.raises(UnknownOutputError, match="output m_axi_wvalid is X in cycle"):
        simulate(tmp_path, manifest, SMALL.inputs(3), simulator="icarus")


ToldError: TypeAlias = tuple[AxiBehaviour, str, int, str]
"""What is wrong with the memory, and what is told: the answer, the byte, the element."""

# All six words are one burst; the number of the burst says which word has the error, the first one.
ERRORS = [
    (AxiBehaviour(errors=(BurstError("read", 0),)), "SLVERR to the read of the word", 0, "A[0][0]"),
    (AxiBehaviour(errors=(BurstError("write", 0, "decerr"),)), "DECERR to the write of the burst",
     B, "B[0][0]"),
]  # fmt: skip
BAD_WORDS = [
    (AxiBehaviour(bad_words=(BadWord("read", 24, "decerr"), BadWord("read", 32))),
     "DECERR to the read of the word", 24, "A[1][4]"),
    # What is written after an error that was read is not asked for.
    (AxiBehaviour(bad_words=(*(BadWord("write", B + n) for n in (8, 32)), BadWord("read", 40))),
     "SLVERR to the read of the word", 40, "A[2][4]"),
    (AxiBehaviour(bad_words=(BadWord("write", B + 32),)), "SLVERR to the write of the burst",
     B, "B[0][0]"),
]  # fmt: skip


@pytest.mark.sample("icarus-cocotb-read", "icarus-cocotb-write")
@pytest.mark.parametrize("error", ERRORS, ids=["read", "write"])
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_an_error_is_reported_and_the_next_run_is_clean(
    tmp_path: Path, simulator: Simulator, engine: Engine, error: ToldError
) -> None:
    require_told(tmp_path, simulator, engine, error, clean_runs=2)


def require_told(
    folder: Path, simulator: Simulator, engine: Engine, error: ToldError, clean_runs: int
) -> None:
    axi, what, byte, element = error
    manifest = SMALL.build(folder)
    with pytest.raises(MemoryAnswerError) as caught:
        simulate(
            folder, manifest, SMALL.inputs(3), simulator=simulator, engine=engine, runs=3, axi=axi
        )
    message = caught.value.diagnostic.message
    assert message == "increment: the memory answered with an error in run 1 of 3"
    assert manifest.memory is not None
    address = address_of(array_places(manifest.memory), byte)
    assert caught.value.diagnostic.notes == (
        f"first error of the run: {what} at 0x{address:x}, byte {byte} of the memory, {element}",
        f"runs without an error: {clean_runs}",
    )


@pytest.mark.sample("icarus-cocotb-a word", "icarus-cocotb-read first")
@pytest.mark.parametrize("error", BAD_WORDS, ids=["a word", "read first", "a burst"])
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_a_word_that_is_bad_is_so_in_every_run(
    tmp_path: Path, simulator: Simulator, engine: Engine, error: ToldError
) -> None:
    require_told(tmp_path, simulator, engine, error, clean_runs=0)


READ, WRITE = BadWord("read", 8), BadWord("write", B + 24, "decerr")
WRONG_ADDRESSES = [
    # Of the burst, not of the word; of the last word, not of the bad one.
    ("m_axi_araddr + got * BYTES;", "m_axi_araddr;", READ, "response 2 to a read at", 0),
    ("if (failed & !mem_error) begin", "if (failed) begin", READ, "response 0 to a read at", 40),
    ("mem_error_write <= 1;", "mem_error_write <= 0;", WRITE, "response 3 to a read at", B),
    ("mem_error_response <= m_axi_bresp;", "mem_error_response <= 2;", WRITE,
     "response 2 to a write at", B),
]  # fmt: skip


@pytest.mark.sample(
    "icarus-cocotb-if (failed*",
    "icarus-cocotb-m_axi_araddr*",
    "icarus-cocotb-mem_error_write*",
)
@pytest.mark.parametrize(("old", "new", "bad", "told", "byte"), WRONG_ADDRESSES)
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_an_error_that_the_circuit_tells_otherwise_is_reported(
    tmp_path: Path,
    simulator: Simulator,
    engine: Engine,
    old: str,
    new: str,
    bad: BadWord,
    told: str,
    byte: int,
) -> None:
    manifest = SMALL.build(tmp_path, (old, new))
    assert manifest.memory is not None
    places = array_places(manifest.memory)
    was = {
        READ: f"response 2 to a read at 0x{address_of(places, 8):x}",
        WRITE: f"response 3 to a write at 0x{address_of(places, B):x}",
    }
    address = address_of(places, byte)
    message = f"the circuit tells of {told} 0x{address:x}; the first error was {was[bad]}"
    with pytest.raises(MemoryRuleError, match=message):
        simulate(
            tmp_path,
            manifest,
            SMALL.inputs(3),
            simulator=simulator,
            engine=engine,
            axi=AxiBehaviour(bad_words=(bad,)),
        )


OWN = "            mem_error_address <= 0;"


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_an_address_of_an_error_that_there_was_not_is_reported(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    manifest = SMALL.build(tmp_path, (OWN, OWN.replace("0", "40")))
    with pytest.raises(
        MemoryRuleError, match="tells of response 0 to a read at 0x28; there was none"
    ):
        simulate(tmp_path, manifest, SMALL.inputs(3), simulator=simulator, engine=engine)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(("simulator", "engine"), TWO_ENGINES)
def test_an_error_that_the_circuit_keeps_for_itself_is_reported(
    tmp_path: Path, simulator: Simulator, engine: Engine
) -> None:
    manifest = SMALL.build(tmp_path, ("m_axi_bresp != 0) mem_error <= 1;", "0) mem_error <= 1;"))
    with pytest.raises(MemoryRuleError, match="was an error, but the circuit does not say so"):
        simulate(
            tmp_path,
            manifest,
            SMALL.inputs(3),
            simulator=simulator,
            engine=engine,
            axi=AxiBehaviour(errors=(BurstError("write", 0),)),
        )


def test_only_an_axi_port_has_a_behaviour(tmp_path: Path) -> None:
    fixed = Increment(64, 16, (3, 6), latency_cycles=8)
    with pytest.raises(ValueError, match="only a memory behind an AXI4 port"):
        simulate(tmp_path, fixed.build(tmp_path), fixed.inputs(1), axi=AxiBehaviour(outstanding=1))
