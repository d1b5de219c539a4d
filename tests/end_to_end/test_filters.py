"""Filters with constant taps: no table in RAM, sums in place of products, exact in the circuit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.operation_costs import multiplier_blocks
from rtlgen.options import CompileOptions
from tests.end_to_end.judge import Compiled, batch_failures, compiled

SOBEL = """
static const int gx[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
static const int gy[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};
void sobel(const unsigned char in[120][160], unsigned char out[120][160])
{
  for (int y = 1; y < 119; y++)
    for (int x = 1; x < 159; x++) {
      int sx = 0, sy = 0;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          int p = in[y + i - 1][x + j - 1];
          sx += p * gx[i][j];
          sy += p * gy[i][j];
        }
      int m = (sx < 0 ? -sx : sx) + (sy < 0 ? -sy : sy);
      out[y][x] = m > 255 ? 255 : m;
    }
}
"""
FIR = """
void fir(const short x[66], int y[64])
{
  int h[3] = {1, 2, 1};
  for (int t = 0; t < 64; t++) {
    int s = 0;
    for (int k = 0; k < 3; k++)
      s += h[k] * x[t + k];
    y[t] = s;
  }
}
"""
GAUSSIAN = """
static const unsigned char w[5][5] = {
  {1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1}};
void gaussian(const unsigned char in[20][24], unsigned char out[20][24])
{
  for (int y = 2; y < 18; y++)
    for (int x = 2; x < 22; x++) {
      int s = 0;
      for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
          s += in[y + i - 2][x + j - 2] * w[i][j];
      out[y][x] = s >> 8;
    }
}
"""
DCT = """
static const short c[8][8] = {
  {64, 64, 64, 64, 64, 64, 64, 64},     {89, 75, 50, 18, -18, -50, -75, -89},
  {83, 36, -36, -83, -83, -36, 36, 83}, {75, -18, -89, -50, 50, 89, 18, -75},
  {64, -64, -64, 64, 64, -64, -64, 64}, {50, -89, 18, 75, -75, -18, 89, -50},
  {36, -83, 83, -36, -36, 83, -83, 36}, {18, -50, 75, -89, 89, -75, 50, -18}};
void dct(const short x[32][8], int y[32][8])
{
  for (int b = 0; b < 32; b++)
    for (int u = 0; u < 8; u++) {
      int s = 0;
      for (int k = 0; k < 8; k++)
        s += c[u][k] * x[b][k];
      y[b][u] = s;
    }
}
"""


def filtered(text: str, *loops: str) -> Compiled:
    found = compiled(text, CompileOptions(pipeline=loops))
    assert found is not None
    return found


def tables(program: Compiled) -> Sequence[str]:
    return [memory.name for memory in program.plan.memories if memory.kind == "rom"]


@pytest.mark.long
@pytest.mark.simulation
def test_filters_of_small_taps_take_sums_alone(tmp_path: Path) -> None:
    filters = [filtered(SOBEL, "x"), filtered(FIR, "t"), filtered(GAUSSIAN, "x")]
    for program, most_cycles in zip(filters, (18_665, 70, 335), strict=True):
        assert multiplier_blocks(program.plan) == 0 and tables(program) == []
        assert predicted_cycles(program.plan) <= most_cycles
    assert not any(batch_failures(filters, tmp_path))


@pytest.mark.long
@pytest.mark.simulation
def test_a_cosine_transform_multiplies_by_numbers(tmp_path: Path) -> None:
    transform = filtered(DCT, "b")
    assert tables(transform) == []
    # Of its factors 75, 83 and 89 have more than three signed digits, each of them eight times.
    assert multiplier_blocks(transform.plan) == 24
    assert not any(batch_failures([transform], tmp_path))
