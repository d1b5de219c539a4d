#define N 6
void trisolv(int L[N][N], int x[N], int b[N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / (L[i][i] | 1);
  }
}
