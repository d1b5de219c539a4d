"""A program with its constants folded computes what it did, of everything that is asked for."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.expr import to_text
from rtlgen.ir.scop import Scop
from rtlgen.transforms.fold_constants import folded_program
from rtlgen.transforms.lane_wishes import LaneWishes
from rtlgen.transforms.unroll import unroll
from tests.oracles.random_tables.program import random_table_program
from tests.transforms.test_unroll import results

G = "static const int g[3] = {-1, 0, 1}; static const int h[3] = {1, 2, 1};\n"
ONES = "static const short ones[2][2] = {{1, 3}, {1, 4}};\n"

FOLDED: dict[str, tuple[str, list[str]]] = {
    "sums of products": (
        G + "void f(int x[10], int y[8]) { for (int i = 0; i < 8; i++) { int s = 0;"
        " for (int k = 0; k < 3; k++) { int p = x[i + k]; s += p * g[k]; } y[i] = s; } }",
        ["p = x[i]", "s = -p", "p = x[i + 2]", "s = (s + p)", "y[i] = s"],
    ),
    "one sum": (
        G + "void f(int x[10], int y[8]) { for (int i = 0; i < 8; i++) { int s = 0;"
        " for (int k = 0; k < 3; k++) s += x[i + k] * g[k]; y[i] = s; } }",
        ["s = (x[i + 2] - x[i])", "y[i] = s"],
    ),
    "a local array": (
        "void f(int x[10], int y[8]) { int h[3] = {1, 2, 1};"
        " for (int i = 0; i < 8; i++) { int s = 0;"
        " for (int k = 0; k < 3; k++) s += x[i + k] * h[k]; y[i] = s; } }",
        ["s = ((x[i] + (x[i + 1] * 2)) + x[i + 2])", "y[i] = s"],
    ),
    "a table that is read in a loop": (
        "void f(int x[10], int y[8]) { int h[8] = {1, 2, 1};"
        " for (int i = 0; i < 8; i++) y[i] = x[i] * h[i]; }",
        ["y[i] = (x[i] * h[i])"],
    ),
    "one column": (
        ONES + "void f(int x[2], int y[2]) {"
        " for (int i = 0; i < 2; i++) y[i] = x[i] * ones[i][0]; }",
        ["y[i] = x[i]"],
    ),
    "every second element": (
        "static const char c[4] = {1, 9, 1, 7};\n"
        "void f(int x[2], int y[2]) { for (int i = 0; i < 2; i++) y[i] = x[i] * c[2 * i]; }",
        ["y[i] = x[i]"],
    ),
    "scalars": (
        "int f(int x[8]) { int a = 3, b = a - 2, s = 0;"
        " for (int i = 0; i < 8; i++) s += x[i] * b; return s; }",
        ["s = 0", "s = (s + x[i])"],
    ),
    "a place from a table": (
        "static const unsigned char z[3] = {2, 0, 1};\n"
        "void f(int x[3], int y[3]) { for (int k = 0; k < 3; k++) y[k] = x[z[k]]; }",
        ["y[0] = x[2]", "y[1] = x[0]", "y[2] = x[1]"],
    ),
    "a choice": (
        G + "void f(int x[8], int y[8]) { for (int i = 0; i < 8; i++) {"
        " for (int k = 0; k < 3; k++) { if (g[k] > 0) y[i] = x[i] << h[k]; } } }",
        ["y[i] = (x[i] << 1)"],
    ),
    "a number that does not fit": (
        "static const int c[1] = {300};\n"
        "void f(unsigned char x[8], unsigned char y[8]) { for (int i = 0; i < 8; i++) {"
        " unsigned char p = c[0]; y[i] = x[i] * p; } }",
        ["y[i] = (uint8)((int32)x[i] * 44)"],
    ),
}


def folded(text: str, *loops: str) -> Scop:
    scop = parse_text(text, "program.c").scop
    return folded_program(unroll(scop, LaneWishes(dict.fromkeys(loops))))


def assignments(scop: Scop) -> list[str]:
    return [f"{s.write} = {to_text(s.expr, tuple(map(str, s.reads)))}" for s in scop.statements]


@pytest.mark.parametrize("name", FOLDED)
def test_constants_are_folded(name: str) -> None:
    text, expected = FOLDED[name]
    loops = ["k"] if "int k" in text else []
    scop = folded(text, *loops)
    assert assignments(scop) == expected
    assert results(scop) == results(parse_text(text, "program.c").scop)
    assert {a.name for a in scop.arrays if a.storage == "local"} <= {
        access.array for s in scop.statements for access in (s.write, *s.reads)
    }


KEPT = {
    "what is written elsewhere": "void f(int x[3], int y[3]) { int h[3] = {1, 1, 1}; h[1] = x[0];"
    " for (int i = 0; i < 3; i++) y[i] = x[i] * h[i]; }",
    "what is copied to another place": "static const int c[3] = {1, 1, 2};\n"
    "void f(int x[3], int y[3]) { int h[3]; for (int i = 0; i < 3; i++) h[2 - i] = c[i];"
    " for (int i = 0; i < 3; i++) y[i] = x[i] * h[i]; }",
    "what is converted": "static const int c[3] = {1, 256, 2};\n"
    "void f(int x[3], int y[3]) { unsigned char h[3]; for (int i = 0; i < 3; i++) h[i] = c[i];"
    " for (int i = 0; i < 3; i++) y[i] = x[i] * h[i]; }",
    "a value from before the run": "void f(int x[3], int y[3]) { for (int i = 0; i < 3; i++)"
    " { y[i] = y[i] * 2 + x[i]; } }",
    "what stores what is there, alone": "void f(int x[3]) {"
    " for (int i = 0; i < 3; i++) x[i] = x[i] * 1; }",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_constant_stays(name: str) -> None:
    scop = parse_text(KEPT[name], "program.c").scop
    assert folded_program(scop) == scop


def test_parameters_that_no_result_depends_on_are_untouched() -> None:
    text = G + "void f(int x[8], int z[8], int y[8], int n) {"
    text += " for (int i = 0; i < 8; i++) y[i] = x[i] * g[1] + z[i] * g[2] + n * g[1]; }"
    scop = folded(text)
    assert assignments(scop) == ["y[i] = z[i]"]
    assert [a.name for a in scop.arrays] == ["z", "y"]
    assert [a.name for a in scop.untouched if a.storage == "parameter"] == ["x"]
    assert scop.scalars == ()


@pytest.mark.sample("0")
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs_compute_what_they_did(first: int) -> None:
    changed = 0
    for seed in range(first, first + 20):
        program = random_table_program(seed)
        scop = parse_text(program.text, "program.c").scop
        wishes = LaneWishes(program.options.unroll, program.options.pipeline)
        lanes = scop if wishes.is_empty else unroll(scop, wishes)
        after = folded_program(lanes)
        changed += after is not lanes
        assert results(after) == results(scop), program.text
    assert changed > 10
