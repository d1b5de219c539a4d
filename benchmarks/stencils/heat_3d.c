#define T 20
#define N 10
void heat_3d(int A[N][N][N], int B[N][N][N]) {
  for (int t = 1; t <= T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          B[i][j][k] = (A[i + 1][j][k] - 2 * A[i][j][k] + A[i - 1][j][k]) / 8
                     + (A[i][j + 1][k] - 2 * A[i][j][k] + A[i][j - 1][k]) / 8
                     + (A[i][j][k + 1] - 2 * A[i][j][k] + A[i][j][k - 1]) / 8 + A[i][j][k];
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          A[i][j][k] = (B[i + 1][j][k] - 2 * B[i][j][k] + B[i - 1][j][k]) / 8
                     + (B[i][j + 1][k] - 2 * B[i][j][k] + B[i][j - 1][k]) / 8
                     + (B[i][j][k + 1] - 2 * B[i][j][k] + B[i][j][k - 1]) / 8 + B[i][j][k];
  }
}
