#define N 9
void two_triangles(int A[N][N], int B[N][N]) {
  int s;
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < k + 1; i++) {
      s = 0;
      for (int j = 0; j < N; j++)
        s += A[i][j] * A[j][k];
      B[i][k] = B[i][k] - s;
    }
    for (int i = k; i < N; i++)
      for (int j = 0; j < k; j++)
        A[i][j] = A[i][j] - B[i][k] * B[k][j];
  }
}
