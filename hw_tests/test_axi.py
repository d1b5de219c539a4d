"""Circuits behind an AXI4 port against cocotbext-axi's RAM, which pauses by chance."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hw_tests.formal.mutants import changed
from rtlgen.hw.axi_read import AxiRead
from rtlgen.hw.bursts import ArrayPages, WordNumbers
from rtlgen.hw.off_chip import _CHANNELS
from rtlgen.sim.axi_behaviour import (
    FAULTS,
    AxiBehaviour,
    BadWord,
    BurstFault,
    Direction,
    Fault,
    Response,
)
from rtlgen.sim.cocotb_runner import ON_RISING_EDGES, Simulator, run_tests
from rtlgen.sim.off_chip import address_of, array_places, image_of, owners, words_of
from rtlgen.verify.cosim import Engine, simulate
from rtlgen.verify.errors import MemoryAnswerError, MemoryRuleError
from rtlgen.verify.inputs import from_words
from rtlgen.verify.values import to_words
from tests.end_to_end.test_axi import Built, build
from tests.simulators import needs_icarus
from tests.tiling.programs import BLUR, TRANSPOSED, TWO_PRODUCTS

pytestmark = [pytest.mark.simulation, needs_icarus]

SEEDS = (0, 1, 2, 3)

SCALED = """
#include <stdint.h>
void scaled(uint8_t x[N][N], uint8_t y[N][N], uint8_t z[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      z[i][j] = x[i][j] * 3 + y[i][j];
}
"""


@pytest.mark.long
@pytest.mark.sample("blur")
@pytest.mark.parametrize(
    ("text", "size", "tile", "word_bits"),
    [
        pytest.param(TRANSPOSED, 9, (4, 4), 32, id="transposed"),
        pytest.param(BLUR, 11, (4, 5), 128, id="blur"),
        pytest.param(TWO_PRODUCTS, 4, (3, 3, 3), 64, id="two products", marks=pytest.mark.long),
    ],
)
def test_a_ram_that_pauses_on_every_channel_will_do(
    tmp_path: Path, text: str, size: int, tile: tuple[int, ...], word_bits: int
) -> None:
    built = build(tmp_path, text, size, tile, word_bits)
    manifest, memory = built.manifest, built.manifest.memory
    assert memory is not None
    given = [
        image_of(manifest, {name: to_words(np.asarray(array)) for name, array in each.items()})
        for each in built.inputs
    ]
    np.save(tmp_path / "given.npy", np.array(given))
    environment = {"FOLDER": str(tmp_path), "SEEDS": ",".join(map(str, SEEDS)), **ON_RISING_EDGES}
    run_tests(
        [tmp_path / "design.v"],
        manifest.top,
        ["sim.bench_axi"],
        "icarus",
        tmp_path / "build",
        environment=environment,
    )
    left, cycles = np.load(tmp_path / "left.npy"), np.load(tmp_path / "cycles.npy")
    assert len(left) == len(SEEDS) * len(given)
    for number, image in enumerate(left):
        for name, expected in built.expected[number % len(given)].items():
            found = from_words(words_of(image, memory.array(name)), manifest.array(name))
            np.testing.assert_array_equal(found, expected, err_msg=f"{name}, run {number}")
        # Between arrays nothing has changed.
        rest = owners(manifest) == 0
        np.testing.assert_array_equal(image[rest], given[number % len(given)][rest])
    assert len(set(cycles.tolist())) > 2


# Rows of a tile are a burst of 16 words in each array. What is read has the address of its word,
# what is written that of the burst, which has one answer for all of its words.
BAD_WORDS = [
    pytest.param("x", (9, 36), "read", "slverr", (9, 36), id="word 9 of a burst of x"),
    pytest.param("y", (0, 0), "read", "decerr", (0, 0), id="the first word of y"),
    pytest.param("y", (63, 60), "read", "slverr", (63, 60), id="the last word of y"),
    pytest.param("z", (9, 36), "write", "decerr", (9, 0), id="word 9 of a burst of z"),
    pytest.param("z", (63, 60), "write", "slverr", (63, 0), id="the last word of z"),
]
TWO_SIMULATORS = [pytest.param("verilator", "native"), pytest.param("icarus", "cocotb")]


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("scaled"), SCALED, 64, (8, 64), 32)


@pytest.mark.sample(
    "the first word of y-verilator-native",
    "the last word of y-verilator-native",
    "the last word of z-verilator-native",
    "word 9 of a burst of z-verilator-native",
    "word 9 of a burst of x-verilator-native",
)
@pytest.mark.parametrize(("simulator", "engine"), TWO_SIMULATORS)
@pytest.mark.parametrize(("array", "element", "direction", "response", "told"), BAD_WORDS)
def test_the_first_error_is_told_with_its_address(
    scaled: Built,
    simulator: Simulator,
    engine: Engine,
    array: str,
    element: tuple[int, int],
    direction: Direction,
    response: Response,
    told: tuple[int, int],
) -> None:
    memory = scaled.manifest.memory
    assert memory is not None
    place = memory.array(array)
    bad, first = (place.base_bytes + i * place.row_bytes + j for i, j in (element, told))
    with pytest.raises(MemoryAnswerError) as caught:
        simulate(
            scaled.folder,
            scaled.manifest,
            scaled.inputs[0],
            simulator=simulator,
            engine=engine,
            runs=2,
            axi=AxiBehaviour(pauses=7, bad_words=(BadWord(direction, bad, response),)),
        )
    what = "word" if direction == "read" else "burst"
    assert caught.value.diagnostic.notes == (
        f"first error of the run: {response.upper()} to the {direction} of the {what} at "
        f"0x{address_of(array_places(memory), first):x}, byte {first} of the memory, "
        f"{array}[{told[0]}][{told[1]}]",
        "runs without an error: 0",
    )


def test_of_errors_of_both_ways_the_first_one_is_told(scaled: Built) -> None:
    memory = scaled.manifest.memory
    assert memory is not None
    x, z = memory.array("x"), memory.array("z")
    written = tuple(
        BadWord("write", z.base_bytes + row * z.row_bytes, "decerr") for row in range(64)
    )
    told = []
    # A DRAM's answers are long on their way, so one error is followed by some of the other kind.
    # The memory's monitor sees which one is the first.
    for word in range(0, 1024, 16):
        read = tuple(BadWord("read", x.base_bytes + 4 * n) for n in range(word, word + 200))
        with pytest.raises(MemoryAnswerError) as caught:
            simulate(
                scaled.folder,
                scaled.manifest,
                scaled.inputs[0],
                engine="native",
                axi=AxiBehaviour(dram=1, bad_words=(*read, *written)),
            )
        told.append(caught.value.diagnostic.notes[0].split()[5])
    assert set(told) == {"SLVERR", "DECERR"}, told


@pytest.mark.long
@pytest.mark.sample("write")
@pytest.mark.parametrize("direction", ["read", "write"])
def test_numbers_of_words_that_are_forgotten_are_noticed(
    direction: Direction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With room for two of all words on their way, the number of a later one takes the place of one
    # that is still asked for; the memory's monitor knows what it has answered with an error.
    def forgetful(*, width: int, depth: int) -> WordNumbers:
        assert depth > 2
        return WordNumbers(width=width, depth=2)

    monkeypatch.setattr(f"rtlgen.hw.axi_{direction}.WordNumbers", forgetful)
    built = build(tmp_path, SCALED, 64, (8, 64), 32)
    memory = built.manifest.memory
    assert memory is not None
    place = memory.array("x" if direction == "read" else "z")
    bad = BadWord(direction, place.base_bytes + 9 * place.row_bytes + 8, "slverr")
    with pytest.raises(MemoryRuleError, match="the first error was response 2 to a"):
        simulate(
            built.folder,
            built.manifest,
            built.inputs[0],
            engine="native",
            axi=AxiBehaviour(dram=1, bad_words=(bad,)),
        )


WRONG_PLACES = [
    ("rtlgen.hw.axi_read", "page >= start", "page > start", "asks on ar for .* in no array"),
    ("rtlgen.hw.axi_read", "here & ~above", "here", "asks on ar for .* in no array"),
    ("rtlgen.hw.axi_read", "chosen_of(array, far)", "far[0]", "asks on ar for .* in no array"),
    ("rtlgen.hw.axi_write", "pages + place[PAGE_BITS:]", "pages", "asks on aw for .* in no array"),
    ("rtlgen.hw.off_chip", "page >= start", "page > start", "the circuit tells of response"),
]


@pytest.mark.long
@pytest.mark.sample("rtlgen.hw.axi_read-page*", "rtlgen.hw.off_chip-*")
@pytest.mark.parametrize(("part", "old", "new", "message"), WRONG_PLACES)
def test_the_base_of_another_array_is_noticed(
    part: str,
    old: str,
    new: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Three arrays of more than a page, the first one of the map at the highest address.
    monkeypatch.setattr(f"{part}.ArrayPages", changed(ArrayPages, old, new))
    built = build(tmp_path, SCALED, 72, (8, 72), 64)
    memory = built.manifest.memory
    assert memory is not None
    places = sorted(array_places(memory), key=lambda place: -place.address)
    assert [place.array.name for place in places] == ["x", "y", "z"]
    assert all(before.first_byte < after.first_byte for before, after in pairwise(places))
    assert all(place.bytes > 4096 for place in places)
    bad = BadWord("read", memory.array("y").base_bytes + 8)
    axi = AxiBehaviour(bad_words=(bad,) if part == "rtlgen.hw.off_chip" else ())
    with pytest.raises(MemoryRuleError, match=message):
        simulate(built.folder, built.manifest, built.inputs[0], engine="native", axi=axi)


BURSTS = {"read": 8, "write": 4}
"""Of the circuit below: 16 words each."""
FAULT_KINDS: list[tuple[Direction, Fault]] = [
    *(("read", kind) for kind in FAULTS),
    ("write", "surplus"),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("small"), SCALED, 16, (8, 16), 32)


def is_told(built: Built, simulator: Simulator, axi: AxiBehaviour, runs: int) -> bool:
    """Run on a faulty memory; return whether the circuit says so, require right data where not."""
    engine: Engine = "native" if simulator == "verilator" else "cocotb"
    try:
        found = simulate(
            built.folder,
            built.manifest,
            built.inputs[0],
            simulator=simulator,
            engine=engine,
            runs=runs,
            axi=axi,
        )
    except MemoryAnswerError as error:
        (fault,) = axi.faults
        told = f"an answer to a {fault.direction} that is not one that was asked for"
        assert error.diagnostic.notes[0] == f"first error of the run: {told}"
        return True
    for name, expected in built.expected[0].items():
        np.testing.assert_array_equal(found.arrays[name], expected)
    return False


@pytest.mark.sample(without=("read-surplus",))
@pytest.mark.parametrize(("direction", "kind"), FAULT_KINDS)
def test_answers_that_were_not_asked_for_end_in_an_error(
    small: Built, direction: Direction, kind: Fault
) -> None:
    for burst in range(BURSTS[direction]):
        for pauses in (0, 7, 9):
            axi = AxiBehaviour(pauses=pauses, faults=(BurstFault(direction, burst, kind),))
            told = is_told(small, "verilator", axi, runs=1)
            # What is too much behind the last word of all does no harm, and may come after `done`.
            assert told or (kind == "surplus" and burst == BURSTS[direction] - 1)
            assert is_told(small, "verilator", axi, runs=2)


@pytest.mark.sample("read-early", "read-never")
@pytest.mark.parametrize(("direction", "kind"), FAULT_KINDS)
def test_icarus_sees_answers_that_were_not_asked_for(
    small: Built, direction: Direction, kind: Fault
) -> None:
    axi = AxiBehaviour(faults=(BurstFault(direction, 1, kind),))
    assert is_told(small, "icarus", axi, runs=1)


def test_a_circuit_that_trusts_every_answer_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = "head.is_word & (head.is_first != was_last), has_word | ~was_last"
    trusting = changed(AxiRead, known, "0, 0")
    monkeypatch.setattr("rtlgen.hw.off_chip.AxiRead", trusting)
    monkeypatch.setattr("rtlgen.hw.off_chip._CHANNELS", (("load", "ar", trusting), *_CHANNELS[1:]))
    built = build(tmp_path, SCALED, 16, (8, 16), 32)
    axi = AxiBehaviour(faults=(BurstFault("read", 0, "surplus"),))
    with pytest.raises(MemoryRuleError, match="the circuit does not say so"):
        is_told(built, "verilator", axi, runs=1)
