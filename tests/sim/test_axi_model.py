"""Both models of a memory behind an AXI4 port do the same, and refuse what breaks a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import MemoryMap
from rtlgen.sim.axi_behaviour import (
    OUT_OF_STEP,
    RESPONSES,
    AxiBehaviour,
    BadWord,
    BurstError,
    BurstFault,
    BusError,
    Fault,
)
from rtlgen.sim.axi_model import Address, Inputs, Outputs, Word
from rtlgen.sim.off_chip import array_places, pattern
from sim.axi_traffic import (
    Answer,
    Case,
    Step,
    compile_native,
    native_answers,
    python_answer,
    random_case,
)
from sim.designs.increment import Increment

# Rows of 6 elements are a word and a half: the second word of each has bytes of nobody's.
DESIGN = Increment(64, 16, (3, 6), latency_cycles=3, kind="axi")
MANIFEST = DESIGN.manifest()


def memory_of(manifest: Manifest) -> MemoryMap:
    assert manifest.memory is not None
    return manifest.memory


MEMORY = memory_of(MANIFEST)
BASE, B = (place.address for place in array_places(MEMORY))
"""The addresses of the arrays: A, which is only read, and B."""
IN_MAP = MEMORY.array("B").base_bytes
"""Where B is in the map: a page behind A."""
ALL = 0xFF

DRAM = Increment(64, 16, (3, 6), latency_cycles=3, kind="dram").manifest()

FULL = Increment(32, 32, (48, 64), latency_cycles=3, kind="axi").manifest()
"""No byte is nobody's: each array has three pages."""
FULL_BASE = array_places(memory_of(FULL))[0].address


def burst(address: int, words: int = 1, **others: int) -> Address:
    return replace(Address(0, address, words - 1, 3, 1, 3, 0), **others)


def word(last: int = 1, strobes: int = 0, data: int = 0) -> Word:
    return Word(strobes, last, data)


def steps(*seen: Outputs) -> list[Step]:
    """Return one cycle after the other, from the first of a run on, always ready for answers."""
    return [(cycle, replace(each, bready=1, rready=1)) for cycle, each in enumerate(seen, 1)]


NOTHING = Outputs()


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_native(tmp_path_factory.mktemp("axi"))


def answer(native: Path, folder: Path, *cases: Case) -> list[Answer]:
    """Return what both models do, which is the same."""
    found = [python_answer(case) for case in cases]
    for mine, other in zip(found, native_answers(native, cases, folder), strict=True):
        assert mine.message == other.message
        assert mine.pins == other.pins
        np.testing.assert_array_equal(mine.left, other.left)
        np.testing.assert_array_equal(mine.written, other.written)
        assert mine.error == other.error
    return found


def column(found: Answer, name: str) -> list[int]:
    """Return the cycles, from 1, in which a pin of the memory is high."""
    place = list(Inputs.__dataclass_fields__).index(name)
    return [cycle for cycle, pins in enumerate(found.pins, 1) if pins[place]]


def test_reads_take_the_latency_and_then_a_word_a_cycle(native: Path, tmp_path: Path) -> None:
    # Taken at the ends of cycles 1, 2 and 9: the second waits for the first, the third for none.
    asks = {1: burst(BASE, 3), 2: burst(BASE, 2), 9: burst(BASE, 1)}
    seen = steps(*(Outputs(ar=asks.get(cycle)) for cycle in range(1, 14)))
    (found,) = answer(native, tmp_path, Case(MANIFEST, seen))
    assert column(found, "rvalid") == [4, 5, 6, 7, 8, 12]
    assert {*column(found, "rlast")} & {*column(found, "rvalid")} == {6, 8, 12}
    assert column(found, "arready") == list(range(1, 14))


def test_a_word_that_is_read_stays_until_it_is_taken(native: Path, tmp_path: Path) -> None:
    seen = steps(Outputs(ar=burst(BASE, 2)), *[NOTHING] * 8)
    held = [(cycle, replace(each, rready=cycle not in (4, 5))) for cycle, each in seen]
    (found,) = answer(native, tmp_path, Case(MANIFEST, held))
    assert column(found, "rvalid") == [4, 5, 6, 7]
    data = [pins[-1].to_bytes(8, "little") for pins in found.pins[2:8]]
    image = pattern(MEMORY).tobytes()
    words = [image[:8], image[8:16]]
    # Where nothing is valid, no word is to be had, and it would be the last one, and an error.
    assert column(found, "rlast") == [1, 2, 3, 7, 8, 9]
    assert column(found, "rresp") == [1, 2, 3, 8, 9]
    wrong = [bytes(255 - byte for byte in each) for each in (image[:8], image[:8])]
    assert data == [wrong[0], words[0], words[0], words[0], words[1], wrong[1]]


