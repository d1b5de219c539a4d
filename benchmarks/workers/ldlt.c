/* A = L * D * transposed L, L in the place of A; a quotient is cut to an integer. */

#ifndef N
#define N 64
#endif

void ldlt(int A[N][N], int d[N])
{
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < j; k++)
      A[j][j] -= A[j][k] * A[j][k] * d[k];
    d[j] = A[j][j];
    for (int i = j + 1; i < N; i++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k] * d[k];
      A[i][j] /= d[j];
    }
  }
}
