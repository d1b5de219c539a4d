"""The HTML report is one well-formed page that shows what the plan says and loads nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

import rtlgen
from rtlgen.design import Design
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import Region
from rtlgen.options import CompileOptions
from rtlgen.planning import moves
from rtlgen.report.html import report_html
from rtlgen.report.pictures import MAX_TICKS, WIDTH, tick_cycles, timeline_svg
from rtlgen.report.plan_report import plan_report
from rtlgen.source import SourceFile
from tests.oracles.plans import chained_sums
from tests.report.test_plan_report import program, two_regions

_VOID = {"meta", "br", "hr", "img"}
SVG = "{http://www.w3.org/2000/svg}"


class Balance(HTMLParser):
    """Check that every element is closed, and collect attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.words = ""
        self.statement_links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.links.add(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.open[-1:] == ["a"] and data.startswith("S"):
            self.statement_links.append(data)


def page(source: str = "int f;\n", path: str = "test.c", **figures: object) -> Balance:
    report = plan_report(program(), chained_sums(), figures)
    parser = Balance()
    parser.feed(report_html(report, SourceFile(path, source)))
    parser.close()
    assert not parser.open
    return parser


def test_it_is_well_formed_and_self_contained() -> None:
    parsed = page()
    assert parsed.links
    assert all(link.startswith("#") for link in parsed.links)
    assert {link[1:] for link in parsed.links} <= parsed.ids


def test_a_statement_of_an_included_file_is_not_linked_to_this_one() -> None:
    here, there = page(), page(path="main.c")
    assert "S0" in there.words
    assert len(here.statement_links) == 3
    assert not there.statement_links


def test_it_quotes_the_source_line_by_line() -> None:
    parsed = page("int a;\n  if (a < b && c > d) x = '\"';\n")
    assert {"L1", "L2"} <= parsed.ids
    assert "2  if (a < b && c > d) x = '\"';" in parsed.words


def test_markup_in_names_is_text() -> None:
    parsed = page(note="<script>alert(1)</script> $title")
    assert "<script>alert(1)</script> $title" in parsed.words


def test_it_gives_the_figures() -> None:
    words = page(simulated_cycles=36).words
    for text in ("fused iterations16", "predicted cycles36", "simulated cycles36", "never runs"):
        assert text in words


def bars(report: dict[str, Any], kind: str) -> list[tuple[float, float]]:
    root = ElementTree.fromstring(timeline_svg(report))
    found = [bar for bar in root.iter(f"{SVG}rect") if bar.get("class") == kind]
    return [(float(bar.attrib["x"]), float(bar.attrib["width"])) for bar in found]


def test_bars_stand_where_the_streams_issue() -> None:
    report = plan_report(program(), chained_sums())
    (x0, width0), (x1, width1) = bars(report, "issue")
    cycle = width0 / 16
    assert width1 == pytest.approx(width0, abs=0.02)
    assert x1 - x0 == pytest.approx(6 * cycle, abs=0.02)
    drains = bars(report, "drain")
    assert [width / cycle for _, width in drains] == pytest.approx([6, 3], abs=0.01)
    assert all(x + width <= WIDTH for x, width in drains)


def test_a_stream_that_is_padded_is_not_drawn_as_busy() -> None:
    report = plan_report(program(), chained_sums())
    root = ElementTree.fromstring(timeline_svg(report))
    heights = {
        kind: [
            float(bar.attrib["height"])
            for bar in root.iter(f"{SVG}rect")
            if bar.get("class") == kind
        ]
        for kind in ("issue", "padded")
    }
    # S1 runs in one of four iterations of its padded loop, S0 in all.
    assert heights["padded"] == [16, 16]
    assert heights["issue"] == [16, 4]


def test_regions_are_separated() -> None:
    one, two = (plan_report(program(), plan) for plan in (chained_sums(), two_regions()))
    assert 'class="region"' not in timeline_svg(one)
    assert timeline_svg(two).count('class="region"') == 1


@pytest.mark.parametrize("total", [1, 2, 9, 10, 36, 99, 545, 33_333, 10**7 + 1])
def test_ticks_are_few_and_round(total: int) -> None:
    ticks = tick_cycles(total)
    assert 1 <= len(ticks) <= MAX_TICKS
    assert re.fullmatch("[125]0*", str(ticks.step))
    assert len(ticks) > 3 or total < 4


def test_a_long_kernel_still_fits_the_page() -> None:
    plan = chained_sums()
    stream = plan.regions[0].streams[0]
    late = replace(stream, offset_cycles=10**8)
    longer = replace(plan, body=(Region.whole((late,)),))
    ((x, width),) = bars(plan_report(program(), longer), "drain")
    assert 0 <= x <= x + width <= WIDTH


def designed(text: str, options: CompileOptions) -> Design:
    return Design(compile_program(parse_text(text, "f.c"), options), options)


def page_of(text: str, options: CompileOptions) -> str:
    """Return the words on the page of a compiled program."""
    made = designed(text, options)
    parser = Balance()
    parser.feed(report_html(made.report(), made.compilation.analysis.program.scop.source))
    assert parser.open == []
    return parser.words


def test_loops_and_what_other_tools_do_with_them_are_shown() -> None:
    loops = "for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++)"
    words = page_of(f"void f(int a[8][8]) {{ {loops} a[i][j]++; }}", CompileOptions())
    assert "0..7, average 3.5" in words
    assert "Line 1, UG1399: flattens nothing" in words
    assert "Line 1, AOCL, out of order" in words


def test_the_schedule_that_was_chosen_is_shown() -> None:
    loops = "for (int t = 0; t < 4; t++) for (int i = 1; i < 9; i++)"
    text = f"void f(int a[10]) {{ {loops} a[i] = a[i - 1] + a[i] - 2 * a[i + 1]; }}"
    scheduled = page_of(text, CompileOptions(scheduler="pluto"))
    assert "Schedule by pluto" in scheduled
    assert "(0,1,1,1)" in scheduled
    assert "Loops that run" in scheduled
    assert "Schedule" not in page_of(text, CompileOptions())


def test_temporaries_that_were_expanded_are_named() -> None:
    text = """void f(int a[8][8], int b[8]) { int s;
      for (int i = 0; i < 8; i++) {
        s = 0;
        for (int j = 0; j < 8; j++) s += a[i][j];
        b[i] = s;
      } }"""
    words = page_of(text, CompileOptions(expand="always"))
    assert "s expanded to s: 8 elements instead of 1" in words
    # Nobody has planned the program without the expansion.
    assert "that takes" not in words


def test_what_an_expansion_costs_stands_beside_what_it_saves() -> None:
    text = """void f(const int a[20], int b[20], const int c[18], int d[18]) { int t;
      for (int i = 0; i < 20; i++) { t = a[i] * a[i]; b[i] = t * t; }
      for (int j = 0; j < 18; j++) { t = c[j]; d[j] = t + 1; } }"""
    built = designed(text, CompileOptions())
    cost = built.report()["expansion_cost"]
    before = designed(text, CompileOptions(expand="never")).report()
    # No plan of it as declared is needed to know that none is as short.
    assert cost["cycles"] == [built.report()["predicted_cycles"]] == [26]
    assert 26 < cost["cycles_without_at_least"] <= before["predicted_cycles"]
    page = page_of(text, CompileOptions())
    assert f"that takes 26 cycles, and {cost['cycles_without_at_least']} at least without" in page


def test_what_an_expansion_costs_in_memory_stands_there_where_both_were_planned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = """void f(const int a[20], int b[20], const int c[18], int d[18]) { int t;
      for (int i = 0; i < 20; i++) { t = a[i] * a[i]; b[i] = t * t; }
      for (int j = 0; j < 18; j++) { t = c[j]; d[j] = t + 1; } }"""
    monkeypatch.setattr(moves, "_beats_bound", lambda *_: False)
    built = designed(text, CompileOptions())
    cost = built.report()["expansion_cost"]
    before = designed(text, CompileOptions(expand="never"))
    assert cost["cycles"] == [before.report()["predicted_cycles"], 26]
    assert cost["block_rams"] == [
        each.report()["figures"]["block_rams"] for each in (before, built)
    ]
    # One int, and the element numbers of two stores and two loads of up to 20 elements.
    assert cost["register_bits"] == [32, 0]
    assert cost["address_bits"][1] > cost["address_bits"][0]
    assert "that takes 26 instead of 43 cycles, 4 instead of 4 block RAMs" in page_of(
        text, CompileOptions()
    )


def test_what_the_search_has_tried_is_a_table() -> None:
    design = rtlgen.compile(
        source="""void f(const int a[16], int b[16], int c[16]) {
          for (int i = 0; i < 16; i++) b[i] = a[i] * 3;
          for (int i = 0; i < 16; i++) c[i] = b[15 - i] + 1;
        }""",
        path="f.c",
    )
    page = report_html(design.report(), SourceFile("f.c", ""))
    (table,) = re.findall("<h2>What was tried for fewer cycles</h2>.*?</table>", page, re.DOTALL)
    rows = [re.findall("<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr>.*?</tr>", table)]
    assert ["reverse", "S0 in (-i)", str(predicted_cycles(design.plan)), "taken"] in rows
