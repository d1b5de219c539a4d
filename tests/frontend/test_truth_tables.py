"""Conditions that one function of the iterators decides become domains, however they are written.

What the others ask in their iterations is asked there; statements that run in turns wait for no
iteration in which they do not run.
"""

from __future__ import annotations

import random

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.poly.instances import statement_points
from rtlgen.transforms.normalise import is_strided, normalise
from tests.end_to_end.judge import assert_plan_exact, compiled
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

IN_ONE_PLACE = {
    "i * i < 50": range(8),
    "(i & 24) == 8": range(8, 16),
    "(i >> 2) * 3 == 6": range(8, 12),
    "i < 8 && (i % 8) / 4 == 1": range(4, 8),
    "(unsigned char)(i + 250) < 4": range(6, 10),
    "(i ^ 5) < 1": range(5, 6),
    "(1 << i % 8) == 4": range(2, 30, 8),
    "(3 * i + 1) % 12 == 7": range(2, 30, 4),
    "!((i & 7) - 3)": range(3, 30, 8),
    "i % 8 / 8 == 0": range(30),
}


def program(condition: str, header: str = "int i = 0; i < 30; i++") -> Scop:
    return parse_text(
        f"void f(int a[40], const int b[40]) {{ for ({header}) if ({condition}) a[i + 2] = b[i]; }}"
    ).scop


def iterations_of(scop: Scop) -> list[int]:
    """Return the values of the iterator for which the statement runs."""
    found = []
    for statement in scop.statements:
        assert len(statement.reads) == 1, "nothing is asked while it runs"
    normal = normalise(scop) if scop.statements else scop
    for statement in normal.statements:
        for point in statement_points(normal, statement).tolist():
            values = dict(zip(statement.iterators, point, strict=True))
            found += [form.evaluate(values) for form in statement.origin]
    return sorted(found)


@pytest.mark.parametrize("condition", IN_ONE_PLACE)
def test_a_condition_in_one_place_is_a_domain(condition: str) -> None:
    assert iterations_of(program(condition)) == list(IN_ONE_PLACE[condition])


@pytest.mark.parametrize("condition", ["(i % 4) / 2 == 0", "i / 2 % 2 == 0", "(i & 2) == 0"])
def test_a_loop_of_larger_steps_has_its_values_alone(condition: str) -> None:
    found = iterations_of(program(condition, "int i = 0; i < 30; i += 2"))
    assert found == list(range(0, 30, 4))
    assert iterations_of(program("i % 2 == 0", "int i = 4; i < 30; i += 2")) == [*range(4, 30, 2)]


OF_MANY = {
    "i % 5 == 3": [i for i in range(-2000, 2001) if i > 0 and i % 5 == 3],
    "i % 5 == 0": range(-2000, 2001, 5),
    "(3 * i + 7) % 6 == -2": [i for i in range(-2000, -2) if i % 2],
    "(i & 12) == 4 && (i & 3) == 1": range(-1995, 2001, 16),
    "(i >> 4) >= 100": range(1600, 2001),
}


def program_of_many(condition: str) -> Scop:
    text = f"for (int i = -2000; i <= 2000; i++) if ({condition}) a[i + 2000] = b[i + 2000];"
    return parse_text(f"void f(int a[4001], const int b[4001]) {{ {text} }}").scop


@pytest.mark.parametrize("condition", OF_MANY)
def test_of_many_values_those_tell_after_which_it_repeats(condition: str) -> None:
    assert iterations_of(program_of_many(condition)) == list(OF_MANY[condition])


@pytest.mark.parametrize("condition", ["i * i < 50", "i % 5 != 3"])
def test_one_of_many_values_in_no_one_place_stays_a_question(condition: str) -> None:
    (statement,) = program_of_many(condition).statements
    assert len(statement.reads) == 2


@pytest.mark.parametrize("condition", ["i % 3 != 1", "i % 8 < 5", "(i & 8) == 0 && b[i] > 0"])
def test_one_in_several_places_stays_a_question(condition: str) -> None:
    (statement,) = program(condition).statements
    assert not is_strided(statement)
    assert len(statement.reads) >= 2


def drawn(numbers: random.Random) -> str:
    """Return a condition on i alone."""
    value = "i"
    for _ in range(numbers.randrange(1, 4)):
        op = numbers.choice(["+", "-", "*", "/", "%", "&", "|", "^", ">>"])
        value = f"({value} {op} {numbers.randrange(1, 9 if op != '>>' else 4)})"
        if numbers.random() < 0.2:
            value = f"({numbers.choice(['unsigned char', 'short', 'signed char'])}){value}"
    return f"{value} {numbers.choice(['==', '!=', '<', '>=', '>'])} {numbers.randrange(-2, 12)}"


@needs_gcc
@pytest.mark.parametrize("seed", range(12))
def test_conditions_of_iterators_hold_where_they_do_in_c(seed: int) -> None:
    numbers = random.Random(seed)
    loops = []
    for n in range(6):
        start, step = numbers.randrange(-3, 4), numbers.choice([1, 1, 2, 3, -1, -2])
        first, last = (start + 3, 36) if step > 0 else (36, start + 3)
        header = f"int i = {first}; i {'<' if step > 0 else '>'} {last}; i += {step}"
        arms = f"if ({drawn(numbers)}) a[{n}][i] += x[i]; else a[{n}][i] -= {n} * i;"
        loops.append(f"for ({header}) {{ {arms} }}")
    assert_as_gcc(f"void f(int a[6][40], const int x[40]) {{ {' '.join(loops)} }}", runs=1)


IN_TURNS = """void f(int a[16], int b[16], int c[16]) { int turn = 0;
  for (int e = 0; e < 2 * %d; e += 2) {
    for (int i = 0; i < 16; i++) c[i] = 0;
    if (turn == 0) { for (int i = 0; i < 16; i++) c[a[i] & 15]++; }
    else { for (int i = 0; i < 16; i++) c[b[i] & 15]++; }
    if (turn == 0) { for (int i = 0; i < 16; i++) b[c[i] & 15] = a[15 - i] + e; turn = 1; }
    else { for (int i = 0; i < 16; i++) a[c[i] & 15] = b[15 - i] + e; turn = 0; } } }"""


@pytest.mark.parametrize("rounds", [6, 7])
def test_statements_that_run_in_turns_share_the_time(rounds: int) -> None:
    """Of five sweeps, of which two and two never run in one iteration, three take time."""
    text = IN_TURNS % rounds
    made = compile_program(parse_text(text), CompileOptions())
    assert made.replayed
    runs = {stream.statement: stream.instances for stream in made.plan.streams}
    even, odd = -(-rounds // 2), rounds // 2
    assert runs == {
        "S0": 16 * rounds,
        "S1": 16 * even,
        "S2": 16 * odd,
        "S3": 16 * even,
        "S4": 16 * odd,
    }
    assert predicted_cycles(made.plan) < rounds * 4 * 16
    accepted = compiled(text)
    assert accepted is not None
    assert_plan_exact(accepted)
