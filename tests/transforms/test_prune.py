"""Dead statements are gone before anything is planned, wherever arrays and lanes are."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from rtlgen.poly.dependences import Dataflow
from rtlgen.poly.errors import RewriteUnsound
from rtlgen.scheduling.errors import NothingObservable
from rtlgen.search.compilation import Compilation
from rtlgen.transforms import prune
from tests.end_to_end.judge import plan_failures

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

    monkeypatch.setattr(prune, "dead_statements", wrong)
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
    assert [array.name for array in found.stages["prune"].untouched] == ["v"]
