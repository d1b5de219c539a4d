/* B = alpha * A' * B in place, A lower triangular with ones on its diagonal. */

#ifndef N
#define N 8
#endif

void trmm(int alpha, int A[N][N], int B[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < N; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= alpha;
    }
#pragma endscop
}
