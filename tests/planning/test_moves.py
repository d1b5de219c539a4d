"""Moves: what is proposed is planned or bounded, the shortest is taken, and all of it is noted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

import rtlgen
from rtlgen.driver import parse_source
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, limited_effort, noting_limits
from rtlgen.options import CompileOptions
from rtlgen.planning import moves
from rtlgen.planning.analysis import analyse
from rtlgen.planning.choice import choose_plan
from rtlgen.planning.moves import MOVES, Form, Move, Reversals
from rtlgen.planning.one_form import plan_form
from rtlgen.planning.planned import Planned, Tried
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.report.text import plan_report_text
from rtlgen.scheduling.errors import BankUnknown

TEXT = """void f(const int a[64], int b[64], int c[64])
{
  for (int i = 0; i < 64; i++)
    b[i] = a[i] * 3;
  for (int i = 0; i < 64; i++)
    c[i] = b[63 - i] + 1;
}
"""

OPTIONS = CompileOptions()


class Fake(Move):
    """Proposes what it is given."""

    name: ClassVar[str] = "fake"
    searching: ClassVar[str] = "fakes"
    nothing: ClassVar[str] = "there is no fake"

    def __init__(self, *plans: object) -> None:
        self.plans = plans
        self.asked = 0

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        for number, plan in enumerate(self.plans):
            self.asked += 1
            yield before.changed(self.name, f"fake {number}", before.analysis, partial(_made, plan))


def _made(plan: object) -> Planned:
    if isinstance(plan, Exception):
        raise plan
    assert isinstance(plan, Planned)
    return plan


def planned(*moves: Move, text: str = TEXT) -> Planned:
    with limited_effort():
        return choose_plan(analyse(parse_source(text, "f.c", OPTIONS)), OPTIONS, moves)


def tried(found: Planned) -> list[Tried]:
    return [each for each in found.tried if each.move == "fake"]


def test_the_shortest_proposal_is_taken_and_the_note_says_so() -> None:
    slow, fast = planned(), planned(Reversals())
    move = Fake(slow, fast)
    found = planned(move)
    assert predicted_cycles(found.plan) == predicted_cycles(fast.plan)
    assert tried(found) == [Tried("fake", "fake 1", 69)]
    assert move.asked == 2


def test_what_saves_nothing_is_not_taken_and_the_note_says_what_is() -> None:
    found = planned(Fake(planned()))
    assert tried(found) == [Tried("fake", "fake 0", 135, "135 cycles are taken without it")]


@pytest.mark.parametrize("error", [TooComplex("it is a test"), NoClosedForm()])
def test_a_proposal_that_cannot_be_planned_leaves_the_program_as_it_was(error: Exception) -> None:
    with noting_limits() as limits:
        found = planned(Fake(error))
    assert predicted_cycles(found.plan) == 135
    (note,) = tried(found)
    assert note.cycles is None and note.why_not == "the search for a plan of it takes too long"
    said = "fakes would take too long to be weighed to the end"
    assert (said in limits) == isinstance(error, TooComplex)


def test_a_bound_that_takes_too_long_leaves_the_program_as_it_was() -> None:
    class Endless(Fake):
        def is_vain(self, before: Form) -> bool:
            raise TooComplex("it is a test")

    (note,) = tried(planned(Endless()))
    assert note.cycles is None and note.why_not == "the search for a plan of it takes too long"


def test_of_what_does_not_pay_the_freest_may_open_the_way() -> None:
    """More memory may take a cycle more, and leave the loops more freedom."""

    class Opening(Fake):
        keeps_values: ClassVar[bool] = False

        def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
            for number, bound in enumerate((100, 10)):
                form = type("Bounded", (Form,), {"at_least": bound})
                plan = partial(_made, self.plans[number])
                yield form(
                    before.analysis, options, plan, f"form {number}", before=before, move=self.name
                )

    class After(Fake):
        def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
            self.plans += (before.what,)
            yield from ()

    slow, after = planned(), After()
    planned(Opening(slow, slow), after)
    assert after.plans == ("as written", "form 1")


@pytest.mark.long
def test_many_statements_of_a_recurrence_share_skewed_loops() -> None:
    design = rtlgen.compile(LONG.parent / "gaps.c", define={"N": 26, "M": 28})
    skew = next(each for each in design.report()["tried"] if each["move"] == "skew")
    assert skew["taken"] and skew["form"].endswith("in (i + j, i)")
    assert skew["predicted_cycles"] < 1_110


def test_a_form_that_does_not_suit_what_was_asked_for_is_not_taken() -> None:
    (note,) = tried(planned(Fake(BankUnknown("nobody knows the bank"))))
    assert note.cycles is None and note.why_not == "nobody knows the bank"


def test_loops_that_the_index_style_does_not_suit_are_not_taken() -> None:
    text = """void f(int a[17][17]) {
      for (int i = 1; i < 17; i++)
        for (int j = 1; j < 17; j++) a[i][j] = (a[i][j - 1] + a[i - 1][j]) * 3;
    }"""
    tried = rtlgen.compile(source=text, path="f.c", index="divide").report()["tried"]
    (skew,) = [each for each in tried if each["move"] == "skew"]
    assert not skew["taken"] and skew["why_not"] == "the index style divide does not fit S0"


def test_memory_that_only_makes_loops_suit_the_index_style_has_no_price() -> None:
    text = """void f(const int a[8][32], int b[8][32]) {
      for (int i = 0; i < 8; i++) {
        int s = 0;
        for (int j = 0; j < 32; j++) { s = s * 3 + a[i][j]; b[i][j] = s; }
      }
    }"""
    report = rtlgen.compile(source=text, path="f.c", index="shift").report()
    assert report["expansions"] and len(report["expansion_cost"]["cycles"]) == 1


def test_a_move_without_a_proposal_says_why() -> None:
    assert tried(planned(Fake())) == [Tried("fake", "", None, "there is no fake")]


def test_a_move_is_not_asked_about_a_plan_at_its_floor() -> None:
    move = Fake(planned())
    text = "void f(int a[8]) { for (int i = 1; i < 8; i++) a[i] = a[i - 1] / (a[i] | 1); }"
    (note,) = tried(planned(move, text=text))
    assert move.asked == 0
    assert note.why_not.endswith(" cycles at least, in any order")


def test_moves_go_on_from_what_the_one_before_has_made() -> None:
    seen: list[int] = []

    class Noting(Fake):
        keeps_values: ClassVar[bool] = False  # So that it is asked about a plan at its floor, too.

        def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
            seen.append(before.cycles)
            return iter(())

    planned(Reversals(), Noting())
    assert seen == [69]


def test_a_form_knows_which_moves_have_made_it() -> None:
    analysis = analyse(parse_source(TEXT, "f.c", OPTIONS))
    start = Form(analysis, OPTIONS, partial(plan_form, analysis, OPTIONS))
    other = start.changed("one", "", analysis, start._plan).changed(
        "two", "", analysis, start._plan
    )
    assert other.made_by("one") is other.origin and other.made_by("two") is other
    assert other.made_by("three") is None and not other.is_planned


def test_each_move_has_an_entry_in_the_report_and_a_line_in_its_text() -> None:
    design = rtlgen.compile(source=TEXT, path="f.c")
    report = design.report()
    assert {each["move"] for each in report["tried"]} >= {move.name for move in MOVES}
    (taken,) = [each for each in report["tried"] if each["taken"]]
    assert taken["move"] == "reverse" and taken["predicted_cycles"] == predicted_cycles(design.plan)
    plain, long = plan_report_text(report), plan_report_text(report, with_tried=True)
    assert "S0 in (-i)" not in plain
    (line,) = [each for each in long.splitlines() if each.startswith("reverse ")]
    assert line.split() == ["reverse", "S0", "in", "(-i)", "69", "taken"]


def test_banks_that_save_block_ram_alone_are_taken() -> None:
    """Four reads of an array are as many copies of it, or a register for each element."""
    text = """void f(const int a[64], int b[64], int h[8]) {
  int s[4];
  for (int k = 0; k < 4; k++) s[k] = h[k];
  for (int i = 0; i < 64; i++) b[i] = a[i] * s[0] + s[1] * s[2] - s[3];
}
"""
    design = rtlgen.compile(source=text)
    said = {each["move"]: each for each in design.report()["tried"]}
    assert said["banks"]["taken"] and said["banks"]["form"] == "s in banks"
    assert design.block_rams == 2


LONG = Path(__file__).parent / "long_loop.c"


def test_a_long_loop_has_more_elements_of_a_temporary_than_a_memory_would_hold() -> None:
    """None of them is kept in one: values go on through registers, and in a few rows."""
    design = rtlgen.compile(LONG, memory="onchip")
    assert predicted_cycles(design.plan) < 20_100
    tried = next(each for each in design.report()["tried"] if each["move"] == "expand")
    assert tried["taken"] and "20,000 elements" in tried["form"]
    assert "120 block RAMs" not in plan_report_text(design.report())


def test_a_temporary_that_would_be_kept_in_a_large_memory_is_not_expanded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(moves, "in_rows", lambda planned, _: planned)
    design = rtlgen.compile(LONG, memory="onchip")
    assert predicted_cycles(design.plan) > 100_000
    tried = next(each for each in design.report()["tried"] if each["move"] == "expand")
    assert tried["why_not"] == "t is kept in a memory of 20,000 elements"


ALIGNMENT = LONG.parent / "alignment.c"


def test_what_does_not_pay_by_itself_may_open_the_way_for_others() -> None:
    """Scalars with an element an iteration save nothing, nor would skewed loops without them."""
    design = rtlgen.compile(ALIGNMENT)
    cycles = {each["move"]: each for each in design.report()["tried"]}
    expand, skew = cycles["expand"], cycles["skew"]
    assert expand["taken"] and skew["taken"]
    assert skew["predicted_cycles"] < 1_700 < 3_200 < expand["predicted_cycles"]
    alone = rtlgen.compile(ALIGNMENT, expand="never")
    assert predicted_cycles(alone.plan) > 3_200


def test_what_opens_no_way_is_not_built() -> None:
    class Opened(Fake):
        keeps_values: ClassVar[bool] = False

    class Bounded(Form):
        at_least = 10

    plain = planned()

    class Opening(Opened):
        def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
            yield Bounded(before.analysis, options, lambda: plain, before=before, move=self.name)

    after = Fake(plain)
    (first, *others) = tried(planned(Opening(), after))
    assert first.why_not == "135 cycles are taken without it" and after.asked == 2
    assert [each.why_not for each in others] == ["135 cycles are taken without it"]
