"""Random programs whose scalars count, go round and change places, against gcc."""

from __future__ import annotations

import random

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from rtlgen.verify.golden_state import SubscriptError
from tests.oracles.gcc_oracle import have_gcc, run_gcc

ALLOWED = frozenset(("E0117", "E0118", "E0143"))
"""Codes with which a program may be refused: not all of them are affine."""

TYPES = ("int", "int", "unsigned", "unsigned char", "short", "signed char", "long")


class Writer:
    """Writes one program.

    Parameters
    ----------
    seed: of all choices.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._scalars = ["x", "y", "z"][: self._random.randint(1, 3)]
        self._iterators: list[str] = []

    def text(self) -> str:
        """Return a function."""
        types = (self._random.choice(TYPES) for _ in self._scalars)
        declared = " ".join(
            f"{type_} {name} = {self._number(0, 2)};"
            for type_, name in zip(types, self._scalars, strict=True)
        )
        body = self._loop(f"for (int i = 0; i < {self._number(3, 14)}; i++)", "i")
        values = " + 3 * ".join(self._scalars)
        return (
            "int f(int a[256], const int b[256]) "
            f"{{ int s = 0; {declared} {body} return s + {values}; }}"
        )

    def _number(self, low: int, high: int) -> str:
        return str(self._random.randint(low, high))

    def _loop(self, header: str, iterator: str) -> str:
        self._iterators.append(iterator)
        parts = [self._statement() for _ in range(self._random.randint(1, 3))]
        text = f"{header} {{ {' '.join([*parts, self._use(), self._step(0)])} }}"
        self._iterators.pop()
        return text

    def _statement(self) -> str:
        kind = self._random.random()
        if kind < 0.3 and len(self._iterators) < 3:
            name, low = "ijk"[len(self._iterators)], self._random.randint(0, 3)
            high, step = low + self._random.randint(1, 7), self._number(1, 3)
            headers = (
                f"for (int {name} = {low}; {name} < {high}; {name} += {step})",
                f"for (int {name} = {high}; {name} >= {low}; {name} -= {step})",
                f"for (int {name} = 0; {name} < (i < 3 ? {high} : {step}); {name}++)",
                f"for (int {name} = {low}, m = {high + 3}; {name} < m; {name} += {step}, m--)",
            )
            return self._loop(self._random.choice(headers), name)
        return self._step(0) if kind < 0.65 else self._use()

    def _condition(self) -> str:
        name = self._random.choice([*self._scalars, *self._iterators])
        forms = (
            f"{name} == {self._number(0, 6)}",
            f"{name} >= {self._number(1, 6)}",
            f"{name} != {self._number(0, 4)}",
            f"{name} % {self._number(2, 4)} == {self._number(0, 1)}",
            f"({name} & {self._number(1, 7)}) == {self._number(0, 1)}",
            f"{name} < {self._random.choice(self._scalars)}",
        )
        return self._random.choice(forms)

    def _step(self, depth: int) -> str:
        name, other = self._random.choice(self._scalars), self._random.choice(self._scalars)
        limit = self._random.randint(2, 6)
        inner = self._step(depth + 1) if depth < 3 else f"{other}++;"
        forms = (
            f"if (++{name} == {limit}) {{ {name} = 0; {inner} }}",
            f"{name}++; if ({name} >= {limit}) {{ {name} = {self._number(0, 1)}; {inner} }}",
            f"{name} += {self._number(1, 3)};",
            f"{name}--;",
            f"{name} = {name} == {limit} ? {self._number(0, 1)} : {name} + 1;",
            f"if ({self._condition()}) {{ {inner} }}",
            f"if ({self._condition()}) {{ {inner} }} else {name}++;",
            f"{{ int t = {name} + 1; {name} = t >= {limit} ? t - {limit} : t; }}",
            f"{{ int t = {name}; {name} = {other}; {other} = t; }}",
            f"{name} = ({name} + {self._number(1, 3)}) % {limit};",
            f"{name} = {self._random.choice([*self._scalars, *self._iterators])};",
        )
        return self._random.choice(forms)

    def _subscript(self) -> str:
        name, other = self._random.choice(self._scalars), self._random.choice(self._scalars)
        iterator = self._random.choice(self._iterators)
        forms = (
            f"{self._random.choice([name, iterator])} & 63",
            f"{name} + 16",
            f"4 * {name} + {other} + 24",
            f"({name} < {self._number(1, 5)} ? {name} : {other}) + 20",
            f"({iterator} < {self._number(1, 5)} ? {iterator} : {iterator} + 3) + 8",
        )
        return self._random.choice(forms)

    def _use(self) -> str:
        name = self._random.choice(self._scalars)
        forms = (
            f"a[{self._subscript()}] += b[{self._subscript()}] + {self._iterators[-1]};",
            f"a[{self._subscript()}] = a[{self._subscript()}] * 3 + {name};",
            f"if ({self._condition()}) a[{self._subscript()}] ^= {name};",
            f"s = s * 5 + {name} * 7 + a[{self._subscript()}];",
        )
        return self._random.choice(forms)


def is_as_in_gcc(text: str, seed: int) -> bool:
    """Return whether a program was accepted; it must mean what gcc says it means."""
    try:
        program = parse_text(text)
    except FrontendError as error:
        assert error.code in ALLOWED, f"{error.code}: {error}\n{text}"
        return False
    if any(warning.code == "W0108" for warning in program.warnings):
        # It would store outside of an array: what gcc makes of that may be anything.
        return False
    scop = program.scop
    inputs = random_inputs(scop, seed)
    try:
        mine = run_golden(scop, inputs, engine="interpreter")
    except SubscriptError:
        return False
    theirs = run_gcc(scop, inputs)
    for name, expected in theirs.arrays.items():
        assert mine.arrays[name].tolist() == expected.tolist(), text
    assert mine.returned == theirs.returned, text
    return True


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("count", [8, pytest.param(30, marks=pytest.mark.long)])
def test_counters_in_random_programs_mean_what_gcc_says(count: int) -> None:
    assert sum(is_as_in_gcc(Writer(seed).text(), seed) for seed in range(count)) >= count // 4


@pytest.mark.long
@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("part", range(4))
def test_counters_in_many_random_programs_mean_what_gcc_says(part: int) -> None:
    seeds = range(1000 + 100 * part, 1100 + 100 * part)
    assert sum(is_as_in_gcc(Writer(seed).text(), seed) for seed in seeds) >= 25


def test_a_wrong_count_is_noticed() -> None:
    text = "int f(int a[8]) { int x = 0; for (int i = 0; i < 8; i++) { a[x] = i; x++; } return x; }"
    scop = parse_text(text).scop
    other = parse_text(text.replace("x++", "x += i > 8")).scop
    inputs = random_inputs(scop, 1)
    assert run_golden(scop, inputs).returned != run_golden(other, inputs).returned
