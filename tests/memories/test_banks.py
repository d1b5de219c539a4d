"""Banks that were asked for, and banks that accesses ask for.

Banks: what a partition saves, and what is said where accesses meet in one.
"""

from __future__ import annotations

import pytest

import rtlgen
from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.bank_map import Cut
from rtlgen.ir.block_rams import ram_copies
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.scop import Scop
from rtlgen.memories.banks import derived_cuts, partition
from rtlgen.options import CompileOptions, wish_of
from rtlgen.planning.compilation import Compilation
from rtlgen.scheduling.errors import BankUnknown
from rtlgen.transforms.normalise import normalise

TWO = "void f(int a[6][8], int b[8], int n) { for (int i = 0; i < 8; i++) b[i] += a[2][i] + n; }"


def scop_of(text: str) -> Scop:
    return normalise(parse_text(text, "program.c").scop)


@pytest.mark.parametrize(
    ("wishes", "cuts"),
    [
        (["cyclic:2:4"], (Cut(1, "cyclic", 4),)),
        (["block:1:3", "cyclic:2:2"], (Cut(0, "block", 3), Cut(1, "cyclic", 2))),
        (["complete:1"], (Cut(0, "cyclic", 6),)),
        (["complete:0"], (Cut(0, "cyclic", 6), Cut(1, "cyclic", 8))),
        (["cyclic:1:1"], ()),
    ],
)
def test_a_wish_cuts_its_dimension(wishes: list[str], cuts: tuple[Cut, ...]) -> None:
    array = partition(scop_of(TWO), {"a": tuple(map(wish_of, wishes))}).array("a")
    assert array.cuts == cuts
    assert str(wish_of(wishes[0])) == wishes[0]


@pytest.mark.parametrize(
    "text", ["cyclic:2", "cyclic:1:0", "block:x:2", "complete:1:4", "cyclic:-1:2", "none", ""]
)
def test_what_is_no_wish_is_said_so(text: str) -> None:
    with pytest.raises(ValueError, match="partition is"):
        wish_of(text)


@pytest.mark.parametrize(
    ("name", "wish", "code", "message"),
    [
        ("z", "cyclic:1:2", "E0310", "there is no array z"),
        ("a", "cyclic:3:2", "E0310", "a has no dimension 3"),
        ("a", "cyclic:1:7", "E0311", "dimension 1 has 6 values, too few for 7 parts"),
        ("a", "block:1:4", "E0311", "dimension 1 has 6 values, too few for 4 parts"),
        ("a", "complete:2", "", ""),
    ],
)
def test_what_does_not_fit_is_refused(name: str, wish: str, code: str, message: str) -> None:
    if not code:
        assert partition(scop_of(TWO), {name: (wish_of(wish),)}).array(name).bank_map.banks == 8
        return
    with pytest.raises(RtlgenError) as caught:
        partition(scop_of(TWO), {name: (wish_of(wish),)})
    text = caught.value.diagnostic.render(parse_text(TWO, "program.c").sources)
    assert caught.value.code == code and message in text


@pytest.mark.parametrize(
    ("body", "cuts"),
    [
        ("for (int i = 0; i < 64; i += 4) { a[i] += 1; a[i + 1] += 2; a[i + 3] += 3; }", 4),
        ("for (int i = 0; i < 64; i += 4) { a[i] += 1; a[i + 2] += 2; }", 4),
        ("for (int i = 0; i < 64; i += 6) { a[i] += 1; a[i + 1] += 2; }", 2),
        ("for (int i = 0; i < 64; i += 4) a[i] += 1;", 1),
        ("for (int i = 0; i < 63; i++) a[i] += a[i + 1];", 1),
        ("for (int i = 0; i < 64; i += 4) { a[i] += 1; a[i + 1] += 2; }\n"
         "for (int i = 0; i < 64; i++) a[i] += 1;", 2),
        ("for (int i = 0; i < 60; i += 3) { a[i] += 1; a[i + 1] += 2; }\n"
         "for (int i = 0; i < 64; i++) a[i] += 1;", 1),
    ],
)  # fmt: skip
def test_a_nest_asks_for_banks_that_tell_its_accesses_apart(body: str, cuts: int) -> None:
    found = derived_cuts(scop_of(f"void f(int a[64]) {{ {body} }}"), ())
    assert found == ({} if cuts == 1 else {"a": (Cut(0, "cyclic", cuts),)})
    assert derived_cuts(scop_of(f"void f(int a[64]) {{ {body} }}"), ["a"]) == {}


