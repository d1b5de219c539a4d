"""Mutants change one point of a module, take effect wherever it is used, and can be named."""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from rtlgen.errors import registered_codes
from tests.mutation import live
from tests.mutation.judges import ROOT, Judge, equivalents, judges
from tests.mutation.mutants import mutants_of, mutated

SOURCE = '''\
"""A module with a bit of each."""

LIMIT = 3


def within(x, most=LIMIT):
    """Tell whether 0 <= x < most."""
    if not 0 <= x:
        return False
    return x < most


class Sum:
    total = 0

    def add(self, x):
        self.total += max(x, 0) if within(x) else 1
'''


@pytest.fixture
def module(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "mutated_module.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("mutated_module", path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["mutated_module"] = found
    spec.loader.exec_module(found)
    yield found
    del sys.modules["mutated_module"]


def answers(within, total) -> list[object]:  # type: ignore[no-untyped-def]
    """Return all that can be seen of the module, through functions imported before."""
    found = total()
    for x in (-1, 0, 1, 5):
        found.add(x)
    return [within(x) for x in range(-2, 6)] + [within(1, 1), found.total]


@pytest.mark.long
def test_every_mutant_is_one_change_that_takes_effect(module: ModuleType) -> None:
    assert module.__file__ is not None
    found = mutants_of(Path(module.__file__), "mutated_module.py")
    within, total = module.within, module.Sum
    right = answers(within, total)
    same = set()
    for mutant in found:
        live.apply(module, mutated(SOURCE, mutant.number))
        if answers(within, total) == right:
            same.add((mutant.line, mutant.what))
        live.apply(module, ast.parse(SOURCE))
        assert answers(within, total) == right
    # The tests see all but a part of the sum that within() has made sure of.
    assert same == {
        ("self.total += max(x, 0) if within(x) else 1", "0 becomes -1"),
    }
    assert len({mutant.key for mutant in found}) == len(found)
    assert {mutant.what for mutant in found} >= {
        "< becomes <=", "<= becomes >", "not is left out", "max becomes min", "+ becomes -",
        "3 becomes 4", "False becomes True", "the test never holds",
    }  # fmt: skip


def test_a_mutant_takes_effect_on_what_the_collector_leaves_alone(module: ModuleType) -> None:
    assert module.__file__ is not None
    (number,) = (
        mutant.number
        for mutant in mutants_of(Path(module.__file__), "mutated_module.py")
        if mutant.what == "< becomes <="
    )
    within = module.within
    gc.freeze()
    live.apply(module, mutated(SOURCE, number))
    assert within(3)


def test_a_mutant_that_nobody_would_run_is_an_error(module: ModuleType) -> None:
    del module.within
    gc.collect()
    with pytest.raises(LookupError, match="within"):
        live.apply(module, ast.parse(SOURCE))


@pytest.mark.sample(
    "rtlgen.verify.golden_state",
    "rtlgen.verify.golden_emit",
    "rtlgen.verify.golden_interpreter",
    "rtlgen.verify.golden_ranges",
    "rtlgen.ir.write_history",
)
@pytest.mark.parametrize("judge", judges(), ids=lambda judge: judge.name)
def test_the_source_of_a_judge_can_take_its_own_place(judge: Judge) -> None:
    module = importlib.import_module(judge.name)
    before = registered_codes()
    live.apply(module, ast.parse(judge.path.read_text(encoding="utf-8")))
    assert registered_codes() == before


def test_operators_in_c_text_are_mutated_where_the_module_writes_c(tmp_path: Path) -> None:
    path = tmp_path / "writer.py"
    path.write_text('def test(n):\n    return f"i < {n} && j + 1"\n')
    whats = [mutant.what for mutant in mutants_of(path, "writer.py", writes_c=True)]
    assert whats == [
        "< becomes <= in 'i <'",
        "< becomes >= in 'i <'",
        "&& becomes || in '&& j + 1'",
        "+ becomes - in '&& j + 1'",
    ]
    assert mutants_of(path, "writer.py") == []


def test_what_is_listed_as_equivalent_is_there() -> None:
    known = {mutant.key for judge in judges() for mutant in judge.mutants()}
    assert set(equivalents()) <= known


def test_every_judge_and_its_tests_are_there() -> None:
    for judge in judges():
        assert judge.path.is_file() and judge.mutants()
        for test in judge.tests:
            assert (ROOT / test).is_file(), test