def test_a_write_is_done_with_its_answer_and_read_before_it_is_old(
    native: Path, tmp_path: Path
) -> None:
    # The last word is taken at the end of cycle 3, so the answer is in cycle 6. What is asked for
    # in cycle 3 comes in cycle 6 and is still old, in cycle 7 new.
    seen = steps(
        Outputs(aw=burst(B, 2), w=word(0, ALL, 1)),
        NOTHING,
        Outputs(w=word(1, 0x0F, 2), ar=burst(B, 2)),
        Outputs(),
        *[NOTHING] * 6,
    )
    (found,) = answer(native, tmp_path, Case(MANIFEST, seen))
    assert column(found, "bvalid") == [6]
    assert column(found, "rvalid") == [6, 7]
    image = pattern(MEMORY).tobytes()
    assert found.pins[5][-1] == int.from_bytes(image[IN_MAP : IN_MAP + 8], "little")
    assert (
        found.pins[6][-1].to_bytes(8, "little")
        == bytes([2, 0, 0, 0]) + image[IN_MAP + 12 : IN_MAP + 16]
    )
    assert found.written[IN_MAP : IN_MAP + 16].tolist() == [6] * 12 + [0] * 4


def test_answers_to_writes_come_one_after_the_other(native: Path, tmp_path: Path) -> None:
    one = Outputs(aw=burst(B), w=word())
    held = [(n, replace(each, bready=n != 4)) for n, each in steps(one, one, one, *[NOTHING] * 6)]
    (found,) = answer(native, tmp_path, Case(MANIFEST, held))
    assert column(found, "bvalid") == [4, 5, 6, 7]


def after(*seen: Outputs) -> list[Step]:
    return steps(*seen, *[NOTHING] * 2)


LONG = burst(B, 2)
RULES = [
    pytest.param(steps(Outputs(ar=burst(BASE, burst=0))),
                 "cycle 1 asks on ar for a burst of type 0", id="burst type"),
    pytest.param(steps(Outputs(aw=burst(B, burst=2))),
                 "cycle 1 asks on aw for a burst of type 2", id="burst type of a write"),
    pytest.param(steps(Outputs(ar=burst(BASE, size=2))),
                 "cycle 1 asks on ar for words of size 2, which are not of 8 bytes", id="size"),
    pytest.param(steps(Outputs(ar=burst(BASE, 17))), "cycle 1 asks on ar for a burst of 17 words",
                 id="length"),
    pytest.param(steps(Outputs(ar=burst(BASE + 4))),
                 f"cycle 1 asks on ar for address 0x{BASE + 4:x}, not on a word of 8 bytes",
                 id="alignment"),
    pytest.param(steps(Outputs(ar=burst(BASE + 4088, 2))),
                 f"cycle 1 asks on ar for a burst across address 0x{BASE + 4096:x}", id="a page"),
    pytest.param(steps(Outputs(ar=burst(BASE + 40, 2))),
                 f"cycle 1 asks on ar for addresses 0x{BASE + 40:x} to 0x{BASE + 55:x}, "
                 "which are in no array", id="behind the end"),
    pytest.param(steps(NOTHING, Outputs(aw=burst(B - 8))),
                 f"cycle 2 asks on aw for addresses 0x{B - 8:x} to 0x{B - 1:x}, "
                 "which are in no array", id="before the beginning"),
    pytest.param(steps(Outputs(ar=burst(BASE + IN_MAP))),
                 f"cycle 1 asks on ar for addresses 0x{BASE + IN_MAP:x} to "
                 f"0x{BASE + IN_MAP + 7:x}, which are in no array", id="the base of another array"),
    pytest.param(steps(Outputs(aw=LONG, w=word(last=1))),
                 "cycle 1 has wlast high with word 1 of a burst of 2", id="last too early"),
    pytest.param(steps(Outputs(aw=LONG, w=word(last=0)), Outputs(w=word(last=0))),
                 "cycle 2 has wlast low with word 2 of a burst of 2", id="last too late"),
    pytest.param(steps(Outputs(w=word())),
                 "cycle 1 offers a word to write before the address of its burst", id="no address"),
    pytest.param(steps(Outputs(aw=burst(B), w=word()), Outputs(w=word())),
                 "cycle 2 offers a word to write before the address of its burst",
                 id="a word too many"),
    pytest.param(steps(Outputs(aw=burst(B + 8), w=word(1, 0x1F))),
                 f"cycle 1 stores to byte {IN_MAP + 12} of the memory, behind the row B[0]",
                 id="over-store"),
    pytest.param(steps(Outputs(aw=burst(BASE), w=word(1, 1))),
                 "cycle 1 stores to byte 0 of the memory, in A[0][0], which is only read",
                 id="store to what is only read"),
    pytest.param([(0, Outputs(ar=burst(BASE)))], "the circuit asks for a burst while it is idle",
                 id="read while idle"),
    pytest.param([(0, Outputs(aw=burst(B)))], "the circuit asks for a burst while it is idle",
                 id="write while idle"),
    pytest.param([(0, Outputs(w=word()))], "the circuit asks for a burst while it is idle",
                 id="word while idle"),
    pytest.param([*steps(Outputs(ar=burst(BASE))), (0, NOTHING)],
                 "bursts that are not over when the circuit is idle: 1 to read, 0 to write",
                 id="read after done"),
    pytest.param([*steps(Outputs(aw=LONG, w=word(0))), (0, NOTHING)],
                 "bursts that are not over when the circuit is idle: 0 to read, 1 to write",
                 id="write after done"),
]  # fmt: skip


