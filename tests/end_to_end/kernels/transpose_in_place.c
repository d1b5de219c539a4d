#define N 6
void transpose_in_place(short A[N][N]) {
  short t;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) {
      t = A[i][j];
      A[i][j] = A[j][i];
      A[j][i] = t;
    }
}
