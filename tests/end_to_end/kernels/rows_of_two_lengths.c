#define N 9
void rows_of_two_lengths(int A[N][N], int B[N][N]) {
  int s;
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < k + 1; i++)
      for (int j = 1; j < N; j++)
        B[i][j] = B[i][j] - A[i][k] * B[k][j];
    for (int i = k + 1; i < N; i++) {
      s = 0;
      for (int j = 0; j < k; j++)
        s += B[i][j] * B[j][k];
      A[i][k] = A[i][k] - s;
    }
  }
}
