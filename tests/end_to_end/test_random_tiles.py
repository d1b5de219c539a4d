"""Random programs in random tiles, through RTL: exact, in the cycles predicted, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.options import BusKind
from tests.oracles.random_tiles.campaign import none_wrong

pytestmark = pytest.mark.simulation

QUICK = (1, 3, 5, 7, 12, 14, 18, 25, 30, 33)
"""Seeds of programs that are small once they are circuits, or refused soon."""

MANY = range(100, 640)
"""Seeds of which more than 300 are circuits; the others are refused, most for want of RAM."""


def test_a_few_random_programs_in_tiles_are_exact(tmp_path: Path) -> None:
    assert none_wrong(QUICK[:1], tmp_path)["exact"]


@pytest.mark.long
def test_some_random_programs_in_tiles_are_exact(tmp_path: Path) -> None:
    seen = none_wrong(QUICK, tmp_path)
    assert seen["exact"] >= 6
    assert seen["several tiles"] >= 4 and seen["stores"] >= 4 and seen["waits"], seen


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "kind"),
    [*((first, "fixed") for first in MANY[::60]), *((first, "axi") for first in MANY[:120:60])],
)
def test_many_random_programs_in_tiles_are_exact(first: int, kind: BusKind, tmp_path: Path) -> None:
    assert none_wrong(range(first, first + 60), tmp_path, kind)["exact"] >= 36


@pytest.mark.long
@pytest.mark.parametrize("kind", ["fixed", "axi"])
@pytest.mark.parametrize("form", ["one lane", "lanes", "threads"])
def test_many_random_programs_with_dead_code_in_tiles_are_exact(
    kind: BusKind, form: str, tmp_path: Path
) -> None:
    seeds = range(700, 760)
    seen = none_wrong(seeds, tmp_path, kind, form == "threads", form == "lanes", dead=True)
    assert seen["exact"] >= 20


@pytest.mark.long
@pytest.mark.parametrize("first", MANY[:60:15])
@pytest.mark.parametrize("kind", ["fixed", "axi"])
def test_many_random_programs_in_floating_point_in_tiles_are_exact(
    first: int, kind: BusKind, tmp_path: Path
) -> None:
    assert none_wrong(range(first, first + 15), tmp_path, kind, floats=True)["exact"] >= 7
