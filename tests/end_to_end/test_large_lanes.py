"""Large programs in 16 lanes behind AXI4: exact, within a few percent of their products alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen

JACOBI = (Path(__file__).parents[2] / "benchmarks" / "workers" / "jacobi2d.c").read_text("utf-8")

LU = """
void lu(int A[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++) {
      A[i][k] /= A[k][k];
      for (int j = k + 1; j < N; j++)
        A[i][j] -= A[i][k] * A[k][j];
    }
}
"""

CONVOLUTIONS = """
void convolutions(const signed char x[C][N][N], const signed char w[C][C][3][3],
                  const signed char v[C][C][3][3], signed char t[C][N - 2][N - 2],
                  signed char y[C][N - 4][N - 4]) {
  LOOPS(N - 2)
    t[c][i][j] += x[d][i + p][j + q] * w[c][d][p][q];
  LOOPS(N - 4)
    y[c][i][j] += t[d][i + p][j + q] * v[c][d][p][q];
}
"""


SUMS = """
#define CONVOLUTION(to, from, weights, size)                          \\
  for (int c = 0; c < C; c++)                                         \\
    for (int i = 0; i < size; i++)                                    \\
      for (int j = 0; j < size; j++) {                                \\
        signed char sum = 0;                                          \\
        for (int d = 0; d < C; d++)                                   \\
          for (int p = 0; p < 3; p++)                                 \\
            for (int q = 0; q < 3; q++)                               \\
              sum += from[d][i + p][j + q] * weights[c][d][p][q];     \\
        to[c][i][j] = sum;                                            \\
      }
void sums(const signed char x[C][N][N], const signed char w[C][C][3][3],
          const signed char v[C][C][3][3], signed char t[C][N - 2][N - 2],
          signed char y[C][N - 4][N - 4]) {
  CONVOLUTION(t, x, w, N - 2)
  CONVOLUTION(y, t, v, N - 4)
}
"""


def convolutions(order: str) -> str:
    """Two convolutions, one of the other, in nests with their loops in a certain order."""
    ends = {"i": "size", "j": "size", "c": "C", "d": "C", "p": "3", "q": "3"}
    nest = " ".join(f"for (int {x} = 0; {x} < {ends[x]}; {x}++)" for x in order)
    return f"#define LOOPS(size) {nest}\n{CONVOLUTIONS}"


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize(
    ("text", "sizes", "lanes", "kib", "products", "most"),
    [
        pytest.param(JACOBI, {"N": 512, "T": 64}, "j", 64, 2_080_800, 1.06, id="jacobi-2d"),
        pytest.param(LU, {"N": 256}, "i", 24, 347_480, 1.15, id="lu"),
        # One after the other: 56 x 56 and 54 x 54 elements.
        pytest.param(SUMS, {"C": 32, "N": 58}, "c", 60, 3_485_952, 1.01, id="sums"),
        *(
            pytest.param(
                convolutions(order), {"C": 32, "N": 58}, "c", 60, 1_806_336, 1.05, id=order
            )
            for order in ("icjdpq", "cijdpq", "ijcdpq", "ijdpqc")
        ),
    ],
)
def test_they_take_little_more_than_their_products(
    text: str, sizes: dict[str, int], lanes: str, kib: int, products: int, most: float
) -> None:
    """`products`: instances of the statement with the most of them, 16 a cycle."""
    design = rtlgen.compile(
        source=text, define=sizes, memory="axi", unroll={lanes: 16}, max_bram_kib=kib
    )
    report = design.verify()
    assert report.exact and report.cycles == report.predicted_cycles
    assert report.cycles <= most * products
