// Product of a band matrix and a vector: both bounds depend on the row.
#define N 10
void banded(const int a[N][N], const int x[N], int y[N]) {
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = i - 2; j <= i + 2; j++)
      if (j >= 0 && j < N)
        y[i] += a[i][j] * x[j];
  }
}
