"""Normalising changes how loops count, and nothing that the program computes.

Statements under congruences: dense loops where they may be, the same instances always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import EmptyRegion
from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.expr import Constant
from rtlgen.ir.scop import LoopNode, Scop, StatementNode, walk_tree
from rtlgen.ir.types import INT32
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import analyse
from rtlgen.poly.instances import statement_points
from rtlgen.transforms.normalise import is_strided, normalise
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import SubscriptError, run_golden
from tests.oracles.gcc_oracle import run_gcc
from tests.oracles.scops import access, array, loop, random_scops, scop
from tests.poly.enumeration import instances


@pytest.mark.long
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(random_scops())
def test_the_normalised_program_computes_the_same(program: Scop) -> None:
    inputs = random_inputs(program, 1)
    try:
        expected = run_golden(program, inputs, engine="interpreter")
    except SubscriptError:
        assume(False)
    normal = normalise(program)
    got = run_golden(normal, inputs, engine="interpreter")
    for name, image in expected.arrays.items():
        np.testing.assert_array_equal(got.arrays[name], image)
    assert got.returned == expected.returned
    loops = [node.loop for node in walk_tree(normal.tree) if isinstance(node, LoopNode)]
    assert all((loop.start, loop.step) == (Affine(), 1) for loop in loops)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(random_scops())
def test_instances_keep_their_order_and_their_names(program: Scop) -> None:
    normal = normalise(program)
    before = [program.statement(i.statement).instance_text(i.point) for i in instances(program)]
    after = [normal.statement(i.statement).instance_text(i.point) for i in instances(normal)]
    assert after == before


@pytest.mark.long
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(random_scops())
def test_the_schedule_is_program_order(program: Scop) -> None:
    normal = normalise(program)
    times = []
    for instance in instances(normal):
        iterators = normal.statement(instance.statement).iterators
        values = dict(zip(iterators, instance.point, strict=True))
        times.append(tuple(t.evaluate(values) for t in normal.schedule.time(instance.statement)))
    assert times == sorted(set(times))


def test_statements_of_one_loop_keep_step_where_their_boxes_begin_apart() -> None:
    text = """void f(int x[4], int L[4][4]) {
      for (int i = 0; i < 4; i++) {
        x[i] = L[i][i];
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
      } }"""
    normal = normalise(parse_text(text, "f.c").scop)
    assert [loop.at for loop in normal.schedule.loops("S1")] == [1, 0]
    assert str(normal.schedule.time("S0")[1]) == str(normal.schedule.time("S1")[1]) == "i"


def test_statements_that_never_run_are_left_out() -> None:
    nothing, everything = loop("j", Affine.of({"i": 1}, 4), 4), loop("j", 0, 4)
    tree = [
        LoopNode(
            loop("i", 0, 4),
            (
                LoopNode(nothing, (StatementNode("S0"),)),
                LoopNode(everything, (StatementNode("S1"),)),
            ),
        )
    ]
    body = (access("A", "j"), (), Constant(1, INT32))
    normal = normalise(scop([array("A", (4,))], tree, {"S0": body, "S1": body}))
    assert [statement.name for statement in normal.statements] == ["S1"]
    assert len(instances(normal)) == 16


N = 13


def program(condition: str, start: int = 0) -> Scop:
    """Return a program that counts where a condition on i and j holds."""
    return parse_text(
        f"int a[{N}][{N}]; void f(void) {{ for (int i = {start}; i < {N}; i++)"
        f" for (int j = {start}; j < {N}; j++) if ({condition})"
        f" a[i - ({start})][j - ({start})] += i * 100 + j; }}".replace(f"[{N}]", "[40]"),
        "program.c",
    ).scop


def iterations_of(normal: Scop) -> Counter[tuple[int, ...]]:
    """Return the values of the C iterators in every instance of a normalised program."""
    found: Counter[tuple[int, ...]] = Counter()
    for statement in normal.statements:
        for point in statement_points(normal, statement).tolist():
            values = dict(zip(statement.iterators, point, strict=True))
            found[tuple(affine.evaluate(values) for affine in statement.origin)] += 1
    return found


CONDITIONS: dict[str, Callable[[int, int], bool]] = {
    "i % 3 == 1": lambda i, j: i % 3 == 1,
    "(i & 3) == 0": lambda i, j: i % 4 == 0,
    "(i + j) % 2 == 0": lambda i, j: (i + j) % 2 == 0,
    "(i + j) % 2": lambda i, j: (i + j) % 2 == 1,
    "!(j & 1)": lambda i, j: j % 2 == 0,
    "j % 2 != 0": lambda i, j: j % 2 == 1,
    "2 == (i + 2 * j) % 5": lambda i, j: (i + 2 * j) % 5 == 2,
    "(2 * i + 3 * j) % 4 == 3": lambda i, j: (2 * i + 3 * j) % 4 == 3,
    "i % 2 == 0 && i % 3 == 0 && (i + j) % 4 == 1": lambda i, j: i % 6 == 0 and (i + j) % 4 == 1,
    "(4 * i + 6 * j) % 10 == 2": lambda i, j: (4 * i + 6 * j) % 10 == 2,
    "j % 3 == 1 && j > i": lambda i, j: j % 3 == 1 and j > i,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_loops_step_over_what_does_not_run(condition: str) -> None:
    holds = CONDITIONS[condition]
    scop = program(condition)
    assert any(is_strided(s) for s in scop.statements)
    dense = normalise(scop)
    assert not any(is_strided(s) for s in dense.statements)
    expected = [p for p in product(range(N), repeat=2) if holds(*p)]
    assert iterations_of(dense) == Counter(expected)


def test_what_never_runs_is_left_out_by_the_reader() -> None:
    with pytest.raises(EmptyRegion):
        program("(2 * i + 4 * j) % 6 == 3")


@pytest.mark.parametrize("condition", ["i % 3 == 1", "i % 3 == -1", "i % 3 == 0", "(i & 3) == 3"])
def test_remainders_of_negative_values_are_those_of_c(condition: str) -> None:
    scop = program(condition, start=-7)
    assert all(is_strided(s) for s in scop.statements)
    inputs = random_inputs(scop, 1)
    for engine in ("interpreter", "compiled"):
        golden = run_golden(scop, inputs, engine=engine)
        assert (golden.arrays["a"] == run_gcc(scop, inputs).arrays["a"]).all()
    values = [i for i in range(-7, N) if (abs(i) % 3) * (1 if i >= 0 else -1) == 1]
    if condition == "i % 3 == 1":
        assert {i for i, _ in iterations_of(normalise(scop))} == set(values)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(2, 7), st.integers(0, 6)),
        min_size=1,
        max_size=3,
    )
)
def test_any_congruences_leave_just_their_solutions(rows: list[tuple[int, int, int, int]]) -> None:
    rows = [(a, b, m, r % m) for a, b, m, r in rows if a or b]
    if not rows:
        return
    text = " && ".join(f"({a} * i + {b} * j) % {m} == {r}" for a, b, m, r in rows)
    expected = [
        (i, j)
        for i, j in product(range(N), repeat=2)
        if all((a * i + b * j) % m == r for a, b, m, r in rows)
    ]
    assert iterations_of(normalise(program(text))) == Counter(expected)


def test_unequal_remainders_of_three_are_no_stride() -> None:
    assert not any(is_strided(s) for s in program("i % 3 != 1").statements)


def test_one_array_under_both_branches_stays_one_statement() -> None:
    text = """int a[20], b[20]; void f(void) {
      for (int i = 0; i < 20; i++) if (i % 2) a[i] = b[i]; else a[i] = i; }"""
    (statement,) = parse_text(text, "program.c").scop.statements
    assert not is_strided(statement)


def cycles_of(text: str) -> tuple[int, int]:
    """Return the iterations issued for a program, and its instances."""
    streams = compile_program(parse_text(text, "program.c"), CompileOptions()).plan.streams
    return sum(s.count for s in streams), sum(s.instances for s in streams)


def test_a_statement_in_a_cycle_may_keep_step_with_others() -> None:
    text = """int a[64], b[64]; void f(void) { for (int i = 1; i < 64; i++) {
      a[i] = a[i - 1] * 3 + b[i - 1];
      if (i % 2 == 0) b[i] = a[i] - 5; } }"""
    assert cycles_of(text) == (126, 63 + 31)
    parsed = parse_text(text, "program.c")
    assert any(is_strided(s) for s in parsed.scop.statements)
    in_turns = analyse(parsed, in_step=True).scop.statement("S1")
    assert len(in_turns.reads) == 1
    assert not is_strided(in_turns)


def test_what_two_iterators_decide_is_asked_in_every_iteration() -> None:
    text = """int a[8][8], b[8][8]; void f(void) { for (int i = 1; i < 8; i++)
      for (int j = 1; j < 8; j++) { a[i][j] = a[i][j - 1] * 3 + b[i][j - 1];
        if ((i + j) % 2 == 0) b[i][j] = a[i][j] - 5; } }"""
    kept = analyse(parse_text(text, "program.c"), in_step=True).scop.statement("S1")
    assert len(kept.reads) == 2
    assert not is_strided(kept)


def test_two_colours_in_a_time_loop_run_half_of_the_points_each() -> None:
    colour = "e[i][j] = e[i-1][j] + e[i+1][j] + e[i][j-1] + e[i][j+1];"
    sweep = "for (int i = 1; i < 9; i++) for (int j = 1; j < 9; j++) if ((i + j) % 2 == {}) {}"
    body = sweep.format(0, colour) + sweep.format(1, colour)
    text = f"int e[10][10]; void f(void) {{ for (int t = 0; t < 3; t++) {{ {body} }} }}"
    plan = compile_program(parse_text(text, "program.c"), CompileOptions()).plan
    assert [stream.instances for stream in plan.streams] == [96, 96]
    assert all(stream.ii == 1 for stream in plan.streams)


def test_a_congruence_reads_as_one() -> None:
    (condition,) = program("(i + j) % 2 == 0").statements[0].conditions
    assert isinstance(condition, Congruence)
    assert str(condition) == "(i + j) mod 2 == 0"


@pytest.mark.parametrize("start", [-5, 3])
def test_loops_that_keep_their_first_value_step_over_the_same(start: int) -> None:
    scop = program("(i + 2 * j) % 5 == 2 && i > 0", start=start)
    names = frozenset(s.name for s in scop.statements)
    normal = normalise(scop, as_written=names)
    assert all(loop.start == Affine() for loop in normal.statements[0].loops)
    assert iterations_of(normal) == Counter(
        (i, j)
        for i, j in product(range(start, N), repeat=2)
        if i > 0 and i + 2 * j >= 0 and (i + 2 * j) % 5 == 2
    )
