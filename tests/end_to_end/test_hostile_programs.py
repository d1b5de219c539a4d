"""Programs made to take for ever are refused in bounded time, or compiled after all."""

from __future__ import annotations

import time
from collections.abc import Callable

import islpy as isl
import pytest

import rtlgen.ir.effort as effort
from rtlgen.design import Design
from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.frontend.program import ParsedProgram
from rtlgen.ir.effort import (
    TooComplex,
    improving,
    keep_going,
    limited_effort,
    more_effort,
    noting_limits,
)
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import examine
from rtlgen.poly.dependences import dependence_rows

ALLOWED_WORK = 1_000_000
"""Given to each of the compiler's two attempts in these tests, so that they end soon."""

ALLOWED_SECONDS = 30.0
"""More than these two attempts take, with the last step of each, on a slow machine."""


def nest(iterators: int, extent: str, body: str) -> str:
    heads = (f"for (int i{k} = 0; i{k} < {extent}; i{k}++)" for k in range(iterators))
    return f"{' '.join(heads)} {{ {body} }}"


def sum_of(coefficients: list[int]) -> str:
    return " + ".join(f"{c} * i{k}" for k, c in enumerate(coefficients))


COEFFICIENTS = nest(
    4,
    "9",
    f"a[{sum_of([103, 77, 99, 31])}] = a[{sum_of([98, 65, 122, 17])}]"
    f" + a[{sum_of([97, 55, 101, 43])}];",
)
LARGE_COEFFICIENTS = nest(
    3, "40", f"a[{sum_of([1000003, 77777, 9973])}] = a[{sum_of([999983, 65537, 12289])}] + 1;"
)
DEEP = nest(12, "2", f"a[{sum_of([1] * 12)}] += 3 * a[{sum_of([1 + k % 3 for k in range(12)])}];")
STATEMENTS = "\n".join(
    f"for (int i = 0; i < 16; i++) a[i + {k % 7}] = a[i + {3 * k % 5}] * {k} + a[{k % 16}];"
    for k in range(150)
)
ONE_LOOP = nest(
    1, "16", " ".join(f"a[i0 + {k % 7}] = a[i0 + {3 * k % 5}] * {k} + a[{k}];" for k in range(40))
)
PIECES = nest(
    2,
    "32",
    " ".join(f"if (i0 % {k + 2} == i1 % {k + 3}) a[i0] = a[i1] * 3 + {k};" for k in range(6)),
)
TRIANGLES = " ".join(
    f"for (int i{k} = {'0' if k == 0 else f'i{k - 1}'}; i{k} < 7; i{k}++)" for k in range(7)
)
INSTANCES = nest(3, "1000", "a[i0] = a[i0] * 3 + a[i1] * i2;")

PROGRAMS = {
    "coefficients": (COEFFICIENTS, 5_000),
    "large-coefficients": (LARGE_COEFFICIENTS, 60_000_000),
    "deep": (DEEP, 64),
    "statements": (STATEMENTS, 64),
    "one-loop": (ONE_LOOP, 64),
    "pieces": (PIECES, 64),
    "triangles": (f"{TRIANGLES} a[i6] += a[i0 + i3] * 5;", 64),
    "instances": (INSTANCES, 1000),
}

# The first does all that `check` does, the second all that `plan` does.
VERBS: dict[str, Callable[[ParsedProgram], object]] = {
    "deps": lambda program: _rows(program),
    "emit-c": lambda program: _emitted(program),
}


def _rows(program: ParsedProgram) -> object:
    analysis = examine(program)
    return dependence_rows(analysis.sets, analysis.dependences)


def _emitted(program: ParsedProgram) -> str:
    options = CompileOptions()
    return Design(compile_program(program, options), options).c_text("pad")


@pytest.mark.sample(
    "instances-deps",
    "instances-emit-c",
    "pieces-deps",
    "triangles-deps",
    "one-loop-deps",
    "one-loop-emit-c",
)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "name",
    [
        # It ends as `coefficients` does, in a step that takes twenty seconds.
        pytest.param(name, marks=pytest.mark.long if name == "large-coefficients" else ())
        for name in PROGRAMS
    ],
)
def test_a_hostile_program_has_an_answer_in_bounded_time(
    name: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "MAX_WORK", ALLOWED_WORK)
    monkeypatch.setattr(effort, "MORE_WORK", ALLOWED_WORK)
    body, size = PROGRAMS[name]
    begun = time.thread_time()
    try:
        VERBS[verb](parse_text(f"void f(int a[{size}]) {{\n{body}\n}}\n"))
    except RtlgenError as error:
        assert error.code == "E0208", str(error)
        assert error.diagnostic.help
    assert time.thread_time() - begun < ALLOWED_SECONDS


def test_the_operations_of_one_step_are_limited() -> None:
    program = parse_text(f"void f(int a[5000]) {{ {COEFFICIENTS} }}")
    with pytest.raises(TooComplex) as found:
        examine(program)
    assert "elementary isl operations" in found.value.diagnostic.notes[0]


def test_describing_dependences_is_limited_too() -> None:
    program = parse_text(f"void f(int a[64]) {{ {nest(2, '8', 'a[i0] = a[i1] + a[i0];')} }}")
    analysis = examine(program)
    analysis.sets.context.set_max_operations(1)
    with pytest.raises(TooComplex):
        dependence_rows(analysis.sets, analysis.dependences)


def test_the_work_of_all_steps_of_a_compilation_is_added_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(effort, "MAX_WORK", 5 * effort.STEP_WORK)
    with limited_effort(), pytest.raises(TooComplex, match="too complex") as found:
        for _ in range(6):
            with limited_effort():
                keep_going()
    assert found.value.diagnostic.notes == ("it needs too many elementary steps",)
    with limited_effort():
        for _ in range(5):
            keep_going()
        with pytest.raises(TooComplex):
            keep_going(work=1)


def test_a_second_attempt_has_work_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_WORK", effort.STEP_WORK)
    with limited_effort():
        with more_effort():
            for _ in range(10):
                keep_going()
        keep_going()
        with pytest.raises(TooComplex):
            keep_going()


def test_what_is_not_weighed_to_the_end_is_said() -> None:
    with noting_limits() as limits:
        with improving("another order"), limited_effort():
            keep_going()
        assert not limits
        with improving("another order"), limited_effort():
            keep_going(work=effort.MAX_WORK)
    assert list(limits) == ["another order would take too long to be weighed to the end"]


def test_what_isl_does_counts_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_WORK", 20_000)
    context = isl.Context()
    with limited_effort(), pytest.raises(TooComplex):
        for _ in range(100):
            # Two thousand operations and more, where a step alone counts for a hundred.
            for _ in range(5):
                isl.Set.read_from_str(context, "{ [i, j] : 0 <= i < 10 and 0 <= j < i }")
            keep_going(context)
        pytest.fail("that was far too much")
    assert context.get_max_operations() == 0


def test_every_run_counts_the_same() -> None:
    program = parse_text(f"void f(int a[64]) {{ {nest(2, '8', 'a[i0] = a[i1] + a[i0];')} }}")

    def work() -> int:
        with limited_effort():
            account = effort._account.get()
            assert account is not None
            compile_program(program, CompileOptions())
            return effort.MAX_WORK - account.left

    assert work() == work() > 1000


def test_the_clock_ends_what_no_count_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_SECONDS", -1.0)
    with limited_effort():
        keep_going(work=effort.WATCHED_WORK // 2)
        with pytest.raises(TooComplex) as found:
            keep_going(work=effort.WATCHED_WORK // 2)
    assert "seconds of computing time" in found.value.diagnostic.notes[0]