def test_an_array_of_constants_subscripts_is_registers() -> None:
    scop = scop_of(
        "void f(int h[2][2], int y[8], int x[8]) { for (int i = 0; i < 8; i++)"
        " y[i] = h[0][0] * x[i] + h[0][1] + h[1][0] + h[1][1]; }"
    )
    cuts = derived_cuts(scop, ())
    assert cuts == {"h": (Cut(0, "cyclic", 2), Cut(1, "cyclic", 2))}


UNROLLED = """void unrolled(int a[64], int b[64]) {
  for (int i = 0; i < 64; i += 8) {
    a[i] += b[i]; a[i + 1] += b[i + 1]; a[i + 2] += b[i + 2]; a[i + 3] += b[i + 3];
    a[i + 4] += b[i + 4]; a[i + 5] += b[i + 5]; a[i + 6] += b[i + 6]; a[i + 7] += b[i + 7];
  }
}
"""


def compiled(text: str, **wishes: str) -> Compilation:
    partitions = {name: (wish_of(wish),) for name, wish in wishes.items()}
    return compile_program(parse_text(text, "p.c"), CompileOptions(partitions=partitions))


def test_code_unrolled_by_hand_issues_all_its_statements_in_every_cycle() -> None:
    plan = compiled(UNROLLED).plan
    assert predicted_cycles(plan) == 11
    assert [len(ram_copies(plan, memory)) for memory in plan.memories] == [8, 8]
    assert [memory.ram_words for memory in plan.memories] == [8, 8]


def test_blocks_in_which_statements_meet_are_refused_with_both() -> None:
    with pytest.raises(BankContended) as caught:
        compiled(UNROLLED, a="cyclic:1:4")
    first, second = caught.value.diagnostic.labels
    assert caught.value.diagnostic.message.startswith("a[0] and a[4] are written in one cycle")
    assert (first.text, second.text) == ("written by S0(0), cycle 3", "written by S4(0), cycle 3")


def test_banks_of_what_is_only_read_get_copies() -> None:
    plan = compiled(UNROLLED, b="cyclic:1:4").plan
    assert (plan.memory("b").read_ports, len(ram_copies(plan, plan.memory("b")))) == (2, 8)


def test_a_bank_in_three_parts_has_to_be_known() -> None:
    text = "void f(int a[12], int b[4]) { for (int i = 0; i < 4; i++) b[i] = a[3 * i + 1]; }"
    plan = compiled(text, a="cyclic:1:3").plan
    assert len(ram_copies(plan, plan.memory("a"))) == 3
    with pytest.raises(BankUnknown):
        compiled(text.replace("3 * i + 1", "2 * i + 1"), a="cyclic:1:3")


def test_one_element_for_several_statements_is_read_once() -> None:
    plan = compiled(
        "void f(int a[9], int b[9], int c[9]) {"
        " for (int i = 0; i < 9; i++) { b[i] = a[i] + 1; c[i] = a[i] + 2; } }"
    ).plan
    assert plan.memory("a").read_ports == 1
    assert predicted_cycles(plan) <= 9 + 5


def test_lanes_that_run_backward_are_those_of_one_nest() -> None:
    text = """void f(const int a[64], int b[64], int c[64]) {
      for (int i = 0; i < 64; i++) b[i] = a[i] * 3;
      for (int i = 0; i < 64; i++) c[i] = b[63 - i] + 1;
    }"""
    with pytest.raises(BankContended) as found:
        rtlgen.compile(
            source=text,
            path="f.c",
            unroll={"i": 4},
            partition={"b": "block:1:4"},
        )
    assert "are written in one cycle" in found.value.diagnostic.message
