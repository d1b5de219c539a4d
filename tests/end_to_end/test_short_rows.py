"""Random programs off chip whose arrays have short rows: exact in every cycle, or refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import rtlgen
from rtlgen.planning.ram_limit import TooLittleRam
from rtlgen.poly.errors import IllegalSchedule, NothingToTile
from rtlgen.scheduling.errors import NoLanes, WindowsTooLarge
from rtlgen.tiling.errors import NoParallelTiles

REFUSALS = (
    IllegalSchedule,
    NoLanes,
    NoParallelTiles,
    NothingToTile,
    TooLittleRam,
    WindowsTooLarge,
)

TYPES = ("signed char", "unsigned char", "short", "int")


def mirrored(choose: random.Random, type_: str, rows: int, columns: int, short: int) -> str:
    """Elements that differ in their last subscript, in an order that the program turns round."""
    return f"""
void f(const {type_} a[{rows}][{columns}][{short}], {type_} b[{rows}][{columns}][{short}],
       {type_} c[{rows}][{columns}]) {{
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {columns}; j++) {{
      {type_} s = 0;
      for (int k = 0; k < {short}; k++) {{
        s += a[i][j][k];
        b[i][j][k] = a[{rows - 1} - i][j][{short - 1} - k] + s;
      }}
      c[i][j] = s;
    }}
}}"""


def filtered(choose: random.Random, type_: str, rows: int, columns: int, short: int) -> str:
    """A filter for each of some channels."""
    channels = choose.choice((2, 3))
    return f"""
void f(const {type_} x[{rows + short}][{columns + short}],
       const {type_} w[{channels}][{short}][{short}], {type_} y[{channels}][{rows}][{columns}]) {{
  for (int c = 0; c < {channels}; c++)
    for (int i = 0; i < {rows}; i++)
      for (int j = 0; j < {columns}; j++) {{
        {type_} s = 0;
        for (int p = 0; p < {short}; p++)
          for (int q = 0; q < {short}; q++)
            s += x[i + p][j + q] * w[c][p][q];
        y[c][i][j] = s;
      }}
}}"""


def carried(choose: random.Random, type_: str, rows: int, columns: int, short: int) -> str:
    """Rows that are computed from the row before."""
    return f"""
void f({type_} a[{rows}][{short}], const {type_} b[{short}][{short}]) {{
  for (int i = 1; i < {rows}; i++)
    for (int j = 0; j < {short}; j++)
      for (int k = 0; k < {short}; k++)
        a[i][j] += a[i - 1][k] * b[k][j];
}}"""


def swept(choose: random.Random, type_: str, rows: int, columns: int, short: int) -> str:
    """Sweeps over an array in place."""
    return f"""
void f({type_} a[{rows}][{columns}][{short}]) {{
  for (int t = 0; t < 3; t++)
    for (int i = 1; i < {rows}; i++)
      for (int j = 1; j < {columns} - 1; j++)
        for (int k = 0; k < {short}; k++)
          a[i][j][k] = (a[i - 1][j][k] + a[i][j + 1][k] + a[i][j][{short - 1} - k]) / 2;
}}"""


def transposed(choose: random.Random, type_: str, rows: int, columns: int, short: int) -> str:
    """Two nests, the second one of what the first one leaves in another order."""
    middle = choose.choice((2, 3))
    return f"""
void f(const {type_} a[{rows}][{middle}][{short}], {type_} b[{short}][{middle}][{rows}],
       {type_} z[{rows}][{middle}]) {{
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {middle}; j++)
      for (int k = 0; k < {short}; k++)
        b[k][j][i] = a[i][j][k];
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {middle}; j++)
      z[i][j] = b[{short - 1}][j][i] + a[i][j][0];
}}"""


PROGRAMS: tuple[Callable[[random.Random, str, int, int, int], str], ...] = (
    mirrored,
    filtered,
    carried,
    swept,
    transposed,
)


def options_of(choose: random.Random) -> dict[str, Any]:
    """Return a memory off chip, and what else may be asked for."""
    found: dict[str, Any] = {
        "memory": choose.choice(("axi", "fixed:4", "axi:60", "dram")),
        "bus_bits": choose.choice((32, 64, 64, 128, 256)),
    }
    kind = choose.randrange(10)
    if kind < 3:
        found["threads"] = choose.choice((2, 3))
    elif kind < 6:
        found["unroll"] = {choose.choice("ij"): choose.choice((2, 3, 4))}
    elif kind < 8:
        found["buffer"] = False
    if choose.randrange(10) < 3:
        found["max_bram_kib"] = choose.choice((2, 4, 8))
    return found


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("first", "count"),
    [(2, 1), *(pytest.param(first, 25, marks=pytest.mark.long) for first in (0, 100, 200, 300))],
)
def test_random_programs_with_short_rows_are_exact_or_refused(first: int, count: int) -> None:
    exact = 0
    for seed in range(first, first + count):
        choose = random.Random(seed)
        make = PROGRAMS[seed % len(PROGRAMS)]
        type_, short = choose.choice(TYPES), choose.choice((2, 3, 4, 5, 7))
        text = make(choose, type_, choose.randint(3, 12), choose.randint(3, 12), short)
        options = options_of(choose)
        try:
            design = rtlgen.compile(source=text, **options)
        except REFUSALS:
            continue
        report = design.verify()
        assert report.exact and report.cycles == report.predicted_cycles, (seed, text, options)
        exact += 1
    assert exact > count // 2
