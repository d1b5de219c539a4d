// Sums along the anti-diagonals.
#define N 6
void anti_diagonals(const int a[N][N], int s[2 * N - 1]) {
  for (int d = 0; d < 2 * N - 1; d++)
    s[d] = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      s[i + j] += a[i][j];
}
