"""Random C programs: refused for a stated reason, or exact in every bit and cycle."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings

from rtlgen.ir.plan import KernelPlan
from rtlgen.options import CompileOptions
from rtlgen.output.verilog import GeneratedVerilog, generate
from tests.end_to_end import judge
from tests.end_to_end.judge import assert_plan_exact, batch_failures, compiled
from tests.end_to_end.programs import programs

SEED = 20261122
ANY_TIME = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


# Plans of such programs under random options are judged with the C of their passes.
@pytest.mark.long
def test_plans_of_random_programs_are_exact() -> None:
    seen: Counter[str] = Counter()

    @seed(SEED)
    @settings(ANY_TIME, max_examples=60)
    @given(programs())
    def judge(text: str) -> None:
        seen["programs"] += 1
        seen["down"] += "-= " in text and ">= " in text
        seen["if"] += "if (" in text
        seen["nested"] += "    for (" in text
        seen["global"] += text.index("f(") > text.index(";")
        seen["return"] += "return" in text
        seen["64 bits"] += "long" in text
        accepted = compiled(text)
        if accepted is not None:
            seen["accepted"] += 1
            assert_plan_exact(accepted)

    judge()
    assert seen["accepted"] > 0.9 * seen["programs"]
    for kind in ("down", "if", "nested", "global", "return", "64 bits"):
        assert seen[kind] >= 5, f"the strategy hardly draws {kind}: {seen}"


@pytest.mark.long
@seed(SEED + 1)
@settings(ANY_TIME, max_examples=1000)
@given(programs())
def test_plans_of_many_random_programs_are_exact(text: str) -> None:
    accepted = compiled(text)
    if accepted is not None:
        assert_plan_exact(accepted)


PLAIN = CompileOptions()
BATCH = 20
"""Circuits in one model."""


def named(text: str, name: str) -> str:
    return text.replace(" f(", f" {name}(", 1)


def failures_in_batches(
    texts: Sequence[str], folder: Path, options: CompileOptions = PLAIN
) -> dict[str, list[str]]:
    """Return what is wrong with the circuit of each program that is accepted."""
    accepted = [
        (text, program)
        for number, text in enumerate(dict.fromkeys(texts))
        if (program := compiled(named(text, f"f{number}"), options)) is not None
    ]
    found: dict[str, list[str]] = {}
    for start in range(0, len(accepted), BATCH):
        part = accepted[start : start + BATCH]
        failures = batch_failures([program for _, program in part], folder / str(start))
        found |= dict(zip((text for text, _ in part), failures, strict=True))
    return found


def judge_circuits(count: int, number: int, folder: Path, options: CompileOptions = PLAIN) -> int:
    """Judge the circuits of random programs; a failing program is shrunk by Hypothesis.

    The same programs are drawn twice: to build them in batches, and to judge them.
    """

    def draw(take: Callable[[str], None]) -> None:
        seed(SEED + number)(settings(ANY_TIME, max_examples=count)(given(programs())(take)))()

    texts: list[str] = []

    def collect(text: str) -> None:
        texts.append(text)

    draw(collect)
    found = failures_in_batches(texts, folder, options)

    def require(text: str) -> None:
        if text not in found and text not in texts:
            again = Path(tempfile.mkdtemp(dir=folder))
            found.update(failures_in_batches([text], again, options))
        assert found.get(text, []) == [], text

    draw(require)
    return len(found)


@pytest.mark.simulation
@pytest.mark.parametrize("count", [3, pytest.param(20, marks=pytest.mark.long)])
def test_circuits_of_random_programs_are_exact(count: int, tmp_path: Path) -> None:
    assert judge_circuits(count, 2, tmp_path) >= count * 2 // 3


@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
def test_circuits_with_arrays_beside_them_are_exact(part: int, tmp_path: Path) -> None:
    outside = CompileOptions(interface="external")
    assert judge_circuits(100, 20 + part, tmp_path, outside) >= 60


@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_circuits_of_many_random_programs_are_exact(part: int, tmp_path: Path) -> None:
    assert judge_circuits(110, 10 + part, tmp_path) >= 60


@pytest.mark.simulation
def test_a_wrong_circuit_of_a_batch_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = (
        f"void f(int a[8]) {{ for (int i = 0; i < 8; i++) a[i] = a[i] + {k}; }}" for k in (3, 5)
    )

    def spoilt(plan: KernelPlan) -> GeneratedVerilog:
        verilog = generate(plan)
        if plan.name == "f0":
            return verilog
        # The sum in the datapath.
        assert verilog.text.count(" + 32'd5") == 1
        return replace(verilog, text=verilog.text.replace(" + 32'd5", " - 32'd5"))

    monkeypatch.setattr(judge, "generate", spoilt)
    found = failures_in_batches([right, wrong], tmp_path)
    assert found[right] == []
    assert found[wrong] != []
