"""`rtlgen explore`: the designs that are worth a choice, with what builds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import rtlgen

DOT = """
void dot(const short a[16][8], const short b[8], int c[16])
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            c[i] += a[i][j] * b[j];
}
"""

ROWS = """
#include <stdint.h>
void rows(uint8_t a[16][16])
{
    for (int i = 0; i < 16; i++)
        for (int j = 1; j < 16; j++)
            a[i][j] = a[i][j] + a[i][j - 1];
}
"""


@pytest.fixture
def dot(tmp_path: Path) -> Path:
    path = tmp_path / "dot.c"
    path.write_text(DOT)
    return path


def test_designs_on_the_front_are_built_as_they_were_planned(dot: Path) -> None:
    found = rtlgen("explore", dot, "--circuits", "0", "--plans", "6", "--json")
    assert found.status == 0
    points = found.document["points"]
    on_front = [point for point in points if point["on_front"]]
    assert len(on_front) > 1 and points[0]["options"] == ""
    cycles = [point["cycles"] for point in sorted(on_front, key=lambda p: p["planned"]["dsp"])]
    assert cycles == sorted(cycles, reverse=True)
    for point in on_front[:3]:
        plan = rtlgen("plan", dot, *point["options"].split(), "--json").document
        assert plan["predicted_cycles"] == point["cycles"]


def test_what_was_asked_for_is_kept(dot: Path) -> None:
    found = rtlgen("explore", dot, "--circuits", "0", "--unroll", "j=2", "--plans", "8", "--json")
    assert not any("--unroll j" in point["options"] for point in found.document["points"])


@pytest.mark.long
def test_threads_and_tiles_are_searched_off_chip(tmp_path: Path) -> None:
    path = tmp_path / "rows.c"
    path.write_text(ROWS)
    lanes = ("--unroll", "i=1", "--json")
    arguments = ("--memory", "axi:30", "--circuits", "0", "--plans", "14")
    found = rtlgen("explore", path, *arguments, *lanes).document
    texts = [point["options"] for point in found["points"]]
    assert any("--threads 2" in text for text in texts)
    assert any("--tile 8,8" in text for text in texts)


def test_a_limit_is_told(dot: Path) -> None:
    found = rtlgen("explore", dot, "--circuits", "0", "--plans", "2")
    assert "2 designs were planned, and no more: --plans" in found.out


@pytest.mark.long
def test_circuits_are_measured(dot: Path) -> None:
    arguments = ("--target", "ice40", "--plans", "1", "--circuits", "2")
    found = rtlgen("explore", dot, *arguments, "--json").document
    assert [point["options"] for point in found["points"]] == ["", "--index divide"]
    assert all(point["measured"]["lut"] > 0 for point in found["points"])
    assert found["limits"]


def test_a_program_that_is_refused_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.c"
    path.write_text("void f(int a[4]) { for (int i = 0; i < 4; i++) a[i * i] = 1; }\n")
    found = rtlgen("explore", path)
    assert found.status == 2
    assert "error[E" in found.err
