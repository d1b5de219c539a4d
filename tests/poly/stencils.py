"""Programs whose schedules are known from the literature on PLUTO, with small sizes."""

from __future__ import annotations

TRANSPOSED = """#define N {n}
void transposed(int a[N][N]) {{
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = a[j][i] + a[i][j - 1];
}}
"""

SEIDEL_2D = """#define T {t}
#define N {n}
void seidel_2d(int a[N][N]) {{
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j]
                   + a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;
}}
"""

JACOBI_1D = """#define T {t}
#define N {n}
void jacobi_1d(int a[N], int b[N]) {{
  for (int t = 0; t < T; t++) {{
    for (int i = 1; i < N - 1; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int j = 1; j < N - 1; j++)
      a[j] = b[j];
  }}
}}
"""

FDTD_2D = """#define T {t}
#define NX {n}
#define NY {n}
void fdtd_2d(int ex[NX][NY], int ey[NX][NY], int hz[NX][NY], int fict[T]) {{
  for (int t = 0; t < T; t++) {{
    for (int j = 0; j < NY; j++)
      ey[0][j] = fict[t];
    for (int i = 1; i < NX; i++)
      for (int j = 0; j < NY; j++)
        ey[i][j] = ey[i][j] - (hz[i][j] - hz[i - 1][j]) / 2;
    for (int i = 0; i < NX; i++)
      for (int j = 1; j < NY; j++)
        ex[i][j] = ex[i][j] - (hz[i][j] - hz[i][j - 1]) / 2;
    for (int i = 0; i < NX - 1; i++)
      for (int j = 0; j < NY - 1; j++)
        hz[i][j] = hz[i][j] - (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]) * 3 / 4;
  }}
}}
"""

BLUR = """#define N {n}
void blur(int a[N][N], int b[N][N], int c[N][N]) {{
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      b[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5;
  for (int i = 2; i < N - 2; i++)
    for (int j = 2; j < N - 2; j++)
      c[i][j] = (b[i - 1][j - 1] + b[i][j] + b[i + 1][j + 1]) / 3;
}}
"""

STENCILS = {
    "transposed": TRANSPOSED,
    "seidel_2d": SEIDEL_2D,
    "jacobi_1d": JACOBI_1D,
    "fdtd_2d": FDTD_2D,
    "blur": BLUR,
}


def stencil(name: str, n: int = 12, t: int = 4) -> str:
    """Return the C text of a program with arrays of `n` elements in every dimension."""
    return STENCILS[name].format(n=n, t=t)
