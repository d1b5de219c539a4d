// Forward substitution with a unit lower triangle.
#define N 8
void lower_solve(const int l[N][N], const int b[N], int x[N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= l[i][j] * x[j];
  }
}
