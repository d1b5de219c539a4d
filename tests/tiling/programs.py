"""Programs whose arrays go off chip, and their plans."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest.mock import patch

from rtlgen.driver import parse_source, quoting
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.memory_side import Bus
from rtlgen.judges.tile_replay import replay_parts
from rtlgen.options import BusKind, CompileOptions
from rtlgen.target import get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.plan import TiledProgram, plan_in_tiles
from rtlgen.windows.workers import ONE_WORKER, WorkerRequest

KIB = 8192

TRANSPOSED = """
#include <stdint.h>
void transposed(uint8_t a[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = a[j][i] + a[i][j - 1];
}
"""

PRODUCT = """
void product(int C[N][N], int A[N][N], int B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""

TRIANGULAR = """
void triangular(int A[N][N], int B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < N; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = 3 * B[i][j];
    }
}
"""

TWO_PRODUCTS = """
void two_products(int A[N][N], int B[N][N], int C[N][N], int D[N][N]) {
  int T[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      T[i][j] = 0;
      for (int k = 0; k < N; k++)
        T[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        D[i][j] += T[i][k] * C[k][j];
}
"""

BLUR = """
#include <stdint.h>
void blur(int8_t x[N][N], const int8_t w[3], int8_t y[N][N]) {
  for (int i = 0; i < N - 2; i++)
    for (int j = 0; j < N - 2; j++)
      y[i][j] = x[i][j] * w[0] + x[i + 1][j + 1] * w[1] + x[i + 2][j + 2] * w[2];
}
"""

NINE = """
#include <stdint.h>
void nine(const int8_t x[N][N], const int8_t w[4][3][3], int8_t y[4][N][N]) {
  for (int c = 0; c < 4; c++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        int8_t s = 0;
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 3; q++)
            s += x[i + p - 1][j + q - 1] * w[c][p][q];
        y[c][i][j] = s;
      }
}
"""

PIXELS = """
#include <stdint.h>
void pixels(const uint8_t seen[N][N][3], uint8_t mirrored[N][N][3], uint8_t grey[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      grey[i][j] = (seen[i][j][0] + 2 * seen[i][j][1] + seen[i][j][2]) / 4;
      for (int k = 0; k < 3; k++)
        mirrored[i][j][k] = seen[N - 1 - i][j][2 - k];
    }
}
"""

LOOKUP = """
#include <stdint.h>
void lookup(const uint8_t x[N], const int t[256], int y[N]) {
  for (int i = 0; i < N; i++)
    y[i] = t[x[i]];
}
"""

JACOBI = """
void jacobi(int A[N][N], int B[N][N]) {
  for (int t = 0; t < 6; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        B[i][j] = (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]) / 4;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]) / 4;
  }
}
"""

SEIDEL = """
void seidel(int A[N][N]) {
  for (int t = 0; t < 6; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                   + A[i + 1][j]) / 8;
}
"""

LU = """
void lu(int A[N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
}
"""

FILTER = """
#include <stdint.h>
void filter(const int16_t x[N], const int16_t w[8], int y[N - 8]) {
  for (int i = 0; i < N - 8; i++)
    for (int j = 0; j < 8; j++)
      y[i] += x[i + j] * w[j];
}
"""

ELIMINATION = """
void elimination(int A[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++)
      for (int j = k + 1; j < N; j++)
        A[i][j] -= A[i][k] * A[k][j];
}
"""

LU_BY_STEPS = """
void lu(int A[N][N]) {
  for (int k = 0; k < N; k++) {
    for (int i = k + 1; i < N; i++)
      A[i][k] /= A[k][k];
    for (int i = k + 1; i < N; i++)
      for (int j = k + 1; j < N; j++)
        A[i][j] -= A[i][k] * A[k][j];
  }
}
"""

SHORTEST_PATHS = """
void shortest_paths(int p[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];
}
"""

UNEVEN = """
void uneven(int a[N]) {
  for (int i = 2; i < N - 2; i++) {
    a[i] = a[i + 2] + a[2];
    for (int j = 2; j < N - 2; j += 2) {
      a[i + 2] = a[i] + a[i + 1];
      a[i - 1] += a[i];
    }
  }
}
"""
"""The statements of a tile issue different numbers of iterations."""

BACKWARDS = """
#include <stdint.h>
void backwards(int16_t a[N], int16_t b[N]) {
  for (int i = N - 1; i > 0; i -= 2)
    b[i] = a[i] + b[i - 1];
}
"""

EVERY_THIRD = """
#include <stdint.h>
void every_third(int16_t a[N], int16_t b[N]) {
  for (int i = N - 1; i > 0; i -= 3)
    b[i] = a[i] + b[i - 1];
}
"""

STRIDED = """
void strided(int b[N][N + 3]) {
  for (int i = 2; i <= 7; i += 3)
    if (i > 4)
      b[i + 2][2 * i - 2] += b[i - 1][i - 2];
}
"""


ROWS = """
void rows(const int x[N][16], int y[N][16]) {
  for (int r = 0; r < N; r++) {
    int hash = 1, sum = 0;
    for (int i = 0; i < 16; i++)
      hash = 33 * hash + x[r][i];
    for (int i = 0; i < 16; i++)
      sum = 31 * sum + (x[r][i] ^ hash);
    for (int i = 0; i < 16; i++)
      y[r][i] = (hash - x[r][i]) ^ sum;
  }
}
"""
"""Each loop over a row waits for all of the one before, and rows of a tile take turns in them."""

OVERWRITTEN = """
#include <stdint.h>
void overwritten(int16_t a[N], int16_t b[N], int16_t c[N]) {
  for (int i = 0; i < N; i++)
    a[i] = b[i];
  for (int i = 1; i < N; i++)
    a[i] = c[i];
}
"""

NEVER_SEEN = """
#include <stdint.h>
void never_seen(int16_t a[N], int16_t b[N]) {
  for (int i = 0; i < N; i++)
    a[i] = b[i];
  for (int i = 0; i < N; i++)
    a[i] = 3 * b[i];
}
"""


def parsed(text: str, size: int) -> ParsedProgram:
    return parse_source(text, "program.c", CompileOptions(defines={"N": str(size)}))


@cache
def planned(
    text: str,
    size: int,
    tile: tuple[int, ...] = (),
    *,
    kind: BusKind = "fixed",
    latency_cycles: int = 8,
    word_bits: int = 64,
    on_chip: frozenset[str] = frozenset(),
    budget_bits: int = 64 * KIB,
    buffer: bool = True,
    workers: WorkerRequest = ONE_WORKER,
    lanes: LaneRequest | None = None,
) -> TiledProgram:
    """Return the plan of a program of one size; it has been replayed where it is small."""
    bus = Bus(kind, latency_cycles)
    request = TileRequest(bus, word_bits, on_chip, tile, budget_bits, buffer, workers, lanes)
    program = parsed(text, size)
    with quoting(program), limited_effort():
        tiled = plan_in_tiles(program, request, get_target("ecp5"))
        is_proven(tiled)
        return tiled


@cache
def is_proven(tiled: TiledProgram) -> bool:
    """Replay a plan: raise where it is wrong, tell whether it is small enough to be judged."""
    return replay_parts(tiled.plan, tiled.judged_parts, tiled.program.scop)


@cache
def planned_through_memory(
    text: str, size: int, tile: tuple[int, ...] = (), **options: Any
) -> TiledProgram:
    """Return the plan of a program whose workers hand nothing over to each other on chip."""
    with patch("rtlgen.tiling.part.handing_over", return_value=None):
        return planned.__wrapped__(text, size, tile, **options)
