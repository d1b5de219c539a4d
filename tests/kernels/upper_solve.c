// Backward substitution with a unit upper triangle: loops that count down.
#define N 8
void upper_solve(const int u[N][N], const int b[N], int x[N]) {
  for (int i = N - 1; i >= 0; i--) {
    int rest = b[i];
    for (int j = N - 1; j > i; j--)
      rest -= u[i][j] * x[j];
    x[i] = rest;
  }
}
