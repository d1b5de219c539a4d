"""Dead statements are gone before anything is planned, wherever arrays and lanes are.

A program with its constants folded computes what it did, of everything that is asked for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.expr import to_text
from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import Compilation
from rtlgen.poly.dependences import Dataflow
from rtlgen.poly.errors import RewriteUnsound
from rtlgen.scheduling.errors import NothingObservable
from rtlgen.transforms import simplify
from rtlgen.transforms.lanes import LaneWishes, unroll
from rtlgen.transforms.simplify import folded_program
from tests.end_to_end.judge import plan_failures
from tests.oracles.random_tables.program import random_table_program
from tests.transforms.test_unroll import results

DEAD = {
    "an initial value": (
        "int t = 0; for (int i = 0; i < 6; i++) { t = b[i]; y[i] = t + 1; }", "S0"),
    "a value of each iteration": (
        "for (int i = 0; i < 6; i++) { int t = 0; t = b[i]; y[i] = 255 - t; }", "S0"),
    "the last value of a loop": (
        "int s = 0; for (int i = 0; i < 6; i++) s = b[i]; y[0] = s;", "S0"),
    "a sum that nobody reads": (
        "int s = 0; for (int i = 0; i < 6; i++) { s += b[i] * p; y[i] = b[i]; }", "S0 S1"),
    "an array of a sum": (
        "int u[6]; for (int i = 0; i < 6; i++) u[i] = z[i]; "
        "for (int i = 0; i < 6; i++) { u[i] += 1; y[i] = b[i]; }", "S0 S1"),
    "a result that is set again": (
        "for (int i = 0; i < 6; i++) y[i] = z[i]; for (int i = 0; i < 6; i++) y[i] = b[i];", "S0"),
    "a loop that does nothing": (
        "int t = 0; for (int j = 0; j < 6; j++) t = z[j]; for (int i = 0; i < 6; i++) y[i] = b[i];",
        "S0"),
    "a value before stores of some iterations": (
        "int t; t = 0; for (int i = 0; i < 6; i++) { t = b[i]; if (i % 3 == 1) t = z[i]; "
        "y[i] = t; }", "S0"),
    "a condition on what is dead": (
        "int t = 0; for (int i = 0; i < 6; i++) { if (b[i] > 2) t = z[i]; y[i] = b[i]; }", "S0 S1"),
}  # fmt: skip
"""Bodies, and the statements of each that are dead."""

PLACES = {
    "on chip": CompileOptions(),
    "in lanes": CompileOptions(unroll={"i": 3}),
    "off chip": CompileOptions(memory={"": "axi"}),
    "off chip in lanes": CompileOptions(memory={"": "axi"}, unroll={"i": 3}),
    "in threads": CompileOptions(memory={"": "fixed:8"}, threads=2),
}


CASES = [
    (body, place)
    for body in DEAD
    for place in PLACES
    # What is left on chip by the last iteration, or set in several places, is not for threads.
    if place != "in threads"
    or body not in ("the last value of a loop", "a value before stores of some iterations")
]


def compiled(body: str, options: CompileOptions, name: str = "f") -> Compilation:
    head = f"void {name}(const int b[6], const int z[6], int p, int y[6])"
    return compile_program(parse_text(f"{head} {{ {body} }}", "f.c"), options)


@pytest.mark.sample(
    without=(
        "an initial value-off chip",
        "an initial value-off chip in lanes",
        "an initial value-in threads",
        "a value of each iteration-off chip in lanes",
        "a value of each iteration-in threads",
        "the last value of a loop-off chip in lanes",
        "a sum that nobody reads-off chip in lanes",
        "a value before stores of some iterations-off chip",
        "a value before stores of some iterations-off chip in lanes",
    )
)
@pytest.mark.parametrize(("name", "place"), CASES)
def test_dead_statements_are_in_no_plan(name: str, place: str) -> None:
    body, dead = DEAD[name]
    found = compiled(body, PLACES[place])
    built = {stream.statement for stream in found.plan.streams}
    assert found.dead_statements == set(dead.split())
    assert built and not built & found.dead_statements
    # The names are those of the C text, and the program that is verified is all of it.
    assert "S0" in {s.name for s in found.analysis.program.scop.statements}


def test_lanes_are_dead_where_their_loop_is_not() -> None:
    body = "int s = 0; for (int i = 0; i < 6; i++) { s = b[i]; y[i] = 1; } y[0] = s;"
    plan = compiled(body, CompileOptions(unroll={"i": 3})).plan
    stores = [stream.statement for stream in plan.streams]
    assert "S1_2" in stores and "S1" not in stores and "S1_1" not in stores


def test_what_only_dead_statements_use_has_no_port() -> None:
    found = compiled(DEAD["a sum that nobody reads"][0], CompileOptions())
    assert not found.plan.scalars
    assert [w.code for w in found.warnings] == ["W0102", "W0202", "W0102"]
    assert found.warnings[-1].message == (
        "the parameter `p` is used by dead statements only, and gets no port"
    )


def test_a_program_of_dead_statements_has_no_result() -> None:
    text = "void f(int y[2]) { int t[4]; for (int i = 0; i < 4; i++) t[i] = i; if (0) y[0] = 1; }"
    with pytest.raises(NothingObservable, match="writes local variables only"):
        compile_program(parse_text(text), CompileOptions())


def test_options_for_a_loop_that_is_left_out_are_passed_over_and_said() -> None:
    body, _ = DEAD["a loop that does nothing"]
    found = compiled(body, CompileOptions(unroll={"j": 3}, pipeline=("j",)))
    assert found.limits == (
        "--unroll j: nothing in this loop is ever seen, and it is left out",
        "--pipeline j: nothing in this loop is ever seen, and it is left out",
    )
    with pytest.raises(RtlgenError, match="there is no loop k"):
        compiled(body, CompileOptions(unroll={"k": 3}))


@pytest.mark.parametrize("name", ["S1", "S2"])
def test_a_live_statement_that_is_taken_for_dead_is_noticed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(_: object, __: Dataflow) -> frozenset[str]:
        return frozenset((name,))

    monkeypatch.setattr(simplify, "dead_statements", wrong)
    with pytest.raises(RewriteUnsound, match="dead statements"):
        compiled(DEAD["an initial value"][0], CompileOptions())


@pytest.mark.long
@pytest.mark.simulation
def test_circuits_without_dead_statements_are_exact(tmp_path: Path) -> None:
    found = [
        compiled(DEAD[body][0], PLACES[place], f"f{number}")
        for number, (body, place) in enumerate(CASES)
        if place == "off chip in lanes"
    ]
    plans = [(each.plan, each.analysis.program.scop) for each in found]
    assert plan_failures(plans, tmp_path) == [[] for _ in plans]


def test_a_store_that_is_never_made_is_no_result() -> None:
    text = """void f(int a[8], const int b[6]) { int g[6];
      for (int i = 0; i < 6; i += 2) {
        if (i == 3) a[2] = b[i];
        else g[i] = b[i];
      } }"""
    with pytest.raises(NothingObservable, match="writes local variables only"):
        compile_program(parse_text(text), CompileOptions())


def test_what_only_statements_that_never_run_would_store_has_no_memory() -> None:
    text = (
        "float v; float k(const float a[8]) { int n = 2; float s = 0;"
        " for (int i = 0; i < 3; i++) { if (n == 1) v = a[i]; s += a[i]; n = (n + 1) % 4; }"
        " return s; }"
    )
    program = parse_text(text, "k.c")
    found = compile_program(program, CompileOptions(checksum=True))
    assert [memory.name for memory in found.plan.memories if memory.is_visible] == ["a"]


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
    "where something is stored": (
        G + "void f(int x[4], int y[4]) { int at = x[0] & 0; y[1] += x[1]; y[at + 2 & 3] = x[2];"
        " if (x[3] > 0) y[h[at] + h[2]] *= 3; }",
        ["y[1] = (y[1] + x[1])", "y[2] = x[2]", "y[2] = ((x[3] > 0) ? (y[2] * 3) : y[2])"],
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


def test_an_array_is_in_banks_where_it_is_told_what_is_stored() -> None:
    text = "static const long t[5] = {0, 0, 0, 0, 11};\n"
    text += "void f(float y[8], unsigned n) { y[6] += 0; y[t[n & 0] & 7] *= 0; }"
    plan = compile_program(parse_text(text, "program.c"), CompileOptions()).plan
    assert plan.memory("y").bank_map.banks == 8


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
