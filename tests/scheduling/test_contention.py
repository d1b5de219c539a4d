"""Banks: what a partition saves, and what is said where accesses meet in one."""

from __future__ import annotations

import pytest

import rtlgen
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.ram_copies import ram_copies
from rtlgen.options import CompileOptions, wish_of
from rtlgen.scheduling.errors import BankUnknown
from rtlgen.search.compilation import Compilation

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