@pytest.mark.parametrize(("seen", "message"), RULES)
def test_a_broken_rule_is_reported(
    native: Path, tmp_path: Path, seen: Sequence[Step], message: str
) -> None:
    (found,) = answer(native, tmp_path, Case(MANIFEST, seen))
    assert found.message == message


# With this seed no channel waits for another one.
PAUSING = AxiBehaviour(pauses=31)
ADDRESS, WORD = burst(B), word(1, 1, 5)


def waiting_cycle(channel: str) -> int:
    """Return a cycle in which a channel is not ready, after one in which AW is."""
    idle = python_answer(Case(MANIFEST, [(0, NOTHING)] * 999, PAUSING))
    waits = set(range(2, 999)) - set(column(idle, f"{channel}ready"))
    return min(n for n in waits if n - 1 in column(idle, "awready"))


@pytest.mark.parametrize("channel", ["aw", "ar"])
@pytest.mark.parametrize("change", ["valid", "id", "addr", "len", "size", "burst", "cache", "prot"])
def test_an_address_stays_until_it_is_taken(
    native: Path, tmp_path: Path, channel: str, change: str
) -> None:
    begin = waiting_cycle(channel)
    later = None
    if change != "valid":
        later = replace(ADDRESS, **{change: getattr(ADDRESS, change) + 1})
    driven = [
        Outputs(aw=each) if channel == "aw" else Outputs(ar=each) for each in (ADDRESS, later)
    ]
    seen = [NOTHING] * (begin - 1) + driven
    (found,) = answer(native, tmp_path, Case(MANIFEST, steps(*seen), PAUSING))
    expected = f"cycle {begin + 1} changes {channel}{change} before {channel}ready was high"
    assert found.message == expected


@pytest.mark.parametrize(
    ("later", "change"),
    [
        (None, "valid"),
        (Word(1, 0, 5), "last"),
        (Word(3, 1, 5), "strb"),
        (Word(1, 1, 6), "data"),
        (Word(1, 1, 0x705), None),
    ],
)
def test_a_word_stays_until_it_is_taken(
    native: Path, tmp_path: Path, later: Word | None, change: str | None
) -> None:
    begin = waiting_cycle("w")
    seen = [NOTHING] * (begin - 2)
    seen += [Outputs(aw=ADDRESS), Outputs(w=WORD), Outputs(w=later)]
    (found,) = answer(native, tmp_path, Case(MANIFEST, steps(*seen), PAUSING))
    broken = f"cycle {begin + 1} changes w{change} before wready was high"
    assert found.message == (broken if change else "")


BEHAVIOURS = [
    AxiBehaviour(),
    *(AxiBehaviour(pauses=seed) for seed in range(4, 12)),
    AxiBehaviour(outstanding=1),
    AxiBehaviour(outstanding=3, pauses=9),
    *(AxiBehaviour(dram=seed) for seed in (1, 2)),
    AxiBehaviour(dram=3, pauses=5, outstanding=4),
    AxiBehaviour(errors=(BurstError("read", 3), BurstError("write", 2, "decerr"))),
    AxiBehaviour(pauses=13, errors=(BurstError("read", 7, "decerr"),)),
    AxiBehaviour(pauses=8, bad_words=tuple(BadWord("read", 8 * n) for n in range(0, 3000, 40))),
    AxiBehaviour(bad_words=tuple(BadWord("write", 8 * n, "decerr") for n in range(0, 3000, 40))),
]


