"""Random programs of loops that are left, and jumps of every kind, against gcc."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracles.gcc_oracle import have_gcc
from tests.oracles.random_control.circuits import circuit_failures
from tests.oracles.random_control.judging import judge
from tests.oracles.random_control.programs import Program, random_control

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

FEW = range(6)
MANY = range(1_000, 1_400)
CIRCUITS = range(2_000, 2_120)
CHUNK = 20

_RIGHT = ("as gcc", "undefined", "narrow")


@pytest.mark.parametrize("seed", FEW)
def test_a_random_program_is_as_gcc_has_it_or_refused(seed: int) -> None:
    program = random_control(seed)
    verdict = judge(program, seed, runs=2)
    assert verdict.outcome in (*_RIGHT, "refused"), f"{verdict}\n{program.text}"


def test_a_seed_is_a_program() -> None:
    assert random_control(7) == random_control(7) != random_control(8)


def test_a_program_that_is_read_wrongly_is_noticed() -> None:
    """A stated bound is taken at its word: here it is too small."""
    text = "int f(unsigned char n) {{ int s = 0;\n{}while (n > 3) {{ n -= 1; s++; }} return s; }}"
    right = Program(text.format(""), {"n": (0, 200)})
    assert judge(right).outcome == "as gcc"
    wrong = replace(right, text=text.format("#pragma rtlgen bound 5\n"))
    assert judge(wrong).outcome == "wrong"


def test_values_that_are_refused_though_they_have_a_meaning_are_noticed() -> None:
    text = (
        "void f(int n, int t, int y[4]) { if (t == 1) for (int i = 0; i < n; i++) y[i] = t; else "
        "for (int i = 0; i < n; i++) if (t == 12345) y[i] = t; }"
    )
    assert judge(Program(text, {"n": (0, 9), "t": (2, 9)})).outcome in ("narrow", "as gcc")


def test_what_leaves_its_arrays_is_no_error_of_the_reader() -> None:
    text = "int f(const int a[4], unsigned char n) { return n < 99 ? a[n] : 0; }"
    assert judge(Program(text, {"n": (0, 98)})).outcome in ("as gcc", "undefined", "refused")


@pytest.mark.long
@pytest.mark.parametrize("first", range(MANY.start, MANY.stop, CHUNK))
def test_many_random_programs_are_and_many_are_accepted(first: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(first, first + CHUNK):
        program = random_control(seed)
        verdict = judge(program, seed)
        assert verdict.outcome in (*_RIGHT, "refused"), f"{seed}: {verdict}\n{program.text}"
        seen[verdict.outcome] += 1
    assert seen["as gcc"] > CHUNK // 3, seen


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("first", range(CIRCUITS.start, CIRCUITS.stop, CHUNK))
def test_circuits_of_random_programs_are_exact(first: int, tmp_path: Path) -> None:
    failures = circuit_failures(range(first, first + CHUNK), tmp_path)
    assert failures
    assert not any(failures.values()), failures
