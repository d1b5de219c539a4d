#define N 5
void adi(int u[N][N], int v[N][N], int p[N][N], int q[N][N]) {
  for (int t = 1; t <= 2; t++) {
    for (int i = 1; i < N - 1; i++) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < N - 1; j++) {
        p[i][j] = -3 / (2 * p[i][j - 1] + 5);
        q[i][j] = (-u[j][i - 1] + 7 * u[j][i] - u[j][i + 1] - 3 * q[i][j - 1]) / (p[i][j - 1] | 1);
      }
      v[N - 1][i] = 1;
      for (int j = N - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = v[j][i] + 1;
  }
}