def test_both_models_agree_on_traffic_by_chance(native: Path, tmp_path: Path) -> None:
    memory = memory_of(FULL)
    writable = range(memory.depth_words // 2, memory.depth_words)
    cases = [
        random_case(FULL, seed, writable, behaviour) for seed, behaviour in enumerate(BEHAVIOURS)
    ]
    for case, found in zip(cases, answer(native, tmp_path, *cases), strict=True):
        assert found.message == ""
        assert found.written.any()
        assert not found.written[: memory.bytes // 2].any()
        behaviour = case.behaviour
        assert bool(found.error) == bool(behaviour.errors or behaviour.bad_words)
        _require_contents(case, found)


def in_map(address: int) -> int:
    """Return the byte of the map of `FULL` that an address is."""
    a, b = array_places(memory_of(FULL))
    here = b if b.address <= address < b.address + b.bytes else a
    assert here.address <= address < here.address + here.bytes
    return here.first_byte + address - here.address


def _require_contents(case: Case, found: Answer) -> None:
    """Require that words that are read are those that were there, by an account of its own."""
    names = list(Inputs.__dataclass_fields__)
    size, image = memory_of(FULL).word_bytes, pattern(memory_of(FULL))
    reads: list[int] = []
    writes: list[tuple[int, int]] = []
    sent: list[Word] = []
    is_new = {"r": True, "b": True}
    for (_, seen), row in zip(case.steps, found.pins, strict=True):
        pins = dict(zip(names, row, strict=True))
        if pins["rvalid"] and is_new["r"]:
            place = in_map(reads.pop(0))
            stored = int.from_bytes(image[place : place + size].tobytes(), "little")
            assert (pins["rdata"] == stored) == (pins["rresp"] == 0)
        if pins["bvalid"] and is_new["b"]:
            begin, beats = writes.pop(0)
            for n, each in enumerate(sent[:beats]):
                for lane in range(size):
                    if each.strobes >> lane & 1 and pins["bresp"] == 0:
                        image[in_map(begin) + n * size + lane] = each.data >> 8 * lane & 255
            del sent[:beats]
        is_new["r"] = not pins["rvalid"] or bool(seen.rready)
        is_new["b"] = not pins["bvalid"] or bool(seen.bready)
        if seen.ar and pins["arready"]:
            reads += [seen.ar.addr + n * size for n in range(seen.ar.len + 1)]
        if seen.aw and pins["awready"]:
            writes.append((seen.aw.addr, seen.aw.len + 1))
        if seen.w and pins["wready"]:
            sent.append(seen.w)
    assert not reads and not writes and not sent
    np.testing.assert_array_equal(found.left, image)


def test_a_limit_of_bursts_is_kept(native: Path, tmp_path: Path) -> None:
    one = Outputs(ar=burst(BASE))
    limited = AxiBehaviour(outstanding=2)
    seen = steps(*[one] * 7, *[NOTHING] * 4)
    (found,) = answer(native, tmp_path, Case(MANIFEST, seen, limited))
    # Two are taken; the next when the first is over, after cycle 4.
    assert column(found, "arready")[:4] == [1, 2, 5, 6]


def test_a_dram_is_slow_and_has_one_bus(native: Path, tmp_path: Path) -> None:
    cases = []
    for seed in range(1, 30):
        # A row of its own each; then the same one.
        asks = [
            replace(burst(FULL_BASE + 4096 * (seed % 3) + 64 * n, 16), size=2) for n in range(2)
        ]
        seen = steps(Outputs(ar=asks[0]), *[NOTHING] * 120, Outputs(ar=asks[1]), *[NOTHING] * 120)
        cases.append(Case(FULL, seen, AxiBehaviour(dram=seed)))
    found = answer(native, tmp_path, *cases)
    first = [column(each, "rvalid")[0] - 1 for each in found]
    second = [column(each, "rvalid")[16] - 122 for each in found]
    assert min(first) >= 60 and max(first) <= 100 and len(set(first)) > 10
    assert min(second) >= 30 and max(second) <= 70 and len(set(second)) > 10

    both = steps(Outputs(ar=asks[0]), Outputs(ar=asks[1]), *[NOTHING] * 140)
    (found_both,) = answer(native, tmp_path, Case(FULL, both, AxiBehaviour(dram=1)))
    valid = column(found_both, "rvalid")
    assert valid[16] - valid[15] >= 5


def test_a_dram_without_a_seed_is_the_one_that_cycles_are_predicted_for(
    native: Path, tmp_path: Path
) -> None:
    # A read of three words and a write of two are asked for at the end of cycle 1: the write first.
    seen = steps(
        Outputs(ar=burst(BASE, 3), aw=burst(B), w=word(1, ALL, 7)),
        Outputs(ar=burst(BASE, 2)),
        *[NOTHING] * 28,
    )
    (found,) = answer(native, tmp_path, Case(DRAM, seen))
    # The bus: cycle 4 and four more; 9 to 11 and four more; 16 and 17.
    assert column(found, "bvalid") == [5]
    assert column(found, "rvalid") == [9, 10, 11, 16, 17]


def test_an_error_is_in_one_word_of_a_burst(native: Path, tmp_path: Path) -> None:
    behaviour = AxiBehaviour(errors=(BurstError("read", 1), BurstError("write", 0, "decerr")))
    ask = Outputs(ar=burst(BASE, 3))
    seen = after(ask, ask, Outputs(aw=burst(B), w=word(1, ALL, 7)), *[NOTHING] * 6)
    (found,) = answer(native, tmp_path, Case(MANIFEST, seen, behaviour))
    assert column(found, "rvalid") == [4, 5, 6, 7, 8, 9]
    assert {*column(found, "rresp")} & {*column(found, "rvalid")} == {8}
    assert column(found, "bvalid") == [6] and 6 in column(found, "bresp")
    image = pattern(MEMORY).tobytes()
    assert found.pins[7][-1].to_bytes(8, "little") == bytes(255 - byte for byte in image[8:16])
    assert found.pins[6][-1].to_bytes(8, "little") == image[:8]
    assert not found.written.any()
    # The answer to the write came two cycles before the second word of the second burst.
    assert found.error == BusError("write", B, RESPONSES["decerr"])


def test_a_memory_may_wait_for_the_word_before_the_address_and_the_other_way_round() -> None:
    never = steps(*[Outputs(aw=burst(B))] * 200)
    assert column(python_answer(Case(MANIFEST, never, AxiBehaviour(pauses=5))), "awready") == []
    assert column(python_answer(Case(MANIFEST, never, AxiBehaviour(pauses=7))), "awready")
    # Before its address is taken, no word is.
    case = random_case(FULL, 1, range(3072, 6144), AxiBehaviour(pauses=6))
    taken = sent = 0
    for (_, seen), pins in zip(case.steps, python_answer(case).pins, strict=True):
        sent += bool(seen.w and pins[1] and seen.w.last)
        assert sent <= taken
        taken += bool(seen.aw and pins[0])


def faulty(*kinds: Fault) -> AxiBehaviour:
    faults = tuple(BurstFault("read", number, kind) for number, kind in enumerate(kinds))
    return AxiBehaviour(faults=(*faults, BurstFault("write", 0)))


@pytest.mark.parametrize(
    ("kind", "valid", "last", "noted"),
    [
        ("surplus", [4, 5, 6, 7], {6}, 7),
        ("late", [4, 5, 6, 7], {7}, 6),
        ("missing", [4, 5], {5}, 5),
        ("early", [4, 5, 6], {4}, 4),
        ("never", [4, 5, 6], set(), 6),
    ],
)
def test_a_broken_memory_reads_words_that_were_not_asked_for(
    native: Path, tmp_path: Path, kind: Fault, valid: list[int], last: set[int], noted: int
) -> None:
    seen = steps(Outputs(ar=burst(BASE, 3)), *[NOTHING] * 9)
    (found,) = answer(native, tmp_path, Case(MANIFEST, seen, faulty(kind)))
    assert column(found, "rvalid") == valid
    assert {*column(found, "rlast")} & {*valid} == last
    assert found.error == BusError("read", 0, OUT_OF_STEP)
    # Until the first word that is wrong, nothing is.
    (before,) = answer(native, tmp_path, Case(MANIFEST, seen[: noted - 1], faulty(kind)))
    assert before.error is None


def test_a_broken_memory_answers_a_write_twice_and_is_known_in_each_run(
    native: Path, tmp_path: Path
) -> None:
    seen = steps(Outputs(aw=burst(B), w=word()), *[NOTHING] * 9)
    (found,) = answer(native, tmp_path, Case(MANIFEST, [*seen, *seen[1:]], faulty()))
    assert column(found, "bvalid") == [4, 5]
    assert found.error == BusError("write", 0, OUT_OF_STEP)


def test_a_write_has_no_last_word_to_be_wrong() -> None:
    with pytest.raises(ValueError, match="a write has no fault 'late'"):
        BurstFault("write", 0, "late")
