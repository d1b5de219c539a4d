// Sibling loops in a loop, statements between them, a scalar carried on.
#define N 6
#define M 5
void sums_by_rows(int a[N][M], int b[N][M], int total[N]) {
  int carried = 0;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++)
      carried += a[i][j];
    total[i] = carried;
    for (int j = M - 1; j >= 0; j--)
      b[i][j] = a[i][j] * total[i] + b[i][M - 1 - j];
    total[i] -= b[i][0];
    for (int j = 1; j < M; j++)
      a[i][j] = a[i][j - 1] ^ b[i][j];
  }
}
