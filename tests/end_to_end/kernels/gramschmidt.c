#define M 4
#define N 3
void gramschmidt(int A[M][N], int R[N][N], int Q[M][N]) {
  int nrm;
  for (int k = 0; k < N; k++) {
    nrm = 0;
    for (int i = 0; i < M; i++)
      nrm += A[i][k] * A[i][k];
    R[k][k] = nrm >> 3;
    for (int i = 0; i < M; i++)
      Q[i][k] = A[i][k] / (R[k][k] | 1);
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0;
      for (int i = 0; i < M; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < M; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
}
