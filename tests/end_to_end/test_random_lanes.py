"""Random programs with lanes and banks, through RTL: exact, in the cycles predicted, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.oracles.random_lanes.campaign import judge_lanes

pytestmark = pytest.mark.simulation

SLOW = (7, 11, 24, 30)
"""Seeds of programs whose plans take seconds."""

QUICK = tuple(seed for seed in range(20) if seed not in SLOW)
MANY = range(100, 500)


def judged(
    seeds: Sequence[int], folder: Path, dead: bool = False, floats: bool = False
) -> Counter[str]:
    """Judge the programs of seeds; count what became of them and what is in their plans."""
    verdicts, kinds = judge_lanes(seeds, folder, dead, floats)
    wrong = [f"{v.seed}: {v.code} {v.details}" for v in verdicts if v.outcome == "wrong"]
    assert not wrong, "\n".join(wrong)
    return kinds + Counter(verdict.outcome for verdict in verdicts)


def test_a_few_random_programs_in_banks_are_exact(tmp_path: Path) -> None:
    assert judged(QUICK[:8], tmp_path)["exact"]


@pytest.mark.long
def test_some_random_programs_in_banks_are_exact(tmp_path: Path) -> None:
    seen = judged(QUICK, tmp_path)
    assert seen["exact"] >= 7
    assert seen["one bank"] >= 2 and seen["any bank"] >= 1, seen


@pytest.mark.long
@pytest.mark.parametrize("first", MANY[::80])
def test_many_random_programs_in_banks_are_exact(first: int, tmp_path: Path) -> None:
    # The others are refused with a code; a sample of them tells nothing if that is most of it.
    assert judged(range(first, first + 80), tmp_path)["exact"] >= 40


@pytest.mark.long
@pytest.mark.parametrize("first", MANY[::80])
def test_many_random_programs_with_dead_code_in_banks_are_exact(first: int, tmp_path: Path) -> None:
    assert judged(range(first, first + 80), tmp_path, dead=True)["exact"] >= 40


@pytest.mark.long
@pytest.mark.parametrize("first", MANY[:80:20])
def test_many_random_programs_in_floating_point_in_banks_are_exact(
    first: int, tmp_path: Path
) -> None:
    assert judged(range(first, first + 20), tmp_path, floats=True)["exact"] >= 3
